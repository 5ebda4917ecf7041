"""Diffusion and reaction, as in GREAD."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import torch
from torch import Tensor, nn

from fdgcl._checks import check_finite, check_flag, choose
from fdgcl.diffusion.dynamics.base import Dynamics, Flow, Gathering, change

# r(Z), from the state, (A - I) times it, the graph and the initial features.
Reaction = Callable[[Tensor, Tensor, Gathering, Tensor], Tensor]


def _fisher(z: Tensor, _: Tensor, _graph: Gathering, _x: Tensor) -> Tensor:
    return z * (1 - z)


def _allen_cahn(z: Tensor, _: Tensor, _graph: Gathering, _x: Tensor) -> Tensor:
    return z * (1 - z * z)


def _zeldovich(z: Tensor, _: Tensor, _graph: Gathering, _x: Tensor) -> Tensor:
    return z * z * (1 - z)


def _source(_z: Tensor, _: Tensor, _graph: Gathering, x: Tensor) -> Tensor:
    return x


def _sharpening(_z: Tensor, spread: Tensor, graph: Gathering, _x: Tensor) -> Tensor:
    return -graph.multiply(spread)


REACTIONS: dict[str, Reaction] = {
    "blurring-sharpening": _sharpening,
    "source": _source,
    "fisher": _fisher,
    "allen-cahn": _allen_cahn,
    "zeldovich": _zeldovich,
}
_LINEAR = ("blurring-sharpening", "source")


@final
class Gread(Dynamics):
    """`F(Z) = rate * (-gamma * (I - A) Z + nu * r(Z))`.

    The reactions r are `A (I - A) Z` (blurring-sharpening), `Z(0)` (source), `Z (1-Z)`
    (fisher), `Z (1 - Z^2)` (allen-cahn) and `Z^2 (1 - Z)` (zeldovich), entry by entry.
    Trained weights are one number for each column, and start from the given ones.
    Reference: Choi et al., GREAD, 2023.

    Args:
        reaction: Name of r.
        gamma: Weight of the diffusion.
        nu: Weight of the reaction.
        trained: Whether gamma and nu are trained. The first two reactions with fixed
            weights are linear, and then take one pass over the graph before training.
        common: See the base class.
    """

    name = "gread"

    def __init__(
        self,
        *,
        reaction: str = "blurring-sharpening",
        gamma: float = 1.0,
        nu: float = 1.0,
        trained: bool = True,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.reaction = reaction
        self._react = choose("reaction", reaction, REACTIONS)
        self.trained = check_flag("trained", trained)
        self.gamma, self.nu = check_finite("gamma", gamma), check_finite("nu", nu)
        start = torch.tensor([self.gamma, self.nu], dtype=self._dtype)[:, None]
        columns = start.repeat(1, self.dim)
        self.weights = nn.Parameter(columns) if trained else None

    @property
    def is_fixed_linear(self) -> bool:
        """See the base class."""
        return not self.trained and self.reaction in _LINEAR

    @property
    def has_symbol(self) -> bool:
        """See the base class; a source does not vanish with Z."""
        return self.is_fixed_linear and self.reaction != "source"

    @property
    def products(self) -> int:
        """See the base class."""
        return 2 if self.reaction == "blurring-sharpening" else 1

    def start(self, graph: Gathering, x: Tensor) -> Flow:
        """See the base class."""
        weights = self.weights

        def rhs(_: float, state: Tensor) -> Tensor:
            gamma, nu = (self.gamma, self.nu) if weights is None else weights
            spread = change(graph, state)
            total: Tensor = spread * gamma + self._react(state, spread, graph, x) * nu
            return total * self.rate

        return Flow(x, rhs, (x,) if weights is None else (weights, x))
