"""Bases of polynomials of the graph, each term made of the two before it.

With A the operator and `L = I - A`:

    t_0 = x,    t_(k+1) = product_k A t_k + current_k t_k + previous_k t_(k-1)

- `orthogonal`: orthonormal with respect to the graph's spectral density, as Lanczos'
  recurrence found it. The coefficients of p then have the size of what p leaves of
  random features, so that nothing cancels in their sum, however much p amplifies
  frequencies that are rare.
- `chebyshev`: bounded by 1 on [0, lambda_max]. Needs no more than lambda_max.
- `powers` of A, for a complex spectrum in the unit disc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fdgcl.operators.lanczos import Tridiagonal

# Terms are divided by the entries beside the diagonal; smaller ones cost digits.
SMALLEST_BESIDE = 1e-3


@dataclass(frozen=True, eq=False)
class Basis:
    """The weights of a recurrence of three terms.

    Attributes:
        product: Of `A t_k`, one for each k.
        current: Of `t_k`.
        previous: Of `t_(k-1)`; the first one is 0.
        is_fitted: Whether terms are orthogonal on the graph's own spectrum.
    """

    product: NDArray[np.float64]
    current: NDArray[np.float64]
    previous: NDArray[np.float64]
    is_fitted: bool = False


def chebyshev_basis(lambda_max: float, products: int) -> Basis:
    """`T_k(2 L / lambda_max - I)`."""
    # T_(k+1) = 2 B T_k - T_(k-1), where B maps the spectrum to [-1, 1]; T_1 = B.
    twice = np.where(np.arange(products) > 0, 2.0, 1.0)
    return Basis(
        product=-2 / lambda_max * twice,
        current=(2 / lambda_max - 1) * twice,
        previous=np.where(np.arange(products) > 0, -1.0, 0.0),
    )


def power_basis(products: int) -> Basis:
    """`A^k`."""
    return Basis(np.ones(products), np.zeros(products), np.zeros(products))


def orthogonal_basis(found: Tridiagonal, products: int) -> Basis | None:
    """Polynomials orthonormal on a spectral density; None where it has no such."""
    beside = found.beside[:products]
    # One step more than products: its diagonal entry enters the coefficients.
    if len(found.diagonal) <= products or np.any(beside < SMALLEST_BESIDE):
        return None
    before = np.concatenate([np.zeros(1), beside])[:products]
    # Lanczos' own recurrence, of A: beside_k t_(k+1) = (A - diagonal_k) t_k - ...
    return Basis(
        product=1 / beside,
        current=-found.diagonal[:products] / beside,
        previous=-before / beside,
        is_fitted=True,
    )
