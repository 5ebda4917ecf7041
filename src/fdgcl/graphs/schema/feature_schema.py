"""What becomes of the columns of a table: kept with a model, applied to others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fdgcl._checks import InputError, nearest
from fdgcl.graphs.schema.checking import FORMAT, column_to_dict, read_columns
from fdgcl.graphs.schema.columns import ColumnSchema
from fdgcl.graphs.schema.describing import describe, listed
from fdgcl.graphs.schema.encoding import Plan
from fdgcl.graphs.schema.naming import refuse_repeated
from fdgcl.graphs.schema.statistics import block_rows
from fdgcl.graphs.schema.surprises import Encoded, Matrix, Rows, Surprises
from fdgcl.graphs.schema.values import Column


@dataclass(frozen=True)
class FeatureSchema:
    """What becomes of the columns of a table.

    Attributes:
        columns: One for each column, in the order of the table it was fitted on.

    Example:
        >>> import pyarrow as pa
        >>> from fdgcl.graphs.schema import fit_schema
        >>> table = pa.table({"age": [20, 40, 60], "paid": [True, False, True]})
        >>> schema = fit_schema(table, typed=True, where="x.parquet")
        >>> schema.feature_names, schema.width
        (('age', 'paid'), 2)
        >>> schema.encode(table.columns).values.shape
        (3, 2)
    """

    columns: tuple[ColumnSchema, ...]

    @cached_property
    def features(self) -> tuple[ColumnSchema, ...]:
        """The columns that are taken."""
        return tuple(column for column in self.columns if column.role == "feature")

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns of the feature matrix."""
        return tuple(name for column in self.features for name in column.outputs)

    @property
    def width(self) -> int:
        """The number of columns of the feature matrix."""
        return len(self.feature_names)

    @property
    def of_matrix(self) -> bool:
        """Whether it was fitted on a matrix without names (`fit_matrix`)."""
        return any(column.of_matrix for column in self.columns)

    def ignored(self) -> tuple[tuple[str, str], ...]:
        """Return the columns that are left out, each with the reason."""
        return tuple(
            (column.name, column.reason)
            for column in self.columns
            if column.role == "ignored"
        )

    def describe(self) -> tuple[str, ...]:
        """Return what was decided, in plain sentences."""
        return describe(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        columns = [column_to_dict(column) for column in self.columns]
        return {"format": FORMAT, "columns": columns}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any], where: str = "") -> FeatureSchema:
        """Return what `to_dict` gave.

        Args:
            saved: As read from JSON.
            where: The file, for messages.

        Raises:
            InputError: It is damaged, or of another version.
        """
        return cls(read_columns(saved, where or "the schema of the features"))

    def match(
        self, names: Sequence[str], where: str
    ) -> tuple[list[str], tuple[str, ...]]:
        """Find the columns of the training in another table.

        Args:
            names: The columns of the table, in any order.
            where: The file, for messages.

        Returns:
            The columns to read, in the order that `encode` wants, and notices about
            columns that training did not have.

        Raises:
            InputError: Columns are missing.
        """
        if self.of_matrix:
            message = (
                f"{where} has named columns, but the features of the training were a "
                "matrix without names: give a .npy or .npz file"
            )
            raise InputError(message)
        refuse_repeated(names, where)
        given = set(names)
        wanted = [column.name for column in self.features]
        lacking = [name for name in wanted if name not in given]
        known = {column.name for column in self.columns}
        extra = [name for name in names if name not in known]
        if lacking:
            raise _lacking(lacking, extra, where)
        note = f"{where}: ignored, because training did not have it: {listed(extra)}"
        return wanted, (note,) if extra else ()

    def encode(
        self,
        columns: Sequence[Column],
        first: int = 0,
        where: str = "",
        out: Matrix | None = None,
    ) -> Encoded:
        """Make features of some rows.

        Args:
            columns: Those of `match`, in its order.
            first: The number of the first row, from 0, for messages.
            where: The file, for messages.
            out: (rows, width) float32 to write to; None for a new one.

        Returns:
            The features, and what is unlike training.

        Raises:
            InputError: A value cannot be encoded; file, row and column are named.
        """
        if len(columns) != len(self.features):
            message = f"{len(self.features)} columns expected, got {len(columns)}"
            raise ValueError(message)
        where = where or "the table"
        rows = len(columns[0])
        values = np.empty((rows, self.width), np.float32) if out is None else out
        step = block_rows(len(columns))
        surprises = Surprises()
        for start in range(0, rows, step):
            end = min(start + step, rows)
            part = (
                columns
                if end - start == rows
                else [column.slice(start, end - start) for column in columns]
            )
            place = Rows(first + start, where)
            surprises += self._plan.encode(part, place, values[start:end])
        return Encoded(values, surprises)

    @cached_property
    def _plan(self) -> Plan:
        return Plan(self.features)


def _lacking(lacking: Sequence[str], extra: Sequence[str], where: str) -> InputError:
    hint = nearest(lacking[0], extra)
    column = "the column" if len(lacking) == 1 else f"{len(lacking)} columns"
    names = listed([repr(name) for name in lacking])
    if extra and not hint:
        hint = f"; it has others: {listed([repr(name) for name in extra])}"
    return InputError(f"{where} lacks {column} of the training: {names}{hint}")
