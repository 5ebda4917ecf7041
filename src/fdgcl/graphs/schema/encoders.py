"""One column to some columns of the feature matrix: categories, times, vectors."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdgcl.graphs.schema.accumulating import read_times
from fdgcl.graphs.schema.columns import ColumnSchema
from fdgcl.graphs.schema.hashing import HASH_COLUMNS, signed_hashes
from fdgcl.graphs.schema.scaling import Scaling
from fdgcl.graphs.schema.surprises import Matrix, Rows, Surprises
from fdgcl.graphs.schema.times import SECOND, Microseconds, parse_times, sines
from fdgcl.graphs.schema.values import (
    Column,
    Words,
    kind_of,
    numbers_as_words,
    vectors,
    words_of,
)


class Encoder(Protocol):
    """Writes what comes of one column."""

    def encode(self, column: Column, rows: Rows, out: Matrix) -> Surprises:
        """Write the columns, and report what training did not have."""


class OneHot:
    """A column of ones for each category."""

    def __init__(self, schema: ColumnSchema) -> None:
        self._schema = schema
        self._name = schema.name
        self._known = pa.array(schema.statistics["categories"], pa.large_string())
        self._had_missing = bool(schema.statistics["missing"])

    def encode(self, column: Column, rows: Rows, out: Matrix) -> Surprises:
        """Write the columns, and report what training did not have."""
        words = _category_words(column, self._schema, rows)
        found = _places(words, self._known)
        code = words.spread(found, -1)
        out[:] = 0
        hits = np.flatnonzero(code >= 0)
        out[hits, code[hits]] = 1
        return _told(self._name, words, found, out, self._had_missing)


class Hashed:
    """How often a category comes, and its hash as signs."""

    def __init__(self, schema: ColumnSchema) -> None:
        known = schema.statistics
        self._schema = schema
        self._name = schema.name
        self._known = pa.array(known["categories"], pa.large_string())
        self._had_missing = bool(known["missing"])
        self._mean, self._std = known["mean"], known["std"]
        counts = np.append(np.asarray(known["counts"], np.float64), 0.0)
        scale = self._std if self._std > 0 else np.inf
        self._often = (np.log1p(counts) - self._mean) / scale
        self._signs = signed_hashes(known["categories"])

    def encode(self, column: Column, rows: Rows, out: Matrix) -> Surprises:
        """Write the columns, and report what training did not have."""
        words = _category_words(column, self._schema, rows)
        found = _places(words, self._known)
        signs = self._signs[np.maximum(found, 0)]
        new = np.flatnonzero((found < 0) & words.present)
        if len(new):
            signs[new] = signed_hashes(words.words.take(pa.array(new)).to_pylist())
        signs[~words.present] = 0
        often = np.where(words.present, self._often[found], 0)
        out[:, 0] = words.spread(often, 0)
        nothing = np.zeros((1, HASH_COLUMNS), np.float32)
        out[:, 1 : HASH_COLUMNS + 1] = np.concatenate([signs, nothing])[words.codes]
        return _told(self._name, words, found, out, self._had_missing)


def _category_words(column: Column, schema: ColumnSchema, rows: Rows) -> Words:
    kind, _ = kind_of(column.type)
    if kind in ("none", "vector") and not pa.types.is_null(column.type):
        raise rows.refusal(str(column.type), 0, schema.name, "a category")
    words = words_of(column)
    return numbers_as_words(words) if schema.statistics["numbers"] else words


def _places(words: Words, known: pa.Array) -> NDArray[np.int64]:
    """Return the place of each word among the known ones, or -1."""
    found = pc.index_in(words.words, value_set=known, skip_nulls=True).fill_null(-1)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)


def _told(
    name: str, words: Words, found: NDArray[np.int64], out: Matrix, had_missing: bool
) -> Surprises:
    """Write which values are missing, and return what is new."""
    missing = words.spread(~words.present, True)
    if had_missing:
        out[:, -1] = missing
    new = words.present & (found < 0)
    unseen = int(words.counts[new].sum())
    example = words.words[int(np.argmax(new))].as_py() if unseen else ""
    holes = 0 if had_missing else int(missing.sum())
    return Surprises(
        {name: unseen} if unseen else {},
        {name: holes} if holes else {},
        {name: example} if unseen else {},
    )


class Times:
    """Elapsed time, standardised, and sines and cosines of cycles."""

    def __init__(self, schema: ColumnSchema) -> None:
        self._name = schema.name
        self._known = schema.statistics

    def encode(self, column: Column, rows: Rows, out: Matrix) -> Surprises:
        """Write the columns, and report what training did not have."""
        values, missing = self._read(column, rows)
        known = self._known
        elapsed = (values - known["origin"]) / SECOND
        parts = [(elapsed - known["mean"]) / known["std"]]
        for cycle in known["cycles"]:
            parts += sines(values, cycle)
        for place, part in enumerate(parts):
            out[:, place] = np.where(missing, 0, part)
        if known["missing"]:
            out[:, -1] = missing
        elif missing.any():
            return Surprises(missing={self._name: int(missing.sum())})
        return Surprises()

    def _read(
        self, column: Column, rows: Rows
    ) -> tuple[Microseconds, NDArray[np.bool_]]:
        kind, _ = kind_of(column.type)
        if kind == "time":
            return read_times(column, self._name, *rows)
        if kind not in ("text", "category") and column.null_count < len(column):
            raise rows.refusal(str(column.type), 0, self._name, "a date or time")
        words = words_of(column)
        values, fine = parse_times(words.words)
        wrong = words.present & ~fine
        if wrong.any():
            row = words.first_row(wrong)
            value = words.words[int(words.codes[row])].as_py()
            raise rows.refusal(value, row, self._name, "a date or time")
        return words.spread(values, 0), words.spread(~fine, True)


class Vectors:
    """Lists of numbers as they are."""

    def __init__(self, schema: ColumnSchema) -> None:
        known = schema.statistics
        self._name = schema.name
        self._width = known["width"]
        self._had_missing = bool(known["missing"])
        names = [schema.name] * self._width
        ones = np.ones(self._width)
        bent = np.zeros(self._width, np.bool_)
        self._scaling = Scaling(names, 0 * ones, ones, bent, np.asarray(known["mean"]))

    def encode(self, column: Column, rows: Rows, out: Matrix) -> Surprises:
        """Write the columns, and report what training did not have."""
        kind, _ = kind_of(column.type)
        if kind != "vector":
            raise rows.refusal(str(column.type), 0, self._name, "a list of numbers")
        found = vectors(column, self._name, self._width, *rows)
        missing = self._scaling.apply(found.T, rows).any(axis=0)
        out[:, : self._width] = found
        if self._had_missing:
            out[:, -1] = missing
        elif missing.any():
            return Surprises(missing={self._name: int(missing.sum())})
        return Surprises()


def encoder_of(schema: ColumnSchema) -> Encoder:
    """Return what encodes a column that is not one of numbers."""
    kinds: dict[str, type[OneHot | Hashed | Times | Vectors]] = {
        "one-hot": OneHot,
        "hashed": Hashed,
        "time": Times,
        "vector": Vectors,
    }
    return kinds[schema.encoding](schema)
