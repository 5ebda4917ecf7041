"""The search: trials until the budget is spent, then the best ones once more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from fdgcl._checks import InputError, check_count, check_positive
from fdgcl._progress import Progress
from fdgcl.tuning.locks import held
from fdgcl.tuning.objective import HopelessError, Objective
from fdgcl.tuning.ranking import FreshScores, Standing, best_trials, is_in_reach, rank
from fdgcl.tuning.records import Record, Scores, mean
from fdgcl.tuning.study import Attempt, Study

OnTrial = Callable[[Record, bool], None]
_RERANKING_SHARE = 1 / 3  # of a budget in minutes, at most
_SHARE_OF_ONE = 0.1  # of a budget in minutes, for one trial at most
_AS_SLOW_AS_START = 2.0
_NEVER_TOO_SLOW = 5.0  # seconds


class NoTrialError(RuntimeError):
    """Not one trial was scored; the text says why."""


class _OutOfTimeError(Exception):
    """The minutes are spent."""


class _TooSlowError(Exception):
    """A trial takes far longer than it should."""


@dataclass(frozen=True)
class Budget:
    """When to stop: whichever comes first.

    Attributes:
        trials: Trials of the study in all, earlier calls included; None for any number.
        minutes: Minutes of this call; None for any number.
        top: How many of the best trials are run again with fresh seeds.
        fresh: How many fresh seeds.
        slowest: How many times as long as the start a trial may take; with minutes, at
            most a tenth of them. None for no limit.
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
        clock: Tells the seconds.
    """

    def __init__(
        self,
        study: Study,
        objective: Objective,
        budget: Budget,
        *,
        progress: Progress | None = None,
        on_trial: OnTrial | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.study, self.budget = study, budget
        self._objective = objective
        self._progress, self._on_trial = progress, on_trial
        self._clock, self._began = clock, clock()

    def run(self) -> None:
        """Search, then run the best again with fresh seeds.

        Ctrl-C raises `KeyboardInterrupt` after the trial under way was queued again;
        `standings` then tells what was found so far.
        """
        self._search()
        self._rerank()

    def standings(self) -> list[Standing]:
        """The best trials and the start, the one to take first.

        Raises:
            NoTrialError: There are none.
        """
        records = self.study.records()
        top = self._candidates(records)
        if not top:
            raise NoTrialError(_why_none(records))
        tried = [(one, self._fresh_scores(one)) for one in top]
        return rank(tried, records, self.study.plan.space)

    def _fresh_scores(self, record: Record) -> FreshScores:
        number = record.number
        return [self.study.fresh(number, seed) for seed in self._fresh_seeds()]

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
        """The best trials and, to compare them with, the starting settings.

        A trial that is clearly worse than the best would win by luck alone.
        """
        top = best_trials(records, self.budget.top)
        top = [one for one in top if is_in_reach(one, top[0])]
        starts = [one for one in records if one.is_start and one.state == "complete"]
        return [*top, *(one for one in starts if one not in top)]

    def _run(self, attempt: Attempt) -> None:
        patience, began = self._patience(), self._clock()
        reason = ""
        rows = None
        try:
            rows = self._score(attempt, patience)
        except (HopelessError, InputError) as error:
            reason = str(error)
        except _TooSlowError:
            reason = f"takes longer than {patience:.0f} s"
        seconds = self._clock() - began
        if rows is not None:
            attempt.finish(rows, seconds)
        else:
            attempt.stop(reason or "worse than half of the trials before it", seconds)

    def _score(self, attempt: Attempt, patience: float) -> Scores | None:
        """Score a trial; None as soon as half of all trials are better."""
        rows: list[tuple[float, ...]] = []
        reserve, latest = self._reserve(), self._clock() + patience
        groups = len(self.study.plan.seeds) * len(self._objective.problem.groups())
        settings, done = attempt.propose(), 0
        for seed in self.study.plan.seeds:
            row: tuple[float, ...] = ()
            for part in self._objective.scores(
                settings, seed, lambda: self._tick(reserve, latest)
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
        return self._began + 60 * self.budget.minutes - self._clock()

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
        if self.budget.slowest is None:
            return math.inf
        records = self.study.records()
        starts = [one.seconds for one in records if one.is_start and one.scores]
        if not starts:
            return math.inf
        limit = self.budget.slowest * starts[0]
        if self.budget.minutes is not None:
            share = 60 * self.budget.minutes * _SHARE_OF_ONE
            limit = min(limit, max(share, _AS_SLOW_AS_START * starts[0]))
        return max(limit, _NEVER_TOO_SLOW)

    def _tick(self, reserve: float, latest: float = math.inf) -> None:
        if self._seconds_left() <= reserve:
            raise _OutOfTimeError
        if self._clock() > latest:
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
            seconds = self._clock() - self._began
            total = int(60 * self.budget.minutes)
            self._progress("searching, seconds", int(seconds), total)


def _why_none(records: list[Record]) -> str:
    reasons = [one.reason for one in records if one.reason]
    if not reasons:
        return "no trial was finished within the budget: give it more minutes"
    return f"not one of {len(reasons)} trials could be scored; the first: {reasons[0]}"
