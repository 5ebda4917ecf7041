"""A scheme's steps as one linear recurrence between states and right-hand sides."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from torch import Tensor

from fdgcl.diffusion.dynamics.base import RightHandSide
from fdgcl.diffusion.solvers import SteppingScheme, Weights


@dataclass(frozen=True, eq=False)
class Recurrence:
    """The weights of every step of a scheme, each used as it stands.

    Attributes:
        scheme: The scheme.
        order: In (0, 1].
        step: Size of a step.
        steps: Number of steps.
        window: The newest entries of the history that count; None for all.
    """

    scheme: SteppingScheme
    order: float
    step: float
    steps: int
    window: int | None = None

    @cached_property
    def predictions(self) -> list[Weights]:
        """Step by step, the weights of the explicit part."""
        return [self._scaled(self.scheme.predict, k) for k in range(self.steps)]

    @cached_property
    def corrections(self) -> list[Weights]:
        """Step by step, the weights of the correction; none without one."""
        if self.scheme.evaluations_per_step == 1:
            return []
        return [self._scaled(self.scheme.correct, k) for k in range(self.steps)]

    def _scaled(self, weigh: Callable[[int, float, int], Weights], k: int) -> Weights:
        newest = self.steps if self.window is None else self.window
        found = weigh(k, self.order, newest)
        scale = self.step**self.order
        past = found.past * scale if self.scheme.keeps == "rhs" else found.past
        # Where only the newest entries weigh anything, only those are kept.
        first = int(np.argmax(past != 0)) if np.any(past != 0) else len(past)
        return replace(found, past=past[first:], slope=found.slope * scale)

    @cached_property
    def reach(self) -> int:
        """How many entries of the history a step sums over, at most."""
        return max(len(w.past) for w in (*self.predictions, *self.corrections))

    @property
    def derives_states(self) -> bool:
        """Whether a state follows from the kept right-hand sides alone."""
        simple = not self.corrections and all(w.newest == 0 for w in self.predictions)
        return self.scheme.keeps == "rhs" and simple

    def checkpoint_distance(self) -> int:
        """Steps between two checkpoints that keep the fewest states in all."""
        return min(self.steps, math.ceil(math.sqrt(self.steps * max(self.reach, 1))))


@dataclass(eq=False)
class Trajectory:
    """A recurrence on its way.

    Attributes:
        recurrence: The recurrence.
        rhs: The right-hand side.
        initial: The state at time 0.
        state: The state after the steps done.
        k: Steps done.
        history: The newest entries of the history, of step k - 1 the last.
    """

    recurrence: Recurrence
    rhs: RightHandSide
    initial: Tensor
    state: Tensor
    k: int = 0
    history: list[Tensor] = field(default_factory=list)

    def advance(self, keep: int | None = None) -> None:
        """Do one step, and keep so many entries of the history (or its reach)."""
        recurrence, k = self.recurrence, self.k
        time = k * recurrence.step
        slope = self.rhs(time, self.state)
        self.history.append(slope if recurrence.scheme.keeps == "rhs" else self.state)
        weights = recurrence.predictions[k]
        ahead = combine(weights, self.initial, self.state, self.history, slope)
        if recurrence.corrections:
            there = self.rhs(time + recurrence.step, ahead)
            weights = recurrence.corrections[k]
            ahead = combine(weights, self.initial, self.state, self.history, there)
        self.state = ahead
        self.k += 1
        surplus = len(self.history) - (recurrence.reach if keep is None else keep)
        del self.history[: max(surplus, 0)]


def combine(
    weights: Weights,
    initial: Tensor,
    newest: Tensor,
    history: Sequence[Tensor],
    slope: Tensor | None,
) -> Tensor:
    """One update, by weights that are scaled already."""
    # A fresh tensor, then sums in place: nothing is stacked, and the sums leave
    # nothing behind for the backward pass.
    total = initial * weights.initial
    if weights.newest:
        total.add_(newest, alpha=weights.newest)
    recent = history[len(history) - len(weights.past) :]
    for weight, entry in zip(weights.past, recent, strict=True):
        if weight:
            total.add_(entry, alpha=float(weight))
    if weights.slope and slope is not None:
        total.add_(slope, alpha=weights.slope)
    return total
