"""Labels of any type as class codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fdgcl._checks import InputError

Codes = npt.NDArray[np.int64]


def encode_labels(values: Any) -> tuple[Codes, tuple[str, ...]]:
    """Return class codes and the label each stands for.

    Classes are the distinct labels, sorted (numbers by value, text by letter).
    None, NaN, an empty string and, among whole numbers, -1 mean "no label" and get
    the code -1.

    Raises:
        InputError: Leaving out -1 leaves one class, so that -1 may be meant as another.

    Example:
        >>> from fdgcl.graphs import encode_labels
        >>> codes, classes = encode_labels(["low", None, "high", "low"])
        >>> codes.tolist(), classes
        ([1, -1, 0, 1], ('high', 'low'))
    """
    array = np.asarray(values)
    if array.dtype.kind in "OSU":
        array = np.array([_text(value) for value in array.tolist()], object)
    missing = _missing(array)
    classes, codes = np.unique(array[~missing], return_inverse=True)
    if len(classes) == 1 and array.dtype.kind in "if" and (array == -1).any():
        message = (
            f"the labels are -1 and {classes[0]}, but -1 means a node without a label: "
            "write the classes as 0 and 1, or as words"
        )
        raise InputError(message)
    result = np.full(len(array), -1, np.int64)
    result[~missing] = codes
    return result, tuple(_class_name(value) for value in classes.tolist())


def as_codes(
    values: Any, class_names: Sequence[str] | None = None
) -> tuple[Codes | None, tuple[str, ...] | None]:
    """Return labels as class codes, and the names of the classes if there are any.

    Codes that count from 0 without a gap, or that come with names, stay as they are;
    other labels are encoded.
    """
    if values is None:
        return None, None
    array = np.asarray(values)
    if class_names is not None:
        return array, tuple(class_names)
    if array.dtype.kind in "iu" and array.size:
        found = np.unique(array)
        counted = found[found >= 0]
        if found[0] >= -1 and np.array_equal(counted, np.arange(len(counted))):
            return array.astype(np.int64), None
    return encode_labels(values)


def count_classes(codes: Codes | None, class_names: Sequence[str] | None) -> int:
    """Return the number of classes; 0 without labels.

    Args:
        codes: Class codes, -1 for unlabelled.
        class_names: Names of all classes, if they have some.

    Example:
        >>> count_classes(np.array([0, 2, -1]), None)
        3
    """
    if class_names is not None:
        return len(class_names)
    return 0 if codes is None else int(codes.max(initial=-1)) + 1


def _missing(array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if array.dtype == object:
        return np.asarray(array == "", np.bool_)
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array) | (array == -1), np.bool_)
    if array.dtype.kind == "i":
        return np.asarray(array == -1, np.bool_)
    return np.zeros(array.shape, np.bool_)


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    return value.decode() if isinstance(value, bytes) else str(value)


def _class_name(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value)
