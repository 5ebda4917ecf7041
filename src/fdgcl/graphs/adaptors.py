"""Graphs that other libraries hold: SciPy, NetworkX, PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._checks import InputError, MissingExtraError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.collection import GraphDataset, stack_features
from fdgcl.graphs.edges import (
    build_csr,
    checked_weights,
    endpoints,
    relations_of,
)
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.labels import as_codes, encode_labels
from fdgcl.graphs.splits import Splits


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


def from_pyg(
    data: Any, *, name: str = "graph", source: str = "a PyTorch Geometric graph"
) -> Graph:
    """Make a graph of a PyTorch Geometric `Data` or `HeteroData`.

    Takes `edge_index`, `edge_type`, `edge_weight` (or a single column of `edge_attr`),
    `x`, `y` and the masks, (N,) or (N, splits); what is not there is left out.

    Of a `HeteroData`, nodes stand type after type and are called `paper:0`, `paper:1`,
    ... (or by their `node_id` or `n_id` instead of the number). Features are those of
    `node_types.padded`. Edge types become relations, called `author writes paper`.
    Labels and masks are those of the one node type that has labels; other nodes have
    none.

    Args:
        data: The `Data` or `HeteroData`; a dataset's first graph is `dataset[0]`.
        name: Short name of the graph.
        source: Where it came from.

    Raises:
        InputError: There is no `edge_index`, or the parts do not fit.
    """
    if hasattr(data, "node_types") and hasattr(data, "edge_types"):
        from fdgcl.graphs.hetero import from_hetero

        return from_hetero(data, name, source)
    index, weights = pyg_edges(data)
    nodes = node_ids.from_values(np.arange(int(data.num_nodes)))
    start, end = node_ids.from_values(index[0]), node_ids.from_values(index[1])
    rows, columns = endpoints(start, end, nodes)
    checked = checked_weights(weights, index.shape[1])
    types = as_array(getattr(data, "edge_type", None))
    return from_scipy(
        build_csr(rows, columns, checked, len(nodes)),
        as_array(getattr(data, "x", None)),
        y=pyg_labels(data),
        splits=pyg_masks(data),
        relations=(
            None
            if types is None
            else relations_of(rows, columns, checked, types, len(nodes), "edge_type")
        ),
        name=name,
        source=source,
    )


def graphs_from_pyg(
    graphs: Iterable[Any],
    *,
    ids: Any = None,
    name: str = "graphs",
    source: str = "PyTorch Geometric graphs",
) -> GraphDataset:
    """Make a dataset of many PyTorch Geometric `Data`, such as a `TUDataset`.

    Takes `edge_index`, `edge_weight` (or a single column of `edge_attr`), `x` and one
    label `y` per graph; what is not there is left out.

    Args:
        graphs: The `Data` objects.
        ids: One name per graph.
        name: Short name of the dataset.
        source: Where it came from.

    Raises:
        InputError: An item is not a `Data`, or the parts do not fit.
    """
    edges, weights, x, y, sizes = [], [], [], [], [0]
    before = 0
    for at, data in enumerate(graphs):
        try:
            index, weight = pyg_edges(data)
        except InputError as error:
            message = f"graph {at}: {error}"
            raise InputError(message) from None
        nodes = int(data.num_nodes)
        if index.size and not (index.min() >= 0 and index.max() < nodes):
            message = (
                f"graph {at}: edge_index must name nodes 0 to {nodes - 1}, got "
                f"{index.min()} to {index.max()}"
            )
            raise InputError(message)
        edges.append(index.astype(np.int64) + before)
        before += nodes
        weights.append(checked_weights(weight, index.shape[1]))
        x.append(as_array(getattr(data, "x", None)))
        y.append(_pyg_label(data, at))
        sizes.append(nodes)
    if not edges:
        message = "graphs must hold at least one graph, got none"
        raise InputError(message)
    index = np.concatenate(edges, axis=1)
    matrix = build_csr(index[0], index[1], stacked(weights, edges), before)
    known = any(label is not None for label in y)
    codes, class_names = as_codes(y if known else None)
    return GraphDataset(
        Graph(matrix, features=stack_features(x)),
        np.cumsum(sizes),
        y=codes,
        ids=np.empty(0, np.int64) if ids is None else ids,
        class_names=class_names,
        name=name,
        source=source,
    )


def pyg_edges(data: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
    """Return the (2, E) `edge_index` and the weights, if there are any."""
    index = as_array(getattr(data, "edge_index", None))
    if index is None or index.ndim != 2 or index.shape[0] != 2:
        message = (
            "a PyTorch Geometric Data with an edge_index of shape (2, E) is expected, "
            f"got {type(data).__name__} without"
        )
        raise InputError(message)
    weights = as_array(getattr(data, "edge_weight", None))
    attribute = as_array(getattr(data, "edge_attr", None))
    if weights is None and attribute is not None and attribute.size == index.shape[1]:
        weights = attribute.ravel()
    return index, weights


def pyg_labels(data: Any) -> npt.NDArray[Any] | None:
    """Return `y`, one label per node, if there is one."""
    y = as_array(getattr(data, "y", None))
    return y[:, 0] if y is not None and y.ndim == 2 and y.shape[1] == 1 else y


def _pyg_label(data: Any, at: int) -> Any:
    y = as_array(getattr(data, "y", None))
    if y is None:
        return None
    if y.size != 1:
        message = f"graph {at}: y must hold one label per graph, got shape {y.shape}"
        raise InputError(message)
    return y.reshape(-1)[0].item()


def stacked(
    weights: list[npt.NDArray[Any] | None], edges: list[npt.NDArray[Any]]
) -> npt.NDArray[Any] | None:
    """Return the weights of all edges, 1 where a part has none; None without any."""
    if all(weight is None for weight in weights):
        return None
    return np.concatenate(
        [
            np.ones(index.shape[1], np.float32) if weight is None else weight
            for weight, index in zip(weights, edges, strict=True)
        ]
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


def as_array(value: Any) -> npt.NDArray[Any] | None:
    """Return a tensor or anything alike as an array; None stays None."""
    if value is None:
        return None
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return np.asarray(value)


def pyg_masks(data: Any) -> Splits | None:
    """Return the splits that the masks say, if there are any."""
    keys = ("train_mask", "val_mask", "test_mask")
    found = [as_array(getattr(data, key, None)) for key in keys]
    train, val, test = (None if mask is None else mask.T for mask in found)
    if train is None:
        return None
    empty = np.zeros_like(train, np.bool_)
    return Splits(
        train,
        empty if val is None else val,
        empty if test is None else test,
        "from the data",
    )
