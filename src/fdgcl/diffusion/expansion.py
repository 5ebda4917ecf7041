"""The diffusion of several orders as sums of the terms of one basis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from fdgcl.diffusion.basis import (
    Basis,
    chebyshev_basis,
    orthogonal_basis,
    power_basis,
)
from fdgcl.diffusion.dynamics import Dynamics
from fdgcl.diffusion.schedule import Schedule
from fdgcl.diffusion.spectral import (
    chebyshev_coefficients,
    disc_coefficients,
    orthogonal_coefficients,
)
from fdgcl.operators.lanczos import Tridiagonal

# Cancellation among terms costs as many digits of float32 as the sum of their sizes
# exceeds what is left of them; from here on the sums run in float64.
FLOAT32_GROWTH = 10.0


class Spectrum(Protocol):
    """What must be known of an operator A to expand a diffusion by it."""

    @property
    def has_real_spectrum(self) -> bool:
        """Whether the graph is symmetric."""

    @property
    def lambda_max(self) -> float:
        """Upper bound on the spectrum of L = I - A."""

    @property
    def tridiagonal(self) -> Tridiagonal:
        """Lanczos' view of A, where the spectrum is real."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """`p_a(L)` for several orders a.

    Attributes:
        coefficients: (orders x terms) weights of the basis.
        basis: How its terms are made.
    """

    coefficients: NDArray[np.float64]
    basis: Basis

    @classmethod
    def of(
        cls,
        dynamics: Dynamics,
        spectrum: Spectrum,
        schedule: Schedule,
        orders: Sequence[float],
    ) -> Self:
        """Find the polynomial of a fixed linear dynamics on a graph."""
        if not spectrum.has_real_spectrum:
            rows = disc_coefficients(dynamics, schedule, orders)
            return cls(rows, power_basis(rows.shape[1] - 1))
        degree = schedule.products(dynamics.products)
        if degree is not None:
            density = spectrum.tridiagonal
            fitting = orthogonal_basis(density, degree)
            if fitting is not None:
                rows = orthogonal_coefficients(dynamics, schedule, orders, density)
                return cls(rows, fitting)
        top = max(spectrum.lambda_max, 1e-6)
        rows = chebyshev_coefficients(dynamics, schedule, orders, top)
        return cls(rows, chebyshev_basis(top, rows.shape[1] - 1))

    @property
    def products(self) -> int:
        """Sparse products in one pass."""
        return int(self.coefficients.shape[1]) - 1

    @property
    def needs_float64(self) -> bool:
        """Whether terms may cancel so much that float32 sums would show it."""
        sizes = np.abs(self.coefficients).sum(axis=1)
        return not self.basis.is_fitted and float(sizes.max()) > FLOAT32_GROWTH
