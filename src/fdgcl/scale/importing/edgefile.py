"""The edge list, read by parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl.graphs.files.edges import find_columns, refuse_bad_weights
from fdgcl.graphs.files.names import names_edges
from fdgcl.graphs.files.opening import Column, Header, open_table
from fdgcl.graphs.files.table import Table, existing_file
from fdgcl.scale.importing.columns import checked_ids
from fdgcl.scale.importing.tables import estimated_rows


@dataclass(frozen=True)
class EdgeBatch:
    """Some edges that follow each other in the file.

    Attributes:
        first: The number of the first one's row, from 0.
        start: The ids they start at, int64 or string.
        end: The ids they end at.
        weights: (edges,) float32, finite, zero or more; None without.
    """

    first: int
    start: pa.Array
    end: pa.Array
    weights: NDArray[np.float32] | None

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class EdgeFile:
    """An edge list in Parquet or text, and which of its columns hold what."""

    path: Path
    source: Column = None
    target: Column = None
    weight: Column = None
    header: Header = "auto"

    @cached_property
    def table(self) -> Table:
        """The file as a table."""
        path = existing_file(self.path, "edges")
        if path.suffix.lower() == ".npz":
            message = (
                f"{path} cannot be read by parts: edges must be Parquet or text (CSV, "
                "TSV, ...) here"
            )
            raise InputError(message)
        wanted = (self.source, self.target, self.weight)
        return open_table(path, names_edges, wanted, self.header)

    @cached_property
    def _columns(self) -> tuple[int, int, int | None]:
        return find_columns(self.table, self.source, self.target, self.weight)

    @property
    def weighted(self) -> bool:
        """Whether there is a column of weights."""
        return self._columns[2] is not None

    @cached_property
    def rows(self) -> int:
        """Number of edges, as near as can be told without reading all of them."""
        return estimated_rows(self.table)

    def batches(self, rows: int, skip: int = 0) -> Iterator[EdgeBatch]:
        """The edges after the first `skip`, so many at a time.

        Raises:
            InputError: The file is damaged, an id is missing, a weight is none.
        """
        table = self.table
        start, end, weight = self._columns
        numbers = [] if weight is None else [weight]
        whats = [f"the column {table.names[n]!r} of {table.path}" for n in (start, end)]
        for batch in table.batches([start, end], numbers, rows=rows, skip=skip):
            ids = [
                checked_ids(column, what, batch.first)
                for column, what in zip(batch.as_is, whats, strict=True)
            ]
            weights = None
            if weight is not None:
                weights = batch.numbers[:, 0]
                refuse_bad_weights(table, weights, weight, batch.first)
            yield EdgeBatch(batch.first, ids[0], ids[1], weights)
