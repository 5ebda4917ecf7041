"""Edge lists in files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fdgcl._checks import InputError
from fdgcl.graphs.files.names import WEIGHTS, find_ends, find_first, names_edges
from fdgcl.graphs.files.opening import Column, Header, open_table
from fdgcl.graphs.files.table import Table
from fdgcl.graphs.ids import ArrowIds


@dataclass(frozen=True)
class EdgeList:
    """Edges as they stand in a file.

    Attributes:
        path: The file.
        start: Id at which each edge starts.
        end: Id at which each edge ends.
        weights: (E,) float32, finite, zero or more; None without.
    """

    path: Path
    start: ArrowIds
    end: ArrowIds
    weights: npt.NDArray[np.float32] | None


def read_edge_list(
    path: Path,
    source: Column = None,
    target: Column = None,
    weight: Column = None,
    header: Header = "auto",
) -> EdgeList:
    """Read an edge list from CSV, TSV or Parquet; `read_graph` says how."""
    table = open_table(path, names_edges, (source, target, weight), header)
    first, second, weighted = find_columns(table, source, target, weight)
    numbers = [] if weighted is None else [weighted]
    columns, found = table.read([first, second], numbers)
    start, end = table.ids(columns, [first, second])
    weights = None
    if weighted is not None:
        weights = np.asarray(found[0].to_numpy())
        refuse_bad_weights(table, weights, weighted)
    return EdgeList(path, start, end, weights)


def find_columns(
    table: Table, source: Column, target: Column, weight: Column
) -> tuple[int, int, int | None]:
    """Return the columns where edges start and end, and that of weights, if any."""
    first, second = _ends(table, source, target)
    return first, second, _weight(table, weight, (first, second))


def _ends(table: Table, source: Column, target: Column) -> tuple[int, int]:
    if len(table.names) < 2:
        message = (
            f"{table.path} must have two columns of ids, one edge per row, but has one "
            f"({table.columns_found()})"
        )
        raise InputError(message)
    first = None if source is None else table.find(source)
    second = None if target is None else table.find(target)
    by_name = find_ends(table.names) if table.named else (None, None)
    if by_name == (None, None):
        by_name = (0, 1)
    first = by_name[0] if first is None else first
    second = by_name[1] if second is None else second
    if first is None or second is None or first == second:
        missing = "source" if first is None else "target"
        message = (
            f"{table.path} has no column that is known as the {missing} of an edge: "
            f"name it with {missing} ({table.columns_found()})"
        )
        raise InputError(message)
    return first, second


def _weight(table: Table, given: Column, ends: tuple[int, int]) -> int | None:
    if given is not None:
        return table.find(given)
    found = find_first(table.names, WEIGHTS) if table.named else None
    return None if found in ends else found


def refuse_bad_weights(table: Table, weights: Any, column: int, first: int = 0) -> None:
    """Raise InputError when a weight is not finite or negative, naming its row."""
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        message = (
            f"{table.path} has the weight {weights[row]:g} in row {first + row + 1}, "
            f"column {table.names[column]!r}, but weights must be finite and not "
            "negative"
        )
        raise InputError(message)
