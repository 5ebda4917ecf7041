"""How long, in which steps, by which solver, with which skip connections."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from fdgcl._checks import MOST_STEPS, InputError, check_count, check_positive, choose
from fdgcl.diffusion.solvers import Solver, SteppingScheme, build_solver

Skip = Literal["none", "end", "every-step"] | int


@dataclass(frozen=True)
class Schedule:
    """The time axis of a diffusion, validated.

    Attributes:
        time: T, when the diffusion stops.
        step: h, the size of a step; there are ceil(T / h) of them.
        solver: The solver: its name, its import path, or itself.
        skip: When the initial features are added again: never, at the end, after every
            step, or after each of m equal segments. The memory restarts with each.
        window: The newest history entries a step sums over; None for all of them.

    Example:
        >>> schedule = Schedule(time=3, step=0.5, solver="gl")
        >>> schedule.steps, schedule.products()
        (6, 6)
    """

    time: float
    step: float
    solver: str | Solver = "predictor"
    skip: Skip = "none"
    window: int | None = None

    def __post_init__(self) -> None:
        self._set("time", check_positive("time", self.time))
        self._set("step", check_positive("step", self.step))
        if self.step > self.time * (1 + 1e-9):
            message = (
                f"step must not exceed time, got step {self.step:g} and "
                f"time {self.time:g}"
            )
            raise InputError(message)
        if self.time / self.step > MOST_STEPS:
            message = (
                f"there must be at most {MOST_STEPS:,} steps, got time {self.time:g} "
                f"in steps of {self.step:g}"
            )
            raise InputError(message)
        assert isinstance(self.scheme, Solver)
        if self.window is not None:
            self._set("window", check_count("window", self.window))
        if self.segments and self.steps % self.segments:
            divisors = [m for m in range(1, self.steps + 1) if self.steps % m == 0]
            message = (
                f"skip={self.skip} does not divide the {self.steps} steps evenly; "
                f"allowed: none, end, every-step or one of {divisors}"
            )
            raise InputError(message)

    def _set(self, name: str, value: float) -> None:
        object.__setattr__(self, name, value)

    @property
    def steps(self) -> int:
        """Number of steps: T / h rounded up, a hair's breadth of rounding aside."""
        ratio = self.time / self.step
        nearest = round(ratio)
        if abs(ratio - nearest) <= 1e-9 * max(1.0, ratio):
            return nearest
        return math.ceil(ratio)

    @property
    def segments(self) -> int:
        """How often the initial features are added; 0 for never."""
        if isinstance(self.skip, str):
            named = {"none": 0, "end": 1, "every-step": self.steps}
            return choose("skip", self.skip, named)
        return check_count("skip", self.skip)

    @property
    def steps_per_segment(self) -> int:
        """Steps between two additions of the initial features."""
        return self.steps // max(self.segments, 1)

    @cached_property
    def scheme(self) -> Solver:
        """The solver itself."""
        return build_solver(self.solver)

    def products(self, symbol_degree: int = 1) -> int | None:
        """Degree of the diffusion as a polynomial of the graph; None if none."""
        scheme = self.scheme
        if not isinstance(scheme, SteppingScheme):
            return None
        return self.steps * scheme.evaluations_per_step * symbol_degree
