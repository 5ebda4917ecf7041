"""Mean and variance of each column of features, in one pass over their rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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
    def of(cls, x: NDArray[Any] | csr_array) -> Self:
        """The statistics of features in memory."""
        found = cls(x.shape[1])
        if isinstance(x, csr_array):
            found._take_sparse(x)
        else:
            found.add(x)
        return found

    def add(self, rows: NDArray[Any]) -> None:
        """Take in more rows."""
        step = max(1, _NUMBERS // len(self.means))
        for start in range(0, len(rows), step):
            self._add(rows[start : start + step])

    def _add(self, rows: NDArray[Any]) -> None:
        mean = rows.mean(axis=0, dtype=np.float64)
        deviations = np.square(rows - mean).sum(axis=0)
        total = self.rows + len(rows)
        shift = mean - self.means
        self._deviations += deviations + shift**2 * (self.rows * len(rows) / total)
        self.means += shift * (len(rows) / total)
        self._least = np.minimum(self._least, rows.min(axis=0))
        self._most = np.maximum(self._most, rows.max(axis=0))
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

    def _take_sparse(self, x: csr_array) -> None:
        rows, columns = x.shape
        values = x.data.astype(np.float64)
        counts = np.bincount(x.indices, minlength=columns)
        sums = np.bincount(x.indices, weights=values, minlength=columns)
        self.rows, self.means = rows, sums / max(rows, 1)
        apart = np.square(values - self.means[x.indices])
        inside = np.bincount(x.indices, weights=apart, minlength=columns)
        self._deviations = inside + (rows - counts) * self.means**2
        # Where not all of a column is stored, zeros are among its values.
        unstored = np.where(counts < rows, 0.0, np.nan)
        self._least, self._most = unstored.copy(), unstored.copy()
        np.fmin.at(self._least, x.indices, values)
        np.fmax.at(self._most, x.indices, values)
