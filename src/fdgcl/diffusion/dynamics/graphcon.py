"""Coupled oscillators on the graph, as in GraphCON."""

from __future__ import annotations

from typing import Any, final

import torch
from torch import Tensor

from fdgcl._checks import check_nonnegative, choose
from fdgcl.diffusion.dynamics.base import Dynamics, Flow, Gathering

COUPLINGS = {"linear": lambda x: x, "tanh": torch.tanh, "relu": torch.relu}


@final
class GraphCon(Dynamics):
    """`D Y = rate * (s(A Z) - gamma Z - nu Y)`, `D Z = rate * Y`.

    Every node is a damped oscillator: Z is its position, Y its velocity, and both
    start from the encoded features. With the linear coupling and gamma = 1 it is
    pulled by the Laplacian, `-(I - A) Z`. The order applies to both parts.
    Reference: Rusch et al., Graph-coupled oscillator networks, 2022.

    Args:
        gamma: How strongly a node is pulled back to zero.
        nu: Damping.
        coupling: The s: `linear`, `tanh` or `relu`.
        common: See the base class.
    """

    name = "graphcon"

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        nu: float = 1.0,
        coupling: str = "linear",
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.gamma = check_nonnegative("gamma", gamma)
        self.nu = check_nonnegative("nu", nu)
        self.coupling = coupling
        self._couple = choose("coupling", coupling, COUPLINGS)

    @property
    def is_fixed_linear(self) -> bool:
        """See the base class."""
        return self.coupling == "linear"

    @property
    def has_symbol(self) -> bool:
        """See the base class; a state of two parts has none."""
        return False

    def start(self, graph: Gathering, x: Tensor) -> Flow:
        """See the base class."""

        def rhs(_: float, state: Tensor) -> Tensor:
            position, velocity = state
            pull = self._couple(graph.multiply(position))
            force = pull - position * self.gamma - velocity * self.nu
            return torch.stack([velocity, force]) * self.rate

        return Flow(torch.stack([x, x]), rhs, readout=_position)


def _position(state: Tensor) -> Tensor:
    return state[0]
