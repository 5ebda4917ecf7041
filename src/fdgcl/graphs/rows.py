"""Features by blocks of rows, wherever they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray
from scipy.sparse import csr_array

#: Of a block: a few megabytes, so that copies of it stay small.
NUMBERS = 2**22

#: Features in memory, or some rows of any.
Features: TypeAlias = NDArray[Any] | csr_array


class RowSource(Protocol):
    """What rows of features can be taken of: an array, a sparse one, a store's."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def __getitem__(self, rows: slice, /) -> Any:
        """Some rows, dense or sparse."""


def row_blocks(
    features: RowSource, *, numbers: int | None = None, every: int = 1
) -> Iterator[tuple[int, Any]]:
    """All rows in order, some at a time.

    Args:
        features: Dense or sparse, in memory or in a store.
        numbers: Stored in a block; `NUMBERS` unless told.
        every: Which blocks to take: the first of so many, and so on.

    Yields:
        The number of the first row, and the rows.

    >>> import numpy as np
    >>> x = np.arange(12).reshape(6, 2)
    >>> [(start, len(rows)) for start, rows in row_blocks(x, numbers=8)]
    [(0, 4), (4, 2)]
    """
    count, columns = features.shape
    if isinstance(features, csr_array):
        columns = -(-features.nnz // max(count, 1))
    step = max(1, (numbers or NUMBERS) // max(columns, 1))
    for start in range(0, count, step * every):
        yield start, features[start : min(start + step, count)]
