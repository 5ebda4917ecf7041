"""A store's features as `feature_scaling` makes them, read by parts.

The files stay as they were imported. What they are scaled by is measured once: a mean
and a weight for each column, of which there are few, and the length of each row, in a
file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl.graphs.rows import row_blocks
from fdgcl.graphs.scaling import ROW_SCALINGS, ColumnScale, fit_scaling, row_lengths
from fdgcl.graphs.store.arrays import ArrayWriter, StoredArray, is_finished
from fdgcl.graphs.store.store import Store


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

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.store.manifest.nodes, self.store.manifest.features

    def __getitem__(self, rows: slice) -> NDArray[np.float32]:
        """All features of some nodes, as of an array."""
        start, stop, _ = rows.indices(self.shape[0])
        return self.read(start, stop)

    def read(self, start: int, stop: int) -> NDArray[np.float32]:
        """All features of some nodes."""
        rows = self.store.read_features(start, stop)
        return self._scaled(rows, start, slice(None))

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
    if columns is None:
        columns = fit_scaling(StoredFeatures(store), scaling)
    features = StoredFeatures(store, columns)
    if scaling not in ROW_SCALINGS:
        return features
    if not is_finished(lengths):
        with ArrayWriter(lengths, np.float32) as writer:
            for _, rows in row_blocks(features):
                writer.append(row_lengths(rows))
    return replace(features, lengths=StoredArray.open(lengths))
