"""The weights W of a store, whose rows pass by in blocks."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl.graphs.store.row_blocks import SCAN_ROWS, RowBlocks
from fdgcl.graphs.store.store import Store
from fdgcl.operators.base import OnBlock
from fdgcl.operators.sparse import csr_tensor


@dataclass(frozen=True, eq=False)
class StoredWeights:
    """Weights of a store's edges as they are: no self-loops, no normalisation.

    Attributes:
        store: The graph.
        threads: Blocks at the same time.
    """

    store: Store
    threads: int

    @cached_property
    def blocks(self) -> RowBlocks:
        """The blocks that pass by."""
        return RowBlocks.of(self.store)

    def each_block(
        self,
        x: Tensor,
        on_block: OnBlock,
        *,
        alive: Tensor | None = None,
        squared: bool = False,
    ) -> None:
        """Multiply all rows of W by x, and hand over each block of the product.

        Which thread a block goes to, and when, makes no difference to it.

        Args:
            x: (nodes, columns) or (nodes,).
            on_block: Called by several threads; the product it gets is overwritten
                by the next one of that thread.
            alive: (nodes,) factors of W's columns; None for ones.
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
                multiply = _Multiplier(self, x, alive, squared=squared)
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

    def row_sums(self) -> NDArray[np.float64]:
        """(nodes,) what each node gathers."""
        store, nodes = self.store, self.store.manifest.nodes
        found = np.empty(nodes)
        for row in range(0, nodes, SCAN_ROWS):
            stop = min(row + SCAN_ROWS, nodes)
            starts = store.starts.read(row, stop + 1)
            if store.weights is None:
                found[row:stop] = np.diff(starts)
            else:
                values = store.weights.read(int(starts[0]), int(starts[-1]))
                sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
                found[row:stop] = np.diff(sums[starts - starts[0]])
        return found

    def column_sums(self) -> NDArray[np.float64]:
        """(nodes,) what is gathered from each node."""
        store = self.store
        sums = np.zeros(store.manifest.nodes)
        for start in range(0, store.manifest.entries, SCAN_ROWS):
            stop = min(start + SCAN_ROWS, store.manifest.entries)
            columns = store.neighbours.read(start, stop)
            weights = None if store.weights is None else store.weights.read(start, stop)
            if weights is None:
                np.add.at(sums, columns, 1.0)
            else:
                np.add.at(sums, columns, weights.astype(np.float64))
        return sums


class _Multiplier:
    """Blocks of W times x, in memory that one thread uses again and again."""

    def __init__(
        self, weights: StoredWeights, x: Tensor, alive: Tensor | None, *, squared: bool
    ) -> None:
        self._store, self._x = weights.store, x
        self._alive, self._squared = alive, squared
        largest = weights.blocks.largest
        self._columns = np.empty(largest, self._store.neighbours.dtype)
        self._ones = torch.ones(largest, dtype=x.dtype)
        self._out = x.new_empty(weights.blocks.most_rows, *x.shape[1:])

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
