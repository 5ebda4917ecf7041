"""Mean and variance of each column of features, in one pass over their rows."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl.graphs.rows import Features, RowSource, row_blocks

# Numbers looked at together: what is copied to float64 at a time.
_NUMBERS = 2**20


class ColumnMoments:
    """Statistics of columns, taken in by blocks of rows and exact to rounding.

    Sums of squares of values such as unix times lose what is left of their variance;
    deviations from a block's own mean do not.

    Args:
        columns: How many there are.
    """

    def __init__(self, columns: int) -> None:
        self.rows = 0
        self.means = np.zeros(columns)
        self._deviations = np.zeros(columns)
        self._least = np.full(columns, np.inf)
        self._most = np.full(columns, -np.inf)

    @classmethod
    def of(cls, features: RowSource) -> Self:
        """The statistics of features, in memory or in a store, in one pass."""
        found = cls(features.shape[1])
        for _, rows in row_blocks(features):
            found.add(rows)
        return found

    def add(self, rows: Features) -> None:
        """Take in more rows."""
        if isinstance(rows, csr_array):
            self._add(_of_sparse(rows))
            return
        step = max(1, _NUMBERS // len(self.means))
        for start in range(0, len(rows), step):
            self._add(_of_dense(rows[start : start + step]))

    def _add(self, block: _Block) -> None:
        total = self.rows + block.rows
        shift = block.means - self.means
        weight = self.rows * block.rows / total
        self._deviations += block.deviations + shift**2 * weight
        self.means += shift * (block.rows / total)
        self._least = np.minimum(self._least, block.least)
        self._most = np.maximum(self._most, block.most)
        self.rows = total

    @property
    def variances(self) -> NDArray[np.float64]:
        """Of each column; exactly 0 where all values are the same."""
        varies = self._least < self._most
        return np.where(varies, self._deviations / max(self.rows, 1), 0.0)

    @property
    def mean_squares(self) -> NDArray[np.float64]:
        """Mean square of each column."""
        found: NDArray[np.float64] = self._deviations / max(self.rows, 1)
        return found + self.means**2

    @property
    def are_zero(self) -> bool:
        """Whether there is nothing but zeros."""
        return not (self._least.any() or self._most.any())


class _Block(NamedTuple):
    """What some rows, at least one, tell of each column."""

    rows: int
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]
    least: NDArray[Any]
    most: NDArray[Any]


def _of_dense(rows: NDArray[Any]) -> _Block:
    means = rows.mean(axis=0, dtype=np.float64)
    deviations = np.square(rows - means).sum(axis=0)
    return _Block(len(rows), means, deviations, rows.min(axis=0), rows.max(axis=0))


def _of_sparse(x: csr_array) -> _Block:
    rows, columns = x.shape
    values = x.data.astype(np.float64)
    counts = np.bincount(x.indices, minlength=columns)
    sums = np.bincount(x.indices, weights=values, minlength=columns)
    means = sums / rows
    apart = np.square(values - means[x.indices])
    inside = np.bincount(x.indices, weights=apart, minlength=columns)
    # Where not all of a column is stored, zeros are among its values.
    unstored = np.where(counts < rows, 0.0, np.nan)
    least, most = unstored.copy(), unstored.copy()
    np.fmin.at(least, x.indices, values)
    np.fmax.at(most, x.indices, values)
    return _Block(rows, means, inside + (rows - counts) * means**2, least, most)
