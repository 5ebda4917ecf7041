"""The sizes of what was read, ready for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from fdgcl.graphs.collection import GraphDataset
from fdgcl.graphs.graph import Graph


def summarise_graphs(graphs: GraphDataset) -> dict[str, Any]:
    """Return the sizes of a dataset of graphs, ready for JSON."""
    sizes = np.diff(graphs.ptr)
    return {
        "graphs": graphs.num_graphs,
        "nodes": graphs.graph.num_nodes,
        "edges": graphs.graph.num_edges,
        "features": graphs.graph.num_features,
        "classes": graphs.num_classes,
        "directed": not graphs.graph.is_symmetric,
        "smallest_graph": int(sizes.min()),
        "largest_graph": int(sizes.max()),
        "class_sizes": None
        if graphs.y is None
        else np.bincount(graphs.y[graphs.y >= 0]).tolist(),
    }


def summarise(graph: Graph) -> dict[str, Any]:
    """Return the sizes of a graph, its homophily and its splits, ready for JSON."""
    splits = graph.splits
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "directed": not graph.is_symmetric,
        "homophily": edge_homophily(graph),
        "splits": None if splits is None else splits.name,
        "split_count": 0 if splits is None else len(splits),
        "split_sizes": None
        if splits is None
        else [int(m[0].sum()) for m in (splits.train, splits.val, splits.test)],
    }


def edge_homophily(graph: Graph) -> float | None:
    """Return the share of edges that join two nodes of one class.

    Self-loops and edges with an unlabelled end are left out; None without any other.
    """
    if graph.y is None:
        return None
    edges = graph.adjacency.tocoo()
    start, end = graph.y[edges.row], graph.y[edges.col]
    counted = (edges.row != edges.col) & (start >= 0) & (end >= 0)
    if not counted.any():
        return None
    return float(np.mean(start[counted] == end[counted]))
