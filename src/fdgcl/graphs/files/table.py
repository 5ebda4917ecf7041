"""A table in a file: named columns, read by number, refused with a clear sentence."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fdgcl._checks import InputError, nearest
from fdgcl.graphs.files.names import MISSING, is_finite
from fdgcl.graphs.ids import ArrowIds, from_column, whole_numbers

_SHOWN = 20
# Rows that are looked at to find out what a column is; the same whether a table is
# read at once or by parts, so that both come to the same decision.
HEAD_ROWS = 1 << 16

#: What a column may be: ids (whole numbers, text, bytes), numbers with a fraction,
#: dates and times, truth values, lists, or something else.
Kind = Literal["ids", "number", "time", "truth", "vector", "other"]


@dataclass(frozen=True)
class Batch:
    """Some rows of a table that follow each other.

    Attributes:
        first: The number of the first row, from 0.
        as_is: Columns as they stand in the file.
        numbers: (rows, columns) float32.
    """

    first: int
    as_is: list[pa.Array]
    numbers: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.as_is[0]) if self.as_is else len(self.numbers)


class Table(ABC):
    """Named columns, in a file or in memory; a subclass knows how they are kept.

    Attributes:
        where: The file's name, or words for what was given, for messages.
        names: Names of the columns; "1", "2", ... where the file has none.
        named: Whether the file itself names its columns.
        typed: Whether the file distinguishes numbers from text.
        texts: Names of columns that are read as they are written, where it does not:
            007 is not 7 among categories.
    """

    where: str
    names: tuple[str, ...]
    named: bool = True
    typed: bool = True
    texts: frozenset[str] = frozenset()

    @abstractmethod
    def kind(self, column: int) -> Kind:
        """What the column holds, judged by its type or the first rows."""

    @abstractmethod
    def columns(
        self, wanted: Sequence[int], as_is: Sequence[int] = ()
    ) -> list[pa.ChunkedArray]:
        """Return columns by their own type, with nulls where a value is missing.

        In text, columns of numbers are float64 but for those wanted as they stand,
        which are strings as all others.

        Raises:
            InputError: The file is damaged or has no rows.
        """

    @abstractmethod
    def column_batches(
        self, wanted: Sequence[int], *, rows: int, skip: int = 0
    ) -> Iterator[tuple[int, list[pa.Array]]]:
        """Read what `columns` does by parts, each with the number of its first row."""

    @abstractmethod
    def read(
        self, as_is: Sequence[int], numbers: Sequence[int] = ()
    ) -> tuple[list[pa.ChunkedArray], list[pa.ChunkedArray]]:
        """Return columns as they stand in the file, and columns as float32.

        Raises:
            InputError: The file is damaged or has no rows, or a value is not a number.
        """

    @abstractmethod
    def batches(
        self, as_is: Sequence[int], numbers: Sequence[int] = (), *, rows: int, skip: int
    ) -> Iterator[Batch]:
        """Read what `read` does, a few rows at a time, in memory that stays the same.

        Args:
            as_is: Columns wanted as they stand in the file.
            numbers: Columns wanted as float32.
            rows: Rows at a time, at most.
            skip: Rows at the top that are not wanted.

        Raises:
            InputError: As `read`.
        """

    @property
    @abstractmethod
    def num_rows(self) -> int | None:
        """Number of rows, where the file says it."""

    def find(self, given: str | int) -> int:
        """Return the number of a column asked for by name or, from 0, by number."""
        if isinstance(given, int) and 0 <= given < len(self.names):
            return given
        if given in self.names:
            column = self.names.index(str(given))
            self.refuse_repeated_name(column)
            return column
        hint = nearest(str(given), self.names)
        message = f"{self.where} has no column {given!r}{hint} ({self.columns_found()})"
        raise InputError(message)

    def refuse_repeated_name(self, column: int) -> None:
        """Raise InputError when another column has the same name."""
        name = self.names[column]
        if self.named and self.names.count(name) > 1:
            message = f"{self.where} has several columns named {name!r}"
            raise InputError(message)

    def head(self, wanted: Sequence[int]) -> list[pa.Array]:
        """Return the first rows of columns as they stand."""
        parts: list[list[pa.Array]] = []
        for batch in self.batches(wanted, rows=HEAD_ROWS, skip=0):
            parts.append(batch.as_is)
            if batch.first + len(batch) >= HEAD_ROWS:
                break
        if not parts:
            message = f"{self.where} has no rows"
            raise InputError(message)
        whole = [pa.chunked_array(column) for column in zip(*parts, strict=True)]
        return [column.combine_chunks()[:HEAD_ROWS] for column in whole]

    def columns_found(self) -> str:
        """Return the list of columns, for messages."""
        more = len(self.names) - _SHOWN
        tail = f" and {more} more" if more > 0 else ""
        shown = ", ".join(" ".join(name.split()) for name in self.names[:_SHOWN])
        return f"columns found: {shown}{tail}"

    def ids(
        self,
        columns: Sequence[pa.ChunkedArray],
        names: Sequence[int],
        *,
        allow_null: bool = False,
    ) -> list[Any]:
        """Return columns that were read as ids, alike in type in a text file."""
        found: list[ArrowIds] = []
        for column, number in zip(columns, names, strict=True):
            where = f"the column {self.names[number]!r} of {self.where}"
            found.append(from_column(column, where, allow_null=allow_null))
        return found if self.typed else whole_numbers(found)

    def refuse_missing(
        self, column: pa.ChunkedArray | pa.Array, number: int, first: int = 0
    ) -> None:
        """Raise InputError when a number is missing, naming row and column."""
        if column.null_count:
            row = int(pc.index(pc.is_null(column), True).as_py()) + first + 1
            name = self.names[number]
            message = f"{self.where} has no number in row {row}, column {name!r}"
            raise InputError(message)

    def numbers_from_text(
        self, column: pa.ChunkedArray | pa.Array, number: int, first: int = 0
    ) -> Any:
        """Return text as float32: numbers, or true and false.

        Args:
            column: The text.
            number: The column's number.
            first: The number of its first row, from 0.

        Raises:
            InputError: A value is neither; the message names row and column.
        """
        missing = pc.is_in(column, value_set=pa.array(MISSING))
        column = pc.if_else(missing, pa.scalar(None, pa.string()), column)
        words = pc.unique(pc.utf8_lower(column.drop_null()))
        try:
            if len(words) and set(words[:3].to_pylist()) <= {"true", "false"}:
                return column.cast(pa.bool_()).cast(pa.float32())
            return column.cast(pa.float32())
        except pa.ArrowInvalid:
            row, value = _first_no_number(column)
        message = (
            f"{self.where} has {value!r} in row {first + row}, column "
            f"{self.names[number]!r}, where a number is expected"
        )
        raise InputError(message)


def existing_file(path: str | os.PathLike[str], what: str) -> Path:
    """Return the path of a file that is there and not empty.

    Args:
        path: The file.
        what: What it is to hold, for the message: "edges".
    """
    if os.fspath(path) == "":
        message = f"the name of the file with {what} is empty"
        raise InputError(message)
    file = Path(path)
    if file.is_dir():
        message = f"{file} is a folder, but a file with {what} is expected"
        raise InputError(message)
    if not file.exists():
        message = f"no such file: {file} (expected: {what})"
        raise InputError(message)
    try:
        empty = file.stat().st_size == 0
        with file.open("rb"):
            pass
    except OSError as error:
        message = f"{file} cannot be read: {error.strerror}"
        raise InputError(message) from error
    if empty:
        message = f"{file} is empty, but {what} are expected"
        raise InputError(message)
    return file


def _first_no_number(column: pa.ChunkedArray) -> tuple[int, str]:
    values = column.to_pylist()
    for row, value in enumerate(values, start=1):
        if value is not None and not is_finite(value):
            return row, value
    return 1, values[0]
