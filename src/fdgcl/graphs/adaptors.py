"""Graphs that SciPy and NetworkX hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._checks import InputError, MissingExtraError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.edges import build_csr, checked_weights
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.labels import encode_labels


def from_scipy(
    matrix: Any,
    features: Any = None,
    *,
    y: Any = None,
    name: str = "graph",
    source: str = "a SciPy matrix",
    **others: Any,
) -> Graph:
    """Make a graph of a square sparse matrix.

    Args:
        matrix: `matrix[i, j]` is the weight of the edge i -> j; repeated entries of a
            COO matrix are added up, as SciPy does.
        features: (N, F) array or sparse matrix.
        y: (N,) class codes, or labels of any type.
        name: Short name of the graph.
        source: Where it came from.
        **others: Further fields of `Graph`: splits, ids, class_names, feature_names.

    Raises:
        InputError: The matrix is not sparse, or the parts do not fit.
    """
    if not sparse.issparse(matrix):
        message = f"a SciPy sparse matrix is expected, got {type(matrix).__name__}"
        raise InputError(message)
    if y is not None and np.asarray(y).dtype.kind not in "iu":
        y, others["class_names"] = encode_labels(y)
    return Graph(matrix, features=features, y=y, name=name, source=source, **others)


def from_networkx(
    graph: Any,
    *,
    features: Any = None,
    weight: str | None = "weight",
    label: str | None = None,
    name: str | None = None,
    source: str = "a NetworkX graph",
) -> Graph:
    """Make a graph of a NetworkX graph; an undirected edge is entered both ways.

    Nodes keep their order and their names (as strings where they are not integers).

    Args:
        graph: Graph, DiGraph, or a multigraph, whose parallel edges count once or,
            with weights, have their weights added up.
        features: Node attribute that holds a number or a vector, several attributes
            that hold a number each, or an (N, F) array in the order of the nodes.
        weight: Edge attribute; an edge without it weighs 1.
        label: Node attribute; a node without it has no label.
        name: Short name; by default the graph's own.
        source: Where it came from.

    Raises:
        InputError: A node lacks the features asked for, or two nodes have one name.
        MissingExtraError: NetworkX is not installed.
    """
    try:
        import networkx
    except ImportError as error:
        package = "networkx"
        raise MissingExtraError(package, package, "A NetworkX graph") from error
    if not isinstance(graph, networkx.Graph):
        message = f"a NetworkX graph is expected, got {type(graph).__name__}"
        raise InputError(message)
    nodes = list(graph.nodes)
    ids = node_ids.from_values(nodes)
    node_ids.refuse_repeated(ids, "written as strings, the NetworkX graph")
    place = {node: row for row, node in enumerate(nodes)}
    rows = np.array([place[start] for start, _ in graph.edges()], np.int64)
    columns = np.array([place[end] for _, end in graph.edges()], np.int64)
    weights = _edge_weights(graph, weight)
    if not graph.is_directed():
        back = rows != columns
        ends = np.concatenate((columns, rows[back]))
        rows, columns = np.concatenate((rows, columns[back])), ends
        weights = None if weights is None else np.concatenate((weights, weights[back]))
    y, class_names = None, None
    if label is not None:
        y, class_names = encode_labels([graph.nodes[node].get(label) for node in nodes])
    values, names = _node_features(graph, nodes, features)
    return Graph(
        build_csr(rows, columns, weights, len(nodes)),
        features=values,
        y=y,
        ids=node_ids.as_numpy(ids),
        class_names=class_names,
        feature_names=names,
        name=str(name or graph.name or "graph"),
        source=source,
    )


def _edge_weights(graph: Any, weight: str | None) -> npt.NDArray[Any] | None:
    if weight is None:
        return None
    found = [value for _, _, value in graph.edges(data=weight)]
    if all(value is None for value in found):
        return None
    try:
        filled = np.array([1.0 if value is None else value for value in found], float)
    except (TypeError, ValueError):
        message = f"the edge attribute {weight!r} must hold numbers only"
        raise InputError(message) from None
    return checked_weights(filled.astype(np.float32), len(found))


def _node_features(
    graph: Any, nodes: list[Any], features: Any
) -> tuple[Any, tuple[str, ...] | None]:
    if isinstance(features, str):
        rows = [_attribute(graph, node, features) for node in nodes]
        columns = _matrix(rows, features)
        return columns, (features,) if columns.shape[1] == 1 else None
    if isinstance(features, list | tuple) and all(
        isinstance(item, str) for item in features
    ):
        table = [[_attribute(graph, n, key) for key in features] for n in nodes]
        return _matrix(table, ", ".join(features)), tuple(features)
    return features, None


def _attribute(graph: Any, node: Any, key: str) -> Any:
    value = graph.nodes[node].get(key)
    if value is None:
        message = f"the node {node!r} has no attribute {key!r} to take features from"
        raise InputError(message)
    return value


def _matrix(rows: list[Any], key: str) -> npt.NDArray[np.float32]:
    try:
        matrix = np.array(rows, np.float32)
    except (TypeError, ValueError):
        message = f"the node attribute {key!r} must hold numbers, equally many per node"
        raise InputError(message) from None
    return matrix.reshape(len(rows), -1)
