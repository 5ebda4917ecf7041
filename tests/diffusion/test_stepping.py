"""The time loop: steps, memory window, segments, gradients."""

from __future__ import annotations

import math
import weakref

import pytest
import torch

from fdgcl._checks import InputError
from fdgcl.diffusion import SOLVERS, Dynamics, Grand, Schedule
from fdgcl.diffusion.dynamics import Flow
from fdgcl.diffusion.stepping import diffuse_stepped, run_segments, solve
from fdgcl.operators.in_memory import build_operator
from tolerances import assert_agree, assert_within

from .cases import REFERENCE_SCHEMES, STEPPING, noise, random_directed

every_solver = pytest.mark.parametrize("solver", STEPPING)


def decay(solver, order, steps, window=None):
    return float(
        solve(
            lambda _, y: -y,
            torch.tensor(1.0, dtype=torch.float64),
            order=order,
            step=4 / steps,
            steps=steps,
            scheme=SOLVERS[solver],
            window=window,
        )
    )


@every_solver
@pytest.mark.parametrize("order", [0.3, 1.0])
def test_a_window_as_long_as_the_run_changes_nothing(solver, order):
    full = decay(solver, order, 20)
    assert decay(solver, order, 20, window=20) == full
    assert decay(solver, order, 20, window=1000) == full


@every_solver
def test_a_longer_window_errs_less(solver):
    full = decay(solver, 0.6, 128)
    windows = (2, 8, 32, 96)
    errors = [abs(decay(solver, 0.6, 128, window=m) - full) for m in windows]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 3
    assert errors[0] > 1e-3


@pytest.mark.parametrize("solver", ["predictor", "l1", "gl"])
def test_one_step_schemes_need_no_memory_at_order_one(solver):
    assert_agree(decay(solver, 1.0, 50, window=1), decay(solver, 1.0, 50))


@every_solver
def test_states_kept_never_exceed_the_window(solver):
    scheme = SOLVERS[solver]

    def most_alive(window):
        kept, counts = [], []

        def rhs(_, y):
            counts.append(sum(entry() is not None for entry in kept))
            slope = -y
            kept.append(weakref.ref(slope if scheme.keeps == "rhs" else y))
            return slope

        start = torch.ones(3)
        solve(rhs, start, order=0.5, step=0.1, steps=40, scheme=scheme, window=window)
        return max(counts)

    # Beside the history: the initial state, the newest one, a correction's slope.
    assert most_alive(5) <= 5 + 3
    assert most_alive(None) >= 38


@every_solver
@pytest.mark.parametrize("steps", [1, 5])
def test_evaluations_are_counted_as_declared(solver, steps):
    times = []

    def rhs(t, y):
        times.append(t)
        return -y

    scheme = SOLVERS[solver]
    solve(rhs, torch.ones(1), order=0.5, step=0.5, steps=steps, scheme=scheme)
    assert len(times) == steps * scheme.evaluations_per_step
    assert times[:: scheme.evaluations_per_step] == [k * 0.5 for k in range(steps)]
    if scheme.evaluations_per_step == 2:
        assert times[1::2] == [(k + 1) * 0.5 for k in range(steps)]


@every_solver
@pytest.mark.parametrize("order", [0.3, 1.0])
@pytest.mark.parametrize("skip", ["none", "end", "every-step", 3])
def test_segments_restart_and_add_the_initial_state(solver, order, skip):
    def f(_, y):
        return -0.5 * y

    segments = {"none": 1, "end": 1, "every-step": 6, 3: 3}[skip]
    y = 2.0
    for _ in range(segments):
        y = REFERENCE_SCHEMES[solver](f, y, order, 0.5, 6 // segments)[-1]
        if skip != "none":
            y += 2.0
    start = torch.tensor(2.0, dtype=torch.float64)
    flow = Flow(start, f)
    found = run_segments(flow, order, Schedule(3, 0.5, solver, skip))
    assert_agree(found, y)


@every_solver
def test_does_not_touch_what_it_is_given(solver):
    start = torch.ones(4, dtype=torch.float64)
    schedule = Schedule(2, 0.5, solver, "every-step")
    run_segments(Flow(start, lambda _, y: -y), 0.7, schedule)
    assert start.tolist() == [1.0] * 4


@every_solver
def test_gradients_pass_through(solver):
    operator = build_operator(random_directed(6, 2), direction="out")
    schedule = Schedule(1.5, 0.5, solver, "end")
    x = noise(6).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda z: diffuse_stepped(Grand(), operator, z, 0.6, schedule), (x,)
    )


@every_solver
def test_gradients_reach_the_right_hand_sides_own_parameters(solver):
    rate = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    start = torch.tensor([1.0, 2.0], dtype=torch.float64)
    schedule = Schedule(1.5, 0.5, solver)
    assert torch.autograd.gradcheck(
        lambda r: run_segments(Flow(start, lambda _, y: -r * y, (r,)), 0.6, schedule),
        (rate,),
    )


def test_a_dynamics_owns_its_state():
    """A second-order equation as a first-order one: position and velocity."""

    class Oscillator(Dynamics):
        name = "oscillator"
        is_fixed_linear = False

        def start(self, graph, x):
            def rhs(t, state):
                position, velocity = state
                return torch.stack([velocity, -position])

            initial = torch.stack([x, torch.zeros_like(x)])
            return Flow(initial, rhs, readout=lambda state: state[0])

    operator = build_operator(random_directed(4, 2))
    x = noise(4)
    step = 0.01
    schedule = Schedule(1.0, step, "corrector")
    found = diffuse_stepped(Oscillator(), operator, x, 1.0, schedule)
    # Heun's method errs by h^3 / 6 in each step and, beside it, by h^4 / 8.
    error = step**2 / 6 + step**3 / 8
    assert_within(found, x * math.cos(1.0), error * x.abs())


def test_the_exact_solver_does_not_step():
    with pytest.raises(InputError, match="'exact' does not step"):
        run_segments(Flow(torch.ones(1), lambda _, y: -y), 0.5, Schedule(1, 1, "exact"))
