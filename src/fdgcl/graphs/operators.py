"""The operator A that diffusion steps with: direction, self-loops, normalisation.

`A[i, j]` says how much node i gathers from node j. The Laplacian of the equations is
`L = I - A`. With non-negative weights every choice below makes A similar to a
stochastic matrix, so its spectrum lies in the unit disc; it is real when the
adjacency is symmetric.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh_tridiagonal
from scipy.sparse import csr_array, dia_array
from torch import Tensor

from fdgcl._checks import check_nonnegative, choose
from fdgcl.graphs.incidence import Incidence
from fdgcl.graphs.sparse import SparseMatrix

Direction = Literal["symmetric", "out", "in"]
Normalization = Literal["symmetric", "row", "column"]

LANCZOS_STEPS = 100
LANCZOS_FAILURE = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Operator:
    """A normalised adjacency, ready for products with dense blocks.

    Attributes:
        matrix: A, in float64.
        similar: A matrix with A's spectrum that is symmetric when the graph is.
        has_real_spectrum: Whether the graph is symmetric: Chebyshev terms apply.
    """

    matrix: SparseMatrix
    similar: SparseMatrix
    has_real_spectrum: bool

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
            return min(2.0, 1.0 - _smallest_eigenvalue(self.similar.matrix))
        return 2.0 * (1.0 - float(self.matrix.matrix.diagonal().min()))

    @cached_property
    def transposed(self) -> Operator:
        """The operator A', through which gradients flow back."""
        if self.matrix is self.similar and self.has_real_spectrum:
            return self
        return Operator(self.matrix.transposed, self.similar, self.has_real_spectrum)

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

    Returns:
        The operator.
    """
    choose("direction", direction, dict.fromkeys(get_args(Direction)))
    choose("normalization", normalization, dict.fromkeys(get_args(Normalization)))
    check_nonnegative("self_loops", self_loops)
    # A copy: a graph's own arrays are read-only, and zeros are removed in place below.
    weights = csr_array(adjacency, dtype=np.float64, copy=True)
    if direction == "in":
        weights = csr_array(weights.T)
    elif direction == "symmetric":
        weights = csr_array(weights.maximum(weights.T))
    weights = _with_self_loops(weights, self_loops)
    symmetric = direction == "symmetric" or _is_symmetric(weights)
    by_column = normalization == "column"
    degree = np.asarray(weights.sum(axis=0 if by_column else 1)).ravel()
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    root = np.sqrt(inverse)
    similar = SparseMatrix(csr_array(_diagonal(root) @ weights @ _diagonal(root)))
    if normalization == "symmetric":
        return Operator(similar, similar, symmetric)
    scaled = weights @ _diagonal(inverse) if by_column else _diagonal(inverse) @ weights
    return Operator(SparseMatrix(csr_array(scaled)), similar, symmetric)


def _with_self_loops(weights: csr_array, value: float) -> csr_array:
    diagonal = weights.diagonal()
    change = value - diagonal
    if np.any(change):
        weights = csr_array(weights + _diagonal(change))
    weights.eliminate_zeros()
    weights.sort_indices()
    return weights


def _diagonal(values: NDArray[np.float64]) -> dia_array:
    n = len(values)
    return dia_array((values[None, :], [0]), shape=(n, n))


def _is_symmetric(weights: csr_array) -> bool:
    difference = weights - weights.T
    return not difference.nnz or not np.any(difference.data)


def _smallest_eigenvalue(matrix: csr_array) -> float:
    """Lower bound on a symmetric matrix's spectrum: Lanczos, less what it may miss.

    From a random start, k steps miss the end of a spectrum of width w by more than
    `w * (log(1.648 sqrt(n) / p) / (2 k - 1))^2` with probability p at most
    (Kuczynski and Wozniakowski, Estimating the largest eigenvalue by the power and
    Lanczos algorithms with a random start, 1992). Plain three-term recurrence: lost
    orthogonality repeats eigenvalues, it does not move the extreme ones.
    """
    n = matrix.shape[0]
    if n <= LANCZOS_STEPS:
        return float(np.linalg.eigvalsh(matrix.toarray())[0]) - 1e-12
    vector = np.random.default_rng(0).standard_normal(n)
    vector /= np.linalg.norm(vector)
    previous = np.zeros(n)
    alphas: list[float] = []
    betas: list[float] = []
    for _ in range(LANCZOS_STEPS):
        residual = matrix @ vector - (betas[-1] if betas else 0.0) * previous
        alphas.append(float(vector @ residual))
        residual -= alphas[-1] * vector
        betas.append(float(np.linalg.norm(residual)))
        if betas[-1] < 1e-12:
            break
        previous, vector = vector, residual / betas[-1]
    ends = eigvalsh_tridiagonal(alphas, betas[:-1])
    chances = math.log(1.648 * math.sqrt(n) / LANCZOS_FAILURE)
    missed = (chances / (2 * len(alphas) - 1)) ** 2 if betas[-1] >= 1e-12 else 0.0
    return float(ends[0] - missed * (ends[-1] - ends[0])) - 1e-12
