"""Graphs that PyTorch Geometric holds: `Data`, many of them, and `HeteroData`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.adaptors import from_scipy
from fdgcl.graphs.collection import GraphDataset, stack_features
from fdgcl.graphs.edges import build_csr, checked_weights, endpoints, relations_of
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.hetero import from_hetero
from fdgcl.graphs.labels import as_codes
from fdgcl.graphs.pyg_parts import as_array, pyg_edges, pyg_labels, pyg_masks, stacked


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


def _pyg_label(data: Any, at: int) -> Any:
    y = as_array(getattr(data, "y", None))
    if y is None:
        return None
    if y.size != 1:
        message = f"graph {at}: y must hold one label per graph, got shape {y.shape}"
        raise InputError(message)
    return y.reshape(-1)[0].item()
