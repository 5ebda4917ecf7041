"""Statistics of numbers that arrive in blocks of rows.

A block always holds the same rows, however they arrived (see `fitting`), so all of
this comes out the same to the bit for a table at once and for its batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl.graphs.schema.hashing import hashed

Floats = NDArray[np.float64]

SAMPLE_ROWS = 10_000
_LEAST_SAMPLE = 512
_SAMPLE_CELLS = 1 << 25
_BLOCK_ROWS = 8192
_LEAST_BLOCK = 128
_BLOCK_CELLS = 1 << 24


def block_rows(width: int) -> int:
    """Rows that are looked at together: fewer where there are many columns."""
    fitting = _BLOCK_CELLS // max(width, 1)
    return min(_BLOCK_ROWS, max(_LEAST_BLOCK, 1 << max(fitting.bit_length() - 1, 0)))


def sample_rows(width: int) -> int:
    """Rows that quartiles are taken from: fewer where there are many columns."""
    return min(SAMPLE_ROWS, max(_LEAST_SAMPLE, _SAMPLE_CELLS // max(width, 1)))


@dataclass(frozen=True)
class Summary:
    """What is known of some columns of numbers at the end; an array entry for each.

    Attributes:
        rows: Rows that there were, with and without a number.
        count: Numbers.
        mean: Of the numbers.
        std: Of the numbers, divided by their count.
        low: The smallest.
        high: The largest.
        zeros: How many are 0.
        binary: Whether all are 0 or 1.
        quartiles: (3, columns), of a sample of the rows; NaN where it has no number.
    """

    rows: int
    count: NDArray[np.int64]
    mean: Floats
    std: Floats
    low: Floats
    high: Floats
    zeros: NDArray[np.int64]
    binary: NDArray[np.bool_]
    quartiles: Floats

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Whether all numbers of a column are the same."""
        return np.asarray(self.low == self.high)

    def joined(self, others: list[Summary]) -> Summary:
        """Return the summary of these columns and others of the same rows."""
        parts = [self, *others]

        def side_by_side(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts], axis=-1)

        fields = [name for name in self.__dataclass_fields__ if name != "rows"]
        return Summary(self.rows, *map(side_by_side, fields))


class Moments:
    """Counts, means, spreads and ranges of columns, merged by the rule of Chan."""

    def __init__(self, width: int) -> None:
        self.rows = 0
        self._count = np.zeros(width, np.int64)
        self._zeros = np.zeros(width, np.int64)
        self._ones = np.zeros(width, np.int64)
        self._mean = np.zeros(width)
        self._squares = np.zeros(width)
        self._low = np.full(width, np.inf)
        self._high = np.full(width, -np.inf)

    def update(self, block: Floats) -> None:
        """Take in a block (columns, rows); NaN is no number, infinity not allowed."""
        self.rows += block.shape[1]
        missing = np.isnan(block)
        holes = bool(missing.any())
        count = np.full(len(block), block.shape[1], np.int64)
        values, lows, highs = block, block, block
        if holes:
            count -= missing.sum(axis=1)
            values = np.where(missing, 0.0, block)
            lows = np.where(missing, np.inf, block)
            highs = np.where(missing, -np.inf, block)
            self._zeros -= missing.sum(axis=1)
        self._zeros += (values == 0).sum(axis=1)
        self._ones += (values == 1).sum(axis=1)
        self._low = np.minimum(self._low, lows.min(axis=1, initial=np.inf))
        self._high = np.maximum(self._high, highs.max(axis=1, initial=-np.inf))
        with np.errstate(over="ignore", invalid="ignore"):
            mean = values.sum(axis=1) / np.maximum(count, 1)
            apart = block - mean[:, None]
            if holes:
                apart[missing] = 0
            self._merge(count, mean, (apart * apart).sum(axis=1))

    def _merge(self, count: NDArray[np.int64], mean: Floats, squares: Floats) -> None:
        total = self._count + count
        shift = mean - self._mean
        share = count / np.maximum(total, 1)
        self._mean = self._mean + shift * share
        self._squares = self._squares + squares + shift * shift * self._count * share
        self._count = total

    def summary(self, quartiles: Floats | None = None) -> Summary:
        """Return what was found, with quartiles from elsewhere."""
        with np.errstate(invalid="ignore"):
            std = np.sqrt(self._squares / np.maximum(self._count, 1))
        # Differences below 1e-154 vanish when squared.
        lost = (std == 0) & (self._low < self._high)
        std[lost] = (self._high - self._low)[lost] / 2
        std[self._low == self._high] = 0
        if quartiles is None:
            quartiles = np.full((3, len(std)), np.nan)
        binary = (self._zeros + self._ones == self._count) & (self._count > 0)
        return Summary(
            self.rows,
            self._count,
            self._mean,
            std,
            self._low,
            self._high,
            self._zeros,
            binary,
            quartiles,
        )


class RowSample:
    """The rows whose numbers have the smallest hashes: all of a short table.

    At most 10,000 of them, fewer for a table of thousands of columns; which ones
    depends on nothing but the number of rows and columns.
    """

    def __init__(self, width: int, of: int | None = None) -> None:
        """Begin without rows.

        Args:
            width: Number of columns.
            of: Of so many columns of the table, if these are some of them.
        """
        self._size = sample_rows(width if of is None else of)
        self._hashes = [np.empty(0, np.uint64)]
        self._values = [np.empty((width, 0))]
        self._held = 0
        self._limit = np.uint64(2**64 - 1)

    def update(self, block: Floats, first: int) -> None:
        """Take in a block (columns, rows) that starts with the row `first`."""
        rows = np.arange(first, first + block.shape[1], dtype=np.uint64)
        hashes = hashed(rows)
        chosen = np.flatnonzero(hashes <= self._limit)
        self._hashes.append(hashes[chosen])
        self._values.append(block[:, chosen])
        self._held += len(chosen)
        if self._held > 2 * self._size:
            self._trim()

    def _trim(self) -> None:
        hashes = np.concatenate(self._hashes)
        values = np.concatenate(self._values, axis=1)
        if len(hashes) > self._size:
            kept = np.argpartition(hashes, self._size - 1)[: self._size]
            hashes, values = hashes[kept], values[:, kept]
            self._limit = hashes.max()
        self._hashes, self._values, self._held = [hashes], [values], len(hashes)

    def quartiles(self) -> Floats:
        """Return (3, columns): the quartiles, interpolated linearly."""
        self._trim()
        ordered = np.sort(self._values[0], axis=1)
        count = ordered.shape[1] - np.isnan(ordered).sum(axis=1)
        found = np.full((3, len(ordered)), np.nan)
        some = np.flatnonzero(count)
        for place, share in enumerate((0.25, 0.5, 0.75)):
            position = (count[some] - 1) * share
            below = np.floor(position).astype(np.int64)
            above = np.minimum(below + 1, count[some] - 1)
            low, high = ordered[some, below], ordered[some, above]
            found[place, some] = low + (high - low) * (position - below)
        return found


class DistinctNumbers:
    """Whether whole numbers are all distinct, by those with the smallest hashes.

    Exact up to 10,000 of them; beyond, repeats among the others are not noticed.
    """

    def __init__(self) -> None:
        self._pool = np.empty(0, np.uint64)
        self._limit = np.uint64(2**64 - 1)
        self.distinct = True

    def update(self, values: NDArray[np.generic]) -> None:
        """Take in some numbers; one that is not whole means that they are not ids."""
        if not self.distinct:
            return
        if values.dtype.kind == "f":
            self.distinct = not bool((values != np.trunc(values)).any())
            values = np.asarray(values, np.float64).view(np.uint64)
        hashes = hashed(values.astype(np.uint64))
        pool = np.concatenate([self._pool, hashes[hashes <= self._limit]])
        pool.sort()
        self.distinct = self.distinct and not bool((pool[1:] == pool[:-1]).any())
        self._pool = pool[:SAMPLE_ROWS]
        if len(pool) > SAMPLE_ROWS:
            self._limit = self._pool[-1]
