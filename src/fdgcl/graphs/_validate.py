"""The checks behind Graph: each returns its part read-only, in the agreed type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs.splits import Splits
from fdgcl.graphs.targets import Targets


def adjacency(matrix: Any) -> sparse.csr_array:
    """Return a canonical CSR matrix of positive, finite weights."""
    shape: tuple[int, ...] = getattr(matrix, "shape", ())
    if len(shape) != 2 or shape[0] != shape[1]:
        message = f"the adjacency must be a square matrix, got shape {tuple(shape)}"
        raise InputError(message)
    if shape[0] < 2:
        message = f"a graph needs at least two nodes, got {shape[0]}"
        raise InputError(message)
    csr = canonical_csr(matrix, "the adjacency")
    if csr.nnz == 0:
        message = f"a graph needs at least one edge, got none among {shape[0]} nodes"
        raise InputError(message)
    _check_weights(csr, "edge weights")
    return csr


def _check_weights(csr: sparse.csr_array, what: str) -> None:
    if all_finite(csr.data) and csr.data.min(initial=0) >= 0:
        return
    bad = ~np.isfinite(csr.data) | (csr.data < 0)
    row, column, value = entry(csr, int(np.flatnonzero(bad)[0]))
    message = (
        f"{what} must be finite and not negative, got {value:g} for the edge from "
        f"node {row} to node {column} (counted from 0)"
    )
    raise InputError(message)


def relations(values: Any, whole: sparse.csr_array) -> dict[str, sparse.csr_array]:
    """Return canonical matrices by name, which have the whole's edges among them."""
    if not isinstance(values, Mapping) or not values:
        message = (
            "relations must map the name of each edge type to its matrix, got "
            f"{'none' if isinstance(values, Mapping) else type(values).__name__}"
        )
        raise InputError(message)
    checked = {}
    for name in sorted(values, key=str):
        what = f"the relation {name!r}"
        shape = tuple(getattr(values[name], "shape", ()))
        if not isinstance(name, str) or not name or shape != whole.shape:
            message = (
                f"relations must map names to matrices of shape {whole.shape}, got "
                f"{what} of shape {shape}"
            )
            raise InputError(message)
        checked[name] = canonical_csr(values[name], what)
        _check_weights(checked[name], f"edge weights of {what}")
    _check_union(checked, whole)
    return checked


def _check_union(
    parts: Mapping[str, sparse.csr_array], whole: sparse.csr_array
) -> None:
    first, *others = parts.values()
    for other in others:
        first = first + other
    first.sort_indices()
    if not (
        np.array_equal(first.indptr, whole.indptr)
        and np.array_equal(first.indices, whole.indices)
    ):
        message = (
            "the adjacency must have the edges of all relations and no others, got "
            f"{whole.nnz} edges and {first.nnz} in the relations"
        )
        raise InputError(message)


def ids(values: Any, nodes: int) -> npt.NDArray[Any]:
    """Return unique ids, int64 or str; an empty array stands for 0..N-1."""
    if values is None or np.size(values) == 0:
        return read_only(np.arange(nodes, dtype=np.int64))
    array = id_array(values)
    if array.shape != (nodes,):
        message = f"ids must hold one id per node, {nodes}, got shape {array.shape}"
        raise InputError(message)
    distinct = len(np.unique(array)) if array.dtype != object else len(set(array))
    if distinct != nodes:
        message = f"ids must be unique, got {nodes - distinct} repeated"
        raise InputError(message)
    return read_only(array)


def id_array(values: Any) -> npt.NDArray[Any]:
    """Return ids as int64 where all are whole numbers, else as an object array of str.

    Raises:
        InputError: An id is missing (None, NaN) or not a whole number.
    """
    array = values if isinstance(values, np.ndarray) else _object_array(values)
    kind = array.dtype.kind
    if kind in "iu" and array.dtype != np.uint64:
        return array.astype(np.int64, copy=False)
    if kind == "f":
        if not np.isfinite(array).all() or (array != np.rint(array)).any():
            message = "ids must be whole numbers or strings, got a fraction or NaN"
            raise InputError(message)
        return array.astype(np.int64)
    flat = array.ravel().tolist()
    if all(isinstance(value, int | np.integer) for value in flat) and kind != "b":
        try:
            return np.array(flat, np.int64).reshape(array.shape)
        except OverflowError:
            pass
    named = np.empty(len(flat), object)
    named[:] = [_name(value) for value in flat]
    _refuse_twins(flat, named)
    return named.reshape(array.shape)


def _refuse_twins(values: list[Any], names: npt.NDArray[Any]) -> None:
    """Refuse ids that differ, but not as they are written: 7 and "7"."""
    texts = {value for value in values if isinstance(value, str)}
    if not texts or len(texts) == len(values):
        return
    for value, name in zip(values, names, strict=True):
        if not isinstance(value, str) and name in texts:
            message = (
                f"ids hold both {value!r} and {name!r}, which are written alike: make "
                "all of them numbers, or all of them text"
            )
            raise InputError(message)


def _object_array(values: Any) -> npt.NDArray[Any]:
    if hasattr(values, "__array__"):
        return np.asarray(values)
    listed = list(values)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def _name(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        message = f"ids must not be missing, got {value!r}"
        raise InputError(message)
    return text_of_bytes(value) if isinstance(value, bytes) else str(value)


def text_of_bytes(value: bytes) -> str:
    """Return bytes as UTF-8 or else in hexadecimal digits."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()


def features(values: Any, names: npt.NDArray[Any]) -> Any:
    """Return finite (N, F) features, dense or CSR, float32 unless float64 came in."""
    if values is None:
        return None
    nodes = len(names)
    if sparse.issparse(values):
        matrix = canonical_csr(values, "features")
    else:
        matrix = read_only(_floats(float_array(values), "features"))
    if matrix.ndim != 2 or matrix.shape[0] != nodes:
        message = (
            f"features must have one row per node, ({nodes}, F), got shape "
            f"{tuple(matrix.shape)}"
        )
        raise InputError(message)
    if matrix.shape[1] == 0:
        message = "features must have at least one column, got none"
        raise InputError(message)
    if not all_finite(matrix.data if sparse.issparse(matrix) else matrix):
        row, column, value = _first_not_finite(matrix)
        message = (
            f"features must be finite, got {value} for node {names[row]!s} "
            f"(row {row}, column {column}, counted from 0)"
        )
        raise InputError(message)
    return matrix


def labels(values: Any, count: int, of: str = "node") -> npt.NDArray[np.int64] | None:
    """Return (count,) class codes of nodes or graphs, -1 for no label."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.shape != (count,) or array.dtype.kind not in "iu":
        message = (
            f"y must hold one integer class code per {of}, ({count},), got "
            f"{array.dtype} of shape {array.shape}"
        )
        raise InputError(message)
    if array.min() < -1:
        message = f"y must hold codes from 0, or -1 for no label, got {array.min()}"
        raise InputError(message)
    return read_only(array.astype(np.int64, copy=False))


def targets(value: Targets | None, y: Any, nodes: int) -> Targets | None:
    """Return values or several labels at once; classes belong in y."""
    if value is None:
        return None
    given: object = value
    if not isinstance(given, Targets) or value.kind == "classes":
        kind = "classes" if isinstance(given, Targets) else type(given).__name__
        message = f"targets must be values or several labels at once, got {kind}"
        raise InputError(message)
    if y is not None:
        message = "a graph has either classes, y, or other targets, got both"
        raise InputError(message)
    if len(value) != nodes:
        message = f"targets must have one row per node, {nodes}, got {len(value)}"
        raise InputError(message)
    return value


def splits(value: Splits | None, nodes: int) -> Splits | None:
    """Return the splits, or refuse those made for another number of nodes."""
    if value is not None and value.train.shape[1] != nodes:
        message = (
            f"splits must cover the graph's {nodes} nodes, got masks over "
            f"{value.train.shape[1]}"
        )
        raise InputError(message)
    return value


def class_names(values: Any, y: npt.NDArray[np.int64] | None) -> tuple[str, ...] | None:
    """Return the class names, or refuse too few of them."""
    if values is None:
        return None
    names = tuple(str(value) for value in values)
    needed = 0 if y is None else int(y.max(initial=-1)) + 1
    if len(names) < needed:
        message = f"class_names must name {needed} classes, got {len(names)}"
        raise InputError(message)
    return names


def feature_names(values: Any, columns: int) -> tuple[str, ...] | None:
    """Return the feature names, or refuse a number that does not fit."""
    if values is None:
        return None
    names = tuple(str(value) for value in values)
    if len(names) != columns:
        message = f"feature_names must name {columns} columns, got {len(names)}"
        raise InputError(message)
    return names


def canonical_csr(matrix: Any, what: str) -> sparse.csr_array:
    """Return `matrix` as read-only CSR: sorted, duplicates added, no stored zeros."""
    csr = sparse.csr_array(matrix)
    data = _floats(csr.data, what)
    if not (csr.has_canonical_format and np.count_nonzero(data) == len(data)):
        csr = sparse.csr_array((data, csr.indices, csr.indptr), csr.shape, copy=True)
        csr.sum_duplicates()
        csr.eliminate_zeros()
        data = csr.data
    parts = (read_only(data), read_only(csr.indices), read_only(csr.indptr))
    result = sparse.csr_array(parts, shape=csr.shape)
    result.has_canonical_format = True
    return result


def is_symmetric(csr: sparse.csr_array) -> bool:
    """Whether a canonical matrix has every entry both ways, with the same value."""
    turned = csr.T.tocsr()
    turned.sort_indices()
    return (
        np.array_equal(csr.indptr, turned.indptr)
        and np.array_equal(csr.indices, turned.indices)
        and np.array_equal(csr.data, turned.data)
    )


def entry(csr: sparse.csr_array, position: int) -> tuple[int, int, Any]:
    """Return row, column and value of the stored entry at `position`."""
    row = int(np.searchsorted(csr.indptr, position, side="right")) - 1
    return row, int(csr.indices[position]), csr.data[position]


def all_finite(array: npt.NDArray[Any]) -> bool:
    """Whether all is finite; NaN and infinity show in the extremes, without a mask."""
    if array.size == 0:
        return True
    return bool(np.isfinite(array.min()) and np.isfinite(array.max()))


def float_array(values: Any) -> npt.NDArray[Any]:
    """Return an array as it is, and plain Python numbers as float32."""
    array = np.asarray(values)
    if hasattr(values, "dtype") or array.dtype != np.float64:
        return array
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view that cannot be written through; the caller's array stays as is."""
    view = array.view()
    view.flags.writeable = False
    return view


def _floats(array: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind not in "biuf":
        message = f"{what} must hold real numbers, got {array.dtype}"
        raise InputError(message)
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def _first_not_finite(matrix: Any) -> tuple[int, int, Any]:
    if sparse.issparse(matrix):
        return entry(matrix, int(np.flatnonzero(~np.isfinite(matrix.data))[0]))
    row, column = np.argwhere(~np.isfinite(matrix))[0]
    return int(row), int(column), matrix[row, column]
