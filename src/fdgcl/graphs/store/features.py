"""A store's features, scaled and reduced, read by parts.

The files stay as they were imported. What they are scaled by is measured once: a mean
and a weight for each column, of which there are few, and the length of each row, in a
file. Reduced features are files of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl.graphs.reduction import Reduction
from fdgcl.graphs.rows import row_blocks
from fdgcl.graphs.scaling import ROW_SCALINGS, ColumnScale, fit_scaling, row_lengths
from fdgcl.graphs.store.arrays import ArrayWriter, StoredArray, is_finished
from fdgcl.graphs.store.store import Store


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """Features in files, scaled while they are read.

    Attributes:
        arrays: Some columns each, all but the last as many.
        scale: What columns are scaled by; None for nothing.
        lengths: (nodes,) what rows are divided by after that; None for nothing.
    """

    arrays: Sequence[StoredArray]
    scale: ColumnScale | None = None
    lengths: StoredArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.arrays[0].shape[0], sum(one.shape[1] for one in self.arrays)

    @property
    def block_columns(self) -> int:
        """Columns of each file, but for the last."""
        return self.arrays[0].shape[1]

    def __getitem__(self, rows: slice) -> NDArray[np.float32]:
        """All features of some nodes, as of an array."""
        start, stop, _ = rows.indices(self.shape[0])
        return self.read(start, stop)

    def read(self, start: int, stop: int) -> NDArray[np.float32]:
        """All features of some nodes."""
        rows = np.concatenate([one.read(start, stop) for one in self.arrays], axis=1)
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
        block = self.arrays[number]
        first = number * self.block_columns
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
        columns = fit_scaling(StoredFeatures(store.features), scaling)
    features = StoredFeatures(store.features, columns)
    if scaling not in ROW_SCALINGS:
        return features
    if not is_finished(lengths):
        with ArrayWriter(lengths, np.float32) as writer:
            for _, rows in row_blocks(features):
                writer.append(row_lengths(rows))
    return replace(features, lengths=StoredArray.open(lengths))


def write_reduced(
    features: StoredFeatures, reduction: Reduction, folder: Path
) -> StoredFeatures:
    """Write features reduced, in files of as many columns as theirs.

    Args:
        features: Scaled.
        reduction: What they are multiplied by.
        folder: Where the files go.
    """
    count, width = reduction.directions.shape[1], features.block_columns
    starts = range(0, count, width)
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                ArrayWriter(path, np.float32, min(width, count - start))
            )
            for path, start in zip(
                reduced_paths(folder, count, width), starts, strict=True
            )
        ]
        for _, rows in row_blocks(features):
            found = reduction(rows)
            for writer, start in zip(writers, starts, strict=True):
                writer.append(found[:, start : start + width])
    return open_reduced(folder, count, width)


def open_reduced(folder: Path, columns: int, width: int) -> StoredFeatures:
    """The reduced features in a folder, of so many columns, so many in a file."""
    paths = reduced_paths(folder, columns, width)
    return StoredFeatures([StoredArray.open(path) for path in paths])


def reduced_paths(folder: Path, columns: int, width: int) -> list[Path]:
    """Their files.

    Example:
        >>> [path.name for path in reduced_paths(Path("x"), 5, 3)]
        ['000.npy', '001.npy']
    """
    return [folder / f"{number:03}.npy" for number in range(-(-columns // width))]
