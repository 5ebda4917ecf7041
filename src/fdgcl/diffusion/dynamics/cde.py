"""Diffusion and convection, as in CDE."""

from __future__ import annotations

from typing import Any, final

import torch
from torch import Tensor

from fdgcl._checks import check_nonnegative, choose
from fdgcl.diffusion.dynamics.base import Dynamics, Flow, Gathering, change

VELOCITIES = {"tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid}


@final
class Cde(Dynamics):
    """`F(Z)_i = rate * ((A Z - Z)_i + convection * sum_j a_ij V_ij o z_j)`.

    The velocity of an edge is `V_ij = s(M (z_j - z_i))`, with a trained matrix M: along
    it, unlike neighbours carry something else than an average. The sum has the
    operator's weights `a_ij`: a plain sum over the thousand neighbours of a hub would
    leave every bound. M applies to nodes before differences are taken, and edges are
    handled in blocks: no velocity of all edges is ever held. Reference: Zhao et al.,
    Graph neural convection-diffusion with heterophily, 2023.

    Args:
        velocity: The s: `tanh`, `relu` or `sigmoid`.
        convection: Weight of the convection.
        spread: Scale of the initial M.
        common: See the base class.
    """

    name = "cde"
    is_fixed_linear = False

    def __init__(
        self,
        *,
        velocity: str = "tanh",
        convection: float = 1.0,
        spread: float = 1.0,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.velocity = velocity
        self._velocity = choose("velocity", velocity, VELOCITIES)
        self.convection = check_nonnegative("convection", convection)
        self.spread = check_nonnegative("spread", spread)
        self.matrix = self.new_parameter(self.dim, self.dim, scale=self.spread)

    def start(self, graph: Gathering, x: Tensor) -> Flow:
        """See the base class."""
        edges = graph.incidence

        def carried(weight: Tensor, here: Tensor, there: Tensor, z: Tensor) -> Tensor:
            return self._velocity(there - here) * z * weight

        def rhs(_: float, state: Tensor) -> Tensor:
            potential = state @ self.matrix.T
            flow = edges.sum_messages(carried, [potential], [potential, state])
            return (change(graph, state) + flow * self.convection) * self.rate

        return Flow(x, rhs, (self.matrix,))
