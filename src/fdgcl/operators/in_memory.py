"""The operator A that diffusion steps with: direction, self-loops, normalisation.

`A[i, j]` says how much node i gathers from node j. The Laplacian of the equations is
`L = I - A`. With non-negative weights every choice below makes A similar to a
stochastic matrix, so its spectrum lies in the unit disc; it is real when the
adjacency is symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl._checks import check_nonnegative, choose
from fdgcl.graphs.directions import Direction, Normalization
from fdgcl.operators.incidence import Incidence
from fdgcl.operators.lanczos import STEPS, Tridiagonal, lanczos
from fdgcl.operators.ordering import Ordered, reordered
from fdgcl.operators.sparse import SparseMatrix


@dataclass(frozen=True, eq=False, repr=False)
class Operator:
    """A normalised adjacency, ready for products with dense blocks.

    Attributes:
        matrix: A, in float64.
        similar: A matrix with A's spectrum that is symmetric when the graph is.
        has_real_spectrum: Whether the graph is symmetric.
        device: Where its spectrum is looked at; None is a processor.
    """

    matrix: SparseMatrix
    similar: SparseMatrix
    has_real_spectrum: bool
    device: torch.device | None = None

    @property
    def num_nodes(self) -> int:
        """Number of rows."""
        return self.matrix.shape[0]

    @property
    def nnz(self) -> int:
        """Number of stored weights, self-loops included."""
        return self.matrix.nnz

    @cached_property
    def lambda_max(self) -> float:
        """A sharp upper bound on the spectrum of L = I - A.

        On a directed graph the spectrum is complex: it lies in the disc over
        [0, lambda_max], by Gershgorin's theorem.
        """
        if self.has_real_spectrum:
            return min(2.0, 1.0 - self._smallest_eigenvalue())
        return 2.0 * (1.0 - float(self.matrix.matrix.diagonal().min()))

    def _smallest_eigenvalue(self) -> float:
        if self.num_nodes <= STEPS:
            dense = self.similar.matrix.toarray()
            return float(np.linalg.eigvalsh(dense)[0]) - 1e-12
        return self.tridiagonal.smallest_eigenvalue()

    @cached_property
    def tridiagonal(self) -> Tridiagonal:
        """Lanczos' view of A, where the spectrum is real."""
        return lanczos(self.similar, device=self.device)

    @cached_property
    def ordered(self) -> Ordered:
        """A with neighbours close to each other, where the graph is symmetric."""
        return reordered(self.matrix.matrix)

    @cached_property
    def transposed(self) -> Operator:
        """The operator A', through which gradients flow back."""
        if self.matrix is self.similar and self.has_real_spectrum:
            return self
        return Operator(
            self.matrix.transposed, self.similar, self.has_real_spectrum, self.device
        )

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


def build_operator(
    adjacency: csr_array,
    *,
    direction: Direction = "symmetric",
    self_loops: float = 1.0,
    normalization: Normalization = "symmetric",
    device: torch.device | None = None,
) -> Operator:
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
        return Operator(similar, similar, symmetric, device)
    sides = (None, inverse) if by_column else (inverse, None)
    return Operator(SparseMatrix(_scaled(weights, *sides)), similar, symmetric, device)


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
