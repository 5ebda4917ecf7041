"""The bound on what a memory window costs holds, and says something."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from fdgcl._checks import InputError
from fdgcl.diffusion import SOLVERS, Schedule, short_memory_bound
from fdgcl.diffusion.dynamics import Flow
from fdgcl.diffusion.stepping import run_segments
from tolerances import assert_agree, half_digits

from .cases import STEPPING

every_solver = pytest.mark.parametrize("solver", STEPPING)
STEPS = 24


class Problem:
    """D^a y = F(y) with a known Lipschitz constant, in the Euclidean norm."""

    def __init__(self, seed, kind, strength=1.0):
        rng = np.random.default_rng(seed)
        matrix = rng.normal(size=(4, 4))
        if kind == "decay":
            matrix = -matrix @ matrix.T
        matrix *= strength / np.linalg.norm(matrix, 2)
        self.matrix = torch.from_numpy(matrix)
        self.start = torch.from_numpy(rng.normal(size=4))
        self.lipschitz = strength
        self.bend = torch.tanh if kind == "tanh" else (lambda v: v)

    def rhs(self, _, y):
        return self.matrix @ self.bend(y)

    def run(self, schedule, order):
        """The last state, and the sizes that the bound asks for."""
        slopes, states, starts = [], [], []
        steps = schedule.steps_per_segment

        def rhs(t, y):
            slope = self.rhs(t, y)
            slopes.append(float(slope.norm()))
            if t == 0:
                starts.append(y)
            states.append(float((y - starts[-1]).norm()))
            return slope

        last = run_segments(Flow(self.start, rhs), order, schedule)
        assert len(starts) * steps >= schedule.steps
        keeps = SOLVERS[schedule.solver].keeps
        return last, max(slopes if keeps == "rhs" else states)


def measured_and_bound(problem, solver, order, window, *, skip="none", time=2.0):
    step = time / STEPS
    full, size = problem.run(Schedule(time, step, solver, skip), order)
    short = Schedule(time, step, solver, skip, window)
    last, _ = problem.run(short, order)
    return (
        float((last - full).norm()),
        short_memory_bound(short, order, problem.lipschitz, size),
    )


@every_solver
@pytest.mark.parametrize("kind", ["any", "decay", "tanh"])
def test_the_bound_holds(solver, kind):
    seeds = iter(range(1000))
    for order in (0.1, 0.5, 0.9, 1.0):
        for window in (1, 3, 12, 23):
            for skip in ("none", 2):
                problem = Problem(next(seeds), kind, strength=0.8)
                error, bound = measured_and_bound(
                    problem, solver, order, window, skip=skip
                )
                # Of states of size 1, of which both runs lose some digits.
                assert error <= bound + half_digits(np.float64)


@every_solver
@pytest.mark.parametrize("order", [0.4, 0.8])
def test_the_bound_is_not_vacuous(solver, order):
    """Within a factor of twenty where F pulls all one way, as the bound must assume."""
    problem = Problem(0, "decay", strength=0.3)
    problem.matrix = 0.3 * torch.eye(4, dtype=torch.float64)
    for window in (4, 12):
        error, bound = measured_and_bound(problem, solver, order, window)
        assert error > 0
        assert bound < 20 * error


@every_solver
@pytest.mark.parametrize("order", [0.4, 0.8])
def test_a_longer_window_has_a_smaller_bound_down_to_nothing(solver, order):
    bounds = [
        short_memory_bound(Schedule(2, 2 / STEPS, solver, window=m), order, 0.5, 1.0)
        for m in (1, 4, 8, 16, 22, STEPS, 1000)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[3] > bounds[4] > 0
    assert bounds[-2:] == [0.0, 0.0]
    none = short_memory_bound(Schedule(2, 2 / STEPS, solver), order, 0.5, 1.0)
    assert none == 0


@pytest.mark.parametrize("solver", ["predictor", "l1", "gl"])
def test_order_one_forgets_nothing(solver):
    assert short_memory_bound(Schedule(2, 0.1, solver, window=1), 1.0, 3.0, 1.0) == 0


@pytest.mark.parametrize("solver", ["predictor", "l1", "gl"])
def test_two_steps_by_hand(solver):
    """Two steps, a window of one: all that is dropped is one entry in one step."""
    a, h, size = 0.6, 0.5, 2.0
    found = short_memory_bound(Schedule(1, h, solver, window=1), a, 0.7, size)
    if solver == "predictor":
        weight = h**a * (2**a - 1) / math.gamma(a + 1)
        assert_agree(found, weight * size)
    elif solver == "gl":
        # The entry dropped is y_0 itself, whose weight goes to y_0: nothing is lost.
        assert found == 0
    else:
        # b_1 = 2^(1-a) - 1 goes from y_0 to y_1.
        assert_agree(found, (2 ** (1 - a) - 1) * size)


def test_twice_the_size_is_twice_the_bound():
    schedule = Schedule(2, 0.1, "gl", window=3)
    once, twice = (short_memory_bound(schedule, 0.5, 1.0, s) for s in (1.0, 2.0))
    assert twice == pytest.approx(2 * once)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": 0}, r"order must lie in \(0, 1\], got 0"),
        ({"lipschitz": -1}, "lipschitz must be zero or more, got -1"),
        ({"size": float("nan")}, "size must be a finite number, got nan"),
        ({"schedule": Schedule(1, 1, "exact")}, "'exact' takes no steps"),
    ],
)
def test_bad_input_is_named(change, message):
    given = {"schedule": Schedule(1, 0.5), "order": 0.5, "lipschitz": 1, "size": 1}
    with pytest.raises(InputError, match=message):
        short_memory_bound(**given | change)
