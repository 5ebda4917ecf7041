"""A study on disk: trials in SQLite, shared by all processes that work on it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fdgcl._checks import InputError
from fdgcl.tuning.locks import held, is_alive, worker
from fdgcl.tuning.plan import Plan
from fdgcl.tuning.records import Record, Scores, State, mean
from fdgcl.tuning.storage import (
    RANDOM_TRIALS,
    load_study,
    quiet,
    require_optuna,
    sampler_for,
)

if TYPE_CHECKING:
    import optuna
    from optuna.trial import FrozenTrial, Trial

DATABASE = "study.db"
_PLAN = "plan"  # the study's own attributes: what it is about
_FRESH = "fresh"  # and scores with fresh seeds
_START, _AGAIN, _WORKER = "start", "again", "worker"  # a trial's attributes
_SETTINGS, _SCORES, _SECONDS, _REASON = "settings", "scores", "seconds", "reason"
_COMPLETE_BEFORE_PRUNING = 5
_KEPT = 0.75  # of the start, in a variation of it


@contextmanager
def open_study(folder: Path, plan: Plan) -> Iterator[Study]:
    """Open the study in a folder, or begin one; close it when the block ends.

    Raises:
        InputError: The folder holds a study of something else, or a damaged one.
    """
    require_optuna()
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(quiet())
        name = stack.enter_context(worker(folder / ".workers"))
        with held(folder / ".lock"):
            inner = load_study(folder / DATABASE, stack)
            _agree(inner, plan, folder)
            if not inner.get_trials(deepcopy=False):
                values = plan.space.start_values(plan.start)
                inner.enqueue_trial(values, user_attrs={_START: True})
        yield Study(folder, plan, inner, name)


class Study:
    """The trials of a study. Made by `open_study`."""

    def __init__(
        self, folder: Path, plan: Plan, inner: optuna.Study, worker_name: str
    ) -> None:
        self.folder, self.plan = folder, plan
        self._inner, self._worker = inner, worker_name

    def begin(self, limit: int | None) -> Attempt | None:
        """Begin the next trial; None when `limit` of them have been begun in all.

        What processes that are gone have left unfinished is queued again first.
        """
        with held(self.folder / ".lock"):
            self._sweep()
            trials = self._inner.get_trials(deepcopy=False)
            if limit is not None and _spent(trials) >= limit:
                return None
            self._queue_variation(trials)
            self._inner.sampler = sampler_for(self.plan.seeds[0], len(trials))
            trial = self._inner.ask()
            trial.set_user_attr(_WORKER, self._worker)
        return Attempt(self, self._inner, trial)

    def _queue_variation(self, trials: Sequence[FrozenTrial]) -> None:
        """Make every other trial, until the sampler learns, a variation of the start.

        A start that is any good is a better place to look than anywhere.
        """
        number = len(trials)
        waiting = any(trial.state.name == "WAITING" for trial in trials)
        if number >= RANDOM_TRIALS or number % 2 == 0 or waiting:
            return
        rng = np.random.default_rng((self.plan.seeds[0], number))
        values = self.plan.space.start_values(self.plan.start)
        count = min(math.floor(_KEPT * len(values)), len(values) - 1)
        kept = rng.permutation(sorted(values))[: max(count, 0)].tolist()
        self._inner.enqueue_trial({name: values[name] for name in kept})

    def records(self) -> list[Record]:
        """All trials, by number."""
        with held(self.folder / ".lock"):
            self._sweep()
            trials = self._inner.get_trials(deepcopy=False)
        return [_record(trial, _retried(trials)) for trial in trials]

    def spent(self) -> int:
        """How many trials count against a budget of trials."""
        return _spent(self._inner.get_trials(deepcopy=False))

    def fresh(self, number: int, seed: int) -> tuple[float, ...] | None:
        """Scores of a trial's settings with a fresh seed: empty where it failed.

        None where nobody has tried yet.
        """
        found = self._inner.user_attrs.get(f"{_FRESH}/{number}/{seed}")
        return None if found is None else tuple(found)

    def keep_fresh(self, number: int, seed: int, scores: Sequence[float]) -> None:
        """Keep scores of a trial's settings with a fresh seed."""
        self._inner.set_user_attr(f"{_FRESH}/{number}/{seed}", list(scores))

    def importances(self) -> dict[str, float]:
        """How much of the spread of the scores each dimension explains, largest first.

        Empty where there are too few trials to tell.
        """
        from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

        complete = [one for one in self.records() if one.state == "complete"]
        if len(complete) < 2 * RANDOM_TRIALS:
            return {}
        with warnings.catch_warnings():
            # That few trials make a rough estimate is known.
            warnings.simplefilter("ignore", UserWarning)
            found = get_param_importances(
                self._inner, evaluator=PedAnovaImportanceEvaluator()
            )
        return {name: float(share) for name, share in found.items()}

    def give_up(self, number: int) -> None:
        """Close a trial that was cut off, and queue it again unless it was before."""
        with held(self.folder / ".lock"):
            self._give_up(number)

    def _sweep(self) -> None:
        for trial in self._inner.get_trials(deepcopy=False):
            if trial.state.name != "RUNNING":
                continue
            # The worker's name is put down under the same lock as the trial is begun.
            name = trial.user_attrs.get(_WORKER)
            if name is None or not is_alive(self.folder / ".workers", name):
                self._give_up(trial.number)

    def _give_up(self, number: int) -> None:
        from optuna.trial import TrialState

        trial = self._inner.get_trials(deepcopy=False)[number]
        if trial.state.is_finished():
            return
        self._inner.tell(number, state=TrialState.FAIL)
        if _AGAIN not in trial.user_attrs:
            attributes = {_AGAIN: number}
            if trial.user_attrs.get(_START):
                attributes[_START] = True
            self._inner.enqueue_trial(trial.params, user_attrs=attributes)


class Attempt:
    """A trial under way. Made by `Study.begin`."""

    def __init__(self, study: Study, inner: optuna.Study, trial: Trial) -> None:
        self._study, self._inner, self._trial = study, inner, trial
        self._step = 0
        self.number = trial.number

    def propose(self) -> dict[str, Any]:
        """Return the settings to try.

        Raises:
            InputError: A formula has no value at this point of the space.
        """
        space, start = self._study.plan.space, self._study.plan.start
        is_start = bool(self._trial.user_attrs.get(_START))
        known = space.start_values(start)
        values: dict[str, Any] = {}
        for one in space.dimensions:
            if one.name in known if is_start else one.varies({**start, **values}):
                values[one.name] = one.allowed.suggest(self._trial, one.name)
        settings = dict(start) if is_start else space.settings(start, values)
        self._trial.set_user_attr(_SETTINGS, settings)
        return settings

    def is_hopeless(self, value: float) -> bool:
        """Report the mean so far; whether half of all trials were better by then.

        A trial that was stopped earlier counts as worse.
        """
        from optuna.trial import TrialState

        step, self._step = self._step, self._step + 1
        self._trial.report(value, step)
        states = (TrialState.COMPLETE, TrialState.PRUNED)
        rivals = self._inner.get_trials(deepcopy=False, states=states)
        complete = sum(one.state == TrialState.COMPLETE for one in rivals)
        if complete < _COMPLETE_BEFORE_PRUNING or self._trial.user_attrs.get(_START):
            return False
        better = sum(one.intermediate_values.get(step, -1) > value for one in rivals)
        return 2 * better >= len(rivals)

    def finish(self, scores: Scores, seconds: float) -> None:
        """Close it as complete."""
        self._trial.set_user_attr(_SCORES, [list(row) for row in scores])
        self._close("COMPLETE", mean(scores), "", seconds)

    def stop(self, reason: str, seconds: float) -> None:
        """Close it as stopped early."""
        self._close("PRUNED", None, reason, seconds)

    def give_up(self) -> None:
        """Close it as cut off."""
        self._study.give_up(self.number)

    def _close(
        self, state: str, value: float | None, reason: str, seconds: float
    ) -> None:
        from optuna.trial import TrialState

        self._trial.set_user_attr(_SECONDS, round(seconds, 3))
        self._trial.set_user_attr(_REASON, reason)
        self._inner.tell(self._trial, value, state=TrialState[state])


def _agree(inner: optuna.Study, plan: Plan, folder: Path) -> None:
    begun = inner.user_attrs.get(_PLAN)
    if begun is None:
        inner.set_user_attr(_PLAN, plan.to_dict())
        return
    difference = plan.difference(begun)
    if difference is not None:
        message = (
            f"the study in {folder} was begun {difference}: go on with the same "
            "options, or name another folder by --study"
        )
        raise InputError(message)


def _retried(trials: Sequence[FrozenTrial]) -> set[int]:
    again = (trial.user_attrs.get(_AGAIN) for trial in trials)
    return {number for number in again if number is not None}


def _spent(trials: Sequence[FrozenTrial]) -> int:
    retried = _retried(trials)
    return sum(
        trial.state.name != "WAITING" and trial.number not in retried
        for trial in trials
    )


def _record(trial: FrozenTrial, retried: set[int]) -> Record:
    attributes, state = trial.user_attrs, trial.state.name
    last = trial.last_step
    value = trial.value if state == "COMPLETE" else None
    if state == "PRUNED" and last is not None:
        value = trial.intermediate_values[last]
    # JSON has no tuples.
    settings = {
        name: tuple(one) if isinstance(one, list) else one
        for name, one in attributes.get(_SETTINGS, {}).items()
    }
    return Record(
        number=trial.number,
        state="interrupted" if trial.number in retried else _state(state, value),
        value=value,
        scores=tuple(tuple(row) for row in attributes.get(_SCORES, ())),
        settings=settings,
        values=dict(trial.params),
        seconds=attributes.get(_SECONDS, 0.0),
        reason=attributes.get(_REASON, ""),
        is_start=bool(attributes.get(_START)),
    )


def _state(state: str, value: float | None) -> State:
    # What gave no score is told to the sampler as stopped early, so that it learns.
    if state == "PRUNED" and value is None:
        return "failed"
    names: dict[str, State] = {
        "COMPLETE": "complete",
        "PRUNED": "pruned",
        "FAIL": "failed",
        "RUNNING": "running",
        "WAITING": "waiting",
    }
    return names[state]
