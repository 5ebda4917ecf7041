"""Fractional Adams-Bashforth: the paper's solver."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from fdgcl.diffusion.solvers.base import SteppingScheme, Weights
from fdgcl.diffusion.solvers.special import eta_at_negative, power_differences


def rectangle_rule(count: int, order: float) -> Weights:
    """The weights of the newest right-hand sides in the integral form."""
    past = power_differences(count, order)[::-1] / math.gamma(1 + order)
    return Weights(initial=1.0, past=past)


@final
class Predictor(SteppingScheme):
    r"""Product rectangle rule on the integral form of the equation.

    .. math:: y_{k+1} = y_0 + \frac{h^a}{\Gamma(1+a)}
        \sum_{j=0}^{k} \left[(k+1-j)^a - (k-j)^a\right] F(y_j)

    Order 1 is forward Euler. Reference: Diethelm, Ford and Freed, A predictor-corrector
    approach for the numerical solution of fractional differential equations, 2002.
    """

    name = "predictor"
    keeps = "rhs"

    def predict(self, k: int, order: float, window: int) -> Weights:
        """See the base class."""
        if order == 1:
            # All past weights are equal: one step of Euler, which needs no history.
            return Weights(initial=0.0, past=np.empty(0), slope=1.0, newest=1.0)
        return rectangle_rule(min(k + 1, window), order)

    def convergence_order(self, order: float) -> float:  # noqa: ARG002
        """See the base class."""
        return 1.0

    def stability_limit(self, order: float) -> float:
        """Where the generating function of the weights meets -1 at frequency pi."""
        return math.gamma(1 + order) / (2 * eta_at_negative(order))
