"""Numbers as people read them."""

from __future__ import annotations

import math

PLAIN = ("R²", "MAE")  # measures that are no shares


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


def score(measure: str, mean: float, std: float | None = None) -> str:
    """A measure as tables have it: R² and MAE plain, shares in percent."""
    if measure not in PLAIN:
        return percent(mean, std)
    digits = 3
    if measure == "MAE" and mean > 0:
        digits = max(0, 3 - math.floor(math.log10(mean)))
    spread = "" if std is None else f" ± {std:.{digits}f}"
    return f"{mean:.{digits}f}{spread}"


def plural(count: int, word: str) -> str:
    """As `1 epoch` and `1,200 epochs`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
