"""From pairs of ids to an adjacency matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs._validate import all_finite, float_array
from fdgcl.graphs.ids import ArrowIds

Indices = npt.NDArray[np.int64]

# Each type is a matrix over all nodes. A column with more values than this says
# something of single edges, a time or an amount, and is not a type.
MOST_RELATIONS = 1000


def endpoints(
    start: ArrowIds, end: ArrowIds, known: ArrowIds
) -> tuple[Indices, Indices]:
    """Return row and column of each edge in the adjacency matrix.

    Args:
        start: Id at which each edge starts.
        end: Id at which each edge ends.
        known: Ids of all nodes, in the order of the rows.

    Raises:
        InputError: An edge names an id that is not known.
    """
    rows = node_ids.positions(start, known)
    columns = node_ids.positions(end, known)
    if len(rows) and min(rows.min(), columns.min()) < 0:
        _refuse_unknown(start, end, rows, columns)
    return rows, columns


def relations_of(
    rows: Indices,
    columns: Indices,
    weights: npt.NDArray[Any] | None,
    types: Any,
    nodes: int,
    what: str = "edge_types",
) -> dict[str, sparse.csr_array]:
    """Return the matrix of each edge type, by name and sorted by it.

    >>> ends = np.array([0, 1, 2]), np.array([1, 2, 0])
    >>> found = relations_of(*ends, None, ["buys", "likes", "buys"], 3)
    >>> {name: matrix.nnz for name, matrix in found.items()}
    {'buys': 2, 'likes': 1}

    Args:
        rows: (E,) the node at which each edge starts, counted from 0.
        columns: (E,) the node at which it ends.
        weights: (E,) weights, or None for an edge that counts once in its type.
        types: (E,) an Arrow column, NumPy array or list of text or whole numbers.
        nodes: Number of nodes.
        what: Names the types in a message, such as file and column.

    Raises:
        InputError: A type is missing, or they are not one per edge, or far too many.
    """
    column = _type_names(types, what)
    if len(column) != len(rows):
        message = f"{what} must hold one type per edge, {len(rows)}, got {len(column)}"
        raise InputError(message)
    names = node_ids.distinct(column)
    if len(names) > MOST_RELATIONS:
        message = (
            f"{what} must hold types that many edges share, at most {MOST_RELATIONS:,} "
            f"of them, got {len(names):,} such as {node_ids.examples(names)}"
        )
        raise InputError(message)
    codes = node_ids.positions(column, names)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    return {
        name: build_csr(
            rows[chosen],
            columns[chosen],
            None if weights is None else weights[chosen],
            nodes,
        )
        for name, chosen in zip(
            names.to_pylist(), np.split(order, ends[:-1]), strict=True
        )
    }


def build_csr(
    rows: Indices, columns: Indices, weights: npt.NDArray[Any] | None, nodes: int
) -> sparse.csr_array:
    """Return the matrix of the edges: repeated ones once, or their weights added.

    The result does not depend on the order of the edges, to the last bit.
    """
    ones = np.ones(len(rows), np.float32)
    shape = (nodes, nodes)
    if weights is None:
        csr = sparse.coo_array((ones, (rows, columns)), shape).tocsr()
        csr.data[:] = 1
        return csr
    kept = weights.dtype if weights.dtype in (np.float32, np.float64) else np.float32
    csr = sparse.coo_array((weights.astype(kept), (rows, columns)), shape).tocsr()
    if csr.nnz == len(rows):
        return csr
    order = np.lexsort((weights, columns, rows))
    rows, columns, weights = rows[order], columns[order], weights[order]
    new = np.r_[True, (np.diff(rows) != 0) | (np.diff(columns) != 0)]
    first = np.flatnonzero(new)
    with np.errstate(over="ignore"):
        sums = np.add.reduceat(weights.astype(np.float64), first).astype(kept)
    return sparse.coo_array((sums, (rows[first], columns[first])), shape).tocsr()


def _type_names(types: Any, what: str) -> ArrowIds:
    try:
        column = types
        if not isinstance(types, pa.Array | pa.ChunkedArray):
            listed = np.asarray(types) if hasattr(types, "__array__") else types
            column = pa.array(listed, from_pandas=True)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_floating(column.type):
            column = column.cast(pa.int64())
        text = pc.fill_null(column.cast(pa.string()), "")
    except pa.ArrowException:
        message = f"{what} must hold text or whole numbers, the type of each edge"
        raise InputError(message) from None
    row = pc.index(text, "").as_py()
    if row >= 0:
        message = f"{what} has no type in row {row + 1}"
        raise InputError(message)
    return text


def checked_weights(weights: Any, edges: int) -> npt.NDArray[Any] | None:
    """Return one finite weight of zero or more per edge, or None."""
    if weights is None:
        return None
    array = float_array(weights)
    if array.shape != (edges,) or array.dtype.kind not in "biuf":
        message = (
            f"weights must hold one number per edge, ({edges},), got {array.dtype} "
            f"of shape {array.shape}"
        )
        raise InputError(message)
    if edges and (not all_finite(array) or array.min() < 0):
        bad = int(np.flatnonzero(~np.isfinite(array) | (array < 0))[0])
        message = (
            f"weights must be finite and not negative, got {array[bad]:g} for edge "
            f"{bad} (counted from 0)"
        )
        raise InputError(message)
    return array


def _refuse_unknown(
    start: ArrowIds, end: ArrowIds, rows: Indices, columns: Indices
) -> None:
    edges = int(((rows < 0) | (columns < 0)).sum())
    ends = node_ids.joined(start, end)
    unknown = node_ids.unknown(ends, np.concatenate((rows, columns)))
    message = (
        f"{edges} edges name {len(unknown)} ids that are not among the nodes given, "
        f"such as {node_ids.examples(unknown)}"
    )
    raise InputError(message)
