"""Heat diffusion on the graph, as in GRAND's linear model: the default."""

from __future__ import annotations

from typing import final

from torch import Tensor

from fdgcl.diffusion.dynamics.base import Dynamics, Flow, Gathering, change


@final
class Grand(Dynamics):
    """`F(Z) = -rate * (I - A) Z`. Reference: Chamberlain et al., GRAND, 2021.

    Example:
        >>> import torch
        >>> Grand(rate=0.5).symbol(torch.tensor([0.0, 2.0]))
        tensor([-0., -1.])
    """

    name = "grand"
    is_fixed_linear = True

    def start(self, graph: Gathering, x: Tensor) -> Flow:
        """See the base class."""

        def rhs(_: float, state: Tensor) -> Tensor:
            return change(graph, state) * self.rate

        return Flow(x, rhs)
