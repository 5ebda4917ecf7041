"""Values of an Arrow column as NumPy numbers, or as distinct words and their places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl.graphs.files.names import MISSING
from fdgcl.graphs.target_columns import is_list

Column: TypeAlias = "pa.Array | pa.ChunkedArray"
Floats = NDArray[np.float64]

# Pairs of words for false and true, in small letters.
TRUTH = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"))
_NO_VALUE = pa.array([*MISSING, "nan", "NaN"], pa.large_string())
_NUMBER = r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:inf|infinity))$"
_PLAIN = {
    kind.id
    for kind in (
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    )
}
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def kind_of(kind: pa.DataType) -> tuple[str, str]:
    """Return what kind of feature a type of column makes, and why if none.

    Returns:
        "number", "boolean", "text", "category", "time", "vector" or "none", and the
        reason for "none".
    """
    types = pa.types
    if kind.id in _PLAIN or _is_other_number(kind):
        return "number", ""
    if isinstance(kind, pa.BaseExtensionType):
        return kind_of(kind.storage_type)
    if types.is_dictionary(kind):
        inner = kind.value_type
        if _is_text(inner) or types.is_integer(inner):
            return "category", ""
        return kind_of(inner)
    tests = (
        (types.is_boolean, "boolean"),
        (_is_text, "text"),
        (_is_time, "time"),
    )
    for test, found in tests:
        if test(kind):
            return found, ""
    if is_list(kind):
        inner, _ = kind_of(kind.value_type)
        if inner in ("number", "boolean"):
            return "vector", ""
        return "none", "lists of other than numbers"
    return "none", _why_not(kind)


def _why_not(kind: pa.DataType) -> str:
    if pa.types.is_null(kind):
        return "empty"
    if pa.types.is_nested(kind):
        return "nested"
    return "binary" if "binary" in str(kind) else f"of the type {kind}"


def _is_other_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_decimal(kind) or types.is_duration(kind) or types.is_float16(kind)
    )


def _is_text(kind: pa.DataType) -> bool:
    # Views came with pyarrow 16.
    is_view = getattr(pa.types, "is_string_view", lambda _: False)
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_view(kind)
    )


def _is_time(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind))


def plain_array(column: Column) -> pa.Array:
    """Return a column as one array, without extension type or dictionary."""
    if isinstance(column, pa.ChunkedArray):
        column = (
            column.chunk(0)
            if column.num_chunks == 1
            else pa.concat_arrays(column.chunks)
            if column.num_chunks
            else pa.array([], column.type)
        )
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column


def numbers(column: Column) -> Floats:
    """Return numbers (durations in seconds, booleans as 0 and 1); NaN where missing."""
    if column.type.id not in _PLAIN:
        column = plain_array(column)
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        elif pa.types.is_duration(column.type):
            per_second = _PER_SECOND[column.type.unit]
            whole = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
            return np.asarray(whole / per_second)
        elif column.type.id not in _PLAIN:
            column = column.cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


@dataclass(frozen=True)
class Words:
    """A column as distinct words, and which of them each row has.

    Attributes:
        words: Text without blanks around it; null for what says that it is missing.
        codes: For each row the place of its word, or -1 for none.
    """

    words: pa.Array
    codes: NDArray[np.int64]

    def spread(self, values: Any, missing: Any) -> NDArray[Any]:
        """Return for each row the value of its word, or `missing` without a word."""
        return np.append(np.asarray(values), missing)[self.codes]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether each word is one."""
        return np.asarray(self.words.is_valid().to_numpy(zero_copy_only=False))

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each word."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.words))

    def first_row(self, chosen: NDArray[np.bool_]) -> int:
        """Return the first row that has one of the chosen words."""
        return int(np.argmax(self.spread(chosen, False)))


def words_of(column: Column) -> Words:
    """Return a column of any flat type as words: 7, 7.0 and "7" are alike."""
    array = plain_array(column)
    kind, _ = kind_of(array.type)
    if kind == "number" and array.type.id not in _PLAIN:
        array = pa.array(numbers(array), from_pandas=True)
    elif kind != "number":
        array = array.cast(pa.large_string())
    encoded = array.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    words = encoded.dictionary
    if kind == "number":
        words = pa.array(map(_number_text, words.to_pylist()), pa.large_string())
    words = pc.utf8_trim_whitespace(words)
    missing = pc.is_in(words, value_set=_NO_VALUE)
    words = pc.if_else(missing, pa.scalar(None, pa.large_string()), words)
    return Words(words, codes.astype(np.int64))


def _number_text(value: float | None) -> str | None:
    if value is None or math.isnan(value):
        return None
    whole = math.isfinite(value) and value == int(value)
    return str(int(value) if whole else value)


def parse_numbers(words: pa.Array) -> tuple[Floats, NDArray[np.bool_]]:
    """Read text as numbers.

    Returns:
        Numbers, NaN for what is not a number, and whether each value is one.
    """
    fits = pc.match_substring_regex(words, _NUMBER).fill_null(False)
    kept = pc.if_else(fits, words, pa.scalar(None, pa.large_string()))
    values = kept.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values, fits.to_numpy(zero_copy_only=False)


def numbers_as_words(words: Words) -> Words:
    """Return words with numbers among them written as `words_of` writes numbers."""
    values, fine = parse_numbers(words.words)
    written = [
        _number_text(value) if is_number else word
        for value, is_number, word in zip(
            values.tolist(), fine, words.words.to_pylist(), strict=True
        )
    ]
    return Words(pa.array(written, pa.large_string()), words.codes)


def truth_of(words: Sequence[str]) -> dict[str, bool] | None:
    """Return what words such as Yes and no mean, if they are such a pair, or None."""
    small = {word.lower() for word in words}
    for pair in TRUTH:
        if small == set(pair):
            return {word: word.lower() == pair[1] for word in words}
    return None


def vectors(
    column: Column, name: str, width: int | None, first: int, where: str
) -> Floats:
    """Return a column of lists as (rows, width), NaN where a list or number is missing.

    Args:
        column: The lists.
        name: The column's name.
        width: The length of each list; None to take it from the first one.
        first: The number of the first row, from 0.
        where: The file.

    Raises:
        InputError: A list has another length.
    """
    array = plain_array(column)
    lengths = pc.list_value_length(array).to_numpy(zero_copy_only=False)
    present = array.is_valid().to_numpy(zero_copy_only=False)
    if width is None:
        width = int(lengths[present][0]) if present.any() else 0
    wrong = np.flatnonzero(present & (np.nan_to_num(lengths) != width))
    if len(wrong):
        row = int(wrong[0])
        message = (
            f"{where} has a list of {int(lengths[row])} numbers in row "
            f"{first + row + 1}, column {name!r}, where {width} are expected"
        )
        raise InputError(message)
    found = np.full((len(array), width), np.nan)
    found[present] = numbers(array.drop_null().flatten()).reshape(-1, width)
    return found
