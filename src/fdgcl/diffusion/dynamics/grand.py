"""Heat diffusion on the graph, as in GRAND's linear model: the default."""

from __future__ import annotations

from typing import final

from torch import Tensor

from fdgcl._checks import check_positive
from fdgcl.diffusion.dynamics.base import FixedLinearDynamics
from fdgcl.graphs.operators import Operator


@final
class Grand(FixedLinearDynamics):
    """`F(Z) = -rate * (I - A) Z`. Reference: Chamberlain et al., GRAND, 2021."""

    name = "grand"
    degree = 1

    def __init__(self, operator: Operator, rate: float = 0.5) -> None:
        super().__init__(operator)
        self.rate = check_positive("rate", rate)

    def rhs(self, t: float, state: Tensor) -> Tensor:  # noqa: ARG002
        """See the base class."""
        return (self.operator.apply(state) - state) * self.rate

    def symbol(self, frequency: Tensor) -> Tensor:
        """See the base class."""
        return frequency * -self.rate
