"""Tables whose columns have types: in Parquet files, or in memory as Arrow has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl.graphs.files.table import Batch, Kind, Table
from fdgcl.graphs.ids import can_be_ids
from fdgcl.graphs.target_columns import is_list


class TypedTable(Table):
    """A table of typed columns; a subclass knows how `columns` are read."""

    _schema: pa.Schema

    def kind(self, column: int) -> Kind:
        """What the column's type says it holds."""
        return _kind_of(self._schema.field(column).type)

    def read(
        self, as_is: Sequence[int], numbers: Sequence[int] = ()
    ) -> tuple[list[pa.ChunkedArray], list[pa.ChunkedArray]]:
        """Return columns of their own types, and columns as float32."""
        columns = self.columns([*as_is, *numbers])
        found = [
            self._as_numbers(column, number)
            for column, number in zip(columns[len(as_is) :], numbers, strict=True)
        ]
        return columns[: len(as_is)], found

    def batches(
        self, as_is: Sequence[int], numbers: Sequence[int] = (), *, rows: int, skip: int
    ) -> Iterator[Batch]:
        """Return what `read` does by parts."""
        wanted = [*as_is, *numbers]
        for first, columns in self.column_batches(wanted, rows=rows, skip=skip):
            found = np.empty((len(columns[0]), len(numbers)), np.float32)
            for place, number in enumerate(numbers):
                column = self._as_numbers(columns[len(as_is) + place], number, first)
                found[:, place] = column.to_numpy(zero_copy_only=False)
            yield Batch(first, columns[: len(as_is)], found)

    def _as_numbers(
        self, column: pa.ChunkedArray | pa.Array, number: int, first: int = 0
    ) -> Any:
        """Return a column as float32.

        Raises:
            InputError: A number is missing, or the column holds something else.
        """
        self.refuse_missing(column, number, first)
        kind = column.type
        if _is_text(kind):
            return self.numbers_from_text(column.cast(pa.string()), number, first)
        if pa.types.is_boolean(kind):
            return column.cast(pa.float32())
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return column.cast(pa.float32(), safe=False)
        if pa.types.is_decimal(kind):
            return column.cast(pa.float64()).cast(pa.float32(), safe=False)
        message = (
            f"{self.where} has {column[0].as_py()!r} in row 1, column "
            f"{self.names[number]!r}, of type {kind}, where a number is expected"
        )
        raise InputError(message)


def _kind_of(kind: Any) -> Kind:
    """What a column of an Arrow type holds."""
    types = pa.types
    if can_be_ids(kind):
        return "ids"
    if types.is_floating(kind):
        return "number"
    if types.is_temporal(kind):
        return "time"
    if types.is_boolean(kind):
        return "truth"
    return "vector" if is_list(kind) else "other"


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
