"""Many graphs in one dataset, held as one graph without edges between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl._html import Fact, table
from fdgcl.graphs import _validate
from fdgcl.graphs.graph import Features, Graph
from fdgcl.graphs.labels import as_codes, count_classes

Indices = npt.NDArray[np.int64]


def _unnamed() -> Indices:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class GraphDataset:
    """Graphs with their ids and, where there are any, their labels.

    All nodes stand in one block-diagonal graph, one graph's nodes after the other's:
    what works on a graph works on all of them at once.

    Attributes:
        graph: All graphs as one; its features are those of the nodes.
        ptr: (G + 1,) graph i owns the nodes `ptr[i]` to `ptr[i + 1] - 1`.
        y: (G,) class codes from 0, -1 for a graph without a label, or None.
        ids: (G,) the graphs' own names, int64 or str; 0..G-1 unless given.
        class_names: The label that each code in `y` stands for.
        name: Short name, for tables and file names; by default that of `graph`.
        source: One phrase that says where it came from; by default that of `graph`.

    Raises:
        InputError: The parts do not make up a dataset; the message names the part.

    Example:
        >>> from fdgcl import Graph, GraphDataset
        >>> ring = Graph.from_edges([(0, 1), (1, 2), (2, 0)])
        >>> path = Graph.from_edges([(0, 1), (1, 2)])
        >>> graphs = GraphDataset.from_graphs([ring, path], y=["ring", "path"])
        >>> len(graphs), graphs.graph.num_nodes, graphs.class_names
        (2, 6, ('path', 'ring'))
    """

    graph: Graph
    ptr: Indices
    y: Indices | None = None
    ids: npt.NDArray[Any] = field(default_factory=_unnamed)
    class_names: tuple[str, ...] | None = None
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        name, source = self.name or self.graph.name, self.source or self.graph.source
        graph = self.graph
        if (graph.name, graph.source) != (name, source):
            graph = replace(graph, name=name, source=source)
        _refuse_types(graph)
        ptr = _checked_ptr(self.ptr, graph.num_nodes)
        y = _validate.labels(self.y, len(ptr) - 1, "graph")
        checked = {
            "graph": graph,
            "ptr": ptr,
            "y": y,
            "ids": _checked_ids(self.ids, len(ptr) - 1),
            "class_names": _validate.class_names(self.class_names, y),
            "name": name,
            "source": source,
        }
        for attribute, value in checked.items():
            object.__setattr__(self, attribute, value)
        self._refuse_edges_between()

    @property
    def num_graphs(self) -> int:
        """Number of graphs."""
        return len(self.ptr) - 1

    @property
    def num_classes(self) -> int:
        """Number of classes; 0 without labels."""
        return count_classes(self.y, self.class_names)

    @cached_property
    def graph_of_node(self) -> Indices:
        """(N,) the position of the graph that each node belongs to."""
        owners = np.repeat(np.arange(self.num_graphs), np.diff(self.ptr))
        return _validate.read_only(owners)

    @property
    def has_node_ids(self) -> bool:
        """Whether nodes have names of their own, rather than 0..N-1."""
        return not np.array_equal(self.graph.ids, np.arange(self.graph.num_nodes))

    def __len__(self) -> int:
        return self.num_graphs

    def __getitem__(self, position: int) -> Graph:
        """Return one graph alone; its nodes keep ids of their own, if they have any.

        Raises:
            InputError: The graph is one that cannot stand alone: it has a single node
                or no edge.
        """
        at = range(self.num_graphs)[position]
        rows = slice(int(self.ptr[at]), int(self.ptr[at + 1]))
        try:
            return self._part(
                rows, name=f"{self.name}-{self.ids[at]}", source=self.source
            )
        except InputError as error:
            message = f"graph {self.ids[at]} of {self.name} cannot stand alone: {error}"
            raise InputError(message) from None

    def subset(self, indices: Any) -> GraphDataset:
        """Return some of the graphs, in the order asked for, with their ids.

        Args:
            indices: Positions from 0, each at most once, or a mask over all graphs.

        Raises:
            InputError: A position is not there or comes twice, or none is left.
        """
        chosen = self._positions(indices)
        sizes = np.diff(self.ptr)[chosen]
        ptr = np.concatenate(([0], np.cumsum(sizes)))
        rows = np.repeat(self.ptr[chosen] - ptr[:-1], sizes) + np.arange(ptr[-1])
        return replace(
            self,
            graph=self._part(rows),
            ptr=ptr,
            y=None if self.y is None else self.y[chosen],
            ids=self.ids[chosen],
        )

    def _part(self, rows: Any, name: str = "graph", source: str = "memory") -> Graph:
        """Some rows of all graphs, and the edges among them."""
        whole, features = self.graph, self.graph.features
        return Graph(
            whole.adjacency[rows][:, rows],
            features=None if features is None else features[rows],
            y=None if whole.y is None else whole.y[rows],
            targets=None if whole.targets is None else whole.targets.rows(rows),
            ids=whole.ids[rows] if self.has_node_ids else _unnamed(),
            class_names=whole.class_names,
            feature_names=whole.feature_names,
            name=name,
            source=source,
        )

    @classmethod
    def from_graphs(
        cls,
        graphs: Sequence[Graph],
        y: Any = None,
        *,
        ids: Any = None,
        class_names: Sequence[str] | None = None,
        name: str = "graphs",
        source: str = "graphs in memory",
    ) -> GraphDataset:
        """Make a dataset of graphs that are there already.

        Node ids are kept where no two graphs share one; else nodes count from 0. Class
        codes and splits of the nodes are left behind.

        Args:
            graphs: The graphs, all with the same feature columns or all without.
            y: (G,) labels of any type; None, NaN or (for integers) -1 is "no label".
            ids: (G,) names of the graphs.
            class_names: Names of the classes, when `y` holds integer codes.
            name: Short name of the dataset.
            source: Where it came from.

        Raises:
            InputError: There are no graphs, or their feature columns differ.
        """
        listed: list[Any] = list(graphs)
        if not listed:
            message = "graphs must hold at least one graph, got none"
            raise InputError(message)
        for at, graph in enumerate(listed):
            if not isinstance(graph, Graph):
                message = f"graphs must hold Graphs, got {type(graph).__name__} at {at}"
                raise InputError(message)
            _refuse_types(graph)
        features = stack_features([graph.features for graph in listed])
        node_ids = np.concatenate([graph.ids.astype(object) for graph in listed])
        shared = len(set(node_ids.tolist())) < len(node_ids)
        names = {graph.feature_names for graph in listed}
        block = Graph(
            sparse.block_diag([graph.adjacency for graph in listed], "csr"),
            features=features,
            ids=_unnamed() if shared else node_ids,
            feature_names=names.pop() if len(names) == 1 else None,
        )
        codes, class_names = as_codes(y, class_names)
        return cls(
            block,
            np.cumsum([0, *(graph.num_nodes for graph in listed)]),
            y=codes,
            ids=_unnamed() if ids is None else ids,
            class_names=class_names,
            name=name,
            source=source,
        )

    @classmethod
    def from_pyg(cls, graphs: Iterable[Any], **options: Any) -> GraphDataset:
        """Make a dataset of many `Data`; see `pyg.graphs_from_pyg`."""
        from fdgcl.graphs.pyg import graphs_from_pyg

        return graphs_from_pyg(graphs, **options)

    def __repr__(self) -> str:
        parts = [f"{self.num_graphs} graphs", f"{self.graph.num_nodes} nodes"]
        parts.append(f"{self.graph.num_edges} edges")
        parts.append(f"{self.graph.num_features} features")
        if self.y is not None:
            parts.append(f"{self.num_classes} classes")
        return f"GraphDataset({self.name!r}: {', '.join(parts)}; from {self.source})"

    def _repr_html_(self) -> str:
        """Show sizes, source and what was read as what, as notebooks do."""
        facts: list[tuple[str, Fact]] = [
            ("graphs", self.num_graphs),
            ("nodes", self.graph.num_nodes),
            ("edges", self.graph.num_edges),
            ("features", self.graph.num_features),
            ("classes", self.num_classes if self.y is not None else None),
            ("source", self.source),
            ("read as", self.graph.reading),
        ]
        return table(f"GraphDataset {self.name}", facts)

    def _positions(self, indices: Any) -> Indices:
        chosen = np.asarray(indices)
        if chosen.dtype == np.bool_ and chosen.shape == (self.num_graphs,):
            chosen = np.flatnonzero(chosen)
        if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
            message = (
                f"indices must be positions from 0 to {self.num_graphs - 1}, or a mask "
                f"over all {self.num_graphs} graphs, and choose at least one; got "
                f"{chosen.dtype} of shape {chosen.shape}"
            )
            raise InputError(message)
        outside = chosen[(chosen < 0) | (chosen >= self.num_graphs)]
        if outside.size:
            message = (
                f"indices must lie between 0 and {self.num_graphs - 1}, got "
                f"{outside[0]}"
            )
            raise InputError(message)
        if len(np.unique(chosen)) < len(chosen):
            message = "indices must name each graph at most once, got one twice"
            raise InputError(message)
        return chosen.astype(np.int64)

    def _refuse_edges_between(self) -> None:
        edges = self.graph.adjacency.tocoo()
        owners = self.graph_of_node
        between = np.flatnonzero(owners[edges.row] != owners[edges.col])
        if between.size:
            start, end = int(edges.row[between[0]]), int(edges.col[between[0]])
            message = (
                f"no edge may join two graphs, but {between.size:,} of them "
                f"{'does' if between.size == 1 else 'do'}, such as the one "
                f"from node {self.graph.ids[start]} of graph {self.ids[owners[start]]} "
                f"to node {self.graph.ids[end]} of graph {self.ids[owners[end]]}"
            )
            raise InputError(message)


def stack_features(parts: Sequence[Features | None]) -> Features | None:
    """Return the rows of all parts below each other, sparse if all parts are.

    Raises:
        InputError: Some graphs lack features, or the numbers of columns differ.
    """
    widths = [0 if part is None else int(part.shape[1]) for part in parts]
    if len(set(widths)) > 1:
        odd = next(at for at, width in enumerate(widths) if width != widths[0])
        message = (
            "all graphs must have the same feature columns, but graph 0 has "
            f"{widths[0]} and graph {odd} has {widths[odd]}"
        )
        raise InputError(message)
    present: list[Any] = [part for part in parts if part is not None]
    if not present:
        return None
    if all(sparse.issparse(part) for part in present):
        return sparse.vstack(present, "csr")
    return np.concatenate(
        [part.toarray() if sparse.issparse(part) else part for part in present]
    )


def _refuse_types(graph: Graph) -> None:
    if graph.relations is not None:
        message = (
            "a dataset of many graphs takes no edge types, got "
            f"{', '.join(graph.relations)}: merge them by replace(graph, "
            "relations=None)"
        )
        raise InputError(message)


def _checked_ptr(values: Any, nodes: int) -> Indices:
    array = np.asarray(values)
    if array.ndim != 1 or len(array) < 2 or array.dtype.kind not in "iu":
        message = (
            "ptr must hold the first node of each graph and the number of nodes, whole "
            f"numbers of shape (graphs + 1,), got {array.dtype} of shape {array.shape}"
        )
        raise InputError(message)
    ptr = array.astype(np.int64)
    if ptr[0] != 0 or ptr[-1] != nodes:
        message = (
            f"ptr must start at 0 and end at the number of nodes, {nodes}, got "
            f"{ptr[0]} and {ptr[-1]}"
        )
        raise InputError(message)
    falling = np.flatnonzero(np.diff(ptr) <= 0)
    if falling.size:
        at = int(falling[0])
        message = (
            f"ptr must increase, for no graph may be empty, got {ptr[at]} and then "
            f"{ptr[at + 1]} for graph {at}"
        )
        raise InputError(message)
    return _validate.read_only(ptr)


def _checked_ids(values: Any, graphs: int) -> npt.NDArray[Any]:
    try:
        return _validate.ids(values, graphs)
    except InputError as error:
        message = f"graph {error}".replace("per node", "per graph")
        raise InputError(message) from None
