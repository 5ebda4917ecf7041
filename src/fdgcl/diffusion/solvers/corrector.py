"""Adams-Bashforth-Moulton: the predictor, corrected once by the trapezoidal rule."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from fdgcl.diffusion.solvers.base import SteppingScheme, Weights
from fdgcl.diffusion.solvers.predictor import rectangle_rule
from fdgcl.diffusion.solvers.special import eta_at_negative


@final
class Corrector(SteppingScheme):
    r"""Predict, evaluate, correct, evaluate: two evaluations in each step.

    .. math:: y_{k+1} = y_0 + \frac{h^a}{\Gamma(a+2)}
        \Big(F(y^P_{k+1}) + \sum_{j=0}^{k} a_{j,k+1} F(y_j)\Big)

    with the product trapezoidal weights. Order 1 is Heun's method when F is linear in y
    alone (otherwise its prediction starts from `y_0`, Heun's from `y_k`). Reference:
    Diethelm, Ford and Freed, Detailed error analysis for a fractional Adams method,
    2004.
    """

    name = "corrector"
    keeps = "rhs"
    evaluations_per_step = 2

    def predict(self, k: int, order: float, window: int) -> Weights:
        """See the base class."""
        return rectangle_rule(min(k + 1, window), order)

    def correct(self, k: int, order: float, window: int) -> Weights:
        """See the base class."""
        count = min(k + 1, window)
        age = np.arange(count, dtype=np.float64)
        power = order + 1
        past = (age + 2) ** power + age**power - 2 * (age + 1) ** power
        if count == k + 1:
            past[-1] = k**power - (k - order) * (k + 1) ** order
        scale = 1 / math.gamma(order + 2)
        return Weights(initial=1.0, past=past[::-1] * scale, slope=scale)

    def convergence_order(self, order: float) -> float:
        """Between 1 and 2; the kink of the solution at t = 0 costs the rest."""
        return min(2.0, 1.0 + order)

    def stability_limit(self, order: float) -> float:
        """The smaller of the limits at frequency 0 and at frequency pi.

        There the generating functions of both rules' weights have closed forms, and
        the recurrence's characteristic equation is a quadratic in z.
        """
        rectangle = 2 * eta_at_negative(order) / math.gamma(1 + order)
        trapezoid = 1 - 4 * eta_at_negative(order + 1)
        at_zero = math.gamma(order + 2)
        roots = np.roots([rectangle, -trapezoid, at_zero])
        at_pi = [root.real for root in roots if root.imag == 0 and root.real > 0]
        return float(min([at_zero, *at_pi]))
