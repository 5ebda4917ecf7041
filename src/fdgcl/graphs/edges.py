"""From pairs of ids to an adjacency matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from fdgcl._checks import InputError, check_count
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs._validate import all_finite, float_array, id_array
from fdgcl.graphs.files.arrow import is_dataframe
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.ids import ArrowIds
from fdgcl.graphs.labels import encode_labels
from fdgcl.graphs.splits import Splits

Indices = npt.NDArray[np.int64]

# Each type is a matrix over all nodes. A column with more values than this says
# something of single edges, a time or an amount, and is not a type.
MOST_RELATIONS = 1000


def from_edges(
    edges: Any,
    features: Any = None,
    *,
    weights: Any = None,
    edge_types: Any = None,
    ids: Any = None,
    num_nodes: int | None = None,
    y: Any = None,
    splits: Splits | None = None,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    name: str = "graph",
    source: str = "edges in memory",
) -> Graph:
    """Make a graph of pairs of node ids; `Graph.from_edges` says how."""
    if is_dataframe(edges) or is_dataframe(features):
        others = {"weights": weights, "ids": ids, "num_nodes": num_nodes, "y": y}
        named = {"splits": splits, "class_names": class_names}
        return _from_tables(edges, features, name, {**others, **named})
    start, end = _columns(edges)
    known = _known_ids(start, end, ids, _length(features, y, num_nodes))
    if y is not None and (class_names is not None or _is_codes(y)):
        y = np.asarray(y)
    elif y is not None:
        y, class_names = encode_labels(y)
    rows, columns = endpoints(start, end, known)
    values = checked_weights(weights, len(start))
    nodes = len(known)
    return Graph(
        adjacency=build_csr(rows, columns, values, nodes),
        relations=(
            None
            if edge_types is None
            else relations_of(rows, columns, values, edge_types, nodes)
        ),
        features=features,
        y=y,
        splits=splits,
        ids=node_ids.as_numpy(known),
        class_names=None if class_names is None else tuple(class_names),
        feature_names=None if feature_names is None else tuple(feature_names),
        name=name,
        source=source,
    )


def _from_tables(
    edges: Any, features: Any, name: str, others: Mapping[str, Any]
) -> Graph:
    """Make a graph of data frames, which say themselves what their columns are."""
    # Here, as the reader of tables needs this module.
    from fdgcl.graphs.readers import read_graph

    given = [key for key, value in others.items() if value is not None]
    plain = features is None or is_dataframe(features)
    if given or not is_dataframe(edges) or not plain:
        extra = (
            "edges" if not is_dataframe(edges) else given[0] if given else "features"
        )
        message = (
            "edges and features must both be data frames, whose columns hold weights "
            f"and ids as well, or both be arrays; got {extra} beside a data frame (see "
            "Graph.from_pandas)"
        )
        raise InputError(message)
    return read_graph(edges, features, name=name)


def adjacency(
    start: ArrowIds,
    end: ArrowIds,
    known: ArrowIds,
    weights: npt.NDArray[Any] | None,
    where: str = "the nodes given",
) -> sparse.csr_array:
    """Return the adjacency matrix over the nodes `known`.

    Args:
        start: Id at which each edge starts.
        end: Id at which each edge ends.
        known: Ids of all nodes, in the order of the rows.
        weights: One weight per edge, or None for an edge that counts once.
        where: What `known` comes from, for the message about an unknown id.

    Raises:
        InputError: An edge names an id that is not known.
    """
    rows, columns = endpoints(start, end, known, where)
    return build_csr(rows, columns, weights, len(known))


def endpoints(
    start: ArrowIds, end: ArrowIds, known: ArrowIds, where: str = "the nodes given"
) -> tuple[Indices, Indices]:
    """Return row and column of each edge; see `adjacency` for the arguments.

    Raises:
        InputError: An edge names an id that is not known.
    """
    rows = node_ids.positions(start, known)
    columns = node_ids.positions(end, known)
    if len(rows) and min(rows.min(), columns.min()) < 0:
        _refuse_unknown(start, end, rows, columns, where)
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


def _columns(edges: Any) -> tuple[ArrowIds, ArrowIds]:
    if hasattr(edges, "__array__"):
        table = np.asarray(edges)
        if table.ndim == 2 and table.shape[1] == 2:
            pairs = table
        elif table.ndim == 2 and table.shape[0] == 2:
            pairs = table.T
        else:
            pairs = np.empty((0, 2))
        if table.size and not pairs.size:
            message = (
                "edges must be pairs of ids, of shape (E, 2) or (2, E), got shape "
                f"{table.shape}"
            )
            raise InputError(message)
        both = node_ids.from_values(
            id_array(np.concatenate((pairs[:, 0], pairs[:, 1])))
        )
    else:
        starts, ends = _listed(list(edges))
        both = node_ids.from_values(starts + ends)
    half = len(both) // 2
    return both[:half], both[half:]


def _listed(edges: list[Any]) -> tuple[list[Any], list[Any]]:
    sizes = {-1 if isinstance(e, str | bytes) else _size(e) for e in edges}
    if sizes <= {2}:
        return [first for first, _ in edges], [second for _, second in edges]
    if len(edges) == 2 and len(sizes) == 1 and -1 not in sizes:
        return list(edges[0]), list(edges[1])
    message = "edges must be pairs of ids, got items that are not pairs"
    raise InputError(message)


def _size(item: Any) -> int:
    return len(item) if hasattr(item, "__len__") else -1


def _length(features: Any, y: Any, num_nodes: int | None) -> int | None:
    if num_nodes is not None:
        return check_count("num_nodes", num_nodes)
    if features is not None:
        return int(np.shape(features)[0] if np.ndim(features) else features.shape[0])
    return None if y is None else len(y)


def _known_ids(
    start: ArrowIds, end: ArrowIds, ids: Any, length: int | None
) -> ArrowIds:
    if ids is not None:
        known = node_ids.from_values(ids)
        node_ids.refuse_repeated(known, "ids")
        return known
    if length is not None:
        return pa.array(np.arange(length, dtype=np.int64))
    return node_ids.distinct(start, end)


def _refuse_unknown(
    start: ArrowIds, end: ArrowIds, rows: Indices, columns: Indices, where: str
) -> None:
    edges = int(((rows < 0) | (columns < 0)).sum())
    ends = pa.chunked_array([*_chunks(start), *_chunks(end)])
    unknown = node_ids.unknown(ends, np.concatenate((rows, columns)))
    message = (
        f"{edges} edges name {len(unknown)} ids that are not among {where}, such as "
        f"{node_ids.examples(unknown)}"
    )
    raise InputError(message)


def _chunks(column: ArrowIds) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _is_codes(y: Any) -> bool:
    array = np.asarray(y)
    return array.dtype.kind in "iu" and (array.size == 0 or bool(array.min() >= -1))
