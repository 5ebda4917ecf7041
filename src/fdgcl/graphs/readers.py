"""Reading a graph from tables: edges and, if there are any, features and labels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.adaptors import from_scipy
from fdgcl.graphs.compact import read_compact
from fdgcl.graphs.edges import build_csr, relations_of
from fdgcl.graphs.files.arrays import read_scipy_archive
from fdgcl.graphs.files.edges import EdgeList, read_edge_list
from fdgcl.graphs.files.features import FeatureTable
from fdgcl.graphs.files.labels import LabelTable, read_label_table
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.files.roles import Known
from fdgcl.graphs.files.table import HEAD_ROWS, existing_file
from fdgcl.graphs.files.telling import (
    compared_as_written,
    rows_do_not_fit,
)
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.ids import ArrowIds
from fdgcl.graphs.node_tables import FeatureSources, read_features
from fdgcl.graphs.schema import Schemas
from fdgcl.graphs.targets import Targets

#: A file, or a table in memory: pandas, Polars, Arrow.
TableLike: TypeAlias = Any


def read_graph(
    edges: TableLike,
    features: FeatureSources = None,
    labels: TableLike | None = None,
    *,
    schema: Schemas | None = None,
    name: str | None = None,
    **options: Any,
) -> Graph:
    """Read a graph from tables: files, or pandas, Polars or Arrow tables.

    Files are Parquet, Arrow (Feather) or delimited text (CSV, TSV, ...; maybe `.gz`).
    Ids are whole numbers or text; 7 in one table is "7" in another. Repeated edges
    count once; with weights, their weights are added up. What was taken for what is in
    `Graph.reading`; where two readings are plausible, the table is refused with the
    option that decides.

    - **Edges**: columns by their names (source and target, payer_id and payee_id, ...),
      else the only two that can hold ids, or that share ids; weights from a column
      named weight, w or value; types from a column named type, relation, ...
    - **Features** by id: the column named id, node_id, ... or the only one that holds
      the ids of the edges. The nodes are then those of the features, in their order.
      All other columns are features, each encoded by its kind: see `FeatureSchema`.
    - **Features** by order: row i belongs to the node i, where there is no column of
      ids and the number of rows fits, or with `by_order`; so do the rows of a `.npy`
      file, and of a `.npz` file with one matrix or a sparse one saved by SciPy.
    - **Features of several types of nodes**: several tables, one for each type.
    - **Labels**: a column of ids as above; a column named label, y, class, ..., or the
      only other one. A node without a label gets the code -1.

    Without features the nodes are the ids of the edges, sorted.

    Args:
        edges: The edge list, or a `.npz` file with a whole graph in the compact
            format, or with a sparse matrix saved by SciPy.
        features: The features, if any; several tables, or tables by type.
        labels: The labels, if any.
        schema: How the columns of features become numbers, as fitted on another graph
            (`Graph.feature_schema`); None fits one on this graph.
        name: Short name; by default the edge list's file name without suffixes.
        **options: How to read the tables, as `TableOptions` has them: source, target,
            weight, id_column, by_order, drop, missing, ...

    Raises:
        InputError: A table is missing, damaged or does not fit; the message says where.

    Example:
        >>> import pyarrow as pa
        >>> from fdgcl import read_graph
        >>> edges = pa.table({"payer": ["a", "b"], "payee": ["b", "c"], "note": [1, 2]})
        >>> read_graph(edges).reading
        ('edges: payer -> payee; ignored: note',)
    """
    chosen = TableOptions.of(options)
    chosen.refuse_unused(features, labels)
    if isinstance(edges, str | os.PathLike) and str(edges).lower().endswith(".npz"):
        path = existing_file(edges, "edges")
        return _from_archive(path, features, labels, name, schema, chosen)
    listed = read_edge_list(edges, chosen)
    known = Known(_head_ids(listed))
    table = read_features(
        features, known, chosen, schema, id_may_lack=labels is not None
    )
    nodes, listed, table, notes = _nodes(listed, table, chosen)
    graph = _assemble(listed, nodes, table, notes, name, edges)
    if labels is not None:
        graph = _with_labels(graph, labels, nodes.ids, nodes.where, table, chosen)
    return graph


def read_labels(path: TableLike, ids: Any, **options: Any) -> Targets:
    """Read labels for given ids.

    Args:
        path: A table of ids and labels; `read_graph` says how it is understood.
        ids: (N,) the ids to find labels for.
        **options: id_column, label_column, task, missing_labels, ... of `TableOptions`.

    Returns:
        A row for each id, in the order given; an id may have no label.

    Raises:
        InputError: The table does not fit, or has labels of other ids.

    Example:
        >>> import pyarrow as pa
        >>> from fdgcl.graphs import read_labels
        >>> table = pa.table({"id": [7, 8], "risk": ["low", "high"]})
        >>> read_labels(table, [8, 7]).codes.tolist()
        [0, 1]
    """
    chosen = TableOptions.of(options)
    known = node_ids.from_values(ids)
    table = read_label_table(
        path, Known(known, "the nodes given", partial=True), chosen
    )
    return table.for_ids(known, "the ids given", chosen.missing_labels)[0]


@dataclass(frozen=True)
class _Nodes:
    """The nodes of a graph, and where each edge starts and ends among them."""

    ids: ArrowIds
    where: str
    rows: Any
    columns: Any


def _head_ids(listed: EdgeList) -> pa.Array:
    """The ids of the first edges, the same ones that an import looks at."""
    return node_ids.distinct(listed.start[:HEAD_ROWS], listed.end[:HEAD_ROWS])


def _nodes(
    listed: EdgeList, table: FeatureTable | None, options: TableOptions
) -> tuple[_Nodes, EdgeList, FeatureTable | None, list[str]]:
    notes: list[str] = []
    if table is None:
        ids, where = node_ids.distinct(listed.start, listed.end), "the ids of the edges"
    elif table.ids is not None:
        ids, where = table.ids, f"the ids of {table.where}"
        notes += _told_types(listed, table)
    else:
        ids = _by_order(listed, table, options)
        where = f"the rows 0 to {len(ids) - 1} of {table.where}, taken by order"
    rows = node_ids.positions(listed.start, ids)
    columns = node_ids.positions(listed.end, ids)
    without = (rows < 0) | (columns < 0)
    if not without.any():
        return _Nodes(ids, where, rows, columns), listed, table, notes
    ends = node_ids.joined(listed.start, listed.end)
    unknown = node_ids.unknown(ends, np.concatenate((rows, columns)))
    count = f"{int(without.sum()):,} edges of {listed.where} name {len(unknown):,} ids"
    if options.missing == "error" or table is None or table.ids is None:
        message = (
            f"{count} that are not among {where}, such as {node_ids.examples(unknown)}"
        )
        if table is not None and table.ids is not None:
            message += (
                "; --missing drop-edges leaves these edges out, --missing zero or mean "
                "(missing) gives the nodes such features"
            )
        raise InputError(message)
    if options.missing == "drop-edges":
        kept = ~without
        notes.append(f"{count} without features: these edges are left out")
        listed = _filtered(listed, kept)
        return _Nodes(ids, where, rows[kept], columns[kept]), listed, table, notes
    how = "zeros" if options.missing == "zero" else "the mean of the others"
    notes.append(f"{len(unknown):,} nodes have no features: they get {how}")
    more = node_ids.distinct(unknown)
    full = table.with_more_rows(more, options.missing)
    assert full.ids is not None
    rows = node_ids.positions(listed.start, full.ids)
    columns = node_ids.positions(listed.end, full.ids)
    return _Nodes(full.ids, where, rows, columns), listed, full, notes


def _filtered(listed: EdgeList, kept: Any) -> EdgeList:
    mask = pa.array(kept)
    return replace(
        listed,
        start=listed.start.filter(mask),
        end=listed.end.filter(mask),
        weights=None if listed.weights is None else listed.weights[kept],
        types=None if listed.types is None else listed.types.filter(mask),
    )


def _told_types(listed: EdgeList, table: FeatureTable) -> list[str]:
    assert table.ids is not None
    if listed.start.type == listed.end.type == table.ids.type:
        return []
    return [compared_as_written(listed.where, table.where)]


def _by_order(listed: EdgeList, table: FeatureTable, options: TableOptions) -> pa.Array:
    """The ids 0, 1, 2, ... of rows by order, where that was asked for or fits."""
    rows = int(table.values.shape[0])
    columns = [listed.start, listed.end]
    ends = None
    if all(pa.types.is_int64(column.type) for column in columns):
        numbers = [node_ids.as_numpy(column) for column in columns]
        ends = (
            min(int(column.min()) for column in numbers),
            max(int(column.max()) for column in numbers),
        )
    fits = ends is not None and ends[0] >= 0 and ends[1] + 1 == rows
    if not (options.by_order or fits):
        shown = node_ids.examples(_head_ids(listed))
        raise rows_do_not_fit(table.where, listed.where, rows, ends=ends, shown=shown)
    return pa.array(np.arange(rows, dtype=np.int64))


def _with_labels(
    graph: Graph,
    labels: TableLike,
    ids: ArrowIds,
    where: str,
    table: FeatureTable | None,
    options: TableOptions,
) -> Graph:
    """Return a graph with labels; its own features may have the column of ids."""
    known = Known(ids, "the graph", partial=True)
    used = table is not None and table.id_name == options.id_column
    named = read_label_table(labels, known, options, id_may_lack=used)
    targets, lines = named.for_ids(ids, where, options.missing_labels)
    reading = (*graph.reading, *lines, *_told_copies(named, graph))
    if targets.kind != "classes":
        return replace(graph, targets=targets, reading=reading)
    return replace(graph, y=targets.codes, class_names=targets.names, reading=reading)


def _told_copies(labels: LabelTable, graph: Graph) -> list[str]:
    """Say which labels are features as well: they are copied, not predicted."""
    schemas = graph.feature_schema
    if schemas is None:
        return []
    each = schemas.values() if isinstance(schemas, Mapping) else (schemas,)
    taken = {column.name for schema in each for column in schema.features}
    copied = [name for name in labels.label_names if name in taken]
    if not copied:
        return []
    names = ",".join(copied)
    return [
        f"labels: {names} is also among the features, so that a score tells how well "
        f"it is copied: --drop {names} (drop) leaves it out of them"
    ]


def _assemble(
    listed: EdgeList,
    nodes: _Nodes,
    table: FeatureTable | None,
    notes: list[str],
    name: str | None,
    edges: TableLike,
) -> Graph:
    count = len(nodes.ids)
    matrix = build_csr(nodes.rows, nodes.columns, listed.weights, count)
    _refuse_trivial(listed.where, count, matrix)
    relations = None
    if listed.types is not None:
        relations = relations_of(
            nodes.rows, nodes.columns, listed.weights, listed.types, count
        )
    is_file = isinstance(edges, str | os.PathLike)
    stem = Path(edges).name.split(".")[0] if is_file else ""
    said = () if table is None else table.reading
    return Graph(
        matrix,
        features=None if table is None else table.values,
        ids=node_ids.as_numpy(nodes.ids),
        feature_names=None if table is None else table.names,
        relations=relations,
        feature_schema=None if table is None else table.schema,
        reading=(listed.reading, *said, *notes),
        name=name or stem or "graph",
        source=str(edges) if is_file else listed.where,
    )


def _refuse_trivial(where: str, nodes: int, matrix: Any) -> None:
    edges = matrix.count_nonzero()
    if nodes < 2 or edges == 0:
        message = (
            f"a graph needs at least two nodes and one edge (of a weight above zero), "
            f"but {where} makes one of {nodes} nodes and {edges} edges"
        )
        raise InputError(message)
    if matrix.diagonal().astype(bool).sum() == edges:
        message = (
            f"{where} has only self-loops: each of its edges starts and ends at the "
            "same node"
        )
        raise InputError(message)


def _from_archive(
    path: Path,
    features: FeatureSources,
    labels: TableLike | None,
    name: str | None,
    schema: Schemas | None,
    options: TableOptions,
) -> Graph:
    matrix = read_scipy_archive(path)
    graph = read_compact(path) if matrix is None else _from_matrix(path, matrix)
    known = node_ids.from_values(graph.ids)
    table = read_features(
        features,
        Known(known, str(path)),
        options,
        schema,
        id_may_lack=labels is not None,
    )
    if table is not None:
        graph = _with_features(graph, table, known, path, options)
    if labels is not None:
        where = f"the ids of {path}"
        graph = _with_labels(graph, labels, known, where, table, options)
    return graph if name is None else replace(graph, name=name)


def _from_matrix(path: Path, matrix: Any) -> Graph:
    try:
        return from_scipy(matrix, name=path.stem, source=str(path))
    except InputError as error:
        message = f"{path}: {error}"
        raise InputError(message) from None
    except MemoryError:
        message = f"{path} declares a matrix of {matrix.shape}, more than memory holds"
        raise InputError(message) from None


def _with_features(
    graph: Graph,
    table: FeatureTable,
    known: ArrowIds,
    path: Path,
    options: TableOptions,
) -> Graph:
    values = table.values
    if table.ids is not None:
        places = node_ids.positions(known, table.ids)
        unknown = node_ids.unknown(known, places)
        if len(unknown):
            message = (
                f"{len(unknown)} nodes of {path} have no row in {table.where}, such as "
                f"{node_ids.examples(unknown)}"
            )
            raise InputError(message)
        values = values[places]
    elif values.shape[0] != len(known) and not options.by_order:
        message = (
            f"{table.where} has {values.shape[0]:,} rows and no column of ids, but "
            f"{path} has {len(known):,} nodes"
        )
        raise InputError(message)
    return replace(
        graph,
        features=values,
        feature_names=table.names,
        feature_schema=table.schema,
        reading=(*graph.reading, *table.reading),
    )
