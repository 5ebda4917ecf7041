"""From files to many graphs: one edge list, and a file that says whose a node is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.collection import GraphDataset
from fdgcl.graphs.files.labels import read_label_table
from fdgcl.graphs.files.names import GRAPHS, find_first, names_labels
from fdgcl.graphs.files.opening import Column, Header, open_table
from fdgcl.graphs.files.table import existing_file
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.readers import PathLike, read_graph


def read_graphs(
    edges: PathLike,
    graph_ids: PathLike,
    features: PathLike | None = None,
    labels: PathLike | None = None,
    *,
    source: Column = None,
    target: Column = None,
    weight: Column = None,
    id_column: Column = None,
    graph_column: Column = None,
    label_column: Column = None,
    header: Header = "auto",
    name: str | None = None,
) -> GraphDataset:
    """Read many graphs from files; `read_graph` says what files may look like.

    Graphs are sorted by their ids, nodes within each stand as they came.

    Args:
        edges: The edge list of all graphs.
        graph_ids: A table with a node id and a graph id per row: a column of node ids
            found like that of labels, and one named graph, graph_id, ..., else the
            next one. Every node must be in it, once.
        features: The features of the nodes, if any.
        labels: A table with a graph id and a label per row, if any.
        source: Column where edges start.
        target: Column where edges end.
        weight: Column of weights.
        id_column: Column of node ids in features and graph ids (in the labels, of
            graph ids, if it is there).
        graph_column: Column of graph ids in `graph_ids`.
        label_column: Column of labels.
        header: Whether the edge list, as text, has a header; `auto` finds out.
        name: Short name; by default the edge list's file name without suffixes.

    Raises:
        InputError: A file is missing, damaged or does not fit, a node is in no graph,
            or an edge joins two graphs.
    """
    members = existing_file(graph_ids, "graph ids")
    try:
        graph = read_graph(
            edges,
            features,
            members,  # a node's graph is read like a node's label
            source=source,
            target=target,
            weight=weight,
            id_column=id_column,
            label_column=_graph_column(members, graph_column),
            header=header,
            name=name,
        )
    except InputError as error:
        message = str(error).replace(
            f"{members} has labels of", f"{members} has graphs of"
        )
        raise InputError(message) from None
    dataset = _group(graph, members)
    if labels is None:
        return dataset
    table = read_label_table(
        existing_file(labels, "labels"), id_column, label_column, id_may_lack=True
    )
    y = table.for_ids(node_ids.from_values(dataset.ids), f"the graphs of {members}")
    return replace(dataset, y=y, class_names=table.class_names)


def _graph_column(path: Path, column: Column) -> Column:
    if column is not None:
        return column
    table = open_table(path, names_labels)
    return find_first(table.names, GRAPHS) if table.named else None


def _group(graph: Graph, members: Path) -> GraphDataset:
    assert graph.y is not None
    assert graph.class_names is not None
    owners = graph.y
    without = np.flatnonzero(owners < 0)
    if without.size:
        examples = ", ".join(repr(value) for value in graph.ids[without[:3]].tolist())
        message = (
            f"{without.size:,} nodes have no graph in {members}, such as {examples}"
        )
        raise InputError(message)
    order = np.argsort(owners, kind="stable")
    features = graph.features
    block = Graph(
        graph.adjacency[order][:, order],
        features=None if features is None else features[order],
        ids=graph.ids[order],
        feature_names=graph.feature_names,
        name=graph.name,
        source=graph.source,
    )
    names = node_ids.whole_numbers([pa.array(graph.class_names, pa.string())])[0]
    counts = np.bincount(owners, minlength=len(names))
    return GraphDataset(
        block,
        np.concatenate(([0], np.cumsum(counts))),
        ids=node_ids.as_numpy(names),
    )
