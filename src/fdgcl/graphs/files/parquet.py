"""Tables in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fdgcl._checks import InputError
from fdgcl.graphs.files.table import Batch, Table

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
                self._rows = int(file.metadata.num_rows)
        except (pa.ArrowException, OSError) as error:
            message = f"{path} is not a Parquet file, or it is damaged"
            raise InputError(message) from error
        self.names = tuple(self._schema.names)
        if not self.names:
            message = f"{path} has no columns"
            raise InputError(message)

    def is_text(self, column: int) -> bool:
        """Whether the column's type is text (or a dictionary of text)."""
        return _is_text(self._type(column))

    def is_whole(self, column: int) -> bool:
        """Whether the column's type is an integer."""
        return bool(pa.types.is_integer(self._type(column)))

    def is_vector(self, column: int) -> bool:
        """Whether the column holds a list in each row."""
        kind = self._type(column)
        return bool(
            pa.types.is_list(kind)
            or pa.types.is_large_list(kind)
            or pa.types.is_fixed_size_list(kind)
        )

    def read(
        self, as_is: Sequence[int], numbers: Sequence[int] = ()
    ) -> tuple[list[pa.ChunkedArray], list[pa.ChunkedArray]]:
        """Return columns of the file's own type, and columns as float32."""
        table = self._load([*as_is, *numbers])
        found = [self._numbers(table[self.names[number]], number) for number in numbers]
        return [table[self.names[number]] for number in as_is], found

    def read_vectors(self, column: int) -> npt.NDArray[np.float32]:
        """Return a column of lists as the rows of a matrix.

        Raises:
            InputError: The lists differ in length, or hold something but numbers.
        """
        name = self.names[column]
        rows = self._load([column])[name]
        lengths = pc.list_value_length(rows)
        if rows.null_count or len(pc.unique(lengths)) != 1 or lengths[0].as_py() == 0:
            other = pc.fill_null(pc.not_equal(lengths, lengths[0]), True)
            raise self._uneven(name, max(int(pc.index(other, True).as_py()), 0) + 1)
        flat = self._numbers(pc.list_flatten(rows), column)
        return np.asarray(flat.to_numpy()).reshape(len(rows), -1)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._rows

    def batches(
        self, as_is: Sequence[int], numbers: Sequence[int] = (), *, rows: int, skip: int
    ) -> Iterator[Batch]:
        """Read columns by parts, even of a single giant row group."""
        for first, batch in self._stream([*as_is, *numbers], rows, skip):
            found = np.empty((len(batch), len(numbers)), np.float32)
            for place, number in enumerate(numbers):
                column = batch.column(self.names[number])
                found[:, place] = self._numbers(column, number, first).to_numpy(
                    zero_copy_only=False
                )
            kept = [batch.column(self.names[number]) for number in as_is]
            yield Batch(first, kept, found)

    def vector_batches(self, column: int, *, rows: int, skip: int) -> Iterator[Batch]:
        """Read a column of lists by parts, as rows of a matrix.

        Raises:
            InputError: As `read_vectors`.
        """
        name, width = self.names[column], None
        for first, batch in self._stream([column], rows, skip):
            vectors = batch.column(name)
            lengths = pc.list_value_length(vectors)
            width = width or lengths[0].as_py() or 1
            other = pc.fill_null(pc.not_equal(lengths, width), True)
            row = int(pc.index(other, True).as_py())
            if row >= 0:
                raise self._uneven(name, first + row + 1)
            flat = self._numbers(vectors.flatten(), column, first)
            values = np.asarray(flat.to_numpy(zero_copy_only=False))
            yield Batch(first, [], values.reshape(len(vectors), width))

    def _stream(
        self, columns: Sequence[int], rows: int, skip: int
    ) -> Iterator[tuple[int, Any]]:
        """Yield record batches, each with the number of its first row."""
        wanted = self._wanted(columns)
        try:
            with pq.ParquetFile(
                self.path, pre_buffer=False, buffer_size=_BUFFER_BYTES
            ) as file:
                groups, row = _groups_after(file.metadata, skip)
                for batch in file.iter_batches(rows, groups, wanted):
                    kept = batch.slice(max(0, skip - row))
                    if len(kept):
                        yield row + len(batch) - len(kept), kept
                    row += len(batch)
        except (pa.ArrowException, OSError) as error:
            message = f"{self.path} is damaged: its columns cannot be read"
            raise InputError(message) from error
        if row == 0:
            message = f"{self.path} has no rows"
            raise InputError(message)

    def _numbers(
        self, column: pa.ChunkedArray | pa.Array, number: int, first: int = 0
    ) -> Any:
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
            f"{self.path} has {column[0].as_py()!r} in row 1, column "
            f"{self.names[number]!r}, of type {kind}, where a number is expected"
        )
        raise InputError(message)

    def _uneven(self, name: str, row: int) -> InputError:
        return InputError(
            f"{self.path} must have vectors of one length in column {name!r}; row "
            f"{row} is missing, empty or of another length than row 1"
        )

    def _wanted(self, columns: Sequence[int]) -> list[str]:
        wanted = [self.names[number] for number in dict.fromkeys(columns)]
        repeated = [name for name in wanted if self.names.count(name) > 1]
        if repeated:
            message = f"{self.path} has several columns named {repeated[0]!r}"
            raise InputError(message)
        return wanted

    def _load(self, columns: Sequence[int]) -> pa.Table:
        wanted = self._wanted(columns)
        try:
            table = pq.ParquetFile(self.path).read(columns=wanted)
        except (pa.ArrowException, OSError) as error:
            message = f"{self.path} is damaged: its columns cannot be read"
            raise InputError(message) from error
        if table.num_rows == 0:
            message = f"{self.path} has no rows"
            raise InputError(message)
        return table

    def _type(self, column: int) -> Any:
        return self._schema.field(column).type


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
