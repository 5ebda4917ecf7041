"""What nodes gather along some of the edges, by the rules that the literature uses.

Two rules are in use, and they differ as soon as edges are dropped one direction at a
time. Both count a node's own loop, which is no edge and is never dropped:

- GCN (of PyTorch Geometric): each end's weight is the root of what reaches it, and
  nodes that have a loop among the edges get no second one;
- GraphConv (of DGL, norm `both`): by the root of what reaches the target and of what
  leaves the source, and every node gets one loop more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias, cast, final, get_args

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl._checks import choose
from fdgcl.graphs.directions import Direction
from fdgcl.operators.in_memory import directed_weights
from fdgcl.operators.sparse import csr_tensor


@final
class Edges:
    """The edges one by one, in the order of the nodes that gather along them.

    Args:
        adjacency: `[i, j]` is the weight of the edge i -> j.
        direction: Whom a node gathers from: `symmetric` (both ends of an edge), `out`
            (those it points to) or `in` (those that point to it).
        dtype: Of the weights.
        device: Where they go.

    Attributes:
        sources: (edges,) whom is gathered from.
        targets: (edges,) who gathers, in ascending order.
        weights: (edges,) theirs.
        is_loop: (edges,) whether both are the same node.

    Example:
        >>> edges = Edges(csr_array([[0.0, 2.0], [0.0, 0.0]]), "in")
        >>> edges.sources.tolist(), edges.targets.tolist(), edges.weights.tolist()
        ([0], [1], [2.0])
    """

    def __init__(
        self,
        adjacency: csr_array,
        direction: str = "symmetric",
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | None = None,
    ) -> None:
        choose("direction", direction, dict.fromkeys(get_args(Direction)))
        gathered = directed_weights(adjacency, cast(Direction, direction))
        self.num_nodes = int(gathered.shape[0])
        counts = np.diff(gathered.indptr)
        targets = np.repeat(np.arange(self.num_nodes), counts)
        self.targets = torch.from_numpy(targets).to(device)
        self.sources = torch.from_numpy(gathered.indices.astype(np.int64)).to(device)
        self.weights = torch.from_numpy(gathered.data).to(device, dtype)
        self.is_loop = self.targets == self.sources

    def __len__(self) -> int:
        """Number of edges."""
        return len(self.weights)

    def reaching(self, weights: Tensor) -> Tensor:
        """(nodes,) the sum of weights, one for each edge, over the edges to a node."""
        return weights.new_zeros(self.num_nodes).index_add_(0, self.targets, weights)

    def leaving(self, weights: Tensor) -> Tensor:
        """(nodes,) the same over the edges from a node."""
        return weights.new_zeros(self.num_nodes).index_add_(0, self.sources, weights)

    @cached_property
    def by_source(self) -> Tensor:
        """(edges,) their numbers in the order of the nodes gathered from."""
        return torch.argsort(self.sources, stable=True)


@final
class Propagation:
    """`P x`, with gradient: a weight for each edge and one for each node's own loop.

    Args:
        edges: The edges.
        weights: (edges,) of which only those of edges that are kept count.
        loops: (nodes,) weights of loops beside the edges.
        kept: (edges,) which edges there are; None for all.

    Example:
        >>> edges = Edges(csr_array([[0.0, 1.0], [0.0, 0.0]]), "in")
        >>> loops = torch.tensor([1.0, 2.0])
        >>> propagate = Propagation(edges, torch.tensor([5.0]), loops)
        >>> propagate(torch.tensor([[10.0], [100.0]])).tolist()
        [[10.0], [250.0]]
    """

    def __init__(
        self, edges: Edges, weights: Tensor, loops: Tensor, kept: Tensor | None = None
    ) -> None:
        self._edges, self._weights, self._kept = edges, weights, kept
        self._loops = loops[:, None]

    def __call__(self, x: Tensor) -> Tensor:
        """Return `P x`."""
        result: Tensor = _Product.apply(x, self)  # type: ignore[no-untyped-call]
        return result

    def apply(self, x: Tensor) -> Tensor:
        """Return `P x`, without gradient."""
        return torch.addmm(self._loops * x, self._forward, x)

    def apply_transposed(self, x: Tensor) -> Tensor:
        """Return `P' x`, without gradient."""
        return torch.addmm(self._loops * x, self._backward, x)

    @cached_property
    def _forward(self) -> Tensor:
        edges, kept = self._edges, self._kept
        rows, columns, weights = edges.targets, edges.sources, self._weights
        if kept is not None:
            rows, columns, weights = rows[kept], columns[kept], weights[kept]
        return _matrix(rows, columns, weights, edges.num_nodes)

    @cached_property
    def _backward(self) -> Tensor:
        edges, order = self._edges, self._edges.by_source
        if self._kept is not None:
            order = order[self._kept[order]]
        rows, columns = edges.sources[order], edges.targets[order]
        return _matrix(rows, columns, self._weights[order], edges.num_nodes)


#: From edges, and which of them are kept, to what nodes gather along them.
Rule: TypeAlias = Callable[[Edges, Tensor | None], Propagation]


def gcn(edges: Edges, kept: Tensor | None = None) -> Propagation:
    """Weigh edges by what reaches both of their ends.

    Args:
        edges: The edges; a loop among them is kept at its weight, and nodes without
            one get one of weight 1.
        kept: (edges,) which are kept; None for all.

    Example:
        >>> edges = Edges(csr_array([[0.0, 1.0], [1.0, 0.0]]))
        >>> [round(one, 6) for one in gcn(edges)(torch.eye(2)).flatten().tolist()]
        [0.5, 0.5, 0.5, 0.5]
    """
    weights = edges.weights if kept is None else edges.weights * kept
    loops = 1 - edges.reaching((edges.is_loop & (weights > 0)).to(weights))
    roots = (edges.reaching(weights) + loops).rsqrt()
    normalized = roots[edges.targets] * weights * roots[edges.sources]
    return Propagation(edges, normalized, roots * loops * roots, kept)


def graphconv(edges: Edges, kept: Tensor | None = None) -> Propagation:
    """Weigh edges by what reaches their target and what leaves their source.

    Args:
        edges: The edges; each node gets a loop of weight 1 beside those among them.
        kept: (edges,) which are kept; None for all.

    Example:
        >>> edges = Edges(csr_array([[1.0, 0.0], [0.0, 0.0]]))
        >>> [round(one, 6) for one in graphconv(edges)(torch.eye(2)).flatten().tolist()]
        [1.0, 0.0, 0.0, 1.0]
    """
    weights = edges.weights if kept is None else edges.weights * kept
    left = (edges.reaching(weights) + 1).rsqrt()
    right = (edges.leaving(weights) + 1).rsqrt()
    normalized = left[edges.targets] * weights * right[edges.sources]
    return Propagation(edges, normalized, left * right, kept)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: Propagation) -> Tensor:
        ctx.matrix = matrix
        return matrix.apply(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.matrix.apply_transposed(gradient.contiguous()), None


def _matrix(rows: Tensor, columns: Tensor, weights: Tensor, nodes: int) -> Tensor:
    """A sparse matrix of entries sorted by rows."""
    counts = torch.bincount(rows, minlength=nodes)
    starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    # MKL and cuSPARSE both want 32-bit indices.
    index = torch.int32 if len(rows) < torch.iinfo(torch.int32).max else torch.int64
    return csr_tensor(starts.to(index), columns.to(index), weights, (nodes, nodes))
