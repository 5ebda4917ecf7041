"""Tables in Parquet files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fdgcl._checks import InputError
from fdgcl.graphs.files.table import Batch, Kind, Table
from fdgcl.graphs.ids import can_be_ids

_MAGIC = b"PAR1"
# What is read of each column at a time; without, all of its row group would be.
_BUFFER_BYTES = 1 << 18


def is_parquet(path: Path) -> bool:
    """Whether a file says that it is Parquet, by its name or its first bytes."""
    if path.suffix.lower() in (".parquet", ".pq"):
        return True
    with path.open("rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


class ParquetTable(Table):
    """A Parquet file, of which only the columns asked for are read."""

    def __init__(self, path: Path) -> None:
        """Read the schema.

        Raises:
            InputError: It is not a Parquet file.
        """
        self.path = path
        try:
            with pq.ParquetFile(path) as file:
                self._schema = file.schema_arrow
                # Reading it again takes seconds where columns are many.
                self._metadata = file.metadata
            self.names = tuple(self._schema.names)
        except (pa.ArrowException, OSError, ValueError) as error:
            message = f"{path} is not a Parquet file, or it is damaged"
            raise InputError(message) from error
        self.where = str(path)
        counts = Counter(self.names)
        self._repeated = {name for name, count in counts.items() if count > 1}
        if not self.names:
            message = f"{path} has no columns"
            raise InputError(message)

    def kind(self, column: int) -> Kind:
        """What the column's type says it holds."""
        return kind_of(self._type(column))

    def columns(
        self,
        wanted: Sequence[int],
        as_is: Sequence[int] = (),  # noqa: ARG002
    ) -> list[pa.ChunkedArray]:
        """Return columns of the file's own types."""
        return self._load(wanted)

    def column_batches(
        self, wanted: Sequence[int], *, rows: int, skip: int = 0
    ) -> Iterator[tuple[int, list[pa.Array]]]:
        """Read columns by parts."""
        return self._stream(wanted, rows, skip)

    def read(
        self, as_is: Sequence[int], numbers: Sequence[int] = ()
    ) -> tuple[list[pa.ChunkedArray], list[pa.ChunkedArray]]:
        """Return columns of the file's own type, and columns as float32."""
        columns = self._load([*as_is, *numbers])
        found = [
            numbers_of(self, column, number)
            for column, number in zip(columns[len(as_is) :], numbers, strict=True)
        ]
        return columns[: len(as_is)], found

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return int(self._metadata.num_rows)

    def batches(
        self, as_is: Sequence[int], numbers: Sequence[int] = (), *, rows: int, skip: int
    ) -> Iterator[Batch]:
        """Read columns by parts, even of a single giant row group."""
        for first, columns in self._stream([*as_is, *numbers], rows, skip):
            found = np.empty((len(columns[0]), len(numbers)), np.float32)
            for place, number in enumerate(numbers):
                column = numbers_of(self, columns[len(as_is) + place], number, first)
                found[:, place] = column.to_numpy(zero_copy_only=False)
            yield Batch(first, columns[: len(as_is)], found)

    def _stream(
        self, columns: Sequence[int], rows: int, skip: int
    ) -> Iterator[tuple[int, list[pa.Array]]]:
        """Yield columns by parts, each with the number of its first row."""
        wanted = self._wanted(columns)
        try:
            with pq.ParquetFile(
                self.path,
                metadata=self._metadata,
                pre_buffer=False,
                buffer_size=_BUFFER_BYTES,
            ) as file:
                groups, row = _groups_after(self._metadata, skip)
                for batch in file.iter_batches(rows, groups, wanted):
                    batch.validate(full=True)  # text need not be UTF-8
                    kept = batch.slice(max(0, skip - row))
                    if len(kept):
                        yield row + len(batch) - len(kept), _in_order(kept, wanted)
                    row += len(batch)
        except (pa.ArrowException, OSError) as error:
            message = f"{self.path} is damaged: its columns cannot be read"
            raise InputError(message) from error
        if row == 0:
            message = f"{self.path} has no rows"
            raise InputError(message)

    def _wanted(self, columns: Sequence[int]) -> list[str]:
        wanted = [self.names[number] for number in columns]
        repeated = [name for name in wanted if name in self._repeated]
        if repeated:
            message = f"{self.path} has several columns named {repeated[0]!r}"
            raise InputError(message)
        return wanted

    def _load(self, columns: Sequence[int]) -> list[pa.ChunkedArray]:
        wanted = self._wanted(columns)
        try:
            with pq.ParquetFile(self.path, metadata=self._metadata) as file:
                table = file.read(columns=wanted)
            table.validate(full=True)  # text need not be UTF-8
        except (pa.ArrowException, OSError) as error:
            message = f"{self.path} is damaged: its columns cannot be read"
            raise InputError(message) from error
        if table.num_rows == 0:
            message = f"{self.path} has no rows"
            raise InputError(message)
        return _in_order(table, wanted)

    def _type(self, column: int) -> Any:
        return self._schema.field(column).type


def numbers_of(
    table: Table, column: pa.ChunkedArray | pa.Array, number: int, first: int = 0
) -> Any:
    """Return a typed column as float32.

    Raises:
        InputError: A number is missing, or the column holds something else.
    """
    table.refuse_missing(column, number, first)
    kind = column.type
    if _is_text(kind):
        return table.numbers_from_text(column.cast(pa.string()), number, first)
    if pa.types.is_boolean(kind):
        return column.cast(pa.float32())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.cast(pa.float32(), safe=False)
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64()).cast(pa.float32(), safe=False)
    message = (
        f"{table.where} has {column[0].as_py()!r} in row 1, column "
        f"{table.names[number]!r}, of type {kind}, where a number is expected"
    )
    raise InputError(message)


def _in_order(table: Any, wanted: Sequence[str]) -> list[Any]:
    """Return columns as asked for; a file gives them in its own order, each once."""
    places = {name: place for place, name in enumerate(table.schema.names)}
    return [table.column(places[name]) for name in wanted]


def kind_of(kind: Any) -> Kind:
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
    if types.is_list(kind) or types.is_large_list(kind):
        return "vector"
    return "vector" if types.is_fixed_size_list(kind) else "other"


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _groups_after(metadata: Any, skip: int) -> tuple[list[int], int]:
    """The row groups that are not all skipped, and the number of their first row."""
    row = group = 0
    while group < metadata.num_row_groups:
        rows = metadata.row_group(group).num_rows
        if row + rows > skip:
            break
        row, group = row + rows, group + 1
    return list(range(group, metadata.num_row_groups)), row
