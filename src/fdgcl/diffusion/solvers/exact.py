"""The exact solution of a linear equation: the Mittag-Leffler function of it."""

from __future__ import annotations

from typing import final

from fdgcl.diffusion.solvers.base import Solver


@final
class Exact(Solver):
    """`y(t) = E_order(-m t^order) y(0)` for `D^order y = -m y`.

    Stable for every time; needs no steps. Only for fixed linear dynamics, whose
    spectrum is what the function is applied to.
    """

    name = "exact"
    needs_linear = True
