"""Small special functions that the schemes' weights and stability limits need."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def power_differences(count: int, exponent: float) -> NDArray[np.float64]:
    """Return `(m + 1)^exponent - m^exponent` for m = 0, ..., count - 1.

    At exponent 0 this is 1, 0, 0, ...: the limit from above, in which `0^0 = 0`.
    """
    grid = np.arange(count + 1, dtype=np.float64)
    powers = grid**exponent
    powers[0] = 0.0
    return np.diff(powers)


def eta_at_negative(x: float) -> float:
    """Return the Dirichlet eta function at -x, for 0 <= x <= 2.

    By the reflection formula of zeta; `eta(0) = 1/2`.
    """
    # Here, so that `import fdgcl` need not load it.
    from scipy.special import zeta

    if x == 0:
        return 0.5
    reflected = -(2.0**-x) * math.pi ** (-x - 1) * math.sin(math.pi * x / 2)
    zeta_at_minus_x = reflected * math.gamma(1 + x) * float(zeta(1 + x))
    return float((1 - 2.0 ** (1 + x)) * zeta_at_minus_x)
