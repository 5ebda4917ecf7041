"""The search: trials until the budget is spent, then the best ones once more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from fdgcl._checks import InputError, check_count, check_positive
from fdgcl.tuning.locks import held
from fdgcl.tuning.objective import HopelessError, Objective
from fdgcl.tuning.ranking import Standing, around, best_trials, choose
from fdgcl.tuning.records import Record, Scores, mean
from fdgcl.tuning.study import Attempt, Study

Progress = Callable[[str, int, int], None]
OnTrial = Callable[[Record, bool], None]
_RERANKING_SHARE = 1 / 3  # of a budget in minutes, at most
_NEVER_TOO_SLOW = 5.0  # seconds


class NoTrialError(RuntimeError):
    """Not one trial was scored; the text says why."""


class _OutOfTimeError(Exception):
    """The minutes are spent."""


class _TooSlowError(Exception):
    """A trial takes far longer than the start did."""


@dataclass(frozen=True)
class Budget:
    """When to stop: whichever comes first.

    Attributes:
        trials: Trials of the study in all, earlier calls included; None for any number.
        minutes: Minutes of this call; None for any number.
        top: How many of the best trials are run again with fresh seeds.
        fresh: How many fresh seeds.
        slowest: How many times as long as the start a trial may take; None for any.
    """

    trials: int | None = None
    minutes: float | None = None
    top: int = 5
    fresh: int = 3
    slowest: float | None = None

    def __post_init__(self) -> None:
        if self.trials is None and self.minutes is None:
            message = "a budget needs a number of trials, or of minutes, or both"
            raise InputError(message)
        if self.trials is not None:
            check_count("trials", self.trials)
        if self.minutes is not None:
            check_positive("minutes", self.minutes)
        if self.slowest is not None:
            check_positive("slowest", self.slowest)
        check_count("top", self.top)
        check_count("fresh", self.fresh, minimum=0)


class Search:
    """Works on a study until the budget is spent; several may work on one at a time.

    Args:
        study: Where trials are kept.
        objective: What scores them.
        budget: When to stop.
        progress: Called with (stage, done, total).
        on_trial: Called with each trial that was run, and whether it is the best yet.
    """

    def __init__(
        self,
        study: Study,
        objective: Objective,
        budget: Budget,
        *,
        progress: Progress | None = None,
        on_trial: OnTrial | None = None,
    ) -> None:
        self.study, self.budget = study, budget
        self._objective = objective
        self._progress, self._on_trial = progress, on_trial
        self._began = time.monotonic()

    def run(self) -> None:
        """Search, then run the best again with fresh seeds.

        Ctrl-C raises `KeyboardInterrupt` after the trial under way was queued again;
        `standings` then tells what was found so far.
        """
        self._search()
        self._rerank()

    def standings(self) -> list[Standing]:
        """The best trials, the one to take first.

        Raises:
            NoTrialError: There are none.
        """
        records = self.study.records()
        top = self._candidates(records)
        if not top:
            raise NoTrialError(_why_none(records))
        tried = [
            (one, [self.study.fresh(one.number, seed) for seed in self._fresh_seeds()])
            for one in top
        ]
        # Seeds that all of them have, for a fair comparison; () marks one that failed.
        steady = [(one, rows) for one, rows in tried if () not in rows] or tried
        common = [
            place
            for place in range(self.budget.fresh)
            if all(rows[place] for _, rows in steady)
        ]
        found = [
            Standing(
                one,
                tuple(row for place in common if (row := rows[place])),
                around(one, records, self.study.plan.space),
            )
            for one, rows in steady
        ]
        taken = choose(found)
        rest = sorted(found, key=lambda one: -one.mean)
        return [taken, *(one for one in rest if one is not taken)]

    def _search(self) -> None:
        while self._seconds_left() > self._reserve():
            attempt = self.study.begin(self.budget.trials)
            if attempt is None:
                return
            try:
                self._run(attempt)
            except _OutOfTimeError:
                attempt.give_up()
                return
            except BaseException:
                attempt.give_up()
                raise
            self._report(attempt.number)

    def _report(self, number: int) -> None:
        if self._on_trial is not None:
            records = self.study.records()
            best = best_trials(records, 1)
            self._on_trial(records[number], bool(best) and best[0].number == number)
        self._tell()

    def _candidates(self, records: list[Record]) -> list[Record]:
        """The best trials and, to compare them with, the starting settings."""
        top = best_trials(records, self.budget.top)
        starts = [one for one in records if one.is_start and one.state == "complete"]
        return [*top, *(one for one in starts if one not in top)]

    def _run(self, attempt: Attempt) -> None:
        try:
            rows = self._score(attempt)
        except HopelessError as error:
            attempt.stop(str(error))
        except _TooSlowError:
            attempt.stop(
                f"takes over {self.budget.slowest:g} times as long as the start"
            )
        else:
            if rows is None:
                attempt.stop("worse than half of the trials before it")
            else:
                attempt.finish(rows)

    def _score(self, attempt: Attempt) -> Scores | None:
        """Score a trial; None as soon as it is hopeless."""
        rows: list[tuple[float, ...]] = []
        reserve, latest = self._reserve(), time.monotonic() + self._patience()
        groups = len(self.study.plan.seeds) * len(self._objective.problem.groups())
        done = 0
        for seed in self.study.plan.seeds:
            row: tuple[float, ...] = ()
            for part in self._objective.scores(
                attempt.settings, seed, lambda: self._tick(reserve, latest)
            ):
                row, done = row + part, done + 1
                if attempt.is_hopeless(mean([*rows, row])) and done < groups:
                    return None
            rows.append(row)
        return tuple(rows)

    def _rerank(self) -> None:
        """Run the best with fresh seeds: all of them with one, then with the next.

        Processes that end at the same time do it one after the other, and what one
        has done the next one finds.
        """
        with held(self.study.folder / ".rerank"):
            top = self._candidates(self.study.records())
            work = [
                (seed, one)
                for seed in self._fresh_seeds()
                for one in top
                if self.study.fresh(one.number, seed) is None
            ]
            for done, (seed, one) in enumerate(work):
                if self._progress is not None:
                    self._progress("re-ranking", done, len(work))
                try:
                    self._run_fresh(one, seed)
                except _OutOfTimeError:
                    return

    def _run_fresh(self, record: Record, seed: int) -> None:
        row: tuple[float, ...] = ()
        try:
            for part in self._objective.scores(
                record.settings, seed, lambda: self._tick(0.0)
            ):
                row += part
        except HopelessError:
            row = ()
        self.study.keep_fresh(record.number, seed, row)

    def _fresh_seeds(self) -> range:
        after = max(self.study.plan.seeds) + 1
        return range(after, after + self.budget.fresh)

    def _seconds_left(self) -> float:
        if self.budget.minutes is None:
            return math.inf
        return self._began + 60 * self.budget.minutes - time.monotonic()

    def _reserve(self) -> float:
        """Seconds that running the best again will take, as far as one can tell."""
        if self.budget.minutes is None:
            return 0.0
        best = self._candidates(self.study.records())
        if not best:
            return 0.0
        each = median(one.seconds for one in best) / len(self.study.plan.seeds)
        wanted = len(best) * self.budget.fresh * each
        return min(wanted, 60 * self.budget.minutes * _RERANKING_SHARE)

    def _patience(self) -> float:
        """Seconds that a trial may take."""
        records = self.study.records() if self.budget.slowest else []
        starts = [one.seconds for one in records if one.is_start and one.scores]
        if self.budget.slowest is None or not starts:
            return math.inf
        return max(self.budget.slowest * starts[0], _NEVER_TOO_SLOW)

    def _tick(self, reserve: float, latest: float = math.inf) -> None:
        if self._seconds_left() <= reserve:
            raise _OutOfTimeError
        if time.monotonic() > latest:
            raise _TooSlowError
        if self.budget.minutes is not None:
            self._tell()

    def _tell(self) -> None:
        if self._progress is None:
            return
        if self.budget.minutes is None:
            assert self.budget.trials is not None
            self._progress("searching", self.study.spent(), self.budget.trials)
        else:
            seconds = time.monotonic() - self._began
            total = int(60 * self.budget.minutes)
            self._progress("searching, seconds", int(seconds), total)


def _why_none(records: list[Record]) -> str:
    reasons = [one.reason for one in records if one.reason]
    if not reasons:
        return "no trial was finished within the budget: give it more minutes"
    return f"not one of {len(reasons)} trials could be scored; the first: {reasons[0]}"
