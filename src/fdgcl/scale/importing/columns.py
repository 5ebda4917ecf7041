"""Ids as batches of a file hold them: whole numbers, or text, and one as the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl.graphs.ids import from_column

# Text of more digits stays text, as where all of a file is read at once.
_WHOLE_BELOW = 10**18


class MixedError(Exception):
    """An id is a text that is no number."""


def checked_ids(column: pa.Array, what: str, first: int) -> pa.Array:
    """A batch's column as int64 or string ids.

    Args:
        column: The column.
        what: Names file and column in a message.
        first: The number of its first row in the file, from 0.

    Raises:
        InputError: An id is missing, or the column holds something else.
    """
    row = _first_missing(column)
    if row >= 0:
        message = f"{what} has no id in row {first + row + 1:,}"
        raise InputError(message)
    return from_column(column, what)


def _first_missing(column: pa.Array) -> int:
    if column.null_count:
        return int(pc.index(pc.is_null(column), True).as_py())
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return int(pc.index(pc.equal(column, ""), True).as_py())
    return -1


def whole(ids: pa.Array) -> NDArray[np.int64] | None:
    """Ids as numbers, or None where one of them is a text that is none."""
    if pa.types.is_int64(ids.type):
        return np.asarray(ids.to_numpy())
    numbers = _parsed(ids)
    if numbers is None or not _written_alike(numbers, ids):
        return None
    found = np.asarray(numbers.to_numpy())
    if len(found) and not -_WHOLE_BELOW < found.min() <= found.max() < _WHOLE_BELOW:
        return None
    return found


def only_whole(ids: pa.Array, *, typed: bool) -> NDArray[np.int64]:
    """Ids as numbers, all of them.

    Args:
        ids: The ids.
        typed: Whether their file knows types, so that text is meant to be text.

    Raises:
        MixedError: One of them is a text.
    """
    text = typed and not pa.types.is_int64(ids.type)
    numbers = None if text else whole(ids)
    if numbers is None:
        raise MixedError
    return numbers


def matching_numbers(ids: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The numbers that ids are written like, and which of them are written so."""
    if pa.types.is_int64(ids.type):
        return np.asarray(ids.to_numpy()), np.ones(len(ids), bool)
    numbers = _parsed(ids)
    if numbers is None:
        # Some text is no number at all: one by one, since this will be refused.
        listed = [_number(text) for text in ids.to_pylist()]
        values = np.array([0 if n is None else n for n in listed], np.int64)
        return values, np.array([n is not None for n in listed], bool)
    alike = pc.equal(numbers.cast(pa.string()), ids)
    return np.asarray(numbers.to_numpy()), alike.to_numpy(zero_copy_only=False)


def as_text(ids: pa.Array) -> pa.Array:
    """Ids as large strings."""
    return ids.cast(pa.string()).cast(pa.large_string())


def _parsed(ids: pa.Array) -> Any:
    try:
        return ids.cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _written_alike(numbers: pa.Array, ids: pa.Array) -> bool:
    """Whether numbers are written as the texts they came from: not so 007, -0, 0x1."""
    return bool(pc.all(pc.equal(numbers.cast(pa.string()), ids), min_count=0).as_py())


def _number(text: str) -> int | None:
    try:
        value = int(text)
    except ValueError:
        return None
    return value if str(value) == text and -(2**63) <= value < 2**63 else None
