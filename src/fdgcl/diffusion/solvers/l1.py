"""The L1 scheme: the derivative of the linear interpolant, F taken one step back."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from fdgcl.diffusion.solvers.base import SteppingScheme, Weights
from fdgcl.diffusion.solvers.special import eta_at_negative, power_differences


@final
class L1(SteppingScheme):
    r"""Caputo's integral of the piecewise linear interpolant, made explicit.

    .. math:: \frac{h^{-a}}{\Gamma(2-a)} \sum_{m=0}^{k} b_m (y_{k+1-m} - y_{k-m})
        = F(y_k), \quad b_m = (m+1)^{1-a} - m^{1-a}

    Order 1 is forward Euler. Reference: Lin and Xu, Finite difference/spectral
    approximations for the time-fractional diffusion equation, 2007.
    """

    name = "l1"
    keeps = "state"

    def predict(self, k: int, order: float, window: int) -> Weights:
        """See the base class."""
        count = min(k + 1, window)
        b = power_differences(count, 1 - order)
        # Summing by parts turns weights of differences into weights of states.
        past = np.append(b[:-1] - b[1:], b[-1])
        return Weights(0.0, past[::-1], slope=math.gamma(2 - order))

    def convergence_order(self, order: float) -> float:  # noqa: ARG002
        """See the base class."""
        return 1.0

    def stability_limit(self, order: float) -> float:
        """Where the recurrence meets -1 at frequency pi."""
        return 4 * eta_at_negative(1 - order) / math.gamma(2 - order)
