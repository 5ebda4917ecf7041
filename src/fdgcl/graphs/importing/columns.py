"""Ids as batches of a file hold them: whole numbers, or text, and one as the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# Text of more digits stays text, as where all of a file is read at once.
_WHOLE_BELOW = 10**18


class MixedError(Exception):
    """An id is a text that is no number."""


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
