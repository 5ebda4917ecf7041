"""Tables in Parquet files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fdgcl._checks import InputError
from fdgcl.graphs.files.typed import TypedTable

_MAGIC = b"PAR1"
# What is read of each column at a time; without, all of its row group would be.
_BUFFER_BYTES = 1 << 18


def is_parquet(path: Path) -> bool:
    """Whether a file says that it is Parquet, by its name or its first bytes."""
    if path.suffix.lower() in (".parquet", ".pq"):
        return True
    with path.open("rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


class ParquetTable(TypedTable):
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

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return int(self._metadata.num_rows)

    def column_batches(
        self, wanted: Sequence[int], *, rows: int, skip: int = 0
    ) -> Iterator[tuple[int, list[pa.Array]]]:
        """Read columns by parts, even of a single giant row group."""
        names = self._wanted(wanted)
        try:
            with pq.ParquetFile(
                self.path,
                metadata=self._metadata,
                pre_buffer=False,
                buffer_size=_BUFFER_BYTES,
            ) as file:
                groups, row = _groups_after(self._metadata, skip)
                for batch in file.iter_batches(rows, groups, names):
                    batch.validate(full=True)  # text need not be UTF-8
                    kept = batch.slice(max(0, skip - row))
                    if len(kept):
                        yield row + len(batch) - len(kept), _in_order(kept, names)
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

    def columns(
        self,
        wanted: Sequence[int],
        as_is: Sequence[int] = (),  # noqa: ARG002
    ) -> list[pa.ChunkedArray]:
        """Return columns of the file's own types."""
        names = self._wanted(wanted)
        try:
            with pq.ParquetFile(self.path, metadata=self._metadata) as file:
                table = file.read(columns=names)
            table.validate(full=True)  # text need not be UTF-8
        except (pa.ArrowException, OSError) as error:
            message = f"{self.path} is damaged: its columns cannot be read"
            raise InputError(message) from error
        if table.num_rows == 0:
            message = f"{self.path} has no rows"
            raise InputError(message)
        return _in_order(table, names)


def _in_order(table: Any, wanted: Sequence[str]) -> list[Any]:
    """Return columns as asked for; a file gives them in its own order, each once."""
    places = {name: place for place, name in enumerate(table.schema.names)}
    return [table.column(places[name]) for name in wanted]


def _groups_after(metadata: Any, skip: int) -> tuple[list[int], int]:
    """The row groups that are not all skipped, and the number of their first row."""
    row = group = 0
    while group < metadata.num_row_groups:
        rows = metadata.row_group(group).num_rows
        if row + rows > skip:
            break
        row, group = row + rows, group + 1
    return list(range(group, metadata.num_row_groups)), row
