"""Numbers to features: scaled, and filled where they are missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl.graphs.schema.accumulating import refuse_infinite
from fdgcl.graphs.schema.columns import ColumnSchema
from fdgcl.graphs.schema.surprises import Rows
from fdgcl.graphs.schema.values import (
    TRUTH,
    Column,
    Floats,
    Words,
    kind_of,
    numbers,
    parse_numbers,
    words_of,
)

_LARGEST = float(np.finfo(np.float32).max)
_SAID = {word: float(value) for pair in TRUTH for value, word in enumerate(pair)}


class Scaling:
    """Numbers minus a centre, divided by a scale, maybe bent by asinh, and filled.

    Attributes:
        names: Of the columns, for messages.
    """

    def __init__(
        self,
        names: Sequence[str],
        centre: Floats,
        scale: Floats,
        bent: NDArray[np.bool_],
        fill: Floats,
    ) -> None:
        self.names = names
        self._centre = centre[:, None]
        self._scale = scale[:, None]
        self._scaled = bool((centre != 0).any() or (scale != 1).any())
        self._bent = np.flatnonzero(bent)
        self._fill = fill[:, None]

    def apply(self, block: Floats, rows: Rows) -> NDArray[np.bool_]:
        """Change a block (columns, rows) in place, and return what was missing."""
        refuse_infinite(block, self.names, *rows)
        missing: NDArray[np.bool_] = np.isnan(block)
        if self._scaled:
            with np.errstate(over="ignore"):
                block -= self._centre
                block /= self._scale
        if len(self._bent):
            block[self._bent] = np.arcsinh(block[self._bent])
        if missing.any():
            np.copyto(block, np.broadcast_to(self._fill, block.shape), where=missing)
        if np.abs(block).max(initial=0) > _LARGEST:
            place, row = (int(i) for i in np.argwhere(np.abs(block) > _LARGEST)[0])
            message = (
                f"{rows.where} has a number in row {rows.first + row + 1}, column "
                f"{self.names[place]!r}, that is too large for 32 bits"
            )
            raise InputError(message)
        return missing


def scaling_of(columns: Sequence[ColumnSchema]) -> Scaling:
    """Return the scaling of columns of numbers of a table."""
    width = len(columns)
    centre, scale, fill = np.zeros(width), np.ones(width), np.zeros(width)
    bent = np.zeros(width, np.bool_)
    for place, column in enumerate(columns):
        known = column.statistics
        if column.encoding == "standard":
            centre[place], scale[place] = known["mean"], known["std"]
        elif column.encoding == "robust":
            centre[place], scale[place] = known["median"], known["scale"]
            bent[place] = True
        else:
            fill[place] = known["mean"]
    return Scaling([column.name for column in columns], centre, scale, bent, fill)


def read_number(column: Column, schema: ColumnSchema, rows: Rows) -> Floats:
    """Return numbers of a column of any type that can hold them, NaN where missing."""
    kind, _ = kind_of(column.type)
    truth = schema.encoding == "boolean"
    if kind in ("text", "category"):
        return _parsed(words_of(column), schema.name, rows, truth)
    if kind not in ("number", "boolean") and not pa.types.is_null(column.type):
        raise rows.refusal(str(column.type), 0, schema.name, "a number")
    found = numbers(column)
    if truth:
        wrong = ~np.isnan(found) & (found != 0) & (found != 1)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise rows.refusal(float(found[row]), row, schema.name, "true or false")
    return found


def _parsed(words: Words, name: str, rows: Rows, truth: bool) -> Floats:
    values, fine = parse_numbers(words.words)
    if truth:
        small = pc.utf8_lower(words.words).to_pylist()
        values = np.array([_SAID.get(w, v) for w, v in zip(small, values, strict=True)])
        fine = np.isin(values, (0, 1))
    wrong = words.present & ~fine
    if wrong.any():
        row = words.first_row(wrong)
        value = words.words[int(words.codes[row])].as_py()
        wanted = "true or false" if truth else "a number"
        raise rows.refusal(value, row, name, wanted)
    return words.spread(values, np.nan)
