"""Statistics of the columns of a table, gathered block by block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl.graphs.schema.statistics import (
    DistinctNumbers,
    Moments,
    RowSample,
    Summary,
)
from fdgcl.graphs.schema.times import (
    CYCLES,
    DAY,
    SECOND,
    WEEK,
    YEAR,
    Microseconds,
    microseconds,
)
from fdgcl.graphs.schema.values import (
    Column,
    Floats,
    numbers,
    plain_array,
    vectors,
)

# Differences of microseconds within must fit 64 bits.
_FARTHEST = 2**61
# Numbers of vectors that are looked at together, and a length to begin with.
_VECTOR_CELLS = 1 << 18
_LONG_VECTOR = 1 << 12


def refuse_infinite(
    block: Floats, names: Sequence[str], first: int, where: str
) -> None:
    """Raise InputError for the first infinite number of a block (columns, rows)."""
    infinite = np.isinf(block)
    if infinite.any():
        row = int(np.argmax(infinite.any(axis=0)))
        place = int(np.argmax(infinite[:, row]))
        message = (
            f"{where} has {block[place, row]} in row {first + row + 1}, "
            f"column {names[place]!r}, where a finite number is expected"
        )
        raise InputError(message)


class NumberColumns:
    """Columns of numbers, all at a time."""

    def __init__(self, names: Sequence[str], where: str, of: int | None = None) -> None:
        """Begin without rows.

        Args:
            names: Of the columns.
            where: The file, for messages.
            of: Of so many columns of numbers, if these are some of them.
        """
        self.names = names
        self._where = where
        self._moments = Moments(len(names))
        self._sample = RowSample(len(names), of)

    def update(self, block: Floats, first: int) -> None:
        """Take in numbers (columns, rows) from the row `first` on."""
        refuse_infinite(block, self.names, first, self._where)
        self._moments.update(block)
        self._sample.update(block, first)

    def summary(self) -> Summary:
        """Return what was found; numbers too large for a spread are refused."""
        found = self._moments.summary(self._sample.quartiles())
        bad = np.flatnonzero(~np.isfinite(found.std) | ~np.isfinite(found.mean))
        if len(bad):
            name = self.names[int(bad[0])]
            message = (
                f"{self._where} has numbers too large to compute with in "
                f"the column {name!r}: leave it out (--drop {name}) or divide it"
            )
            raise InputError(message)
        return found


class IdColumn:
    """Whether a column that is called an id has distinct whole numbers."""

    def __init__(self) -> None:
        self._numbers = DistinctNumbers()

    @property
    def distinct(self) -> bool:
        """Whether it is so."""
        return self._numbers.distinct

    def update(self, column: Column) -> None:
        """Take in some rows."""
        present = column.drop_null()
        if pa.types.is_integer(present.type):
            self._numbers.update(present.to_numpy())
        else:
            found = numbers(present)
            self._numbers.update(found[~np.isnan(found)])


class TimeColumn:
    """Points in time: when, and which cycles they go through."""

    def __init__(self, name: str, where: str) -> None:
        self._name = name
        self._where = where
        self._moments = Moments(1)
        self.origin: int | None = None
        self._range = [0, 0]
        self._clock = [DAY, 0]

    def update(self, column: Column, first: int) -> None:
        """Take in some rows of dates, timestamps or times."""
        self.add(*read_times(column, self._name, first, self._where))

    def add(self, values: Microseconds, missing: NDArray[np.bool_]) -> None:
        """Take in points in time."""
        present = values[~missing]
        if len(present) and self.origin is None:
            self.origin = int(present[0])
            self._range = [self.origin, self.origin]
        if len(present):
            self._range[0] = min(self._range[0], int(present.min()))
            self._range[1] = max(self._range[1], int(present.max()))
            clock = present % DAY
            self._clock[0] = min(self._clock[0], int(clock.min()))
            self._clock[1] = max(self._clock[1], int(clock.max()))
        elapsed = (values - (self.origin or 0)) / SECOND
        self._moments.update(np.where(missing, np.nan, elapsed)[None])

    def summary(self) -> Summary:
        """Return what was found of the seconds since the first point in time."""
        return self._moments.summary()

    def cycles(self) -> list[str]:
        """Return the cycles that show: times of day that differ, a span they fill."""
        span = self._range[1] - self._range[0]
        shown = (self._clock[0] < self._clock[1], span > WEEK, span > YEAR)
        return [cycle for cycle, show in zip(CYCLES, shown, strict=True) if show]


def read_times(
    column: Column, name: str, first: int, where: str
) -> tuple[Microseconds, NDArray[np.bool_]]:
    """Return points in time of a column with such a type, and which are missing."""
    array = plain_array(column)
    try:
        values, missing = microseconds(array)
        far = (values < -_FARTHEST) | (values > _FARTHEST)
        if not far.any():
            return values, missing
        row = int(np.argmax(far))
    except pa.ArrowInvalid:
        row = next(row for row in range(len(array)) if _is_far(array.slice(row, 1)))
    message = (
        f"{where} has a date in row {first + row + 1}, column {name!r}, that is too "
        "far from now to compute with"
    )
    raise InputError(message)


def _is_far(value: pa.Array) -> bool:
    try:
        microseconds(value)
    except pa.ArrowInvalid:
        return True
    return False


class VectorColumn:
    """Lists of numbers, all of one length."""

    def __init__(self, name: str, where: str) -> None:
        self._name = name
        self._where = where
        self._moments: Moments | None = None
        self._width: int | None = None
        self.missing = 0

    def update(self, column: Column, first: int) -> None:
        """Take in some rows."""
        start = 0
        while start < len(column):
            # Of long vectors a few rows at a time, always the same ones.
            width = _LONG_VECTOR if self._width is None else self._width
            step = max(1, _VECTOR_CELLS // max(width, 1))
            self._update(column.slice(start, step), first + start)
            start += step

    def _update(self, column: Column, first: int) -> None:
        if self._moments is None and column.null_count == len(column):
            self.missing += len(column)
            return
        found = vectors(column, self._name, self._width, first, self._where).T
        refuse_infinite(found, [self._name] * len(found), first, self._where)
        if self._moments is None:
            self._width = len(found)
            self._moments = Moments(len(found))
        self.missing += int(np.isnan(found).any(axis=0).sum())
        self._moments.update(found)

    def summary(self) -> Summary | None:
        """Return what was found of each place, or None when there is no vector."""
        return None if self._moments is None else self._moments.summary()
