"""Node ids as Arrow arrays: matching millions of them without a loop over rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fdgcl._checks import InputError
from fdgcl.graphs._validate import id_array, text_of_bytes

ArrowIds: TypeAlias = pa.Array | pa.ChunkedArray

# What a missing value looks like once it was written as text.
NULL_WORDS = (
    "nan",
    "NaN",
    "NAN",
    "NA",
    "N/A",
    "#N/A",
    "null",
    "NULL",
    "None",
    "<NA>",
    "NaT",
)

# Without leading zeros or a plus sign, so that reading as an integer loses nothing;
# 18 digits always fit in 64 bits.
_WHOLE_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"

_SHOWN = 3


def from_values(values: Any) -> ArrowIds:
    """Return ids held in Python or NumPy as int64 or string."""
    array = id_array(values)
    return pa.array(array, pa.int64() if array.dtype != object else pa.string())


def from_column(
    column: Any, what: str, *, allow_null: bool = False, first: int = 0
) -> ArrowIds:
    """Return a column of a table as int64 or string ids.

    Whole numbers (decimals and floats without a fraction too) become int64 where they
    fit in 64 bits; everything else becomes text: UUIDs in their usual form, dates and
    timestamps in ISO 8601, bytes as UTF-8 or else in hexadecimal digits.

    Args:
        column: An Arrow column.
        what: Names file and column in a message.
        allow_null: Whether words such as `nan` and `NA` may be ids.
        first: The number of its first row, from 0, for messages.

    Raises:
        InputError: An id is missing, or the column holds what cannot be an id.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    _refuse_missing(pc.is_null(column), what, first)
    convert = _conversion(kind)
    if convert is None:
        message = f"{what} must hold whole numbers or text as ids, got {kind}"
        raise InputError(message)
    ids = convert(column, what)
    if pa.types.is_string(ids.type):
        _refuse_missing(pc.equal(ids, ""), what, first)
        if not allow_null:
            _refuse_null_words(ids, what, first)
    return ids


def _conversion(kind: Any) -> Any:
    """How to turn a column of a type into ids; None where it cannot hold any."""
    types = pa.types
    if types.is_integer(kind) or types.is_decimal(kind):
        return _whole_or_text
    if types.is_floating(kind):
        return _whole
    if types.is_string(kind) or types.is_large_string(kind) or _is_view(kind):
        return _as_text
    if types.is_date(kind) or types.is_timestamp(kind):
        return _as_text
    if _is_uuid(kind):
        return _uuids
    if types.is_binary(kind) or types.is_large_binary(kind):
        return _bytes_as_text
    if types.is_fixed_size_binary(kind):
        return _bytes_as_text
    return None


def can_be_ids(kind: Any) -> bool:
    """Whether a column of this type holds ids as they come, not numbers or times."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    other = (pa.types.is_floating, pa.types.is_date, pa.types.is_timestamp)
    return _conversion(kind) is not None and not any(is_it(kind) for is_it in other)


def _is_view(kind: Any) -> bool:
    return str(kind) == "string_view"


def _is_uuid(kind: Any) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return str(kind.extension_name) == "arrow.uuid"
    return bool(pa.types.is_fixed_size_binary(kind) and kind.byte_width == 16)


def _as_text(column: Any, what: str) -> ArrowIds:  # noqa: ARG001
    return column.cast(pa.string())


def _whole(column: Any, what: str) -> ArrowIds:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        message = (
            f"{what} must hold whole numbers or text as ids, got {column.type} with "
            "fractions or values beyond 64 bits"
        )
        raise InputError(message) from None


def _whole_or_text(column: Any, what: str) -> ArrowIds:  # noqa: ARG001
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        # Without zeros at the end, so that 5.00 is 5 whatever stands beside it.
        fraction = r"(\.[0-9]*[1-9])0+$|\.0+$"
        texts = column.cast(pa.string())
        return pc.replace_substring_regex(texts, fraction, r"\1")


def _uuids(column: Any, what: str) -> ArrowIds:  # noqa: ARG001
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    texts = [str(UUID(bytes=value)) for value in column.to_pylist()]
    return pa.array(texts, pa.string())


def _bytes_as_text(column: Any, what: str) -> ArrowIds:  # noqa: ARG001
    try:
        return column.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array(
            [text_of_bytes(value) for value in column.to_pylist()], pa.string()
        )


def _refuse_null_words(ids: ArrowIds, what: str, first: int) -> None:
    words = pc.is_in(ids, value_set=pa.array(NULL_WORDS))
    row = int(pc.index(words, True).as_py())
    if row >= 0:
        message = (
            f"{what} has the id {ids[row].as_py()!r} in row {first + row + 1}, which "
            "looks like a missing value: say --allow-null-ids (allow_null_ids) if it "
            "is an id"
        )
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


def joined(first: ArrowIds, second: ArrowIds) -> pa.Array:
    """Return the ids of both, of one type, in their order."""
    if first.type != second.type:
        first, second = first.cast(pa.string()), second.cast(pa.string())
    return pa.chunked_array([*_chunks(first), *_chunks(second)]).combine_chunks()


def _chunks(ids: ArrowIds) -> list[pa.Array]:
    return list(ids.chunks) if isinstance(ids, pa.ChunkedArray) else [ids]


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


def examples(ids: ArrowIds) -> str:
    """Return the first few ids, as a user would write them."""
    shown = ", ".join(repr(value) for value in ids[:_SHOWN].to_pylist())
    return shown + (", ..." if len(ids) > _SHOWN else "")


def _refuse_missing(missing: Any, what: str, first: int) -> None:
    row = int(pc.index(missing, True).as_py())
    if row >= 0:
        message = f"{what} has no id in row {first + row + 1}"
        raise InputError(message)
