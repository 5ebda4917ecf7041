"""What is known of a trial, in plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

State = Literal["complete", "pruned", "failed", "interrupted", "running", "waiting"]
Scores: TypeAlias = tuple[tuple[float, ...], ...]  # for each seed, one a split


@dataclass(frozen=True)
class Record:
    """One trial.

    Attributes:
        number: From 0.
        state: `pruned` stopped early, `failed` gave no score, `interrupted` was cut off
            and queued again.
        value: Mean validation accuracy of what was scored.
        scores: Validation accuracies by seed and split; empty unless complete.
        settings: Of the model.
        values: Where it lies in the space.
        seconds: How long it took.
        reason: Why it stopped early or failed.
        is_start: Whether these are the starting settings.
    """

    number: int
    state: State
    value: float | None
    scores: Scores
    settings: dict[str, Any]
    values: dict[str, Any]
    seconds: float
    reason: str
    is_start: bool

    @property
    def error(self) -> float:
        """Standard error of the value."""
        return standard_error(self.scores)

    def changes(self, start: dict[str, Any]) -> dict[str, Any]:
        """The settings that differ from the starting ones."""
        return {
            name: value
            for name, value in self.settings.items()
            if value != start.get(name)
        }


def mean(scores: Sequence[Sequence[float]]) -> float:
    """Mean over seeds and splits."""
    return float(np.mean([value for row in scores for value in row]))


def standard_error(scores: Sequence[Sequence[float]]) -> float:
    """Standard error of the mean: over splits, or over seeds where there is one split.

    Seeds share the splits, so they are averaged first. With a single split it says
    how much luck there is in the seed, not in which nodes validate.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.size == 0:
        return 0.0
    units = table.mean(axis=0) if table.shape[1] > 1 else table[:, 0]
    return float(units.std(ddof=1) / np.sqrt(len(units))) if len(units) > 1 else 0.0
