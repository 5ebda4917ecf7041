"""Columns of labels as numbers, words or sets: what `find_targets` decides on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fdgcl._checks import InputError
from fdgcl.graphs.files.names import MISSING
from fdgcl.graphs.labels import encode_labels

Numbers: TypeAlias = npt.NDArray[np.float64]
Matrix: TypeAlias = npt.NDArray[np.int8]

_EMPTY = (*MISSING, "nan", "NaN")
# 007 is a name, not a number; inf is one, to be refused by its row.
_FINITE = r"(0|[1-9][0-9]*|[0-9]*\.[0-9]+|[0-9]+\.)([eE][+-]?[0-9]+)?"
_NUMBER = rf"^[+-]?({_FINITE}|(?i:inf|infinity))$"
_EXACT = 2.0**53  # whole numbers up to here are exact as float64


@dataclass(frozen=True)
class TargetColumn:
    """One column of labels.

    Attributes:
        values: The column, categories and dates written out.
        what: Names column and file in a message.
        numbers: (rows,) float64, NaN for none; None where it holds words.
    """

    values: pa.ChunkedArray
    what: str
    numbers: Numbers | None = None

    @classmethod
    def of(cls, column: pa.ChunkedArray, what: str) -> TargetColumn:
        """Take a column as it stands in a table.

        Raises:
            InputError: It holds what is no label, or an infinite number.
        """
        column = _plain(column, what)
        if is_list(column.type):
            return cls(column, what)
        numbers = _numbers(column)
        if numbers is not None and np.isinf(numbers).any():
            row = int(np.flatnonzero(np.isinf(numbers))[0])
            message = f"{what} is not finite in row {row + 1}"
            raise InputError(message)
        return cls(column, what, numbers)

    @property
    def is_list(self) -> bool:
        """Whether each row holds a list."""
        return is_list(self.values.type)

    def need_numbers(self) -> Numbers:
        """Return the numbers.

        Raises:
            InputError: There is a word among them; the message names the row.
        """
        numbers = self.numbers
        if pa.types.is_boolean(self.values.type):
            numbers = _as_floats(self.values.cast(pa.int8()))
        if numbers is not None:
            return numbers
        text = self.values.cast(pa.string())
        fine = pc.or_(_is_empty(text), pc.match_substring_regex(text, _NUMBER))
        row = int(pc.index(pc.fill_null(fine, True), False).as_py())
        message = (
            f"{self.what} has {text[row].as_py()!r} in row {row + 1}, where --task "
            "regress needs a number"
        )
        raise InputError(message)

    def for_classes(self) -> npt.NDArray[Any]:
        """Return what `encode_labels` takes: numbers as such, words as text."""
        if self.numbers is not None:
            exact = bool((np.abs(np.nan_to_num(self.numbers)) < _EXACT).all())
            if exact or not pa.types.is_integer(self.values.type):
                return self.numbers
        return self.words()

    def words(self) -> npt.NDArray[Any]:
        """Return the column as text, empty for no label."""
        text = self.values
        if pa.types.is_boolean(text.type):
            text = pc.if_else(text, "True", "False")
        text = pc.fill_null(text.cast(pa.string()), "")
        return np.asarray(text.to_numpy(), object)


def indicators(columns: Sequence[pa.ChunkedArray], titles: Sequence[str]) -> Matrix:
    """Return columns of 0 and 1 (or false and true) side by side.

    A row that is empty throughout has no label.

    Raises:
        InputError: Something else stands in one, or a row is empty in part.
    """
    found = [_indicator(*pair) for pair in zip(columns, titles, strict=True)]
    matrix = np.stack(found, axis=1)
    empty = matrix < 0
    partly = np.flatnonzero(empty.any(axis=1) & ~empty.all(axis=1))
    if len(partly):
        row = int(partly[0])
        title = titles[int(empty[row].argmax())]
        message = (
            f"{title} is empty in row {row + 1}, where another label column is not: "
            "write 0 where a label does not apply, or leave the whole row empty"
        )
        raise InputError(message)
    return matrix


def is_list(kind: Any) -> bool:
    """Whether a column of an Arrow type holds lists."""
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests)


def _indicator(column: pa.ChunkedArray, title: str) -> Matrix:
    plain = _plain(column, title)
    if pa.types.is_string(plain.type):
        words = pc.utf8_lower(plain)
        digits = pc.if_else(pc.equal(words, "false"), "0", plain)
        plain = pc.if_else(pc.equal(words, "true"), "1", digits)
    if pa.types.is_boolean(plain.type):
        plain = plain.cast(pa.int8())
    numbers = None if is_list(plain.type) else _numbers(plain)
    if numbers is None:
        numbers = np.full(len(plain), 2.0)
    bad = np.flatnonzero(~np.isnan(numbers) & (numbers != 0) & (numbers != 1))
    if len(bad):
        row = int(bad[0])
        message = (
            f"{title} has {column[row].as_py()!r} in row {row + 1}: several label "
            "columns are several labels at once, and hold 0 and 1"
        )
        raise InputError(message)
    return np.where(np.isnan(numbers), -1, numbers).astype(np.int8)


def listed_labels(column: pa.ChunkedArray, what: str) -> tuple[Matrix, tuple[str, ...]]:
    """Return a column of lists as a matrix of labels, and the labels.

    Lists of one length, of 0 and 1 alone, are rows of the matrix; others name the
    labels that apply. A row without a list has no label; an empty list is none of them.

    Raises:
        InputError: The lists hold something else, or nothing.
    """
    column = column.combine_chunks()
    present = np.asarray(column.is_valid())
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0), np.int64)
    flat = TargetColumn.of(pa.chunked_array([pc.list_flatten(column)]), what)
    if flat.is_list or len(flat.values) == 0:
        message = (
            f"{what} must hold lists of labels, got {column.type}, nested or empty"
        )
        raise InputError(message)
    sizes = np.unique(lengths[present])
    if len(sizes) == 1 and sizes[0] > 1 and _is_binary(flat):
        matrix = np.full((len(column), sizes[0]), -1, np.int8)
        matrix[present] = flat.need_numbers().reshape(-1, sizes[0])
        return matrix, tuple(str(number) for number in range(sizes[0]))
    if pa.types.is_floating(flat.values.type):
        message = (
            f"{what} holds vectors, {column.type}, where one label in each row is "
            "expected, or a list of labels"
        )
        raise InputError(message)
    # As words: -1 is no label in a column, but may be one within a list.
    codes, names = encode_labels(flat.words())
    if flat.values.null_count or (codes < 0).any():
        message = f"{what} has a list with an empty label in it"
        raise InputError(message)
    if flat.numbers is not None:
        order = np.argsort([float(name) for name in names])
        names = tuple(names[i] for i in order)
        codes = np.argsort(order)[codes]
    matrix = np.where(present[:, None], np.zeros(len(names), np.int8), np.int8(-1))
    matrix[np.repeat(np.arange(len(column)), lengths), codes] = 1
    return matrix, names


def _is_binary(flat: TargetColumn) -> bool:
    if pa.types.is_boolean(flat.values.type):
        return True
    return flat.numbers is not None and bool(np.isin(flat.numbers, (0, 1)).all())


def _plain(column: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    try:
        if pa.types.is_decimal(kind):
            return column.cast(pa.float64())
        if _is_text(kind) or pa.types.is_temporal(kind) or pa.types.is_null(kind):
            return column.cast(pa.string())
    except pa.ArrowInvalid:
        kind = f"{kind} that are no text"
        column = None
    simple = column is not None and (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or is_list(kind)
    )
    if not simple:
        message = f"{what} holds {kind}, where one label in each row is expected"
        raise InputError(message)
    return column


def _numbers(column: pa.ChunkedArray) -> Numbers | None:
    """Return a column as numbers, NaN for none; None where it holds words."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return None
    if not pa.types.is_string(kind):
        return _as_floats(column)
    column = pc.if_else(_is_empty(column), pa.scalar(None, pa.string()), column)
    if column.null_count == len(column):
        return None
    looks = pc.match_substring_regex(pc.unique(column).drop_null(), _NUMBER)
    if not pc.all(looks, min_count=0).as_py():
        return None
    return _as_floats(column)


def _as_floats(column: pa.ChunkedArray) -> Numbers:
    floats = column.cast(pa.float64(), safe=False)
    return np.asarray(floats.to_numpy(zero_copy_only=False), np.float64)


def _is_empty(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.is_in(column, value_set=pa.array(_EMPTY))


def _is_text(kind: pa.DataType) -> bool:
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    return any(test(kind) for test in (*tests, pa.types.is_large_binary))
