"""The edge list, read by parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.files.edges import open_edges, refuse_bad_weights
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.files.roles import EdgeColumns, find_edge_columns
from fdgcl.graphs.files.table import HEAD_ROWS, Table, existing_file
from fdgcl.graphs.importing.tables import estimated_rows, refuse_whole


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
    """An edge list in Parquet or text, and how it is to be understood."""

    path: Path
    options: TableOptions

    @cached_property
    def table(self) -> Table:
        """The file as a table."""
        path = existing_file(self.path, "edges")
        refuse_whole(path, "edges", "Parquet or text (CSV, TSV, ...)")
        return open_edges(path, self.options)

    @cached_property
    def _columns(self) -> EdgeColumns:
        return find_edge_columns(self.table, self.options)

    @property
    def weighted(self) -> bool:
        """Whether there is a column of weights."""
        return self._columns.weight is not None

    @cached_property
    def rows(self) -> int:
        """Number of edges, as near as can be told without reading all of them."""
        return estimated_rows(self.table)

    @property
    def reading(self) -> list[str]:
        """What was taken for what, in sentences."""
        columns = self._columns
        lines = [replace(columns, edge_type=None).describe(self.table)]
        if columns.edge_type is not None:
            lines.append("edge types are not used in a store: all edges count alike")
        return lines

    @cached_property
    def head_ids(self) -> pa.Array:
        """The distinct ids of the first edges, as `read_graph` looks at them."""
        batches, held = [], 0
        for batch in self.batches(HEAD_ROWS):
            batches.append(batch)
            held += len(batch)
            if held >= HEAD_ROWS:
                break
        columns = [
            _joined([getattr(batch, end) for batch in batches])[:HEAD_ROWS]
            for end in ("start", "end")
        ]
        if not self.table.typed:
            columns = node_ids.whole_numbers(columns)
        return node_ids.distinct(*columns)

    def batches(self, rows: int, skip: int = 0) -> Iterator[EdgeBatch]:
        """The edges after the first `skip`, so many at a time.

        Raises:
            InputError: The file is damaged, an id is missing, a weight is none.
        """
        table, columns = self.table, self._columns
        ends, weight = (columns.source, columns.target), columns.weight
        numbers = [] if weight is None else [weight]
        whats = [f"the column {table.names[n]!r} of {table.where}" for n in ends]
        allow_null = self.options.allow_null_ids
        for batch in table.batches(ends, numbers, rows=rows, skip=skip):
            start, end = (
                node_ids.from_column(
                    column, what, allow_null=allow_null, first=batch.first
                )
                for column, what in zip(batch.as_is, whats, strict=True)
            )
            weights = None
            if weight is not None:
                weights = batch.numbers[:, 0]
                refuse_bad_weights(table, weights, weight, batch.first)
            yield EdgeBatch(batch.first, start, end, weights)


def _joined(parts: list[pa.Array]) -> pa.Array:
    """Ids of one column, some batches of which may be of whole numbers alone."""
    if len({str(part.type) for part in parts}) > 1:
        parts = [part.cast(pa.string()) for part in parts]
    return pa.concat_arrays(parts)
