"""What becomes of the columns of features, found in a pass over the file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl._progress import Progress, silent
from fdgcl.graphs.files.table import Table
from fdgcl.graphs.importing.arrayfile import ArrayFile
from fdgcl.graphs.importing.featuresource import table_columns
from fdgcl.graphs.importing.fitcost import FitCost
from fdgcl.graphs.importing.tables import estimated_rows
from fdgcl.graphs.schema import FeatureSchema, Overrides, SchemaFitter, fit_matrix

STAGE = "looking at features"
#: Rows that are looked at to tell what all of them will take.
HEAD_ROWS = 4096
_HEAD_COLUMNS = 8


@dataclass(frozen=True)
class Fitted:
    """What all rows of a file of features tell.

    Attributes:
        rows: How many there are.
        schema: What becomes of the columns.
        as_text: Whether all columns of a text file are to be read as text, since one
            that began with numbers does not go on with them.
    """

    rows: int
    schema: FeatureSchema
    as_text: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        schema = self.schema.to_dict()
        return {"rows": self.rows, "as_text": self.as_text, "schema": schema}

    @classmethod
    def from_dict(cls, saved: dict[str, Any], where: str) -> Fitted:
        """What `to_dict` gave."""
        schema = FeatureSchema.from_dict(saved["schema"], where)
        return cls(int(saved["rows"]), schema, bool(saved["as_text"]))


@dataclass(frozen=True)
class Room:
    """What a fit may hold, and how it reads; the result does not depend on it.

    Attributes:
        work: Bytes that may be held.
        rows: Rows at a time, at most; None to take what fits.
        columns: Columns at a time, at most; None to take what fits.
    """

    work: int
    rows: int | None = None
    columns: int | None = None


@dataclass(frozen=True)
class ArrayFit:
    """Finds out how the columns of a `.npy` file are scaled."""

    array: ArrayFile
    overrides: Overrides

    def cost(self) -> FitCost:
        """The memory that it takes."""
        return FitCost(self.array.shape[1], texts=0, paged=False, row_bytes=1)

    def guess(self) -> tuple[int, bool]:
        """How many features there are, as long as no number is missing."""
        return self.array.shape[1], True

    def run(self, room: Room, progress: Progress = silent) -> Fitted:
        """Read all rows.

        Raises:
            InputError: A number is infinite, or all columns are constant.
        """
        watched: Any = _Watched(self.array, progress)
        at_once = room.columns or self.cost().columns(room.work)
        schema = fit_matrix(watched, self.overrides, str(self.array.path), at_once)
        return Fitted(self.array.shape[0], schema)


class _Watched:
    """An array in a file that tells how much of it was read."""

    def __init__(self, array: ArrayFile, progress: Progress) -> None:
        self.shape = array.shape
        self._array, self._progress = array, progress

    def __getitem__(self, part: tuple[slice, slice]) -> Any:
        found = self._array[part]
        rows, width = self.shape
        start, stop, _ = part[1].indices(width)
        done = start * rows + (stop - start) * (part[0].start + len(found))
        self._progress(STAGE, done // width, rows)
        return found


@dataclass(frozen=True)
class TableFit:
    """Finds out what becomes of the columns of a table.

    Attributes:
        table: The table.
        places: Its columns that may be features.
        overrides: What the user asked for.
    """

    table: Table
    places: Sequence[int]
    overrides: Overrides

    def cost(self) -> FitCost:
        """The memory that it takes, as far as the first rows tell."""
        return FitCost.of(self.table, self._head)

    def guess(self) -> tuple[int, bool]:
        """How many features there will be, by the first rows, and whether exactly.

        Raises:
            InputError: There are no more rows, and they do not fit.
        """
        rows = len(self._head[0])
        fitter = self._fitter([column.type for column in self._head])
        fitter.update(self._head, 0)
        all_of_them = rows < HEAD_ROWS
        try:
            return fitter.finish().width, all_of_them
        except InputError:
            if all_of_them:
                raise
            return len(self.places), False

    def run(self, room: Room, progress: Progress = silent) -> Fitted:
        """Read all rows.

        Raises:
            InputError: A value is none that its column can have, or no column is left.
        """
        head, cost = self._head, self.cost()
        rows = room.rows or cost.batch_rows(room.work)
        step = room.columns or cost.columns(room.work)
        as_text = not self.table.typed and all(map(_is_text, head))
        try:
            return self._run([c.type for c in head], rows, step, progress, as_text)
        except _ChangedError:
            types = [pa.string()] * len(head)
            return self._run(types, rows, step, progress, as_text=True)

    def _run(
        self,
        types: list[Any],
        rows: int,
        step: int,
        progress: Progress,
        as_text: bool,
    ) -> Fitted:
        fitter = self._fitter(types)
        total, width = estimated_rows(self.table), len(self.places)
        done = 0
        for start in range(0, width, step):
            group = range(start, min(start + step, width))
            wanted = [self.places[number] for number in group]
            for first, columns in table_columns(
                self.table, wanted, rows, as_text=as_text
            ):
                if any(c.type != types[n] for c, n in zip(columns, group, strict=True)):
                    raise _ChangedError
                fitter.update(columns, first, group)
                done = first + len(columns[0])
                part = (start * max(total, done) + len(group) * done) // width
                progress(STAGE, part, max(total, done))
        return Fitted(done, fitter.finish(), as_text)

    def _fitter(self, types: list[Any]) -> SchemaFitter:
        return SchemaFitter(
            [self.table.names[place] for place in self.places],
            types,
            typed=self.table.typed,
            overrides=self.overrides,
            where=self.table.where,
        )

    @cached_property
    def _head(self) -> list[pa.Array]:
        """The first rows; what is unpacked of a Parquet file must not add up.

        Text is read at once: a word among numbers makes text of all columns.
        """
        found: list[pa.Array] = []
        step = _HEAD_COLUMNS if self.table.typed else len(self.places)
        for start in range(0, len(self.places), step):
            some = list(self.places[start : start + step])
            with closing(table_columns(self.table, some, HEAD_ROWS)) as batches:
                for _, columns in batches:
                    found += columns
                    break
        # All of them end where the first one does.
        rows = min(map(len, found))
        return [column[:rows] for column in found]


class _ChangedError(Exception):
    """A column of numbers goes on with text."""


def _is_text(column: pa.Array) -> bool:
    return bool(pa.types.is_string(column.type))
