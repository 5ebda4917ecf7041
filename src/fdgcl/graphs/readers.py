"""Reading a graph of one's own: edges, and maybe features and labels, from files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.adaptors import from_scipy
from fdgcl.graphs.compact import read_compact
from fdgcl.graphs.edges import adjacency
from fdgcl.graphs.files.arrays import read_scipy_archive
from fdgcl.graphs.files.edges import read_edge_list
from fdgcl.graphs.files.features import FeatureTable, read_feature_table
from fdgcl.graphs.files.labels import LabelTable, read_label_table
from fdgcl.graphs.files.opening import Column, Header
from fdgcl.graphs.files.table import existing_file
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.ids import ArrowIds
from fdgcl.graphs.labels import Codes

PathLike = str | os.PathLike[str]


def read_graph(
    edges: PathLike,
    features: PathLike | None = None,
    labels: PathLike | None = None,
    *,
    source: Column = None,
    target: Column = None,
    weight: Column = None,
    id_column: Column = None,
    label_column: Column = None,
    header: Header = "auto",
    name: str | None = None,
) -> Graph:
    """Read a graph from files.

    Tables are Parquet or delimited text (CSV, TSV, ...; maybe `.gz`). Columns are
    asked for by name or, from 0, by number; those of a text file without header are
    named "1", "2", ... Ids are whole numbers or text; 7 in one file is "7" in another.
    Repeated edges count once; with weights, their weights are added up.

    - **Edges**: columns by their names (source and target, src and dst, from and to,
      ...), else the first two; weights from a column named weight, w or value, if any.
    - **Features** with ids: a column named id, node, node_id, ..., else the first
      column if it holds text, or whole numbers among which are all ids of the edges.
      The nodes are then those of the features, in their order. All other columns are
      features; Parquet may have one column of vectors instead.
    - **Features** without ids: row i belongs to the node i; so does a `.npy` file, and
      a `.npz` file with one matrix or a sparse one saved by SciPy.
    - **Labels**: a column of ids as above, else the first one; a column named label,
      y, class, ..., else the next one. A node without a label gets the code -1.

    Without features the nodes are the ids of the edges and of the labels, sorted.

    Args:
        edges: The edge list, or a `.npz` file with a whole graph in the compact
            format, or with a sparse matrix saved by SciPy.
        features: The features, if any.
        labels: The labels, if any.
        source: Column where edges start.
        target: Column where edges end.
        weight: Column of weights.
        id_column: Column of ids in the features (and in the labels, if it is there).
        label_column: Column of labels.
        header: Whether the edge list, as text, has a header; `auto` finds out.
        name: Short name; by default the edge list's file name without suffixes.

    Raises:
        InputError: A file is missing, damaged or does not fit; the message says where.
    """
    path = existing_file(edges, "edges")
    called = name or path.name.split(".")[0] or "graph"
    if path.suffix.lower() == ".npz":
        return _from_archive(path, features, labels, name, id_column, label_column)
    listed = read_edge_list(path, source, target, weight, header)
    table = _read_features(features, (listed.start, listed.end), id_column)
    named = _read_labels(labels, id_column, label_column, table is not None)
    known, where = _nodes((listed.start, listed.end), table, named)
    matrix = adjacency(listed.start, listed.end, known, listed.weights, where)
    _refuse_trivial(path, len(known), matrix.count_nonzero())
    y, class_names = _codes(named, known, where)
    return Graph(
        matrix,
        features=None if table is None else table.values,
        y=y,
        ids=node_ids.as_numpy(known),
        class_names=class_names,
        feature_names=None if table is None else table.names,
        name=called,
        source=str(edges),
    )


def read_labels(
    path: PathLike,
    ids: Any,
    *,
    id_column: Column = None,
    label_column: Column = None,
) -> tuple[Codes, tuple[str, ...]]:
    """Read labels for given ids.

    Args:
        path: A table of ids and labels; `read_graph` says how it is understood.
        ids: (N,) the ids to find labels for.
        id_column: Column of ids.
        label_column: Column of labels.

    Returns:
        (N,) class codes, -1 for an id without a label, and the classes' names.

    Raises:
        InputError: The file does not fit, or has labels of other ids.
    """
    named = read_label_table(existing_file(path, "labels"), id_column, label_column)
    known = node_ids.from_values(ids)
    return named.for_ids(known, "the ids given"), named.class_names


def _read_features(
    path: PathLike | None, ends: tuple[ArrowIds, ...], id_column: Column
) -> FeatureTable | None:
    if path is None:
        return None
    file = existing_file(path, "features")
    return read_feature_table(file, node_ids.distinct(*ends), id_column)


def _read_labels(
    path: PathLike | None,
    id_column: Column,
    label_column: Column,
    id_may_lack: bool,
) -> LabelTable | None:
    if path is None:
        return None
    file = existing_file(path, "labels")
    return read_label_table(file, id_column, label_column, id_may_lack=id_may_lack)


def _nodes(
    ends: tuple[ArrowIds, ArrowIds],
    table: FeatureTable | None,
    named: LabelTable | None,
) -> tuple[ArrowIds, str]:
    if table is None:
        ids = node_ids.distinct(*ends, *([] if named is None else [named.ids]))
        return ids, "the ids of the edges"
    if table.ids is not None:
        return table.ids, f"the ids of {table.path}"
    rows = table.values.shape[0]
    where = (
        f"the rows 0 to {rows - 1} of {table.path} (it has no column of ids, so that "
        "row i is the node i)"
    )
    return pa.array(np.arange(rows, dtype=np.int64)), where


def _codes(
    named: LabelTable | None, known: ArrowIds, where: str
) -> tuple[Codes | None, tuple[str, ...] | None]:
    if named is None:
        return None, None
    return named.for_ids(known, where), named.class_names


def _refuse_trivial(path: Path, nodes: int, edges: int) -> None:
    if nodes < 2 or edges == 0:
        message = (
            f"a graph needs at least two nodes and one edge (of a weight above zero), "
            f"but {path} makes one of {nodes} nodes and {edges} edges"
        )
        raise InputError(message)


def _from_archive(
    path: Path,
    features: PathLike | None,
    labels: PathLike | None,
    name: str | None,
    id_column: Column,
    label_column: Column,
) -> Graph:
    matrix = read_scipy_archive(path)
    graph = (
        read_compact(path)
        if matrix is None
        else from_scipy(matrix, name=path.stem, source=str(path))
    )
    known = node_ids.from_values(graph.ids)
    table = _read_features(features, (known,), id_column)
    if table is not None and table.ids is not None:
        places = node_ids.positions(known, table.ids)
        unknown = node_ids.unknown(known, places)
        if len(unknown):
            message = (
                f"{len(unknown)} nodes of {path} have no row in {table.path}, such as "
                f"{node_ids.examples(unknown)}"
            )
            raise InputError(message)
        table = replace(table, values=table.values[places], ids=None)
    if table is not None:
        graph = replace(graph, features=table.values, feature_names=table.names)
    named = _read_labels(labels, id_column, label_column, table is not None)
    if named is not None:
        y = named.for_ids(known, f"the ids of {path}")
        graph = replace(graph, y=y, class_names=named.class_names)
    return graph if name is None else replace(graph, name=name)
