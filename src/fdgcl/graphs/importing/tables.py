"""What a table's file tells before it is read, and whether it is read by parts."""

from __future__ import annotations

from pathlib import Path

from fdgcl._checks import InputError
from fdgcl.graphs.files.arrow import is_ipc
from fdgcl.graphs.files.table import Table
from fdgcl.graphs.files.text import TextTable

# How much smaller packed text usually is.
_PACKED = 4
_PACKED_SUFFIXES = (".gz", ".bz2", ".zst")
_LOOKED_AT = 1 << 16


def refuse_whole(path: Path, what: str, instead: str) -> None:
    """Refuse a file that can only be read at once.

    Args:
        path: The file, which is there.
        what: What it holds: "edges".
        instead: What it may be.
    """
    if path.suffix.lower() == ".npz" or is_ipc(path):
        message = f"{path} cannot be read by parts: {what} must be {instead} here"
        raise InputError(message)


def estimated_rows(table: Table) -> int:
    """Number of rows; of text a guess, from the length of the first rows."""
    if table.num_rows is not None:
        return table.num_rows
    assert isinstance(table, TextTable)
    path = table.path
    size = path.stat().st_size
    if path.suffix.lower() in _PACKED_SUFFIXES:
        # Rows of two ids are some 14 bytes; more columns, some 10 bytes each.
        return max(1, size * _PACKED // max(14, 10 * len(table.names)))
    with path.open("rb") as stream:
        sample = stream.read(_LOOKED_AT)
    lines = max(1, sample.count(b"\n"))
    return max(1, round(size / (len(sample) / lines)))
