"""How fast a quantity grows with a size: the exponent of a power, with its error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fdgcl._checks import InputError

LARGEST = 4  # sizes that a fit looks at: at smaller ones other costs show
ABOVE_FIXED = 3.0  # times the fixed cost that a value must reach to count


@dataclass(frozen=True)
class Growth:
    """A power law `value = b * size ** exponent`, by least squares of the logarithms.

    Attributes:
        exponent: Of the size.
        error: The exponent's standard error.
        sizes: Those that entered.
    """

    exponent: float
    error: float
    sizes: tuple[float, ...]


def fit_growth(
    sizes: Sequence[float], values: Sequence[float], fixed: float = 0.0
) -> Growth | None:
    """Fit a power law to the largest sizes.

    Args:
        sizes: All sizes measured, in any order.
        values: What was measured at each.
        fixed: What even the smallest problem takes. Values below three times that
            say more about it than about growth, and are left out.

    Returns:
        The fit; None where fewer than three values are left.
    """
    if len(sizes) != len(values):
        message = f"there must be a value for each size, got {sizes!r} and {values!r}"
        raise InputError(message)
    largest = sorted(zip(sizes, values, strict=True))[-LARGEST:]
    used = [
        (size, value)
        for size, value in largest
        if value > 0 and value >= ABOVE_FIXED * fixed
    ]
    if len(used) < 3:
        return None
    x, y = np.log(np.array(used)).T
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ y) / spread
    residual = y - y.mean() - slope * centred
    variance = float(residual @ residual) / (len(used) - 2) / spread
    return Growth(slope, math.sqrt(variance), tuple(size for size, _ in used))
