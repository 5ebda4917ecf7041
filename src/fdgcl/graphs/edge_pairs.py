"""A graph of pairs of node ids in memory: arrays, lists or data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from fdgcl._checks import InputError, check_count
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs._validate import id_array
from fdgcl.graphs.edges import build_csr, checked_weights, endpoints, relations_of
from fdgcl.graphs.files.arrow import is_dataframe
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.ids import ArrowIds
from fdgcl.graphs.labels import encode_labels
from fdgcl.graphs.readers import read_graph
from fdgcl.graphs.splits import Splits


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
    """Make a graph of data frames, whose columns have names."""
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


def _is_codes(y: Any) -> bool:
    array = np.asarray(y)
    return array.dtype.kind in "iu" and (array.size == 0 or bool(array.min() >= -1))
