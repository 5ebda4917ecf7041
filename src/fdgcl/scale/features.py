"""A store's features as `feature_scaling` makes them, read by parts.

The files stay as they were imported. What they are scaled by is measured once: a weight
for each column, of which there are few, and the length of each row, in a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl.graphs.scaling import rarity
from fdgcl.scale.arrays import ArrayWriter, StoredArray, is_finished
from fdgcl.scale.operator import row_ranges
from fdgcl.scale.store import Store

# Of all columns together, read at a time.
_NUMBERS = 2**22


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """Features of a store, scaled while they are read.

    Attributes:
        store: Where they are.
        column_weights: What columns are multiplied by; None for nothing.
        lengths: (nodes,) what rows are divided by after that; None for nothing.
    """

    store: Store
    column_weights: NDArray[np.float64] | None = None
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
        if self.column_weights is not None:
            rows *= self.column_weights[columns].astype(rows.dtype)
        if self.lengths is not None:
            rows /= self.lengths.read(start, start + len(rows))[:, None]
        return rows


def measure_scaling(store: Store, scaling: str, lengths: Path) -> StoredFeatures:
    """Find what a store's features are scaled by.

    Args:
        store: The features.
        scaling: `none`, `row` or `tf-idf`.
        lengths: Where the lengths of rows go, unless there is nothing to scale.

    Raises:
        InputError: The features are not such as `tf-idf` is for.
    """
    if scaling == "none":
        return StoredFeatures(store)
    weights = _column_rarity(store) if scaling == "tf-idf" else None
    if not is_finished(lengths):
        with ArrayWriter(lengths, np.float32) as writer:
            for _, rows in StoredFeatures(store, weights).ranges():
                found = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1))
                writer.append(np.where(found > 0, found, 1))
    return StoredFeatures(store, weights, StoredArray.open(lengths))


def _column_rarity(store: Store) -> NDArray[np.float64]:
    found, least = np.zeros(store.manifest.features, np.int64), 0.0
    for _, rows in StoredFeatures(store).ranges():
        found += np.count_nonzero(rows, axis=0)
        least = min(least, float(rows.min(initial=0)))
    return rarity(found, store.manifest.nodes, least)
