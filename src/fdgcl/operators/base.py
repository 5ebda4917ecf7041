"""What diffusion asks of a normalised adjacency A, wherever the graph is kept.

A graph in memory is one block of rows, a store is many; what a spectrum is looked at
with, and what a polynomial of A is made with, is the same.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from fdgcl.operators.lanczos import Tridiagonal, lanczos

# With so few nodes all eigenvalues are found, and no bound is needed.
FEW_NODES = 100
# What a dense eigensolver may be off by.
_DENSE_ERROR = 1e-12

#: Called with the first row that is done and the one after the last.
OnRows = Callable[[int, int], None]
#: The same, with these rows of a product, which the next block overwrites.
OnBlock = Callable[[int, int, Tensor], None]


class Coordinates(abc.ABC):
    """A in coordinates in which its products are cheap.

    In memory the nodes may stand in another order; on a store each node's row has a
    factor of its own. Columns are taken there once, go through any number of products,
    and come back once.

    Attributes:
        is_whole: Whether all rows of a product are done at once.
        is_own: Whether columns are what they were outside.
    """

    is_whole: bool
    is_own: bool

    @abc.abstractmethod
    def enter(self, rows: Tensor, into: Tensor, start: int = 0) -> None:
        """Put columns of some nodes where they belong.

        Args:
            rows: Of the nodes from `start` on, of any floating-point type.
            into: (nodes, columns) in these coordinates.
            start: The first of the nodes.
        """

    @abc.abstractmethod
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
        """`other = product * A current + shift * current + kept * other`.

        Args:
            current: (nodes, columns), left as it is.
            other: The same size; gets the result.
            product: Factor of the product.
            shift: Factor of `current`.
            kept: Factor of what `other` holds; None where it holds nothing yet.
            on_rows: Called with rows that are done, perhaps by several threads.
        """

    @abc.abstractmethod
    def leave(self, values: Tensor, start: int, stop: int) -> Tensor:
        """Some nodes' rows of a result, as they were before they entered."""


class Operator(abc.ABC):
    """A normalised adjacency, in memory or on a store.

    Beside A there is S: it is symmetric where the graph is, and has A's spectrum.

    Attributes:
        has_real_spectrum: Whether the graph is symmetric.
        device: Where the spectrum is looked at; None is a processor.
    """

    has_real_spectrum: bool
    device: torch.device | None = None

    @property
    @abc.abstractmethod
    def num_nodes(self) -> int:
        """Number of rows."""

    @property
    @abc.abstractmethod
    def nnz(self) -> int:
        """Number of weights that are not zero, self-loops included."""

    @property
    @abc.abstractmethod
    def lanczos_steps(self) -> int:
        """Products with a vector by which the spectrum is looked at, at most."""

    @property
    @abc.abstractmethod
    def lanczos_threads(self) -> int | None:
        """Threads that share sums over all nodes; None leaves that as it is."""

    @property
    @abc.abstractmethod
    def least_loop(self) -> float:
        """The smallest entry of A's diagonal."""

    @abc.abstractmethod
    def coordinates(self, columns: int, device: torch.device) -> Coordinates:
        """Those in which to multiply so many columns in all, on a device."""

    @abc.abstractmethod
    def add_product(
        self, x: Tensor, out: Tensor, *, alpha: float, beta: float
    ) -> Tensor:
        """Set `out = alpha * S @ x + beta * out`, for a vector x."""

    @abc.abstractmethod
    def each_block(
        self, x: Tensor, on_block: OnBlock, *, squared: bool = False
    ) -> None:
        """Multiply S by x, and hand over each block of rows of the product.

        Args:
            x: (nodes, columns) or (nodes,).
            on_block: Called once for each block, perhaps by several threads.
            squared: Whether to square every entry of S.
        """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.num_nodes, self.num_nodes

    @cached_property
    def lambda_max(self) -> float:
        """A sharp upper bound on the spectrum of L = I - A.

        On a directed graph the spectrum is complex: it lies in the disc over
        [0, lambda_max], by Gershgorin's theorem.
        """
        if self.has_real_spectrum:
            return min(2.0, 1.0 - self._smallest_eigenvalue())
        return 2.0 * (1.0 - self.least_loop)

    def _smallest_eigenvalue(self) -> float:
        if self.num_nodes > FEW_NODES:
            return self.tridiagonal.smallest_eigenvalue()
        dense = np.empty(self.shape)

        def on_block(start: int, stop: int, rows: Tensor) -> None:
            dense[start:stop] = rows.numpy()

        self.each_block(torch.eye(self.num_nodes, dtype=torch.float64), on_block)
        return float(np.linalg.eigvalsh(dense)[0]) - _DENSE_ERROR

    @cached_property
    def tridiagonal(self) -> Tridiagonal:
        """Lanczos' view of A, where the spectrum is real."""
        threads = torch.get_num_threads()
        torch.set_num_threads(self.lanczos_threads or threads)
        try:
            return lanczos(self, self.lanczos_steps, device=self.device)
        finally:
            torch.set_num_threads(threads)
