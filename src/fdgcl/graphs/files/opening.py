"""Opening a file as the table it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from fdgcl._checks import InputError
from fdgcl.graphs.files.names import is_number
from fdgcl.graphs.files.parquet import ParquetTable, is_parquet
from fdgcl.graphs.files.table import Table
from fdgcl.graphs.files.text import TextTable

Header = bool | Literal["auto"]
Column = str | int | None


def open_table(
    path: Path,
    known: Callable[[Sequence[str]], bool],
    given: Sequence[Column] = (),
    header: Header = "auto",
) -> Table:
    """Open a Parquet or text file as a table.

    Args:
        path: A file that is there and not empty.
        known: Whether a row holds names that say what the columns are.
        given: Columns asked for; a name among them says that there is a header.
        header: Whether a text file has a header; `auto` finds out.
    """
    if header not in (True, False, "auto"):
        message = f"header must be True, False or 'auto', got {header!r}"
        raise InputError(message)
    if is_parquet(path):
        return ParquetTable(path)
    first_row = None if header == "auto" else bool(header)
    if first_row is None and any(
        isinstance(column, str) and not is_number(column) for column in given
    ):
        first_row = True
    return TextTable(path, first_row, known)
