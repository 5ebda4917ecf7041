"""The only time loop with history. Autograd passes through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl.diffusion.dynamics import Dynamics
from fdgcl.diffusion.schedule import Schedule
from fdgcl.diffusion.solvers import SteppingScheme, Weights

RightHandSide = Callable[[float, Tensor], Tensor]


def solve(
    rhs: RightHandSide,
    y0: Tensor,
    *,
    order: float,
    step: float,
    steps: int,
    scheme: SteppingScheme,
    memory: int | None = None,
) -> Tensor:
    """Step `D^order y = rhs(t, y)` from `y(0) = y0` and return the last state.

    Args:
        rhs: The right-hand side.
        y0: Initial state, of any shape, real or complex.
        order: In (0, 1].
        step: Size of a step.
        steps: Number of steps.
        scheme: The scheme's weights.
        memory: Sum over the newest entries of the history only (short-memory
            principle); the states kept are then this many.
    """
    window = steps if memory is None else memory
    scale = step**order
    y = y0
    history: list[Tensor] = []
    for k in range(steps):
        slope = rhs(k * step, y)
        history.append(slope if scheme.keeps == "rhs" else y)
        del history[:-window]
        past_scale = scale if scheme.keeps == "rhs" else 1.0
        weights = scheme.predict(k, order, window)
        y = _combine(weights, y0, history, slope, past_scale, scale)
        if scheme.evaluations_per_step == 2:
            ahead = rhs((k + 1) * step, y)
            weights = scheme.correct(k, order, window)
            y = _combine(weights, y0, history, ahead, past_scale, scale)
    return y


def diffuse_stepped(
    dynamics: Dynamics, x: Tensor, order: float, schedule: Schedule
) -> Tensor:
    """Run a dynamics to its final time by stepping, skip connections included."""
    initial = dynamics.initial_state(x)
    return dynamics.readout(run_segments(dynamics.rhs, initial, order, schedule))


def run_segments(
    rhs: RightHandSide, initial: Tensor, order: float, schedule: Schedule
) -> Tensor:
    """Solve segment after segment, adding the initial state after each."""
    scheme = schedule.scheme
    if not isinstance(scheme, SteppingScheme):
        message = f"solver {scheme.name!r} does not step"
        raise InputError(message)
    state = initial
    for _ in range(max(schedule.segments, 1)):
        state = solve(
            rhs,
            state,
            order=order,
            step=schedule.step,
            steps=schedule.steps_per_segment,
            scheme=scheme,
            memory=schedule.memory,
        )
        if schedule.segments:
            state = state + initial
    return state


def _combine(
    weights: Weights,
    y0: Tensor,
    history: Sequence[Tensor],
    slope: Tensor,
    past_scale: float,
    slope_scale: float,
) -> Tensor:
    # A fresh tensor, then sums in place: nothing is stacked, and the sums leave
    # nothing behind for the backward pass.
    total = y0 * weights.initial if weights.initial else torch.zeros_like(y0)
    recent = history[-len(weights.past) :]
    for weight, entry in zip(weights.past, recent, strict=True):
        if weight:
            total.add_(entry, alpha=float(weight) * past_scale)
    if weights.slope:
        total.add_(slope, alpha=weights.slope * slope_scale)
    return total
