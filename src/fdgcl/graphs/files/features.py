"""Features in files: keyed by id, or in the order of the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs._validate import all_finite, entry
from fdgcl.graphs.files.arrays import read_matrix
from fdgcl.graphs.files.names import find_id, names_features
from fdgcl.graphs.files.opening import Column, open_table
from fdgcl.graphs.files.parquet import ParquetTable
from fdgcl.graphs.files.table import Table
from fdgcl.graphs.ids import ArrowIds


@dataclass(frozen=True)
class FeatureTable:
    """Features as they stand in a file.

    Attributes:
        path: The file.
        ids: One id per row; None when rows follow the nodes 0, 1, 2, ...
        values: (N, F) dense or sparse, finite.
        names: One name per column, or None.
    """

    path: Path
    ids: ArrowIds | None
    values: Any
    names: tuple[str, ...] | None


def read_feature_table(
    path: Path, edge_ids: pa.Array, id_column: Column = None
) -> FeatureTable:
    """Read features from Parquet, CSV, npy or npz; `read_graph` says how.

    Args:
        path: A file that is there and not empty.
        edge_ids: Distinct ids of the edges, to recognise a column of ids by.
        id_column: The column of ids; None to find out.
    """
    if path.suffix.lower() in (".npy", ".npz"):
        if id_column is not None:
            message = (
                f"{path} has no columns, so it cannot have id_column {id_column!r}"
            )
            raise InputError(message)
        result = FeatureTable(path, None, read_matrix(path), None)
    else:
        table = open_table(path, names_features, (id_column,))
        result = _read_table(table, _id_column(table, edge_ids, id_column))
    _refuse_not_finite(result)
    return result


def _read_table(table: Table, key: int | None) -> FeatureTable:
    others = [number for number in range(len(table.names)) if number != key]
    if not others:
        message = f"{table.path} has no features ({table.columns_found()})"
        raise InputError(message)
    as_is = [] if key is None else [key]
    if isinstance(table, ParquetTable) and any(map(table.is_vector, others)):
        if len(others) > 1:
            message = (
                f"{table.path} must have either one column of vectors or columns of "
                f"numbers, not both ({table.columns_found()})"
            )
            raise InputError(message)
        columns = table.read(as_is)[0] if as_is else []
        values = table.read_vectors(others[0])
        names = None
    else:
        columns, numbers = table.read(as_is, others)
        values = np.empty((len(numbers[0]), len(others)), np.float32)
        for place in reversed(range(len(others))):
            # Each column is let go once copied, so that memory holds the table once.
            values[:, place] = numbers.pop().to_numpy()
        names = tuple(table.names[number] for number in others) if table.named else None
    keys = None
    if key is not None:
        keys = table.ids(columns, as_is)[0]
        node_ids.refuse_repeated(
            keys, f"the column {table.names[key]!r} of {table.path}"
        )
    return FeatureTable(table.path, keys, values, names)


def _id_column(table: Table, edge_ids: pa.Array, given: Column) -> int | None:
    if given is not None:
        return table.find(given)
    named = find_id(table.names) if table.named else None
    if named is not None:
        return named
    if table.is_text(0):
        return 0
    if not table.is_whole(0) or len(table.names) < 2:
        return None
    values = table.read([0])[0][0]
    if pc.count_distinct(values).as_py() < len(values):
        return None
    keys = table.ids([values], [0])[0]
    return 0 if node_ids.positions(edge_ids, keys).min(initial=0) >= 0 else None


def _refuse_not_finite(table: FeatureTable) -> None:
    values = table.values
    stored = values.data if sparse.issparse(values) else values
    if all_finite(stored):
        return
    if sparse.issparse(values):
        row, column, value = entry(values, int(np.flatnonzero(~np.isfinite(stored))[0]))
    else:
        row, column = (int(place) for place in np.argwhere(~np.isfinite(values))[0])
        value = values[row, column]
    name = repr(table.names[column]) if table.names else f"{column + 1}"
    whose = "" if table.ids is None else f" (id {table.ids[row].as_py()!r})"
    message = (
        f"{table.path} has {value} in row {row + 1}{whose}, feature {name}, where a "
        "finite number is expected"
    )
    raise InputError(message)
