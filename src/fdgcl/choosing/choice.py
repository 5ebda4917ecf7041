"""What a quick choice found: each setting's validation score, and which was taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# What is as large as its standard error is not larger by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Tried:
    """Settings that were tried.

    Attributes:
        name: What the portfolio calls them.
        purpose: What they are for.
        changes: What differs from the settings given.
        scores: Validation accuracies, one for each split.
        held: Validation nodes of a split.
    """

    name: str
    purpose: str
    changes: dict[str, Any]
    scores: tuple[float, ...]
    held: int

    @property
    def mean(self) -> float:
        """Mean validation accuracy.

        Example:
            >>> Tried("defaults", "", {}, (0.5, 0.7), held=20).mean
            0.6
        """
        return float(np.mean(self.scores))

    @property
    def error(self) -> float:
        """Its standard error: over splits, or of a share where there is one split.

        Example:
            >>> round(Tried("defaults", "", {}, (0.8,), held=100).error, 3)
            0.04
        """
        if len(self.scores) == 1:
            return _of_share(self.mean, self.held)
        return _over_splits(self.scores)

    def error_beside(self, other: Tried) -> float:
        """The standard error of the difference to other settings.

        Over splits it is that of the differences split by split. With a single split it
        is that of a share of its validation nodes.
        """
        if len(self.scores) == 1:
            return _of_share((self.mean + other.mean) / 2, self.held)
        pairs = zip(self.scores, other.scores, strict=True)
        return _over_splits([one - two for one, two in pairs])

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "name": self.name,
            "purpose": self.purpose,
            "changes": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in self.changes.items()
            },
            "validation": self.mean,
            "standard_error": self.error,
            "scores": list(self.scores),
        }


@dataclass(frozen=True)
class Choice:
    """What was tried, and what was taken.

    Attributes:
        tried: All that has a score, the best first.
        taken: That which was taken.
        why: Why, in a sentence.
        settings: Those to make the model of.
        splits: What was scored on.
        notices: What was left out or dropped, and why.
        seconds: Spent on choosing.
    """

    tried: tuple[Tried, ...]
    taken: Tried
    why: str
    settings: dict[str, Any]
    splits: str
    notices: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        """A line for each, the best first, and the sentence."""
        width = max(len(one.name) for one in self.tried)
        lines = [
            f"{one.name:{width}}  {100 * one.mean:6.2f} ± {100 * one.error:.2f}"
            for one in self.tried
        ]
        return "\n".join([*lines, self.why])

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "taken": self.taken.to_dict(),
            "why": self.why,
            "tried": [one.to_dict() for one in self.tried],
            "splits": self.splits,
            "seconds": self.seconds,
        }


def decide(tried: Sequence[Tried], default: Tried | None) -> tuple[Tried, str]:
    """Take the best that is clearly better than the defaults, and say why.

    Args:
        tried: All that has a score, at least one.
        default: The defaults among them; None where these could not be scored.

    Example:
        >>> default = Tried("defaults", "", {}, (0.70, 0.72), held=50)
        >>> noisy = Tried("linear", "", {}, (0.80, 0.65), held=50)
        >>> decide([noisy, default], default)[0].name
        'defaults'
        >>> better = Tried("relu", "", {}, (0.80, 0.80), held=50)
        >>> decide([better, noisy, default], default)[0].name
        'relu'
    """
    best = max(tried, key=lambda one: one.mean)
    if default is None:
        why = (
            f"{best.name!r} is taken, which validates best "
            f"({_percent(best.mean)} %); the defaults could not be scored"
        )
        return best, why
    splits = len(default.scores)
    over = f"over {splits} splits" if splits > 1 else f"of {default.held:,} nodes"
    clear = [
        one
        for one in tried
        if one.mean - default.mean > one.error_beside(default) + _ROUNDING
    ]
    if clear:
        best = max(clear, key=lambda one: one.mean)
        why = (
            f"{best.name!r} is taken: validation accuracy {_percent(best.mean)} %, "
            f"{_percent(best.mean - default.mean)} points above the defaults (standard "
            f"error {_percent(best.error_beside(default))} {over})"
        )
        return best, why
    if best.mean > default.mean:
        why = (
            f"the defaults stand ({_percent(default.mean)} %): nothing is better by "
            f"more than the standard error {over} (the best, {best.name!r}, is so by "
            f"{_percent(best.mean - default.mean)} points, standard error "
            f"{_percent(best.error_beside(default))})"
        )
    else:
        why = f"the defaults stand: nothing validates better ({_percent(best.mean)} %)"
    return default, why


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _of_share(share: float, count: int) -> float:
    return math.sqrt(max(share * (1 - share), 0.0) / max(count, 1))


def _over_splits(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))
