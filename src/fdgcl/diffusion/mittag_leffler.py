"""The Mittag-Leffler function `E_a(-x)`: what the exponential is to fractional orders.

`E_a(-x)` is the value at t = 1 of the solution of `D^a y = -x y, y(0) = 1`, whose
Laplace transform is `s^(a-1) / (s^a + x)`. The inverse transform is summed on a
parabola around the negative axis (Weideman and Trefethen, Parabolic and hyperbolic
contours for computing the Bromwich integral, 2007), where the integrand has no other
singularity for 0 < a < 1 and x >= 0: about 1e-13 with 32 nodes, for every x.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fdgcl._checks import InputError, check_order

CONTOUR_NODES = 32


def mittag_leffler(order: float, x: ArrayLike) -> NDArray[np.float64]:
    """Return `E_order(-x)` for `x >= 0`, elementwise.

    Args:
        order: In (0, 1]; 1 gives `exp(-x)`, and towards 0 it tends to `1 / (1 + x)`.
        x: Arguments, zero or more (the function is taken at their negatives).
    """
    check_order(order)
    values = np.asarray(x, dtype=np.float64)
    if np.any(~(values >= 0)):
        message = "mittag_leffler takes arguments x >= 0 (it returns E(-x))"
        raise InputError(message)
    if order == 1:
        return np.exp(-values)
    nodes, weights = _contour(CONTOUR_NODES)
    numerator = weights * nodes ** (order - 1)
    terms = numerator / (nodes**order + values[..., None])
    return np.asarray(terms.sum(axis=-1).real)


def mittag_leffler_taylor(
    order: float, scale: float, count: int
) -> NDArray[np.float64]:
    """Return the first coefficients of `E_order(-scale * (1 - z))` in powers of z.

    They are non-negative and sum to one: the diffusion is a mixture of walks, `z^k`
    standing for k steps. On the contour the series is geometric, term by term.
    """
    check_order(order)
    powers = np.arange(count)
    if order == 1:
        logs = powers * np.log(scale) - scale - _log_factorial(count)
        return np.asarray(np.exp(logs))
    # Above order 1/2 the ratios below exceed one near -scale^(1/order): the contour
    # must pass well outside that point. A wider one costs digits, so no wider.
    needed = 0 if order <= 0.5 else int(np.ceil(2.5 * scale ** (1 / order)))
    nodes, weights = _contour(max(CONTOUR_NODES, needed))
    shifted = nodes**order + scale
    ratios = (scale / shifted)[:, None] ** powers
    return np.asarray((weights * nodes ** (order - 1) / shifted) @ ratios).real


def _log_factorial(count: int) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count)))])[:count]


def _contour(count: int) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Nodes s on the parabola, and weights w with `sum(w * F(s)) ~ inverse at t=1`."""
    theta = np.pi * (2 * np.arange(count) + 1 - count) / count
    nodes = count * (0.1309 - 0.1194 * theta**2 + 0.2500j * theta)
    slopes = count * (-2 * 0.1194 * theta + 0.2500j)
    return nodes, np.exp(nodes) * slopes / (1j * count)
