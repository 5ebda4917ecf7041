"""Opening a file, or what is in memory, as the table it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fdgcl._checks import InputError
from fdgcl.graphs.files.arrow import ArrowTable, is_dataframe, is_ipc, read_ipc
from fdgcl.graphs.files.names import is_number
from fdgcl.graphs.files.options import Column, Header
from fdgcl.graphs.files.parquet import ParquetTable, is_parquet
from fdgcl.graphs.files.signature import refuse_foreign
from fdgcl.graphs.files.table import Table, existing_file
from fdgcl.graphs.files.text import TextTable

#: What a table may be, by its first bytes, whatever its name; and packed, by its name.
_TABLES = ("text", "latin-1", "parquet", "arrow")
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


def open_table(
    source: Any,
    what: str,
    known: Callable[[Sequence[str]], bool],
    given: Sequence[Column] = (),
    header: Header = "auto",
) -> Table:
    """Open a file, a data frame or Arrow data as a table.

    Args:
        source: The path of a Parquet, Arrow or text file, or a table in memory.
        what: What it holds, for messages: "edges".
        known: Whether a row holds names that say what the columns are.
        given: Columns asked for; a name among them says that there is a header.
        header: Whether a text file has a header; `auto` finds out.
    """
    if is_dataframe(source):
        return ArrowTable(source, f"the {what} given")
    if not isinstance(source, str | os.PathLike):
        message = (
            f"{what} must be a file or a table (pandas, Polars, Arrow), got "
            f"{type(source).__name__}"
        )
        raise InputError(message)
    path = existing_file(source, what)
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        refuse_foreign(path, ("parquet",), "a Parquet file")
    else:
        refuse_foreign(path, (*_TABLES, _PACKED.get(suffix, "")))
    if is_parquet(path):
        return ParquetTable(path)
    if is_ipc(path):
        return read_ipc(path)
    first_row = None if header == "auto" else bool(header)
    if first_row is None and any(
        isinstance(column, str) and not is_number(column) for column in given
    ):
        first_row = True
    return TextTable(path, first_row, known)


def is_array_file(source: Any) -> bool:
    """Whether a source is a NumPy or SciPy file, by its name."""
    if not isinstance(source, str | os.PathLike):
        return False
    return Path(source).suffix.lower() in (".npy", ".npz")
