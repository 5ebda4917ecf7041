"""Numbers as people read them."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """Four digits that matter; whole numbers whole, thousands apart."""
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "-∞"}.get(value, "not a number")
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:.4g}"


def percent(mean: float, std: float | None = None) -> str:
    """Fractions in percent, as `83.76 ± 0.41`."""
    spread = "" if std is None else f" ± {100 * std:.2f}"
    return f"{100 * mean:.2f}{spread}"


def plural(count: int, word: str) -> str:
    """As `1 epoch` and `1,200 epochs`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
