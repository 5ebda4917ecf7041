"""Node ids as Arrow arrays: matching millions of them without a loop over rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fdgcl._checks import InputError
from fdgcl.graphs._validate import id_array

ArrowIds: TypeAlias = pa.Array | pa.ChunkedArray

# Without leading zeros or a plus sign, so that reading as an integer loses nothing;
# 18 digits always fit in 64 bits.
_WHOLE_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"


def from_values(values: Any) -> ArrowIds:
    """Return ids held in Python or NumPy as int64 or string."""
    array = id_array(values)
    return pa.array(array, pa.int64() if array.dtype != object else pa.string())


def from_column(column: Any, what: str) -> ArrowIds:
    """Return a column of a file as int64 or string ids.

    Args:
        column: An Arrow column of whole numbers or strings.
        what: Names file and column in a message.

    Raises:
        InputError: An id is missing, or the column holds something else.
    """
    _refuse_missing(pc.is_null(column), what)
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    try:
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return column.cast(pa.int64())
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            text = column.cast(pa.string())
            _refuse_missing(pc.equal(text, ""), what)
            return text
    except pa.ArrowInvalid:
        kind = f"{kind} with fractions or values beyond 64 bits"
    message = f"{what} must hold whole numbers or strings as ids, got {kind}"
    raise InputError(message)


def whole_numbers(columns: Sequence[ArrowIds]) -> list[ArrowIds]:
    """Return columns of text as integers when every value in all of them is one."""
    for column in columns:
        looks_whole = pc.match_substring_regex(pc.unique(column), _WHOLE_NUMBER)
        if not pc.all(looks_whole, min_count=0).as_py():
            return list(columns)
    return [column.cast(pa.int64()) for column in columns]


def distinct(*columns: ArrowIds) -> pa.Array:
    """Return the sorted distinct ids of all columns, of one type."""
    found = [pc.unique(column) for column in columns]
    if len({str(values.type) for values in found}) > 1:
        found = [values.cast(pa.string()) for values in found]
    values = pc.unique(pa.chunked_array(found))
    return values.take(pc.sort_indices(values))


def positions(values: ArrowIds, known: ArrowIds) -> npt.NDArray[np.int64]:
    """Return where each of `values` stands in `known`, -1 where it does not.

    Ids of different types match when they are written alike: 7 and "7".
    """
    if values.type != known.type:
        values, known = values.cast(pa.string()), known.cast(pa.string())
    elif pa.types.is_int64(known.type) and is_range(known):
        numbers = as_numpy(values)
        return np.where((numbers >= 0) & (numbers < len(known)), numbers, -1)
    found = pc.fill_null(pc.index_in(values, value_set=known), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)


def is_range(ids: ArrowIds) -> bool:
    """Whether the ids are 0, 1, 2, ... in this order."""
    if not pa.types.is_int64(ids.type):
        return False
    return np.array_equal(as_numpy(ids), np.arange(len(ids)))


def as_numpy(ids: ArrowIds) -> npt.NDArray[Any]:
    """Return ids as an int64 array or an object array of str."""
    if isinstance(ids, pa.ChunkedArray):
        return np.asarray(ids.to_numpy())
    return np.asarray(ids.to_numpy(zero_copy_only=False))


def refuse_repeated(ids: ArrowIds, what: str) -> None:
    """Raise InputError when an id occurs twice; `what` names file and column."""
    repeated = len(ids) - len(pc.unique(ids))
    if repeated:
        counts = pc.value_counts(ids)
        often = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
        message = f"{what} repeats {len(often)} ids, such as {examples(often)}"
        raise InputError(message)


def unknown(values: ArrowIds, where: npt.NDArray[np.int64]) -> ArrowIds:
    """Return the distinct `values` for which `positions` found no place."""
    return pc.unique(values.filter(pa.array(where < 0)))


def examples(ids: ArrowIds, count: int = 3) -> str:
    """Return the first few ids, as a user would write them."""
    shown = ", ".join(repr(value) for value in ids[:count].to_pylist())
    return shown + (", ..." if len(ids) > count else "")


def _refuse_missing(missing: Any, what: str) -> None:
    row = int(pc.index(missing, True).as_py())
    if row >= 0:
        message = f"{what} has no id in row {row + 1}"
        raise InputError(message)
