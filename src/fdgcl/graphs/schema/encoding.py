"""Columns to a float32 matrix, by what was decided for each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fdgcl.graphs.schema.columns import NUMBERS, ColumnSchema
from fdgcl.graphs.schema.encoders import encoder_of
from fdgcl.graphs.schema.scaling import read_number, scaling_of
from fdgcl.graphs.schema.surprises import Matrix, Rows, Surprises
from fdgcl.graphs.schema.values import Column


class Plan:
    """Where each column of a table goes; columns of numbers go together."""

    def __init__(self, columns: Sequence[ColumnSchema]) -> None:
        ends = np.cumsum([len(column.outputs) for column in columns])
        starts = ends - [len(column.outputs) for column in columns]
        self.width = int(ends[-1])
        self._columns = columns
        self._numbers = [p for p, c in enumerate(columns) if c.encoding in NUMBERS]
        self._targets = starts[self._numbers]
        chosen = [columns[place] for place in self._numbers]
        self._holes = np.flatnonzero([bool(c.statistics["missing"]) for c in chosen])
        self._scaling = scaling_of(chosen) if chosen else None
        self._others = [
            (place, slice(starts[place], ends[place]), encoder_of(c))
            for place, c in enumerate(columns)
            if c.encoding not in NUMBERS
        ]

    def encode(self, columns: Sequence[Column], rows: Rows, out: Matrix) -> Surprises:
        """Fill `out`, and return what is unlike training."""
        surprises = self._encode_numbers(columns, rows, out)
        for place, target, encoder in self._others:
            surprises += encoder.encode(columns[place], rows, out[:, target])
        return surprises

    def _encode_numbers(
        self, columns: Sequence[Column], rows: Rows, out: Matrix
    ) -> Surprises:
        if self._scaling is None:
            return Surprises()
        block = np.empty((len(self._numbers), len(out)))
        for row, place in enumerate(self._numbers):
            block[row] = read_number(columns[place], self._columns[place], rows)
        missing = self._scaling.apply(block, rows)
        out[:, self._targets] = block.T
        out[:, self._targets[self._holes] + 1] = missing[self._holes].T
        counts = missing.sum(axis=1)
        counts[self._holes] = 0
        names = self._scaling.names
        new = {
            names[place]: int(counts[place])
            for place in np.flatnonzero(counts).tolist()
        }
        return Surprises(missing=new)
