"""Labels in files: a column of ids and a column of labels of any type."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.files.names import LABELS, find_first, find_id, names_labels
from fdgcl.graphs.files.opening import Column, open_table
from fdgcl.graphs.files.table import Table
from fdgcl.graphs.ids import ArrowIds
from fdgcl.graphs.labels import Codes, encode_labels


@dataclass(frozen=True)
class LabelTable:
    """Labels as they stand in a file.

    Attributes:
        path: The file.
        ids: One id per row, none of them twice.
        codes: (rows,) class codes, -1 for no label.
        class_names: What each code stands for.
    """

    path: Path
    ids: ArrowIds
    codes: Codes
    class_names: tuple[str, ...]

    def for_ids(self, known: ArrowIds, where: str) -> Codes:
        """Return the codes in the order of `known`, -1 for an id without a label.

        Raises:
            InputError: There are labels of ids that are not known.
        """
        places = node_ids.positions(self.ids, known)
        unknown = node_ids.unknown(self.ids, places)
        if len(unknown):
            message = (
                f"{self.path} has labels of {len(unknown)} ids that are not among "
                f"{where}, such as {node_ids.examples(unknown)}"
            )
            raise InputError(message)
        result = np.full(len(known), -1, np.int64)
        result[places] = self.codes
        return result


def read_label_table(
    path: Path,
    id_column: Column = None,
    label_column: Column = None,
    *,
    id_may_lack: bool = False,
) -> LabelTable:
    """Read labels from CSV, TSV or Parquet; `read_graph` says how.

    Args:
        path: A file that is there and not empty.
        id_column: The column of ids; None to find out.
        label_column: The column of labels; None to find out.
        id_may_lack: Whether to find out, too, when there is no column `id_column`.
    """
    if id_may_lack:
        table = open_table(path, names_labels, (label_column,))
        id_column = id_column if id_column in table.names else None
    else:
        table = open_table(path, names_labels, (id_column, label_column))
    key, label = _columns(table, id_column, label_column)
    columns, _ = table.read([key, label])
    ids = table.ids(columns[:1], [key])[0]
    node_ids.refuse_repeated(ids, f"the column {table.names[key]!r} of {path}")
    if pa.types.is_nested(columns[1].type):
        message = (
            f"the column {table.names[label]!r} of {path} holds {columns[1].type}, "
            "where one label in each row is expected"
        )
        raise InputError(message)
    codes, names = encode_labels(_values(columns[1]))
    return LabelTable(path, ids, codes, names)


def _columns(table: Table, id_column: Column, label_column: Column) -> tuple[int, int]:
    if len(table.names) < 2:
        message = (
            f"{table.path} must have a column of ids and one of labels, but has one "
            f"column ({table.columns_found()})"
        )
        raise InputError(message)
    label = None if label_column is None else table.find(label_column)
    key = None if id_column is None else table.find(id_column)
    if key is None:
        key = find_id(table.names) if table.named else None
    if label is None:
        label = find_first(table.names, LABELS) if table.named else None
    if key is None:
        key = 1 if label == 0 else 0
    others = [number for number in range(len(table.names)) if number != key]
    label = label if label in others else others[0]
    return key, label


def _values(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = _whole_where_all_are(pc.fill_null(column.cast(pa.string()), ""))
    return np.asarray(column.to_numpy())


def _whole_where_all_are(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text as integers where all of it is, so that 10 comes after 9."""
    empty = pc.equal(column, "")
    filled = node_ids.whole_numbers([column.filter(pc.invert(empty))])[0]
    if not pa.types.is_int64(filled.type):
        return column
    return pc.if_else(empty, "-1", column).cast(pa.int64())
