"""Which of the best trials to take: fresh seeds, and what lies around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fdgcl.tuning.ranges import Choices
from fdgcl.tuning.records import Record, Scores, mean, standard_error
from fdgcl.tuning.space import Space

# For each fresh seed a score per split; empty where it failed, None if not tried.
FreshScores: TypeAlias = Sequence[tuple[float, ...] | None]
_NEIGHBOURS = 5
_REACH = 3.0  # standard errors
_SMALL = 0.01


@dataclass(frozen=True)
class Standing:
    """One of the best trials.

    Attributes:
        record: The trial.
        fresh: Validation accuracies with fresh seeds, by seed and split; empty where
            there was no time for them.
        around: Mean value of the trials nearest to it in the space; None where there
            are none.
    """

    record: Record
    fresh: Scores
    around: float | None

    @property
    def scores(self) -> Scores:
        """What it is judged by: fresh seeds, or else those of the search."""
        return self.fresh or self.record.scores

    @property
    def mean(self) -> float:
        """Mean validation accuracy."""
        return mean(self.scores)

    @property
    def error(self) -> float:
        """Its standard error."""
        return standard_error(self.scores)


def best_trials(records: Sequence[Record], count: int) -> list[Record]:
    """Return the complete trials with the highest values, the best first."""
    complete = [one for one in records if one.state == "complete"]
    return sorted(complete, key=lambda one: (-(one.value or 0.0), one.number))[:count]


def rank(
    tried: Sequence[tuple[Record, FreshScores]],
    records: Sequence[Record],
    space: Space,
) -> list[Standing]:
    """Rank trials, the one to take first.

    Those that were run again with fresh seeds come first, judged by the seeds that all
    of them have; one that failed with a fresh seed is left out, if others did not.

    Args:
        tried: At least one trial, the best first, with its fresh scores.
        records: All trials.
        space: Where they lie.
    """
    steady = [pair for pair in tried if () not in pair[1]] or list(tried)
    compared = [pair for pair in steady if pair[1] and pair[1][0]] or steady
    rest = [pair for pair in steady if pair not in compared]
    seeds = zip(*(rows for _, rows in compared), strict=True)
    common = [place for place, rows in enumerate(seeds) if all(rows)]

    def stand(pair: tuple[Record, FreshScores], places: list[int]) -> Standing:
        one, rows = pair
        fresh = tuple(row for place in places if (row := rows[place]))
        return Standing(one, fresh, around(one, records, space))

    found = [stand(pair, common) for pair in compared]
    taken = choose(found)
    others = sorted(found, key=lambda one: -one.mean)
    return [
        taken,
        *(one for one in others if one is not taken),
        *(stand(pair, []) for pair in rest),
    ]


def choose(standings: Sequence[Standing]) -> Standing:
    """Choose among the best trials: of those that cannot be told apart, the flattest.

    A trial that is worse than the best by no more than the standard error of their
    difference, taken split by split, is as good. Of these the one whose neighbours
    in the space do best is least likely to be there by luck. None is taken that does
    worse than the start: a change has to be one for the better.
    """
    best = max(standings, key=lambda one: one.mean)
    floor = max((one.mean for one in standings if one.record.is_start), default=0.0)
    equals = [one for one in standings if is_as_good(one, best) and one.mean >= floor]
    return max(equals, key=lambda one: (one.around or 0.0, one.mean))


def is_as_good(one: Standing, best: Standing) -> bool:
    """Whether what was measured cannot tell a trial from a better one."""
    return _is_within(one.scores, best.scores, 1.0)


def is_in_reach(one: Record, best: Record) -> bool:
    """Whether a trial could turn out as good as the best with other seeds."""
    return _is_within(one.scores, best.scores, _REACH) or (
        mean(best.scores) - mean(one.scores) <= _SMALL
    )


def _is_within(one: Scores, best: Scores, errors: float) -> bool:
    difference = np.asarray(best) - np.asarray(one)
    return bool(difference.mean() <= errors * standard_error(difference.tolist()))


def around(record: Record, records: Sequence[Record], space: Space) -> float | None:
    """Return the mean value of the trials nearest to one in the space."""
    others = [
        (_distance(record, one, space), one.value)
        for one in records
        if one.value is not None and one.number != record.number
    ]
    nearest = sorted(others)[:_NEIGHBOURS]
    return float(np.mean([value for _, value in nearest])) if nearest else None


def _distance(a: Record, b: Record, space: Space) -> float:
    """Sum over the dimensions; another choice, or one without, is as far as can be."""
    total = 0.0
    for one in space.dimensions:
        here, there = a.values.get(one.name), b.values.get(one.name)
        if here is None or there is None or isinstance(one.allowed, Choices):
            total += here != there
        else:
            total += abs(one.allowed.position(here) - one.allowed.position(there))
    return total
