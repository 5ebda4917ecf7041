"""The front door: a problem and a starting point in, the best settings out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fdgcl._checks import check_count
from fdgcl._progress import Progress
from fdgcl.choosing.problem import Problem
from fdgcl.tuning.objective import Objective
from fdgcl.tuning.plan import Plan
from fdgcl.tuning.ranking import Standing, is_as_good
from fdgcl.tuning.records import Record
from fdgcl.tuning.search import Budget, NoTrialError, OnTrial, Search
from fdgcl.tuning.space import Space
from fdgcl.tuning.study import open_study


@dataclass(frozen=True)
class Tuned:
    """What tuning found.

    Attributes:
        standings: The best trials and the starting settings; the first is to be taken.
        records: All trials.
        importances: How much of the spread of the scores each dimension explains;
            empty where there are too few trials to tell.
        start: The starting settings.
        plan: What the study is about.
        interrupted: Whether Ctrl-C ended it.
    """

    standings: list[Standing]
    records: list[Record]
    importances: dict[str, float]
    start: dict[str, Any]
    plan: Plan
    interrupted: bool

    @property
    def best(self) -> Standing:
        """The one to take."""
        return self.standings[0]

    @property
    def baseline(self) -> Standing | None:
        """The starting settings, if they could be scored."""
        return next((one for one in self.standings if one.record.is_start), None)

    @property
    def improves(self) -> bool:
        """Whether the best is better than the start by more than chance explains."""
        start, best = self.baseline, self.best
        if start is None or len(start.scores) != len(best.scores):
            return start is None
        return not is_as_good(start, best)


def tune(
    problem: Problem,
    start: Mapping[str, Any],
    folder: str | Path,
    *,
    space: Space,
    budget: Budget,
    seeds: int = 2,
    device: str = "auto",
    progress: Progress | None = None,
    on_trial: OnTrial | None = None,
) -> Tuned:
    """Search for the settings with the best validation accuracy.

    Calling it again with the same arguments goes on with the study in the folder.
    Several processes may do so at the same time, on one machine.

    Args:
        problem: The graph, and the labels that may be seen.
        start: Starting settings, all of them; their seed is the first of each trial.
        folder: Of the study.
        space: Where to search, and the settings of which method.
        budget: When to stop.
        seeds: How often each trial trains.
        device: Where to compute.
        progress: Called with (stage, done, total).
        on_trial: Called with each trial that was run, and whether it is the best yet.

    Raises:
        InputError: The folder holds another study, or the space does not fit.
        MissingExtraError: Optuna is not installed.
        NoTrialError: Not one trial could be scored.
    """
    settings = {name: value for name, value in start.items() if name != "device"}
    space.check(settings)
    first = int(settings["seed"])
    plan = Plan(
        data=problem.graph.name,
        fingerprint=problem.fingerprint(),
        space=space,
        start=settings,
        seeds=tuple(range(first, first + check_count("seeds", seeds))),
    )
    with open_study(Path(folder), plan) as study:
        search = Search(
            study,
            Objective(problem, device, space.method),
            budget,
            progress=progress,
            on_trial=on_trial,
        )
        interrupted = False
        try:
            search.run()
        except KeyboardInterrupt:
            interrupted = True
        try:
            standings = search.standings()
        except NoTrialError:
            if interrupted:
                raise KeyboardInterrupt from None
            raise
        return Tuned(
            standings=standings,
            records=study.records(),
            importances=study.importances(),
            start=settings,
            plan=plan,
            interrupted=interrupted,
        )
