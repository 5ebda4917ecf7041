"""A schema from the rows of a table, at once or by batches, with the same result.

Rows are regrouped in blocks that begin at fixed row numbers, and everything is
counted by block: how the rows arrive makes no difference, not even in rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl.graphs.schema.accumulating import (
    IdColumn,
    NumberColumns,
    TimeColumn,
    VectorColumn,
)
from fdgcl.graphs.schema.blocks import Block, Group
from fdgcl.graphs.schema.columns import WRITTEN, ColumnSchema, Overrides
from fdgcl.graphs.schema.deciding import (
    Scales,
    number_columns,
    text_column,
    time_column,
    vector_column,
)
from fdgcl.graphs.schema.feature_schema import FeatureSchema
from fdgcl.graphs.schema.naming import (
    check_overrides,
    left_out,
    looks_like_id,
    refuse_repeated,
)
from fdgcl.graphs.schema.statistics import Summary
from fdgcl.graphs.schema.texts import TextColumn
from fdgcl.graphs.schema.values import Column, kind_of

_SHOWN = 10
_AS_IT_COMES = Overrides()


class _Gathering(Protocol):
    def update(self, column: Column, first: int) -> None: ...


class SchemaFitter:
    """Decides what becomes of the columns of a table whose rows come in batches.

    Example:
        >>> import pyarrow as pa
        >>> from fdgcl.graphs.schema import Overrides, SchemaFitter
        >>> table = pa.table({"age": [31.0, 44.0, 58.0], "income": [2e4, 9e4, 5e4]})
        >>> fitter = SchemaFitter(
        ...     table.column_names, table.schema.types, typed=True,
        ...     overrides=Overrides(), where="x.parquet",
        ... )
        >>> fitter.update(table.slice(0, 2).columns, 0)
        >>> fitter.update(table.slice(2).columns, 2)
        >>> fitter.finish().feature_names
        ('age', 'income')
    """

    def __init__(
        self,
        names: Sequence[str],
        types: Sequence[pa.DataType],
        *,
        typed: bool,
        overrides: Overrides,
        where: str,
    ) -> None:
        """Look at names and types.

        Args:
            names: Of the columns.
            types: Of the columns.
            typed: Whether the file itself distinguishes numbers from text.
            overrides: What the user asked for.
            where: The file, for messages.

        Raises:
            InputError: A column asked for is not there, or two have the same name.
        """
        where = where or "the table"
        if not names:
            message = f"{where} has no columns for features"
            raise InputError(message)
        refuse_repeated(names, where)
        check_overrides(overrides, names, where)
        self._names = tuple(names)
        self._overrides = overrides
        self._typed = typed
        self._where = where
        self._done: dict[int, ColumnSchema] = {}
        self._numbers: list[int] = []
        self._booleans: set[int] = set()
        self._ids: dict[int, IdColumn] = {}
        self._others: dict[int, _Gathering] = {}
        for place, (name, kind) in enumerate(zip(names, types, strict=True)):
            self._begin(place, name, kind)
        self._group: Group | None = None
        self._summaries: list[Summary] = []
        self._rows: int | None = None

    def _begin(self, place: int, name: str, kind: pa.DataType) -> None:
        reason = left_out(name, self._overrides)
        found, why = ("none", reason) if reason else kind_of(kind)
        asked = name in self._overrides.asked
        named_id = not asked and looks_like_id(name)
        if named_id and found in ("text", "category"):
            found, why = "none", "looks like ids"
        if asked:
            found = self._asked(name, found, kind)
        if found == "none":
            self._done[place] = ColumnSchema.ignored(name, why)
        elif found in ("number", "boolean"):
            self._numbers.append(place)
            if found == "boolean":
                self._booleans.add(place)
            elif named_id:
                self._ids[place] = IdColumn()
        else:
            self._others[place] = self._gathering(name, found)

    def _asked(self, name: str, found: str, kind: pa.DataType) -> str:
        """Return what a column is that the user named, or refuse it."""
        categorical = name in self._overrides.categorical
        numeric = name in self._overrides.numeric
        if categorical and found not in ("none", "vector"):
            return "asked category"
        if numeric and found in ("text", "category"):
            return "asked number"
        if categorical or (numeric and found not in ("number", "boolean")):
            option = "--categorical" if categorical else "--numeric"
            message = (
                f"{self._where} has values of the type {kind} in the column {name!r}, "
                f"from row 1 on, which cannot be taken as {option} says"
            )
            raise InputError(message)
        return found

    def _gathering(self, name: str, found: str) -> _Gathering:
        if found == "time":
            return TimeColumn(name, self._where)
        if found == "vector":
            return VectorColumn(name, self._where)
        asked = {
            "text": "",
            "category": "declared",
            "asked category": "category",
            "asked number": "number",
        }[found]
        return TextColumn(name, self._where, asked=asked)

    def update(
        self,
        columns: Sequence[Column],
        first: int,
        places: Sequence[int] | None = None,
    ) -> None:
        """Take in rows that follow those before.

        Where all columns are too many to be read at a time, some of them may come with
        all their rows, then the next ones.

        Args:
            columns: All columns, in the order of the names, or some of them.
            first: The number of the first of these rows, from 0.
            places: Which columns these are, by number, one after the other; None for
                all.

        Raises:
            InputError: A value is not one that its column can have.
            ValueError: The rows or columns do not follow those before.
        """
        wanted = tuple(range(len(self._names)) if places is None else places)
        group = self._group
        if group is None or group.places != wanted:
            group = self._next_group(wanted)
        block = group.block
        if first != block.end or len(columns) != len(wanted):
            message = (
                f"rows {block.end} on of {len(wanted)} columns must follow, "
                f"got rows {first} on of {len(columns)} columns"
            )
            raise ValueError(message)
        rows = len(columns[0]) if columns else 0
        start = 0
        while start < rows:
            start += block.take(columns, group.numbers, start)
            if block.full:
                self._count(group)

    def _next_group(self, places: tuple[int, ...]) -> Group:
        fed = 0 if self._group is None else self._group.places[-1] + 1
        if places != tuple(range(fed, fed + len(places))) or not places:
            message = f"the columns {fed} on must follow, got {places}"
            raise ValueError(message)
        self._close_group()
        inside = set(places)
        numbers = [place for place in self._numbers if place in inside]
        others = [p - fed for p in (*self._ids, *self._others) if p in inside]
        names, of = [self._names[place] for place in numbers], len(self._numbers)
        self._group = Group(
            places,
            [place - fed for place in numbers],
            Block(len(names), others, of),
            NumberColumns(names, self._where, of),
        )
        return self._group

    def _close_group(self) -> None:
        """Sum up a group, all of whose rows are in, and free what it held."""
        group = self._group
        if group is None:
            return
        if group.block.held:
            self._count(group)
        rows = group.block.end
        if self._rows not in (None, rows):
            message = (
                f"{self._where} had {self._rows} rows, and has {rows}: was it changed?"
            )
            raise InputError(message)
        self._rows = rows
        if group.numbers:
            self._summaries.append(group.found.summary())

    def _count(self, group: Group) -> None:
        first = group.block.first
        matrix, pieces = group.block.empty()
        group.found.update(matrix, first)
        for place, piece in pieces.items():
            number = group.places[place]
            if number in self._ids:
                self._ids[number].update(piece)
            else:
                self._others[number].update(piece, first)

    def finish(self) -> FeatureSchema:
        """Decide, now that all rows are in.

        Raises:
            InputError: There are no rows, or nothing is left to be a feature.
        """
        fed = 0 if self._group is None else self._group.places[-1] + 1
        if 0 < fed < len(self._names):
            message = f"the columns {fed} on are missing"
            raise ValueError(message)
        self._close_group()
        if not self._rows:
            message = f"{self._where} has no rows"
            raise InputError(message)
        done = dict(self._done)
        as_numbers: dict[int, Summary] = {}
        for place, one in self._others.items():
            if isinstance(one, TextColumn) and one.numbers is not None and one.present:
                as_numbers[place] = one.numbers.summary()
            else:
                done[place] = self._decide(self._names[place], one)
        places = [*self._numbers, *as_numbers]
        if places:
            done |= self._decide_numbers(places, list(as_numbers.values()), done)
        self._refuse_nothing(done)
        return FeatureSchema(tuple(done[place] for place in range(len(self._names))))

    def _decide(self, name: str, one: _Gathering) -> ColumnSchema:
        if isinstance(one, TextColumn):
            if one.times is not None and one.present:
                return time_column(name, one.times)
            one.refuse_mistakes()
            return text_column(one, self._where)
        if isinstance(one, TimeColumn):
            return time_column(name, one)
        assert isinstance(one, VectorColumn)
        return vector_column(name, self._rows or 0, one)

    def _decide_numbers(
        self, places: list[int], texts: list[Summary], done: dict[int, ColumnSchema]
    ) -> dict[int, ColumnSchema]:
        first, *others = (*self._summaries, *texts)
        found = first.joined(others)
        ids = np.array([p in self._ids and self._ids[p].distinct for p in places])
        booleans = np.array([place in self._booleans for place in places])
        beside = self._overrides.beside_units or any(
            column.role == "feature" for column in done.values()
        )
        varying = ~found.constant & (found.count > 0)
        scales = Scales(
            found,
            self._overrides.scaling,
            judged=~ids & ~booleans,
            beside_units=beside or bool((booleans & varying).any()),
        )
        names = [self._names[place] for place in places]
        notes = ["boolean" if boolean else "" for boolean in booleans]
        if self._typed:
            notes[len(self._numbers) :] = [WRITTEN] * len(texts)
        columns = number_columns(names, found, scales, notes)
        for number in np.flatnonzero(ids):
            columns[number] = ColumnSchema.ignored(names[number], "looks like ids")
        return dict(zip(places, columns, strict=True))

    def _refuse_nothing(self, done: dict[int, ColumnSchema]) -> None:
        if any(column.role == "feature" for column in done.values()):
            return
        left = [f"{done[p].name} ({done[p].reason})" for p in sorted(done)]
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        shown = ", ".join(left[:_SHOWN])
        message = (
            f"{self._where} has no column that can be a feature: {shown}"
            f"{more}; --columns, --categorical and --numeric take what was left out"
        )
        raise InputError(message)


def fit_schema(
    table: pa.Table, *, typed: bool, overrides: Overrides = _AS_IT_COMES, where: str
) -> FeatureSchema:
    """Decide what becomes of the columns of a table in memory.

    Args:
        table: All rows.
        typed: Whether the file itself distinguishes numbers from text.
        overrides: What the user asked for.
        where: The file, for messages.

    Raises:
        InputError: As `SchemaFitter`.

    Example:
        >>> import pyarrow as pa
        >>> from fdgcl.graphs.schema import fit_schema
        >>> table = pa.table({"city": ["Rome", "Oslo"] * 3, "name": list("uvwxyz")})
        >>> schema = fit_schema(table, typed=True, where="x.parquet")
        >>> schema.feature_names
        ('city=Oslo', 'city=Rome')
        >>> schema.ignored()
        (('name', 'text'),)
    """
    fitter = SchemaFitter(
        table.column_names,
        table.schema.types,
        typed=typed,
        overrides=overrides,
        where=where,
    )
    first = 0
    for batch in table.to_batches():
        fitter.update(batch.columns, first)
        first += len(batch)
    return fitter.finish()
