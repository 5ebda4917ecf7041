"""The rows of a store's graph, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl.graphs.store.store import Store

# Work of a block, in stored neighbours; a row counts as some of them. Smaller blocks
# are lost in overhead, larger ones fall out of a core's cache.
BLOCK_WORK = 2**20
ROW_WORK = 16
SCAN_ROWS = 2**20


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


def weight_blocks(store: Store) -> Iterator[tuple[int, csr_array]]:
    """The weights of all edges in order, some rows at a time.

    Yields:
        The number of the first row, and the rows.
    """
    nodes = store.manifest.nodes
    for start, stop in pairwise(RowBlocks.of(store).bounds.tolist()):
        starts = store.starts.read(start, stop + 1)
        first, last = int(starts[0]), int(starts[-1])
        columns = store.neighbours.read(first, last)
        if store.weights is None:
            values = np.ones(last - first, np.float32)
        else:
            values = store.weights.read(first, last)
        rows = (starts - first).astype(columns.dtype)
        yield start, csr_array((values, columns, rows), shape=(stop - start, nodes))
