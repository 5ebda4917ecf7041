"""What one setting may be: a range of numbers, or a list of choices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

import numpy as np

from fdgcl.tuning.formulas import is_number

if TYPE_CHECKING:
    from optuna.trial import Trial

Value: TypeAlias = str | bool | int | float
DIGITS = 4  # of a searched number: more would say nothing


@final
@dataclass(frozen=True)
class Range:
    """Numbers from low to high, both included; whole ones if both ends are.

    Attributes:
        low: The smallest.
        high: The largest.
        log: Whether they are searched on a logarithmic scale.
        step: Distance of allowed numbers from each other; None for any.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are meant."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def holds(self, value: Any) -> bool:
        """Whether a value is one of these."""
        if not is_number(value):
            return False
        if not self.low <= value <= self.high:
            return False
        grid = self.step or (1 if self.whole else None)
        if grid is None:
            return True
        steps = (value - self.low) / grid
        return abs(steps - round(steps)) < 1e-9

    def own(self, value: Value) -> Value:
        """A value that is one of these, as it is written here: 3.0 may be 3."""
        return int(value) if self.whole else value

    def examples(self) -> tuple[Value, ...]:
        """Both ends."""
        return (self.low, self.high)

    def draw(self, rng: np.random.Generator) -> Value:
        """One at random."""
        if self.whole or self.step:
            grid = self.step or 1
            count = math.floor((self.high - self.low) / grid + 1e-9)
            return self._tidy(self.low + grid * int(rng.integers(count + 1)))
        if self.log:
            ends = np.log(self.low), np.log(self.high)
            return self._tidy(float(np.exp(rng.uniform(*ends))))
        return self._tidy(float(rng.uniform(self.low, self.high)))

    def suggest(self, trial: Trial, name: str) -> Value:
        """Let a sampler choose one."""
        if self.whole:
            low, high, step = int(self.low), int(self.high), int(self.step or 1)
            return trial.suggest_int(name, low, high, step=step, log=self.log)
        return self._tidy(
            trial.suggest_float(name, self.low, self.high, step=self.step, log=self.log)
        )

    def position(self, value: Any) -> float:
        """Where a value lies between the ends: 0 to 1."""
        if self.high == self.low:
            return 0.0
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return float((value - self.low) / (self.high - self.low))

    def _tidy(self, value: float) -> Value:
        if self.whole:
            return round(value)
        return min(max(float(f"{value:.{DIGITS}g}"), self.low), self.high)


@final
@dataclass(frozen=True)
class Choices:
    """Some values, in no order."""

    values: tuple[Value, ...]

    def holds(self, value: Any) -> bool:
        """Whether a value is one of these; true is not 1."""
        return any(
            value == one and isinstance(value, bool) == isinstance(one, bool)
            for one in self.values
        )

    def own(self, value: Value) -> Value:
        """A value that is one of these, as it is written here: 512.0 may be 512."""
        return next(one for one in self.values if Choices((one,)).holds(value))

    def examples(self) -> tuple[Value, ...]:
        """All of them."""
        return self.values

    def draw(self, rng: np.random.Generator) -> Value:
        """One at random."""
        return self.values[int(rng.integers(len(self.values)))]

    def suggest(self, trial: Trial, name: str) -> Value:
        """Let a sampler choose one."""
        return cast(Value, trial.suggest_categorical(name, self.values))
