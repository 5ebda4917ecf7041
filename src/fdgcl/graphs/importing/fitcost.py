"""The memory that it takes to find out what becomes of columns of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from fdgcl.graphs.files.parquet import ParquetTable
from fdgcl.graphs.files.table import Table
from fdgcl.graphs.schema.statistics import block_rows, sample_rows

# Pages of each column of a Parquet file are unpacked at the same time.
PAGE_BYTES = 3 * 10**6
# A block of numbers with what is computed of it, and the sample for quartiles while
# it is sorted: as measured.
_BLOCKS, _SAMPLES = 3.3, 4.7
# The words of a column of text, up to ten thousand of them, and those of a block.
_TEXT_BYTES = 2 * 10**6
_MOST_ROWS = 1 << 16


@dataclass(frozen=True)
class FitCost:
    """What the columns are, as far as the first rows tell.

    Attributes:
        width: Number of columns.
        texts: How many of them hold text.
        paged: Whether they are unpacked by pages.
        row_bytes: What a row takes as it is read.
    """

    width: int
    texts: int
    paged: bool
    row_bytes: float

    @classmethod
    def of(cls, table: Table, head: Sequence[pa.Array]) -> FitCost:
        """Look at the first rows of the columns."""
        rows = max(1, len(head[0]))
        return cls(
            width=len(head),
            texts=sum(not _is_plain(column.type) for column in head),
            paged=isinstance(table, ParquetTable),
            row_bytes=max(1.0, sum(column.nbytes for column in head) / rows),
        )

    @property
    def _column_bytes(self) -> float:
        """What a column of numbers takes while its group is read."""
        numbers = max(1, self.width - self.texts)
        kept = _BLOCKS * block_rows(numbers) + _SAMPLES * sample_rows(numbers)
        return 8 * kept + (PAGE_BYTES if self.paged else 0)

    def columns(self, work: int) -> int:
        """Columns to be read at a time."""
        room = (work - _TEXT_BYTES * self.texts) / 2
        return int(min(self.width, max(8, room // self._column_bytes)))

    def batch_rows(self, work: int) -> int:
        """Rows to be read at a time."""
        # A batch as the file has it, and the one that is read meanwhile.
        return int(max(1, min(_MOST_ROWS, work / 8 // self.row_bytes)))

    @property
    def least(self) -> int:
        """Bytes without which it cannot be done."""
        groups = min(self.width, 8) * self._column_bytes
        block = 2 * self.row_bytes * block_rows(self.width) * (self.texts > 0)
        return int(groups + block + _TEXT_BYTES * self.texts)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether a column of this type is one of numbers, of which few are kept."""
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )
