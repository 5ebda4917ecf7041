"""A store's features as `feature_scaling` makes them, read by parts.

The files stay as they were imported. What they are scaled by is measured once: a mean
and a weight for each column, of which there are few, and the length of each row, in a
file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl.graphs.moments import ColumnMoments
from fdgcl.graphs.scaling import ROW_SCALINGS, ColumnScale, rarity
from fdgcl.graphs.store.arrays import (
    ArrayWriter,
    StoredArray,
    is_finished,
    row_ranges,
)
from fdgcl.graphs.store.store import Store

# Of all columns together, read at a time.
_NUMBERS = 2**22


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """Features of a store, scaled while they are read.

    Attributes:
        store: Where they are.
        scale: What columns are scaled by; None for nothing.
        lengths: (nodes,) what rows are divided by after that; None for nothing.
    """

    store: Store
    scale: ColumnScale | None = None
    lengths: StoredArray | None = None

    def read(self, start: int, stop: int) -> NDArray[np.float32]:
        """All features of some nodes."""
        rows = self.store.read_features(start, stop)
        return self._scaled(rows, start, slice(None))

    def ranges(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All features of all nodes in order, some nodes at a time.

        Yields:
            The number of the first node, and the rows.
        """
        manifest = self.store.manifest
        step = max(1, _NUMBERS // manifest.features)
        for start, stop in row_ranges(manifest.nodes, step):
            yield start, self.read(start, stop)

    def moments(self) -> ColumnMoments:
        """Statistics of the columns, in one pass."""
        found = ColumnMoments(self.store.manifest.features)
        for _, rows in self.ranges():
            found.add(rows)
        return found

    def column_block(
        self, number: int, rows: int
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All nodes in order with the columns of one file, checked on the way.

        Yields:
            The number of the first node, and the rows; the next ones take their place.

        Raises:
            DamagedError: A part does not match its checksum.
        """
        block = self.store.features[number]
        first = number * self.store.manifest.block_columns
        columns = slice(first, first + block.shape[1])
        for start, found in block.blocks(rows):
            yield start, self._scaled(found, start, columns)

    def _scaled(
        self, rows: NDArray[Any], start: int, columns: slice
    ) -> NDArray[np.float32]:
        """Scale rows where they are."""
        if self.scale is not None:
            self.scale.part(columns).scale(rows)
        if self.lengths is not None:
            rows /= self.lengths.read(start, start + len(rows))[:, None]
        return rows


def measure_scaling(
    store: Store, scaling: str, lengths: Path, columns: ColumnScale | None = None
) -> StoredFeatures:
    """Find what a store's features are scaled by.

    Args:
        store: The features.
        scaling: `none`, `row`, `tf-idf` or `columns`.
        lengths: Where the lengths of rows go, if rows are scaled.
        columns: What columns are scaled by, where that is known already.

    Raises:
        InputError: The features are not such as `tf-idf` is for.
    """
    scale = columns
    if scale is None and scaling == "tf-idf":
        scale = ColumnScale(_column_rarity(store))
    elif scale is None and scaling == "columns":
        moments = StoredFeatures(store).moments()
        scale = ColumnScale.standard(moments, centred=True)
    if scaling not in ROW_SCALINGS:
        return StoredFeatures(store, scale)
    if not is_finished(lengths):
        with ArrayWriter(lengths, np.float32) as writer:
            for _, rows in StoredFeatures(store, scale).ranges():
                found = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1))
                writer.append(np.where(found > 0, found, 1))
    return StoredFeatures(store, scale, StoredArray.open(lengths))


def _column_rarity(store: Store) -> NDArray[np.float64]:
    found, least = np.zeros(store.manifest.features, np.int64), 0.0
    for _, rows in StoredFeatures(store).ranges():
        found += np.count_nonzero(rows, axis=0)
        least = min(least, float(rows.min(initial=0)))
    return rarity(found, store.manifest.nodes, least)
