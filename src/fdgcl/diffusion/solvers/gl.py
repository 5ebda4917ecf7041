"""Gruenwald-Letnikov, with the correction that makes it Caputo's derivative."""

from __future__ import annotations

from typing import final

import numpy as np

from fdgcl.diffusion.solvers.base import SteppingScheme, Weights


@final
class GruenwaldLetnikov(SteppingScheme):
    r"""Fractional backward differences of `y - y_0`, F taken one step back.

    .. math:: h^{-a} \sum_{m=0}^{k+1} w_m (y_{k+1-m} - y_0) = F(y_k),
        \quad w_m = (-1)^m \binom{a}{m}

    Without subtracting `y_0` this would be the Riemann-Liouville derivative, whose
    solution decays to zero whatever F is. Order 1 is forward Euler. Reference:
    Podlubny, Fractional Differential Equations, 1999, chapter 8.
    """

    name = "gl"
    keeps = "state"

    def predict(self, k: int, order: float, window: int) -> Weights:
        """See the base class."""
        count = min(k + 1, window)
        m = np.arange(1, count + 1)
        past = -np.cumprod((m - 1 - order) / m, dtype=np.float64)
        return Weights(1.0 - float(past.sum()), past[::-1], slope=1.0)

    def convergence_order(self, order: float) -> float:  # noqa: ARG002
        """See the base class."""
        return 1.0

    def stability_limit(self, order: float) -> float:
        """`(1 - e^{i pi})^order`: where the recurrence meets -1."""
        return float(2.0**order)
