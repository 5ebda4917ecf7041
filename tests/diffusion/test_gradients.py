"""What the ways to a gradient keep, measured, and what they refuse."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import torch

from fdgcl.diffusion import GRADIENTS, Schedule
from fdgcl.diffusion.dynamics import Flow
from fdgcl.diffusion.solvers import SteppingScheme, Weights
from fdgcl.diffusion.stepping import diffuse_stepped, run_segments
from fdgcl.operators.in_memory import build_operator
from tolerances import assert_agree

from .cases import STEPPING, noise, random_symmetric
from .contract import Case
from .memory import LiveTensors

NODES, DIM = 40, 4
STEPS = (16, 64, 256)
GREAD = Case("gread", {"reaction": "fisher"})


@cache
def operator():
    return build_operator(random_symmetric(NODES))


@cache
def states_kept(way, order, steps, solver="predictor", window=None, case=GREAD):
    """The most states alive at once, forward and backward together."""
    dynamics, x = case.build(dim=DIM), noise(NODES, DIM).requires_grad_()
    schedule = Schedule(steps * 0.01, 0.01, solver, window=window)
    # What is made once (tensors of the operator) does not count.
    diffuse_stepped(dynamics, operator(), x, order, Schedule(0.01, 0.01)).sum()
    with LiveTensors(NODES * DIM) as live:
        diffuse_stepped(dynamics, operator(), x, order, schedule, way).sum().backward()
    return live.most


def growth(way, order, *others, steps=STEPS):
    """States that each further step keeps."""
    fewer, more = (states_kept(way, order, n, *others) for n in steps[-2:])
    return (more - fewer) / (steps[-1] - steps[-2])


class Euler(SteppingScheme):
    """A scheme of states that looks back at none but the newest."""

    keeps = "state"

    def predict(self, k, order, window):
        return Weights(initial=0.0, past=np.empty(0), slope=1.0, newest=1.0)

    def convergence_order(self, order):
        return 1.0

    def stability_limit(self, order):
        return 2.0


@pytest.mark.parametrize("way", GRADIENTS)
def test_a_scheme_without_a_history_of_its_states(way):
    found = []
    for solver in ("predictor", Euler()):
        dynamics, x = GREAD.build(dim=DIM), noise(NODES, DIM).requires_grad_()
        schedule = Schedule(0.8, 0.1, solver)
        result = diffuse_stepped(dynamics, operator(), x, 1.0, schedule, way)
        result.square().sum().backward()
        found.append((result.detach(), x.grad, dynamics.weights.grad))
    for ours, known in zip(*found, strict=True):
        assert_agree(ours, known)


def test_the_counter_counts():
    with LiveTensors(10) as live:
        first = torch.ones(10)
        view = first[2:]
        second = view * 2
        del second
        third = torch.ones(30)
        del first
        third += 1
    assert live.most == pytest.approx(1 + 3)
    assert view.sum() == 8
    x = torch.ones(10, requires_grad=True)
    with LiveTensors(10) as live:
        y = x
        for _ in range(5):
            y = torch.sin(y)
    # Autograd holds every argument of a sine but the first, which was there before.
    assert live.most == pytest.approx(5)


@pytest.mark.parametrize("solver", ["predictor", "gl"])
def test_autograd_keeps_what_the_right_hand_side_computes_in_every_step(solver):
    assert growth("autograd", 0.5, solver, steps=(16, 64)) >= 2
    nonlinear = Case("grand-nonlinear", {"heads": 2, "width": 8})
    assert growth("autograd", 0.5, solver, 4, nonlinear, steps=(16, 64)) > 8


@pytest.mark.parametrize("solver", STEPPING)
@pytest.mark.parametrize(("order", "window"), [(1.0, 1), (0.5, None), (0.5, 4)])
def test_the_adjoint_keeps_one_state_of_each_step(solver, order, window):
    each = 2 if solver == "corrector" else 1
    # Counting takes time: the longest run for one solver, as they share the code.
    ladder = STEPS if solver == "predictor" else STEPS[:2]
    for steps in ladder:
        assert states_kept("adjoint", order, steps, solver, window) <= each * steps + 14
    found = growth("adjoint", order, solver, window, steps=ladder)
    # Less than one state more over all of the 48 further steps.
    assert found == pytest.approx(each, abs=1 / 48)


def test_the_adjoint_keeps_nothing_of_a_dear_right_hand_side():
    """Only the constant is larger: what one evaluation holds while it runs."""
    nonlinear = Case("grand-nonlinear", {"heads": 2, "width": 8})
    found = growth("adjoint", 0.5, "predictor", 4, nonlinear, steps=(16, 64))
    assert found == pytest.approx(1, abs=1 / 48)


@pytest.mark.parametrize("solver", ["predictor", "gl"])
def test_checkpoints_keep_a_root_of_the_steps_without_memory(solver):
    for steps in STEPS:
        assert states_kept("checkpoint", 1.0, steps, solver) <= 14 + 3 * steps**0.5
    assert states_kept("checkpoint", 1.0, 256, solver) < 256 / 4


@pytest.mark.parametrize(
    ("solver", "window"), [*((name, 4) for name in STEPPING), ("l1", 1), ("gl", 9)]
)
def test_checkpoints_keep_a_root_of_steps_times_window(solver, window):
    each = 4.5 if solver == "corrector" else 3
    for steps in STEPS if solver in ("predictor", "l1") else STEPS[:2]:
        found = states_kept("checkpoint", 0.5, steps, solver, window)
        assert found <= 14 + each * math.sqrt(steps * window) + 2 * window


@pytest.mark.parametrize("solver", ["predictor", "gl"])
def test_a_full_memory_leaves_checkpoints_nothing_to_save(solver):
    with_checkpoints = states_kept("checkpoint", 0.5, 64, solver)
    assert with_checkpoints <= states_kept("adjoint", 0.5, 64, solver) + 2


@pytest.mark.parametrize("way", ["adjoint", "checkpoint"])
@pytest.mark.parametrize("solver", STEPPING)
@pytest.mark.parametrize(("order", "window"), [(1.0, None), (0.5, None), (0.5, 5)])
def test_many_steps_have_the_gradient_of_autograd(way, solver, order, window):
    schedule = Schedule(1, 0.05, solver, window=window)
    found = []
    for each in ("autograd", way):
        dynamics = Case("cde").build(dim=DIM)
        x = noise(NODES, DIM).requires_grad_()
        value = diffuse_stepped(dynamics, operator(), x, order, schedule, each)
        (value * noise(NODES, DIM, seed=1)).sum().backward()
        found.append((value.detach(), x.grad, dynamics.matrix.grad))
    for expected, other in zip(*found, strict=True):
        assert_agree(other, expected)


@pytest.mark.parametrize("way", ["adjoint", "checkpoint"])
@pytest.mark.parametrize("solver", STEPPING)
def test_the_way_back_is_taken_at_the_times_of_the_way_there(way, solver):
    found = []
    for each in ("autograd", way):
        start, rate = noise(3).requires_grad_(), noise(3, seed=1).requires_grad_()

        def rhs(t, y, rate=rate):
            return math.cos(3 * t) * torch.sin(rate * y) + t

        flow = Flow(start, rhs, (rate,))
        value = run_segments(flow, 0.6, Schedule(2, 0.25, solver, 2), each)
        found.append(torch.autograd.grad(value.square().sum(), (start, rate)))
    for expected, other in zip(*found, strict=True):
        assert_agree(other, expected)


@pytest.mark.parametrize("way", GRADIENTS)
@pytest.mark.parametrize("solver", STEPPING)
def test_a_right_hand_side_may_depend_on_nothing(way, solver):
    start = noise(3).requires_grad_()
    flow = Flow(start, lambda t, y: torch.ones_like(y))
    value = run_segments(flow, 0.6, Schedule(2, 0.25, solver), way)
    (found,) = torch.autograd.grad(value.sum(), start)
    assert_agree(found, torch.ones_like(start))


@pytest.mark.parametrize("way", ["adjoint", "checkpoint"])
def test_the_states_are_gone_after_the_first_backward_pass(way):
    x = noise(NODES, DIM).requires_grad_()
    dynamics = GREAD.build(dim=DIM)
    value = diffuse_stepped(dynamics, operator(), x, 0.5, Schedule(1, 0.5), way).sum()
    value.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="states were freed by the first backward"):
        value.backward()


@pytest.mark.parametrize("way", ["adjoint", "checkpoint"])
def test_second_derivatives_are_refused_rather_than_wrong(way):
    x = noise(NODES, DIM).requires_grad_()
    dynamics = GREAD.build(dim=DIM)
    value = diffuse_stepped(dynamics, operator(), x, 0.5, Schedule(1, 0.5), way)
    weights = noise(NODES, DIM, seed=1).requires_grad_()
    (first,) = torch.autograd.grad((value * weights).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="twice"):
        first.sum().backward()


@pytest.mark.parametrize("way", GRADIENTS)
def test_no_history_is_kept_where_no_gradient_is_wanted(way):
    x = noise(NODES, DIM)
    schedule = Schedule(2.56, 0.01, "predictor", window=4)
    dynamics = GREAD.build(dim=DIM)
    with torch.no_grad(), LiveTensors(NODES * DIM) as live:
        diffuse_stepped(dynamics, operator(), x, 0.5, schedule, way)
    assert live.most <= 4 + 10


@pytest.mark.parametrize("way", ["adjoint", "checkpoint"])
def test_gradients_of_parameters_alone(way):
    """The features need none of their own."""
    found = []
    for each in ("autograd", way):
        dynamics = Case("grand-nonlinear", {"width": 3}).build(dim=DIM)
        x = noise(NODES, DIM)
        value = diffuse_stepped(dynamics, operator(), x, 0.5, Schedule(2, 0.5), each)
        value.square().sum().backward()
        found.append([p.grad for p in dynamics.parameters()])
    for expected, other in zip(*found, strict=True):
        assert_agree(other, expected)
