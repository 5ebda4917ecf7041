"""The operator A that diffusion steps with: direction, self-loops, normalisation.

`A[i, j]` says how much node i gathers from node j. The Laplacian of the equations is
`L = I - A`. With non-negative weights every choice below makes A similar to a
stochastic matrix, so its spectrum lies in the unit disc; it is real when the
adjacency is symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl._checks import check_nonnegative, choose
from fdgcl.graphs.directions import Direction, Normalization
from fdgcl.operators.base import Coordinates, OnBlock, OnRows, Operator
from fdgcl.operators.incidence import Incidence
from fdgcl.operators.ordering import Ordered, reordered, reordering_pays
from fdgcl.operators.sparse import SparseMatrix

# Of Lanczos' recurrence: a product with a vector takes little here.
LANCZOS_STEPS = 100


@final
@dataclass(frozen=True, eq=False, repr=False)
class InMemoryOperator(Operator):
    """A normalised adjacency, ready for products with dense blocks.

    Attributes:
        matrix: A, in float64.
        similar: S, a matrix with A's spectrum that is symmetric when the graph is.
        has_real_spectrum: Whether the graph is symmetric.
        device: Where its spectrum is looked at; None is a processor.
    """

    matrix: SparseMatrix
    similar: SparseMatrix
    has_real_spectrum: bool
    device: torch.device | None = None

    @property
    def num_nodes(self) -> int:
        """See `Operator`."""
        return self.matrix.shape[0]

    @property
    def nnz(self) -> int:
        """See `Operator`."""
        return self.matrix.nnz

    @property
    def lanczos_steps(self) -> int:
        """See `Operator`."""
        return LANCZOS_STEPS

    @property
    def lanczos_threads(self) -> int | None:
        """See `Operator`; all there are, which costs bits and saves time."""
        return None

    @property
    def least_loop(self) -> float:
        """See `Operator`."""
        return float(self.matrix.matrix.diagonal().min())

    def coordinates(self, columns: int, device: torch.device) -> Coordinates:
        """See `Operator`: the nodes in another order where that pays."""
        if self.has_real_spectrum and reordering_pays(self.num_nodes, columns, device):
            return InOrder(self.ordered.matrix, self.ordered.places)
        return InOrder(self.matrix, None)

    def add_product(
        self, x: Tensor, out: Tensor, *, alpha: float, beta: float
    ) -> Tensor:
        """See `Operator`."""
        return self.similar.add_product(x, out, alpha=alpha, beta=beta)

    def each_block(
        self, x: Tensor, on_block: OnBlock, *, squared: bool = False
    ) -> None:
        """See `Operator`; there is one block."""
        matrix = self.similar
        if squared:
            found = matrix.matrix
            parts = (np.square(found.data), found.indices, found.indptr)
            matrix = SparseMatrix(csr_array(parts, shape=found.shape))
        on_block(0, self.num_nodes, matrix.apply(x))

    @cached_property
    def ordered(self) -> Ordered:
        """A with neighbours close to each other, where the graph is symmetric."""
        return reordered(self.matrix.matrix)

    @cached_property
    def transposed(self) -> InMemoryOperator:
        """The operator A', through which gradients flow back."""
        if self.matrix is self.similar and self.has_real_spectrum:
            return self
        turned, similar = self.matrix.transposed, self.similar
        return InMemoryOperator(turned, similar, self.has_real_spectrum, self.device)

    def apply(self, x: Tensor) -> Tensor:
        """Return `A @ x`, in x's dtype and on x's device, without gradient."""
        return self.matrix.apply(x)

    def multiply(self, x: Tensor) -> Tensor:
        """Return `A @ x` with a gradient with respect to x."""
        return self.matrix.multiply(x)

    @cached_property
    def incidence(self) -> Incidence:
        """The edges one by one."""
        return Incidence(self.matrix.matrix)


@final
@dataclass(frozen=True, eq=False)
class InOrder(Coordinates):
    """A matrix in memory, its nodes perhaps in another order.

    Attributes:
        matrix: A in that order.
        places: Where each node stands; None where all stand in their own places.
    """

    matrix: SparseMatrix
    places: Tensor | None
    is_whole = True

    @property
    def is_own(self) -> bool:  # type: ignore[override]
        """Whether all nodes stand in their own places."""
        return self.places is None

    def enter(self, rows: Tensor, into: Tensor, start: int = 0) -> None:
        """See `Coordinates`."""
        nodes = slice(start, start + len(rows))
        if self.places is None:
            into[nodes].copy_(rows)
        else:
            into.index_copy_(0, self.places[nodes], rows.to(into))

    def advance(
        self,
        current: Tensor,
        other: Tensor,
        *,
        product: float,
        shift: float,
        kept: float | None,
        on_rows: OnRows,
    ) -> None:
        """See `Coordinates`; all rows at once, in one fused product."""
        if kept is None:
            torch.mul(current, shift, out=other)
            kept, shift = 1.0, 0.0
        self.matrix.add_product(current, other, alpha=product, beta=kept)
        if shift:
            other.add_(current, alpha=shift)
        on_rows(0, len(current))

    def leave(self, values: Tensor, start: int, stop: int) -> Tensor:
        """See `Coordinates`."""
        if self.places is None:
            return values[start:stop]
        return values.index_select(0, self.places[start:stop])


def build_operator(
    adjacency: csr_array,
    *,
    direction: Direction = "symmetric",
    self_loops: float = 1.0,
    normalization: Normalization = "symmetric",
    device: torch.device | None = None,
) -> InMemoryOperator:
    """Turn an adjacency into the operator A.

    Args:
        adjacency: Weights, `adjacency[i, j]` for the edge i -> j.
        direction: `out`: a node gathers from the nodes it points to; `in`: from those
            that point to it; `symmetric`: from both, each pair at its larger weight.
        self_loops: Weight of every node's self-loop; loops in the data give way to it.
        normalization: `symmetric` divides by the roots of both ends' degrees, `row`
            averages over neighbours, `column` shares a node's mass among them. Nodes
            without any weight gather nothing.
        device: Where its spectrum will be looked at; None is a processor.

    Returns:
        The operator.
    """
    choose("direction", direction, dict.fromkeys(get_args(Direction)))
    choose("normalization", normalization, dict.fromkeys(get_args(Normalization)))
    check_nonnegative("self_loops", self_loops)
    weights = directed_weights(adjacency, direction)
    weights = _with_self_loops(weights, self_loops)
    symmetric = direction == "symmetric" or _is_symmetric(weights)
    by_column = normalization == "column"
    degree = np.asarray(weights.sum(axis=0 if by_column else 1)).ravel()
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    root = np.sqrt(inverse)
    similar = SparseMatrix(_scaled(weights, root, root))
    if normalization == "symmetric":
        return InMemoryOperator(similar, similar, symmetric, device)
    sides = (None, inverse) if by_column else (inverse, None)
    matrix = SparseMatrix(_scaled(weights, *sides))
    return InMemoryOperator(matrix, similar, symmetric, device)


def directed_weights(adjacency: csr_array, direction: Direction) -> csr_array:
    """The weights by which nodes gather, in float64, sorted, in arrays of our own."""
    weights = csr_array(adjacency, dtype=np.float64, copy=True)
    if direction != "out":
        turned = csr_array(weights.T)
        weights = turned if direction == "in" else csr_array(weights.maximum(turned))
    weights.sum_duplicates()
    return weights


def _with_self_loops(weights: csr_array, value: float) -> csr_array:
    nodes = weights.shape[0]
    change = value - weights.diagonal()
    if np.any(change):
        places = np.arange(nodes + 1, dtype=weights.indptr.dtype)
        loops = csr_array((change, places[:-1], places), shape=weights.shape)
        weights = csr_array(weights + loops)
    weights.eliminate_zeros()
    return weights


def _scaled(
    weights: csr_array,
    rows: NDArray[np.float64] | None,
    columns: NDArray[np.float64] | None,
) -> csr_array:
    """Every weight times its row's and its column's factor, in a copy."""
    data = weights.data.copy()
    if rows is not None:
        data *= np.repeat(rows, np.diff(weights.indptr))
    if columns is not None:
        data *= columns.take(weights.indices)
    # The pattern is shared where no weight is lost.
    scaled = csr_array((data, weights.indices, weights.indptr), shape=weights.shape)
    if not np.all(data):
        scaled = scaled.copy()
        scaled.eliminate_zeros()
    return scaled


def _is_symmetric(weights: csr_array) -> bool:
    difference = weights - weights.T
    return not difference.nnz or not np.any(difference.data)
