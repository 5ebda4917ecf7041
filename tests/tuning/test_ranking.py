"""Means, standard errors, and which of the best to take."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fdgcl.tuning.ranking import Standing, around, best_trials, choose, is_in_reach
from fdgcl.tuning.records import Record, Scores, mean, standard_error
from tuning.tiny import tiny_space


def record(number: int, value: float | None, **changes: Any) -> Record:
    values = {
        "number": number,
        "state": "complete",
        "value": value,
        "scores": ((value or 0.0,),),
        "settings": {},
        "values": {},
        "seconds": 1.0,
        "reason": "",
        "is_start": False,
    }
    return Record(**{**values, **changes})


def standing(scores: Scores, near: float | None) -> Standing:
    return Standing(record(0, 0.5), scores, near)


def test_standard_errors_by_hand() -> None:
    # Split means 0.6 and 0.8: deviation 0.1 each, s = sqrt(0.02), over sqrt(2).
    assert standard_error(((0.5, 0.9), (0.7, 0.7))) == pytest.approx(0.1)
    # One split: over seeds.
    seeds = ((0.5,), (0.6,), (0.7,))
    assert standard_error(seeds) == pytest.approx(0.1 / math.sqrt(3))
    assert mean(seeds) == pytest.approx(0.6)
    assert standard_error(((0.5,),)) == 0.0
    assert standard_error(()) == 0.0


def test_the_best_are_complete_ones() -> None:
    records = [
        record(0, 0.5),
        record(1, 0.9, state="pruned"),
        record(2, 0.7),
        record(3, 0.7),
        record(4, None, state="failed"),
    ]
    assert [one.number for one in best_trials(records, 2)] == [2, 3]


def test_of_equals_the_flattest_is_taken() -> None:
    noise = np.array([0.02, -0.02, 0.02, -0.02])
    peak = standing((tuple(0.805 + noise),), near=0.5)
    plain = standing((tuple(0.80 - noise),), near=0.75)
    worse = standing((tuple(0.70 + noise),), near=0.9)
    assert choose([peak, plain, worse]) is plain
    clear = standing((tuple(0.85 + noise),), near=0.1)
    assert choose([clear, plain, worse]) is clear


def test_nothing_is_taken_that_does_worse_than_the_start() -> None:
    noise = np.array([0.02, -0.02, 0.02, -0.02])
    start = Standing(record(0, 0.8, is_start=True), (tuple(0.80 + noise),), 0.5)
    below = standing((tuple(0.799 - noise),), near=0.9)
    above = standing((tuple(0.801 - noise),), near=0.7)
    assert choose([start, below]) is start
    assert choose([start, below, above]) is above


def test_differences_are_taken_split_by_split() -> None:
    """Splits differ by far more than the two trials, one of which always wins."""
    hard = np.array([0.5, 0.6, 0.7, 0.8, 0.9])
    best = standing((tuple(hard + 0.01),), near=None)
    second = standing((tuple(hard),), near=0.9)
    assert standard_error(best.scores) > 0.05
    assert choose([second, best]) is best


def test_neighbours_are_the_nearest_in_the_space() -> None:
    space = tiny_space()
    here = {"lr": 0.1, "beta": 0.5, "dim": 8, "activation": "relu"}
    close = [
        record(n, 0.8, values={**here, "beta": 0.5 + n / 100}) for n in range(1, 6)
    ]
    far = [
        record(6, 0.1, values={**here, "lr": 0.001}),
        record(7, 0.1, values={**here, "activation": "linear"}),
        record(8, 0.1, values={}),
        record(9, None, values=here),
    ]
    me = record(0, 0.9, values=here)
    assert around(me, [*far, me, *close], space) == pytest.approx(0.8)
    assert around(me, [me], space) is None


def test_only_what_could_win_is_run_again() -> None:
    hard = np.array([0.5, 0.6, 0.7, 0.8])
    noise = np.array([0.02, -0.02, 0.02, -0.02])
    best = record(0, 0.7, scores=(tuple(hard + 0.05),))
    assert is_in_reach(best, best)
    assert is_in_reach(record(1, 0.7, scores=(tuple(hard + 0.03 + noise),)), best)
    assert is_in_reach(record(2, 0.7, scores=(tuple(hard + 0.041),)), best)
    assert not is_in_reach(record(3, 0.6, scores=(tuple(hard - 0.05 + noise),)), best)
