"""The gradient through all steps by the discrete adjoint of the recurrence.

The recurrence is linear but for F, so its adjoint runs the same weights backwards: the
gradient with respect to an entry of the history is a sum over the later steps that used
it, and F enters only by its vector-Jacobian product at each state. Nothing that F
computes in one step outlives that step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fdgcl.diffusion.dynamics.base import RightHandSide
from fdgcl.diffusion.recurrence import Recurrence, Trajectory, combine


@dataclass(eq=False)
class _Problem:
    """What is solved, and what a forward pass kept of it.

    Attributes:
        recurrence: The steps.
        rhs: F.
        tensors: What F depends on besides the state.
        every: Steps between two checkpoints; all of them for one at the start.
        checkpoints: (k, state, history before step k).
        last: The last stretch, which the forward pass leaves ready to go back through.
    """

    recurrence: Recurrence
    rhs: RightHandSide
    tensors: tuple[Tensor, ...]
    every: int
    checkpoints: list[Trajectory] = field(default_factory=list)
    last: _Stretch | None = None


@dataclass(eq=False)
class _Stretch:
    """Steps `first` to `end - 1`, run without gradient, ready to go back through.

    Attributes:
        first: The first step.
        end: One after the last.
        start: The state before the first step.
        history: Entries up to that of step `end - 1`, of earlier steps as needed.
        states: The state before each step; empty where the history gives them.
    """

    first: int
    end: int
    start: Tensor
    history: list[Tensor]
    states: list[Tensor]


def solve_with_adjoint(
    recurrence: Recurrence,
    rhs: RightHandSide,
    y0: Tensor,
    tensors: tuple[Tensor, ...],
    every: int,
) -> Tensor:
    """Run the steps, and let gradients flow to `y0` and `tensors` by the adjoint.

    Args:
        recurrence: The steps.
        rhs: F.
        y0: The initial state.
        tensors: All that F depends on besides the state and wants gradients.
        every: Steps between two checkpoints.
    """
    wanted = tuple(tensor for tensor in tensors if tensor.requires_grad)
    problem = _Problem(recurrence, rhs, wanted, every)
    result: Tensor = _Adjoint.apply(problem, y0, *wanted)  # type: ignore[no-untyped-call]
    return result


class _Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, problem: _Problem, y0: Tensor, *_: Tensor) -> Tensor:
        recurrence = problem.recurrence
        trajectory = Trajectory(recurrence, problem.rhs, y0.detach(), y0.detach())
        while trajectory.k < recurrence.steps:
            start = Trajectory(
                recurrence,
                problem.rhs,
                trajectory.initial,
                trajectory.state,
                trajectory.k,
                _needed(recurrence, trajectory.history),
            )
            problem.checkpoints.append(start)
            end = min(trajectory.k + problem.every, recurrence.steps)
            problem.last = _run(trajectory, end)
        ctx.problem = problem
        ctx.initial = trajectory.initial
        return trajectory.state.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        problem, ctx.problem = ctx.problem, None
        if problem is None:
            message = "the states were freed by the first backward pass through them"
            raise RuntimeError(message)
        sweep = _Sweep(problem, ctx.initial, gradient)
        while problem.checkpoints:
            start = problem.checkpoints.pop()
            stretch, problem.last = problem.last, None
            if stretch is None:
                stretch = _run(start, min(start.k + problem.every, sweep.k))
            del start
            sweep.go_back(stretch)
        return None, sweep.carry + sweep.to_initial, *sweep.to_tensors


def _needed(recurrence: Recurrence, history: list[Tensor]) -> list[Tensor]:
    count = min(max(recurrence.reach - 1, 0), len(history))
    return history[len(history) - count :]


@torch.no_grad()
def _run(trajectory: Trajectory, end: int) -> _Stretch:
    """Step to the end and keep what the way back needs; the trajectory goes on."""
    first, start, recurrence = trajectory.k, trajectory.state, trajectory.recurrence
    in_history = recurrence.scheme.keeps == "state" and recurrence.reach > 0
    keeps_states = in_history or recurrence.derives_states
    trajectory.history = _needed(recurrence, trajectory.history)
    states: list[Tensor] = []
    while trajectory.k < end:
        if not keeps_states:
            states.append(trajectory.state)
        # Without a reach no step looks back, and the states alone lead the way back.
        trajectory.advance(keep=recurrence.reach and recurrence.reach + end - first)
    return _Stretch(first, end, start, list(trajectory.history), states)


class _Sweep:
    """The way back.

    Attributes:
        k: The state that `carry` belongs to.
        carry: Gradient with respect to the state k.
        to_initial: Gradient that reaches the initial state past all the others.
        to_tensors: Gradients with respect to what F depends on.
    """

    def __init__(self, problem: _Problem, initial: Tensor, gradient: Tensor) -> None:
        self._problem, self._initial = problem, initial
        self._recurrence = problem.recurrence
        self.k = self._recurrence.steps
        self.carry = gradient
        self.to_initial = torch.zeros_like(initial)
        self.to_tensors = [torch.zeros_like(tensor) for tensor in problem.tensors]
        # Step by step, gradients with respect to what it predicted and corrected.
        self._predicted: dict[int, Tensor] = {}
        self._corrected: dict[int, Tensor] = {}

    def go_back(self, stretch: _Stretch) -> None:
        """Go back through one stretch, letting go of its history on the way."""
        recurrence = self._recurrence
        for k in range(stretch.end - 1, stretch.first - 1, -1):
            gradient = self.carry
            if recurrence.corrections:
                self._corrected[k] = gradient
                gradient = self._through_correction(k, stretch, gradient)
            self._predicted[k] = gradient
            weights = recurrence.predictions[k]
            if weights.initial:
                self.to_initial.add_(gradient, alpha=weights.initial)
            carry = gradient * weights.newest
            slope = gradient * weights.slope
            (slope if recurrence.scheme.keeps == "rhs" else carry).add_(self._pull(k))
            state = self._state(k, stretch)
            self.carry = carry.add_(self._through_rhs(k, state, slope))
            del stretch.history[-1:]
            # Steps whose reach ends at k are of no use to earlier ones; a step without
            # any is of use to none.
            for done in (self._predicted, self._corrected):
                done.pop(k + max(recurrence.reach, 1) - 1, None)
        self.k = stretch.first

    def _pull(self, k: int) -> Tensor:
        """Gradient with respect to entry k of the history, from all steps using it."""
        total = torch.zeros_like(self._initial)
        recurrence = self._recurrence
        pairs = (
            (recurrence.predictions, self._predicted),
            (recurrence.corrections, self._corrected),
        )
        for weights, gradients in pairs:
            for step, gradient in gradients.items():
                past, age = weights[step].past, step - k
                if age < len(past) and past[-1 - age]:
                    total.add_(gradient, alpha=float(past[-1 - age]))
        return total

    def _state(self, k: int, stretch: _Stretch) -> Tensor:
        if stretch.states:
            return stretch.states.pop()
        if self._recurrence.scheme.keeps == "state":
            return stretch.history[-1]
        if k == stretch.first:
            return stretch.start
        weights = self._recurrence.predictions[k - 1]
        entries = stretch.history[:-1]
        return combine(weights, self._initial, self._initial, entries, None)

    def _through_correction(
        self, k: int, stretch: _Stretch, gradient: Tensor
    ) -> Tensor:
        recurrence = self._recurrence
        weights = recurrence.corrections[k]
        self.to_initial.add_(gradient, alpha=weights.initial)
        newest = stretch.states[-1]
        slope = stretch.history[-1]
        ahead = combine(
            recurrence.predictions[k], self._initial, newest, stretch.history, slope
        )
        return self._through_rhs(k + 1, ahead, gradient * weights.slope)

    def _through_rhs(self, k: int, state: Tensor, gradient: Tensor) -> Tensor:
        """The vector-Jacobian product of F at a state; parameters' share is summed."""
        problem = self._problem
        with torch.enable_grad():
            state = state.detach().requires_grad_()
            value = problem.rhs(k * self._recurrence.step, state)
        if not value.requires_grad:
            return torch.zeros_like(state)
        ends: Sequence[Tensor] = (state, *problem.tensors)
        found = torch.autograd.grad(value, ends, gradient, allow_unused=True)
        for total, part in zip(self.to_tensors, found[1:], strict=True):
            if part is not None:
                total.add_(part)
        return torch.zeros_like(state) if found[0] is None else found[0]
