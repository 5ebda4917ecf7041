"""Tables in memory: pandas, Polars, Arrow, and anything that exports Arrow data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl.graphs.files.typed import TypedTable

_IPC_MAGIC = b"ARROW1"


def is_dataframe(value: Any) -> bool:
    """Whether a value is a table that Arrow can take over."""
    if isinstance(value, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return True
    return hasattr(value, "__arrow_c_stream__") or _is_pandas(value)


def is_ipc(path: Path) -> bool:
    """Whether a file is Arrow's own format (Feather), by its first bytes."""
    with path.open("rb") as stream:
        return stream.read(len(_IPC_MAGIC)) == _IPC_MAGIC


def read_ipc(path: Path) -> ArrowTable:
    """Open a Feather file.

    Raises:
        InputError: It is damaged.
    """
    try:
        with pa.OSFile(str(path)) as stream:
            table = pa.ipc.open_file(stream).read_all()
            # Arrow does not check where the file says that values begin and end, and
            # would read beyond the memory that it has.
            table.validate(full=True)
            return ArrowTable(table, str(path))
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        message = f"{path} is not an Arrow file, or it is damaged"
        raise InputError(message) from error


class ArrowTable(TypedTable):
    """A table in memory.

    A pandas index counts as a column unless it only numbers the rows.
    """

    def __init__(self, data: Any, where: str) -> None:
        """Take a table over.

        Args:
            data: An Arrow table or stream, a pandas or Polars frame.
            where: What it is, for messages: "the features given".

        Raises:
            InputError: Arrow cannot take it over, or it has no columns.
        """
        self.where = where
        try:
            self._table = _as_arrow(data)
        except (pa.ArrowException, TypeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            message = f"{where} cannot be read as a table: {reason}"
            raise InputError(message) from error
        self._schema = self._table.schema
        self.names = tuple(map(str, self._schema.names))
        if not self.names:
            message = f"{where} has no columns"
            raise InputError(message)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return int(self._table.num_rows)

    def columns(
        self,
        wanted: Sequence[int],
        as_is: Sequence[int] = (),  # noqa: ARG002
    ) -> list[pa.ChunkedArray]:
        """Return columns of their own types."""
        if self.num_rows == 0:
            message = f"{self.where} has no rows"
            raise InputError(message)
        return [self._table.column(number) for number in wanted]

    def column_batches(
        self, wanted: Sequence[int], *, rows: int, skip: int = 0
    ) -> Iterator[tuple[int, list[pa.Array]]]:
        """Return columns by parts."""
        columns = self.columns(wanted)
        for first in range(skip, self.num_rows, rows):
            yield first, [_one(column.slice(first, rows)) for column in columns]


def _is_pandas(value: Any) -> bool:
    kind = type(value)
    return kind.__module__.split(".")[0] == "pandas" and kind.__name__ == "DataFrame"


def _as_arrow(data: Any) -> pa.Table:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if _is_pandas(data):
        # Of the index, Arrow keeps as a column what does not only number the rows.
        return pa.Table.from_pandas(data)
    return pa.table(data)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
