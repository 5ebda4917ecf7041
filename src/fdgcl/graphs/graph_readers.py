"""Many graphs from tables: one edge list, and the graph that each node belongs to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.collection import GraphDataset
from fdgcl.graphs.files.labels import label_columns, read_keys, read_label_table
from fdgcl.graphs.files.names import GRAPHS, names_labels
from fdgcl.graphs.files.opening import open_table
from fdgcl.graphs.files.options import Column, TableOptions
from fdgcl.graphs.files.roles import Known
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.node_tables import FeatureSources
from fdgcl.graphs.readers import TableLike, read_graph
from fdgcl.graphs.schema import Schemas


def read_graphs(
    edges: TableLike,
    graph_ids: TableLike,
    features: FeatureSources = None,
    labels: TableLike | None = None,
    *,
    graph_column: Column = None,
    schema: Schemas | None = None,
    name: str | None = None,
    **options: Any,
) -> GraphDataset:
    """Read many graphs from tables; `read_graph` says what tables may look like.

    Graphs are sorted by their ids, nodes within each stand as they came.

    Args:
        edges: The edge list of all graphs.
        graph_ids: A table with a node id and a graph id per row: a column of node ids
            found like that of labels, and one named graph, graph_id, ..., or the only
            other one. Every node must be in it, once.
        features: The features of the nodes, if any.
        labels: A table with a graph id and a label per row, if any.
        graph_column: Column of graph ids in `graph_ids`.
        schema: How the columns of features become numbers, as in `read_graph`.
        name: Short name; by default the edge list's file name without suffixes.
        **options: How to read the tables, as `TableOptions` has them; `id_column` names
            node ids in features and graph ids, and, if it is there, in the labels.

    Raises:
        InputError: A table is missing, damaged or does not fit, a node is in no graph,
            or an edge joins two graphs.

    Example:
        >>> import pyarrow as pa
        >>> from fdgcl.graphs import read_graphs
        >>> edges = pa.table({"source": ["a", "c"], "target": ["b", "d"]})
        >>> whose = pa.table({"node": ["a", "b", "c", "d"], "graph": [1, 1, 2, 2]})
        >>> len(read_graphs(edges, whose))
        2
    """
    chosen = TableOptions.of(options)
    # Without features no other table could have the column of ids.
    own = chosen if features is not None else replace(chosen, id_column=None)
    # The labels are those of graphs, and read below.
    plain = replace(own, label_column=None, task="auto", missing_labels="error")
    graph = read_graph(edges, features, schema=schema, name=name, **plain.to_dict())
    if graph.relations is not None:
        if chosen.edge_type is not None:
            message = (
                "--edge-type-column (edge_type) goes with one graph, not with many"
            )
            raise InputError(message)
        note = "edge types are not used where there are many graphs: all edges count"
        graph = replace(graph, relations=None, reading=(*graph.reading, note))
    dataset = _group(graph, graph_ids, graph_column, chosen)
    if labels is None:
        return dataset
    known = node_ids.from_values(dataset.ids)
    table = read_label_table(
        labels, Known(known, "the graphs", partial=True), chosen, id_may_lack=True
    )
    targets, lines = table.for_ids(known, "the graphs", chosen.missing_labels)
    if targets.kind != "classes":
        message = f"labels of graphs must be classes, got {targets} in {table.where}"
        raise InputError(message)
    block = replace(dataset.graph, reading=(*dataset.graph.reading, *lines))
    return replace(dataset, graph=block, y=targets.codes, class_names=targets.names)


def _group(
    graph: Graph, members: TableLike, column: Column, options: TableOptions
) -> GraphDataset:
    """Sort the nodes by the graphs that they belong to."""
    graph, owners, names, line = _owners(graph, members, column, options)
    order = np.argsort(owners, kind="stable")
    features = graph.features
    block = replace(
        graph,
        adjacency=graph.adjacency[order][:, order],
        features=None if features is None else features[order],
        ids=graph.ids[order],
        reading=(*graph.reading, line),
    )
    counts = np.bincount(owners, minlength=len(names))
    return GraphDataset(
        block,
        np.concatenate(([0], np.cumsum(counts))),
        ids=node_ids.as_numpy(names),
    )


def _owners(
    graph: Graph, members: TableLike, column: Column, options: TableOptions
) -> tuple[Graph, npt.NDArray[np.int64], Any, str]:
    """Return the graph, each node's graph by number, the graphs' ids, what was taken.

    Without features, nodes that have no edge come with the table.
    """
    known = node_ids.from_values(graph.ids)
    wanted = [] if column is None else [column]
    table = open_table(members, "graph ids", names_labels, wanted, options.header)
    key, (owner,) = label_columns(
        table,
        Known(known, "the graph", partial=True),
        options,
        wanted,
        id_may_lack=graph.features is not None,
        names=GRAPHS,
        option="--graph-column (graph_column)",
    )
    (keys, values), _ = table.read([key, owner])
    ids = read_keys(table, key, keys, options)
    places = node_ids.positions(known, ids)
    _refuse(known, places, f"nodes have no graph in {table.where}")
    lonely = node_ids.unknown(ids, node_ids.positions(ids, known))
    if len(lonely) and graph.features is not None:
        message = (
            f"{len(lonely):,} nodes of {table.where} have no features, such as "
            f"{node_ids.examples(lonely)}"
        )
        raise InputError(message)
    if len(lonely):
        known = node_ids.joined(known, lonely)
        graph = _with_lonely(graph, known)
        places = node_ids.positions(known, ids)
    groups = table.ids([values], [owner])[0]
    names = node_ids.distinct(groups)
    line = f"graphs: {table.names[owner]} by {table.names[key]}, {len(names):,} graphs"
    owners = node_ids.positions(groups.take(pa.array(places)), names)
    return graph, owners, names, line


def _with_lonely(graph: Graph, ids: Any) -> Graph:
    """Return a graph with further nodes at the end, which have no edge."""
    edges = graph.adjacency.copy()
    edges.resize((len(ids), len(ids)))
    return replace(graph, adjacency=edges, ids=node_ids.as_numpy(ids))


def _refuse(ids: Any, places: npt.NDArray[np.int64], what: str) -> None:
    unknown = node_ids.unknown(ids, places)
    if len(unknown):
        message = f"{len(unknown):,} {what}, such as {node_ids.examples(unknown)}"
        raise InputError(message)
