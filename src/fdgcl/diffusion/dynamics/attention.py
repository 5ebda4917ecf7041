"""Diffusion whose edge weights are attention between the nodes, as in GRAND."""

from __future__ import annotations

from typing import Any, final

from torch import Tensor, nn

from fdgcl._checks import check_count
from fdgcl.diffusion.dynamics.base import Dynamics, Flow, Gathering
from fdgcl.operators.incidence import Incidence

# Initial scores are this small, squared: attention starts close to a plain average.
_INITIAL_SCALE = 0.1


class _Attention(nn.Module):
    """Scaled dot products of several heads; the heads' weights are averaged."""

    def __init__(self, query: nn.Parameter, key: nn.Parameter, heads: int) -> None:
        super().__init__()
        self.query, self.key, self.heads = query, key, heads

    def forward(self, edges: Incidence, x: Tensor) -> Tensor:
        """One weight for each edge; those of a row sum to one."""
        width = len(self.query) // self.heads
        shape = (len(x), self.heads, width)
        queries = (x @ self.query.T).reshape(shape)
        keys = (x @ self.key.T).reshape(shape)
        scores = edges.inner_products(queries, keys) * width**-0.5
        return edges.softmax(scores).mean(1)


class _Attending(Dynamics):
    """A dynamics that weighs edges by attention.

    Nodes attend to those they gather from (self-loops count); the graph's own weights
    play no part.

    Args:
        heads: Number of heads.
        width: Columns of each head.
        common: See the base class.
    """

    is_fixed_linear = False

    def __init__(self, *, heads: int = 4, width: int = 16, **common: Any) -> None:
        super().__init__(**common)
        self.heads = check_count("heads", heads)
        self.width = check_count("width", width)
        query, key = (
            self.new_parameter(self.heads * self.width, self.dim, scale=_INITIAL_SCALE)
            for _ in range(2)
        )
        self.attention = _Attention(query, key, self.heads)


@final
class AttentionGrand(_Attending):
    """`F(Z) = rate * (A(Z(0)) Z - Z)`: attention once, from the initial features.

    The weights change while they are trained, so there is one operator for each pass,
    and it is stepped. Reference: Chamberlain et al., GRAND, 2021.
    """

    name = "grand-attention"

    def start(self, graph: Gathering, x: Tensor) -> Flow:
        """See the base class."""
        edges = graph.incidence
        weights: Tensor = self.attention(edges, x)

        def rhs(_: float, state: Tensor) -> Tensor:
            return (edges.multiply(weights, state) - state) * self.rate

        return Flow(x, rhs, (weights,))


@final
class NonlinearGrand(_Attending):
    """`F(Z) = rate * (A(Z(t)) Z - Z)`: attention anew from the state of the moment.

    Reference: Chamberlain et al., GRAND, 2021.
    """

    name = "grand-nonlinear"

    def start(self, graph: Gathering, x: Tensor) -> Flow:
        """See the base class."""
        edges = graph.incidence

        def rhs(_: float, state: Tensor) -> Tensor:
            weights: Tensor = self.attention(edges, state)
            return (edges.multiply(weights, state) - state) * self.rate

        return Flow(x, rhs, tuple(self.attention.parameters()))
