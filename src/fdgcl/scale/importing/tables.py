"""What a table's file tells of its size before it is read."""

from __future__ import annotations

from fdgcl.graphs.files.table import Table

# How much smaller packed text usually is.
_PACKED = 4
_PACKED_SUFFIXES = (".gz", ".bz2", ".zst")
_LOOKED_AT = 1 << 16


def estimated_rows(table: Table) -> int:
    """Number of rows; of text a guess, from the length of the first rows."""
    if table.num_rows is not None:
        return table.num_rows
    size = table.path.stat().st_size
    if table.path.suffix.lower() in _PACKED_SUFFIXES:
        # Rows of two ids are some 14 bytes; more columns, some 10 bytes each.
        return max(1, size * _PACKED // max(14, 10 * len(table.names)))
    with table.path.open("rb") as stream:
        sample = stream.read(_LOOKED_AT)
    lines = max(1, sample.count(b"\n"))
    return max(1, round(size / (len(sample) / lines)))
