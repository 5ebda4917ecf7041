"""What a solver is: data about a scheme. The time loop lives in `stepping`."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError


class Solver(abc.ABC):
    """A way to solve `D^order y = F(t, y)`, `y(0)` given, order in (0, 1].

    Attributes:
        name: The name users choose it by; by default that of the class.
        derivative: The kind of fractional derivative it solves for.
        needs_linear: Whether F must be linear in y with a fixed operator.
    """

    name: ClassVar[str]
    derivative: ClassVar[str] = "caputo"
    needs_linear: ClassVar[bool]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = cls.__name__


@dataclass(frozen=True)
class Weights:
    """One update: `initial*y0 + newest*y + sum(past*history) + slope*h^order*F(y)`.

    `past` weighs the newest `len(past)` entries of the history, oldest first. Weights
    of right-hand sides are still to be scaled by `h^order`, those of states are not.
    `newest` weighs the state y that the step starts from.
    """

    initial: float
    past: NDArray[np.float64]
    slope: float = 0.0
    newest: float = 0.0


class SteppingScheme(Solver):
    """An explicit scheme, given by the weights of each step.

    Attributes:
        keeps: What its history holds: past right-hand sides or past states.
        evaluations_per_step: How often F is evaluated in one step.
    """

    needs_linear = False
    keeps: ClassVar[Literal["rhs", "state"]]
    evaluations_per_step: ClassVar[int] = 1

    @abc.abstractmethod
    def predict(self, k: int, order: float, window: int) -> Weights:
        """Weights of `y_{k+1}` from the newest `window` entries of steps 0..k."""

    def correct(self, k: int, order: float, window: int) -> Weights:  # noqa: ARG002
        """Weights of the correction, `slope` being that of F at the predicted state."""
        message = f"{self.name} has no corrector"
        raise InputError(message)

    @abc.abstractmethod
    def convergence_order(self, order: float) -> float:
        """The least q such that the error at a fixed time falls like `h^q`."""

    @abc.abstractmethod
    def stability_limit(self, order: float) -> float:
        """The z below which `D^order y = -m y` is solved stably, `z = h^order * m`."""
