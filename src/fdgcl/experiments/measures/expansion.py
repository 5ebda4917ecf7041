"""The expansion for large times on which the theorem's proof rests.

With x = rate * lambda * tau^a the solution is `E_a(-x)`, and for large x

    E_a(-x) = sum over j of (-1)^(j+1) / Gamma(1 - j a) * x^-j

(Erdelyi et al., Higher Transcendental Functions III, 1955, section 18.1): its signs
alternate. An encoder that adds its input after each of m stretches of length tau
multiplies a frequency by `1 + E + ... + E^m`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import rgamma

from fdgcl._checks import check_order

_ROUNDING = 1e-12


def num_terms(order: float) -> int:
    """The largest n with `n * order < 1`: terms that fall slower than 1 / tau."""
    check_order(order)
    return math.ceil(round(1 / order, 9)) - 1


def coefficients(
    order: float, segments: int, terms: int | None = None
) -> NDArray[np.float64]:
    """Coefficients of `x^-1, x^-2, ...` in the response for large x.

    Args:
        order: In (0, 1].
        segments: m, how often the input is added; 0 for never, the solution alone.
        terms: How many; by default those that fall slower than 1 / tau.

    Returns:
        The coefficients, 0 where rounding hides the sign.
    """
    count = num_terms(order) if terms is None else terms
    j = np.arange(1, count + 1)
    once = np.concatenate([[0.0], (-1.0) ** (j + 1) * rgamma(1 - j * order)])
    total = _sum_of_powers(once, max(segments, 1))
    # Where larger terms cancel, what is left is rounding and has no sign.
    certain = np.abs(total) > _ROUNDING * _sum_of_powers(np.abs(once), max(segments, 1))
    return np.where(certain, total, 0.0)[1:]


def _sum_of_powers(series: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """`s + s^2 + ... + s^count` of a power series, to its own length."""
    power = np.zeros_like(series)
    power[0] = 1.0
    total = np.zeros_like(series)
    for _ in range(count):
        power = np.convolve(power, series)[: len(series)]
        total += power
    return total


def log10_time(order: float, rate: float, frequency: float) -> float:
    """Decimal logarithm of the time at which `rate * frequency * tau^order` is 10."""
    return math.log10(10 / (rate * frequency)) / order
