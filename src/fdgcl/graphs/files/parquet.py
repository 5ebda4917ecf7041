"""Tables in Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fdgcl._checks import InputError
from fdgcl.graphs.files.table import Table

_MAGIC = b"PAR1"


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
            self._schema = pq.read_schema(path)
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
            row = max(int(pc.index(other, True).as_py()), 0) + 1
            message = (
                f"{self.path} must have vectors of one length in column {name!r}; row "
                f"{row} is missing, empty or of another length than row 1"
            )
            raise InputError(message)
        flat = self._numbers(pc.list_flatten(rows), column)
        return np.asarray(flat.to_numpy()).reshape(len(rows), -1)

    def _numbers(self, column: pa.ChunkedArray, number: int) -> Any:
        self.refuse_missing(column, number)
        kind = column.type
        if _is_text(kind):
            return self.numbers_from_text(column.cast(pa.string()), number)
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

    def _load(self, columns: Sequence[int]) -> pa.Table:
        wanted = [self.names[number] for number in dict.fromkeys(columns)]
        repeated = [name for name in wanted if self.names.count(name) > 1]
        if repeated:
            message = f"{self.path} has several columns named {repeated[0]!r}"
            raise InputError(message)
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
