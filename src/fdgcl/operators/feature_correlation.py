"""Do a node's features tell of its neighbours' features? Asked without labels.

Write features as signal plus independent noise, and let a step along the edges keep
the fraction g of the signal (near 1: linked nodes are alike; near -1: they are
opposites; near 0: the edges say nothing). Noise is independent from node to node, so
over walks that end elsewhere it cancels, and what is left of `x' N x` is g times the
signal's share of the energy, and of `x' N^2 x` it is g^2 times that share. Their ratio
is |g|, however weak the signal is.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl.graphs.rows import RowSource
from fdgcl.operators.base import Operator
from fdgcl.operators.in_memory import build_operator
from fdgcl.operators.mixing import Mixing

# A mean over d^2 nodes two steps away cuts noise to 1/d^2 of its energy and a signal
# to g^4 of its own; at the mean degrees of real graphs they break even near here.
WORTHWHILE_RATIO = 0.27
SIGNIFICANCE = 3.0
# The measure is a mean over nodes and mixtures, and chance falls with the square root
# of their product: a graph with more nodes needs fewer mixtures, and shuffles too. From
# half a million nodes on what chance is left lies far below what `WORTHWHILE_RATIO`
# asks for, and each further mixture or shuffle would be more passes over a disk.
FEW_NODES = 2**16
MIXTURES = (8, 64)
SHUFFLES = (2, 10)
# Of mixtures that are multiplied at a time, but at least so many columns.
GROUP_NUMBERS = 2**21
GROUP_COLUMNS = 4


@dataclass(frozen=True)
class FeatureCorrelation:
    """How features persist along the edges.

    Attributes:
        one_hop: `x' N x / x' x` over one step, N the normalised adjacency without
            self-loops.
        two_hop: The same over two steps that do not return.
        noise: Standard deviation of `two_hop` when nodes are shuffled.
    """

    one_hop: float
    two_hop: float
    noise: float

    @property
    def ratio(self) -> float:
        """An estimate of |g|: what a step keeps of the signal."""
        return self.two_hop / abs(self.one_hop) if self.one_hop else 0.0

    @property
    def is_informative(self) -> bool:
        """Whether averaging over the neighbourhood can help."""
        significant = self.two_hop > SIGNIFICANCE * self.noise
        return significant and self.two_hop > WORTHWHILE_RATIO * abs(self.one_hop)

    @property
    def is_homophilic(self) -> bool:
        """Whether linked nodes are alike."""
        return self.is_informative and self.one_hop > 0


def feature_correlation(
    features: RowSource,
    edges: Operator | csr_array,
    seed: int = 0,
    *,
    without: int | None = None,
) -> FeatureCorrelation:
    """Measure how features persist along edges, taken both ways.

    Args:
        features: In memory or in a store; mixtures of their columns are used.
        edges: The graph's weights; or its operator, symmetric and without self-loops.
        seed: Of the mixtures and the shuffles.
        without: A column to leave out: one that outweighs all others would be all
            that the mixtures show.

    >>> from fdgcl import block_model
    >>> graph = block_model(500, 2, homophily=0.9, seed=0)
    >>> feature_correlation(graph.features, graph.adjacency).is_homophilic
    True
    """
    if isinstance(edges, csr_array):
        edges = build_operator(edges, self_loops=0.0)
    assert edges.has_real_spectrum, "edges known one way are not measured"
    nodes = edges.num_nodes
    generator = np.random.default_rng(seed)
    count = _as_many(MIXTURES, nodes)
    mixtures = Mixing.of(features, count, generator, without).mixtures(features)
    returning = _returning(edges)
    one_hop, two_hop = _correlations(edges, mixtures, returning)
    shuffled = [
        _correlations(edges, mixtures, returning, generator.permutation(nodes))[1]
        for _ in range(_as_many(SHUFFLES, nodes))
    ]
    noise = float(np.sqrt(np.mean(np.square(shuffled))))
    return FeatureCorrelation(one_hop, two_hop, noise)


def _as_many(bounds: tuple[int, int], nodes: int) -> int:
    """The most on graphs of few nodes; on larger ones, as many times fewer."""
    least, most = bounds
    return min(most, max(least, most * FEW_NODES // nodes))


def _returning(operator: Operator) -> Tensor:
    """`sum_j N_ij^2`: the share of two steps that leads back."""
    found = torch.empty(operator.num_nodes)

    def on_block(start: int, stop: int, sums: Tensor) -> None:
        found[start:stop] = sums

    operator.each_block(torch.ones_like(found), on_block, squared=True)
    return found


def _correlations(
    operator: Operator,
    mixtures: Tensor,
    returning: Tensor,
    order: NDArray[np.int64] | None = None,
) -> tuple[float, float]:
    """`x' N x` and `x' N^2 x` less what returns, both over `x' x`.

    Args:
        operator: N.
        mixtures: All x.
        returning: See `_returning`.
        order: Whose mixtures each node is given; its own if None.
    """
    sums, lock = torch.zeros(4, dtype=torch.float64), threading.Lock()
    nodes, count = mixtures.shape
    width = min(count, max(GROUP_COLUMNS, GROUP_NUMBERS // nodes))
    for group in torch.split(mixtures, width, dim=1):
        x = group.contiguous() if order is None else group[torch.from_numpy(order)]

        def on_block(start: int, stop: int, moved: Tensor, x: Tensor = x) -> None:
            rows = x[start:stop]
            squares = rows.square().sum(1)
            parts = [squares, (rows * moved).sum(1), moved.square().sum(1)]
            parts.append(squares * returning[start:stop])
            found = torch.stack([part.sum(dtype=torch.float64) for part in parts])
            with lock:
                sums.add_(found)

        operator.each_block(x, on_block)
    energy, one, two, back = sums.tolist()
    return (one / energy, (two - back) / energy) if energy else (0.0, 0.0)
