"""The only time loop with history, and the ways to a gradient through it.

All ways give the same states and, up to rounding, the same gradient. What differs is
what is kept for the backward pass through n steps:

- `autograd`: all that F computes in every step; the plain twin of the others;
- `adjoint`: the history, n states (2 n for the corrector). F is computed once more in
  each step backwards, and what the history frees the adjoint states take;
- `checkpoint`: about 2 sqrt(n m) states where the memory is a window of m steps, for
  one more run of the steps. Order 1 of the one-step schemes has m = 1. A full
  fractional memory admits no fewer than n: every later step sums over every state.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from fdgcl._checks import InputError, choose
from fdgcl.diffusion.adjoint import solve_with_adjoint
from fdgcl.diffusion.dynamics import Dynamics, Flow, Gathering, RightHandSide
from fdgcl.diffusion.recurrence import Recurrence, Trajectory
from fdgcl.diffusion.schedule import Schedule
from fdgcl.diffusion.solvers import SteppingScheme

Gradient = Literal["autograd", "adjoint", "checkpoint"]
GRADIENTS: tuple[str, ...] = get_args(Gradient)


def solve(
    rhs: RightHandSide,
    y0: Tensor,
    *,
    order: float,
    step: float,
    steps: int,
    scheme: SteppingScheme,
    window: int | None = None,
    gradient: Gradient = "autograd",
    tensors: tuple[Tensor, ...] = (),
) -> Tensor:
    """Step `D^order y = rhs(t, y)` from `y(0) = y0` and return the last state.

    Args:
        rhs: The right-hand side.
        y0: Initial state, of any shape, real or complex.
        order: In (0, 1].
        step: Size of a step.
        steps: Number of steps.
        scheme: The scheme's weights.
        window: Sum over the newest entries of the history only (short-memory
            principle); the states kept are then this many.
        gradient: How a gradient is found; see this module.
        tensors: What `rhs` depends on besides the state and wants gradients; only
            `autograd` finds that out by itself.
    """
    choose("gradient", gradient, dict.fromkeys(GRADIENTS))
    recurrence = Recurrence(scheme, order, step, steps, window)
    wanted = torch.is_grad_enabled() and any(
        tensor.requires_grad for tensor in (y0, *tensors)
    )
    if gradient == "autograd" or not wanted:
        trajectory = Trajectory(recurrence, rhs, y0, y0)
        for _ in range(steps):
            trajectory.advance()
        return trajectory.state
    every = recurrence.checkpoint_distance() if gradient == "checkpoint" else steps
    return solve_with_adjoint(recurrence, rhs, y0, tensors, every)


def diffuse_stepped(
    dynamics: Dynamics,
    graph: Gathering,
    x: Tensor,
    order: float,
    schedule: Schedule,
    gradient: Gradient = "autograd",
) -> Tensor:
    """Run a dynamics to its final time by stepping, skip connections included."""
    flow = dynamics.start(graph, x)
    return flow.readout(run_segments(flow, order, schedule, gradient))


def run_segments(
    flow: Flow, order: float, schedule: Schedule, gradient: Gradient = "autograd"
) -> Tensor:
    """Solve segment after segment, adding the initial state after each."""
    scheme = schedule.scheme
    if not isinstance(scheme, SteppingScheme):
        message = f"solver {scheme.name!r} does not step"
        raise InputError(message)
    state = flow.initial
    for _ in range(max(schedule.segments, 1)):
        state = solve(
            flow.rhs,
            state,
            order=order,
            step=schedule.step,
            steps=schedule.steps_per_segment,
            scheme=scheme,
            window=schedule.window,
            gradient=gradient,
            tensors=flow.tensors,
        )
        if schedule.segments:
            state = state + flow.initial
    return state
