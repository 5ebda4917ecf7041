"""The time axis: number of steps, segments, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fdgcl._checks import InputError
from fdgcl.diffusion import SOLVERS, Schedule

from .cases import PAPER, STEPPING


@pytest.mark.parametrize(
    ("time", "step", "steps"),
    [
        (0.3, 0.1, 3),
        (5, 0.3, 17),
        (1, 1, 1),
        (0.1, 0.1, 1),
        (0.7, 0.1, 7),
        (2.1, 0.3, 7),
        (4.2, 0.7, 6),
        (1.1, 0.1, 11),
        (6, 0.4, 15),
        (1.5, 0.15, 10),
        (2, 1.5, 2),
        (1, 0.3, 4),
        (1 + 1e-6, 0.5, 3),
        (1e6, 0.1, 10_000_000),
        (3e-9, 1e-9, 3),
    ],
)
def test_steps_are_time_over_step_rounded_up(time, step, steps):
    assert Schedule(time, step).steps == steps


def test_steps_of_the_papers_table():
    found = {
        name: Schedule(time, step).steps for name, (time, step, _) in PAPER.items()
    }
    assert found == {
        "cora": 20,
        "citeseer": 15,
        "pubmed": 6,
        "computers": 6,
        "photo": 6,
        "arxiv": 10,
        "squirrel": 8,
        "chameleon": 6,
        "crocodile": 10,
        "actor": 10,
        "wisconsin": 10,
        "cornell": 10,
        "texas": 3,
        "roman": 2,
        "arxiv-year": 2,
    }


@pytest.mark.parametrize(
    ("skip", "segments", "each"),
    [
        ("none", 0, 12),
        ("end", 1, 12),
        ("every-step", 12, 1),
        (1, 1, 12),
        (3, 3, 4),
        (12, 12, 1),
    ],
)
def test_skips_cut_the_run_into_equal_segments(skip, segments, each):
    schedule = Schedule(6, 0.5, skip=skip)
    assert (schedule.segments, schedule.steps_per_segment) == (segments, each)


@pytest.mark.parametrize("solver", SOLVERS)
def test_products_are_steps_times_evaluations(solver):
    schedule = Schedule(5, 0.3, solver)
    if solver not in STEPPING:
        assert schedule.products() is None
        return
    each = SOLVERS[solver].evaluations_per_step
    assert schedule.products() == 17 * each
    assert schedule.products(symbol_degree=2) == 34 * each
    assert each == (2 if solver == "corrector" else 1)


def test_numbers_are_kept_as_plain_numbers():
    schedule = Schedule(np.float32(3), 1, window=2.0)
    assert (schedule.time, schedule.step, schedule.window) == (3.0, 1.0, 2)
    assert isinstance(schedule.window, int)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"time": "3"}, "time must be a finite number, got '3'"),
        ({"time": 0}, "time must be positive, got 0"),
        ({"time": -1}, "time must be positive, got -1"),
        ({"time": math.nan}, "time must be a finite number, got nan"),
        ({"time": math.inf}, "time must be a finite number, got inf"),
        ({"step": 0}, "step must be positive, got 0"),
        ({"step": -0.5}, "step must be positive, got -0.5"),
        ({"step": 7}, "step must not exceed time, got step 7 and time 6"),
        ({"solver": "predicter"}, "unknown solver 'predicter'; did you mean \"pred"),
        ({"skip": "always"}, "unknown skip 'always'"),
        ({"skip": 5}, r"skip=5 does not divide the 12 steps.*\[1, 2, 3, 4, 6, 12\]"),
        ({"skip": 0}, "skip must be a whole number of at least 1, got 0"),
        ({"skip": 2.5}, "skip must be a whole number of at least 1, got 2.5"),
        ({"skip": True}, "skip must be a finite number, got True"),
        ({"window": 0}, "window must be a whole number of at least 1, got 0"),
        ({"window": 1.5}, "window must be a whole number of at least 1, got 1.5"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        Schedule(**{"time": 6, "step": 0.5} | settings)
