"""The operator A of a store, whose rows pass by in blocks.

Weights are one, or stored as they are: normalisation never touches them. With W the
weights and loops, every A is `diag(l) W diag(r)`, so that `s = r t` turns
`t' = A t` into `s' = (l r) W s`: rows of a product are scaled, nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl.graphs.store.store import Store
from fdgcl.operators.lanczos import Tridiagonal, lanczos
from fdgcl.operators.sparse import csr_tensor

# Work of a block, in stored neighbours; a row counts as some of them. Smaller blocks
# are lost in overhead, larger ones fall out of a core's cache.
BLOCK_WORK = 2**20
ROW_WORK = 16
# Of Lanczos' recurrence: what it adds to the terms of a polynomial is a bound on the
# spectrum, sharp to a few percent.
LANCZOS_STEPS = 30
SCAN_ROWS = 2**20

#: Given the first row, the row after the last, and `W s` of them without self-loops.
OnBlock = Callable[[int, int, Tensor], None]


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """Consecutive rows of a store, some at a time.

    Attributes:
        bounds: The first row of each block, and the number of all rows.
        largest: Neighbours in the largest block.
    """

    bounds: NDArray[np.int64]
    largest: int

    @property
    def most_rows(self) -> int:
        """Rows of the longest block."""
        return int(np.diff(self.bounds).max())

    @classmethod
    def of(cls, store: Store) -> RowBlocks:
        """Cut the rows of a store into blocks of about the same work."""
        nodes = store.manifest.nodes
        cuts: list[int] = []
        places: list[int] = []
        before = 0
        for row, starts in store.starts.blocks(SCAN_ROWS):
            work = (starts + ROW_WORK * np.arange(row, row + len(starts))) // BLOCK_WORK
            new = np.flatnonzero(np.diff(work, prepend=before))
            cuts += (row + new).tolist()
            places += starts[new].tolist()
            before = int(work[-1])
        inside = sum(cut < nodes for cut in cuts)
        bounds = np.array([0, *cuts[:inside], nodes], np.int64)
        ends = np.array([0, *places[:inside], store.manifest.entries], np.int64)
        return cls(bounds, int(np.diff(ends).max()))


@dataclass(frozen=True, eq=False)
class StoredOperator:
    """A normalised adjacency on disk.

    Attributes:
        store: The graph.
        self_loops: Weight of every node's self-loop.
        normalization: `symmetric`, `row` or `column`.
        threads: Blocks at the same time.
        dtype: Of the factors.
        steps: Of Lanczos' recurrence.
    """

    store: Store
    self_loops: float
    normalization: str
    threads: int
    dtype: torch.dtype = torch.float32
    steps: int = LANCZOS_STEPS

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.store.manifest.nodes, self.store.manifest.nodes

    @property
    def has_real_spectrum(self) -> bool:
        """Whether the graph is symmetric."""
        return self.store.manifest.direction == "symmetric"

    @cached_property
    def lambda_max(self) -> float:
        """Upper bound on the spectrum of L; around a disc where it is complex."""
        if self.has_real_spectrum:
            return min(2.0, 1.0 - self.tridiagonal.smallest_eigenvalue())
        # By Gershgorin's theorem, from the smallest entry of the diagonal.
        inverse = self._inverse_degrees
        return 2.0 * (1.0 - self.self_loops * float(inverse.min()))

    @cached_property
    def tridiagonal(self) -> Tridiagonal:
        """Lanczos' view of A, where the spectrum is real."""
        threads = torch.get_num_threads()
        # Sums over all nodes must not depend on how many threads share them.
        torch.set_num_threads(1)
        try:
            return lanczos(self, self.steps)
        finally:
            torch.set_num_threads(threads)

    @cached_property
    def blocks(self) -> RowBlocks:
        """The blocks that pass by."""
        return RowBlocks.of(self.store)

    @cached_property
    def right(self) -> Tensor:
        """(nodes,) r, by which features are multiplied before they pass by."""
        if self.normalization == "row":
            return torch.ones(self.shape[0], dtype=self.dtype)
        return self.scale.sqrt() if self.normalization == "symmetric" else self.scale

    @cached_property
    def scale(self) -> Tensor:
        """(nodes,) l r, by which rows of a product are multiplied: one over degrees.

        A node without a degree has an empty row, or nobody gathers from it: its factor
        may be any.
        """
        inverse = self._inverse_degrees
        return torch.from_numpy(np.where(inverse > 0, inverse, 1.0)).to(self.dtype)

    def release(self) -> None:
        """Forget what the factors were made of."""
        assert self._alive is None or len(self._alive)  # made of it, too
        self.__dict__.pop("_inverse_degrees", None)

    @cached_property
    def _inverse_degrees(self) -> NDArray[np.float64]:
        degrees = self._degrees() + self.self_loops
        positive = degrees > 0
        return np.divide(1.0, degrees, out=np.zeros_like(degrees), where=positive)

    def _degrees(self) -> NDArray[np.float64]:
        """Sums of weights, of rows or (where that differs) of columns."""
        store, nodes = self.store, self.shape[0]
        if self.normalization == "column" and not self.has_real_spectrum:
            return self._column_sums()
        degrees = np.empty(nodes)
        for row in range(0, nodes, SCAN_ROWS):
            stop = min(row + SCAN_ROWS, nodes)
            starts = store.starts.read(row, stop + 1)
            if store.weights is None:
                degrees[row:stop] = np.diff(starts)
            else:
                values = store.weights.read(int(starts[0]), int(starts[-1]))
                sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
                degrees[row:stop] = np.diff(sums[starts - starts[0]])
        return degrees

    def _column_sums(self) -> NDArray[np.float64]:
        store, nodes = self.store, self.shape[0]
        sums = np.zeros(nodes)
        for start in range(0, store.manifest.entries, SCAN_ROWS):
            stop = min(start + SCAN_ROWS, store.manifest.entries)
            columns = store.neighbours.read(start, stop)
            weights = None if store.weights is None else store.weights.read(start, stop)
            if weights is None:
                np.add.at(sums, columns, 1.0)
            else:
                np.add.at(sums, columns, weights.astype(np.float64))
        return sums

    @cached_property
    def _alive(self) -> Tensor | None:
        """(nodes,) 0 for nodes that nobody may gather from, else 1; None if all are 1.

        With symmetric normalisation a node without neighbours of its own counts for
        nothing in those of others; in a symmetric graph it is nobody's.
        """
        if self.normalization != "symmetric" or self.has_real_spectrum:
            return None
        alive = torch.from_numpy(self._inverse_degrees > 0)
        return None if bool(alive.all()) else alive.to(self.dtype)

    def each_block(
        self, x: Tensor, on_block: OnBlock, *, squared: bool = False
    ) -> None:
        """Multiply all rows of W, less its loops, by x, and hand over each block.

        Which thread a block goes to, and when, makes no difference to it.

        Args:
            x: (nodes, columns) or (nodes,).
            on_block: Called by several threads; the product it gets is overwritten
                by the next one of that thread.
            squared: Whether to square the weights.
        """
        _quieten(x)
        bounds = self.blocks.bounds.tolist()
        left = iter(range(len(bounds) - 1))
        lock = threading.Lock()
        failed = threading.Event()

        def take() -> int | None:
            with lock:
                return None if failed.is_set() else next(left, None)

        @torch.no_grad()
        def work() -> None:
            torch.set_num_threads(1)  # of this thread; of products, of all for the time
            try:
                multiply = _Multiplier(self, x, squared=squared)
                for number in iter(take, None):
                    first, last = bounds[number], bounds[number + 1]
                    on_block(first, last, multiply(first, last))
            except BaseException:
                failed.set()
                raise

        threads = torch.get_num_threads()
        try:
            with ThreadPoolExecutor(self.threads) as pool:
                for done in [pool.submit(work) for _ in range(self.threads)]:
                    done.result()
        finally:
            torch.set_num_threads(threads)

    def add_product(
        self, x: Tensor, out: Tensor, *, alpha: float, beta: float
    ) -> Tensor:
        """`out = alpha * S x + beta * out`; S is symmetric, and has A's spectrum."""
        root = self.scale.to(x.dtype).sqrt()
        scaled = root * x

        def on_block(start: int, stop: int, found: Tensor) -> None:
            rows = slice(start, stop)
            found.add_(scaled[rows], alpha=self.self_loops).mul_(root[rows])
            out[rows].mul_(beta).add_(found, alpha=alpha)

        self.each_block(scaled, on_block)
        return out


class _Multiplier:
    """Blocks of W times x, in memory that one thread uses again and again."""

    def __init__(self, operator: StoredOperator, x: Tensor, *, squared: bool) -> None:
        self._store, self._x, self._squared = operator.store, x, squared
        self._alive = operator._alive
        largest = operator.blocks.largest
        self._columns = np.empty(largest, operator.store.neighbours.dtype)
        self._ones = torch.ones(largest, dtype=x.dtype)
        self._out = x.new_empty(operator.blocks.most_rows, *x.shape[1:])

    def __call__(self, start: int, stop: int) -> Tensor:
        store = self._store
        starts = store.starts.read(start, stop + 1)
        first, last = int(starts[0]), int(starts[-1])
        columns = torch.from_numpy(store.neighbours.read(first, last, self._columns))
        values = self._ones[: last - first]
        if store.weights is not None:
            values = torch.from_numpy(store.weights.read(first, last)).to(values.dtype)
            values = values.square() if self._squared else values
        if self._alive is not None:
            values = values * self._alive[columns.long()].to(values.dtype)
        rows = torch.from_numpy((starts - first).astype(self._columns.dtype))
        shape = (stop - start, len(self._x))
        block = torch.sparse_csr_tensor(
            rows, columns, values, shape, check_invariants=False
        )
        multiply = torch.mv if self._x.ndim == 1 else torch.mm
        return multiply(block, self._x, out=self._out[: stop - start])


def _quieten(x: Tensor) -> None:
    """Let torch say once what it has to say of sparse tensors, where nobody hears."""
    ends = torch.zeros(2, dtype=torch.int32)
    csr_tensor(ends, ends[:0], x.new_empty(0), (1, 1))
