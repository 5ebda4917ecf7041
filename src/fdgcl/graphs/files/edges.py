"""Edge lists in tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl.graphs.files.names import names_edges
from fdgcl.graphs.files.opening import open_table
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.files.roles import find_edge_columns
from fdgcl.graphs.files.table import Table
from fdgcl.graphs.ids import ArrowIds


@dataclass(frozen=True)
class EdgeList:
    """Edges as they stand in a table.

    Attributes:
        where: The table, for messages.
        start: Id at which each edge starts.
        end: Id at which each edge ends.
        weights: (E,) float32, finite, zero or more; None without.
        types: Type of each edge, as text; None without.
        reading: The line that says which columns were taken.
    """

    where: str
    start: ArrowIds
    end: ArrowIds
    weights: npt.NDArray[np.float32] | None
    types: ArrowIds | None
    reading: str


def open_edges(source: Any, options: TableOptions) -> Table:
    """Open an edge list."""
    given = (options.source, options.target, options.weight, options.edge_type)
    return open_table(source, "edges", names_edges, given, options.header)


def read_edge_list(source: Any, options: TableOptions) -> EdgeList:
    """Read an edge list; `read_graph` says how."""
    table = open_edges(source, options)
    columns = find_edge_columns(table, options)
    ends = [columns.source, columns.target]
    as_is = ends if columns.edge_type is None else [*ends, columns.edge_type]
    numbers = [] if columns.weight is None else [columns.weight]
    read, found = table.read(as_is, numbers)
    start, end = table.ids(read[:2], ends, allow_null=options.allow_null_ids)
    weights = None
    if columns.weight is not None:
        weights = np.asarray(found[0].to_numpy())
        refuse_bad_weights(table, weights, columns.weight)
    types = None
    if columns.edge_type is not None:
        types = _types(table, read[2], columns.edge_type)
    reading = columns.describe(table)
    return EdgeList(table.where, start, end, weights, types, reading)


def _types(table: Table, column: Any, number: int) -> ArrowIds:
    return table.ids([column], [number], allow_null=True)[0].cast(pa.string())


def refuse_bad_weights(table: Table, weights: Any, column: int, first: int = 0) -> None:
    """Raise InputError when a weight is not finite or negative, naming its row."""
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        message = (
            f"{table.where} has the weight {weights[row]:g} in row {first + row + 1}, "
            f"column {table.names[column]!r}, but weights must be finite and not "
            "negative"
        )
        raise InputError(message)
