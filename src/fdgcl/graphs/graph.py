"""The graph everything else works on: checked once, never changed afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._html import Fact, table
from fdgcl.graphs import _validate
from fdgcl.graphs.labels import count_classes
from fdgcl.graphs.splits import Splits
from fdgcl.graphs.targets import Targets

if TYPE_CHECKING:
    from fdgcl.graphs.schema import Schemas

Features: TypeAlias = npt.NDArray[Any] | sparse.csr_array


def _unnamed() -> npt.NDArray[np.int64]:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph with node ids and, where there are any, features, labels and splits.

    Arrays are taken as they are where their type already fits, and seen through
    read-only views; `dataclasses.replace` makes a changed (and checked) graph.

    Attributes:
        adjacency: (N, N) CSR, `adjacency[i, j]` is the weight of the edge i -> j.
            Edges stand as they were given: not symmetrised, self-loops kept. Weights
            are positive, indices sorted, without duplicates or stored zeros.
        features: (N, F) float32 or float64, dense or CSR, or None.
        y: (N,) class codes from 0, -1 for a node without a label, or None.
        splits: Train, validation and test nodes, or None.
        ids: (N,) the nodes' own names, int64 or str; 0..N-1 unless given.
        class_names: The label that each code in `y` stands for.
        feature_names: One name per column of `features`.
        name: Short name, for tables and file names.
        source: One phrase that says where the graph came from.
        targets: Values or several labels at once of each node, where the labels are
            not classes; `y` is None then.
        reading: What was taken from tables, a line each.
        feature_schema: How the columns of a table became features; of several types of
            nodes, by type.
        relations: (N, N) CSR of each edge type, by name and sorted by it, or None. The
            adjacency is their union; where edges are weighted, weights are added.

    Raises:
        InputError: The parts do not make up a graph; the message names the part.

    Example:
        >>> from fdgcl import Graph
        >>> graph = Graph.from_edges([("ann", "bob"), ("bob", "cid")])
        >>> graph.num_nodes, graph.num_edges, graph.is_symmetric
        (3, 2, False)
        >>> graph.ids.tolist()
        ['ann', 'bob', 'cid']
    """

    adjacency: sparse.csr_array
    features: Features | None = None
    y: npt.NDArray[np.int64] | None = None
    splits: Splits | None = None
    ids: npt.NDArray[Any] = field(default_factory=_unnamed)
    class_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    name: str = "graph"
    source: str = "memory"
    targets: Targets | None = None
    reading: tuple[str, ...] = ()
    feature_schema: Schemas | None = None
    relations: Mapping[str, sparse.csr_array] | None = None

    def __post_init__(self) -> None:
        adjacency = _validate.adjacency(self.adjacency)
        nodes = adjacency.shape[0]
        ids = _validate.ids(self.ids, nodes)
        features = _validate.features(self.features, ids)
        y = _validate.labels(self.y, nodes)
        columns = 0 if features is None else features.shape[1]
        checked = {
            "adjacency": adjacency,
            "ids": ids,
            "features": features,
            "y": y,
            "splits": _validate.splits(self.splits, nodes),
            "targets": _validate.targets(self.targets, y, nodes),
            "class_names": _validate.class_names(self.class_names, y),
            "feature_names": _validate.feature_names(self.feature_names, columns),
        }
        if self.relations is not None:
            checked["relations"] = _validate.relations(self.relations, adjacency)
        for attribute, value in checked.items():
            object.__setattr__(self, attribute, value)

    @property
    def num_nodes(self) -> int:
        """Number of nodes, those without an edge included."""
        return int(self.adjacency.shape[0])

    @property
    def num_edges(self) -> int:
        """Stored entries of the adjacency: an undirected edge counts twice."""
        return int(self.adjacency.nnz)

    @property
    def num_features(self) -> int:
        """Columns of `features`; 0 without features."""
        return 0 if self.features is None else int(self.features.shape[1])

    @property
    def num_classes(self) -> int:
        """Number of classes; 0 without labels."""
        return count_classes(self.y, self.class_names)

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether every edge is there both ways, with the same weight."""
        return _validate.is_symmetric(self.adjacency)

    @cached_property
    def is_weighted(self) -> bool:
        """Whether any edge has a weight other than 1."""
        return bool((self.adjacency.data != 1).any())

    def with_features(
        self, features: Any, names: Iterable[str] | None = None, source: str = ""
    ) -> Self:
        """Return this graph with other features (and their names, if given).

        Args:
            features: (N, F) array or sparse matrix, or None for no features.
            names: One name per column.
            source: Replaces the phrase that says where the graph came from.
        """
        return replace(
            self,
            features=features,
            feature_names=None if names is None else tuple(names),
            feature_schema=None,
            source=source or self.source,
        )

    @classmethod
    def from_edges(
        cls,
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
        """Make a graph of pairs of node ids.

        Repeated edges count once; with weights, their weights are added up. Ids may be
        integers, strings or anything hashable (kept as integers where all are, else
        as strings). Which nodes there are, and in which order:

        - with `ids`: exactly those, and the rows of `features` and `y` follow them;
        - with `features`, `y` or `num_nodes` alone: 0..N-1;
        - with edges alone: the ids met, sorted.

        Args:
            edges: (E, 2) or (2, E) array or a list of pairs; two by two is read as
                two rows, one edge each.
            features: (N, F) array or sparse matrix.
            weights: (E,) weights, zero or more.
            edge_types: (E,) the type of each edge, text or whole numbers. An edge may
                come once with each type.
            ids: (N,) node ids.
            num_nodes: N, when ids are 0..N-1.
            y: (N,) labels of any type; None, NaN or (for integers) -1 is "no label".
            splits: Train, validation and test nodes.
            class_names: Names of the classes, when `y` holds integer codes.
            feature_names: One name per feature column.
            name: Short name of the graph.
            source: Where it came from.

        Raises:
            InputError: An edge names an id that is not there, or the parts do not fit.

        Example:
            >>> from fdgcl import Graph
            >>> edges = [("ann", "tea"), ("bob", "tea"), ("ann", "bob")]
            >>> graph = Graph.from_edges(edges, edge_types=["buys", "buys", "knows"])
            >>> {name: matrix.nnz for name, matrix in graph.relations.items()}
            {'buys': 2, 'knows': 1}
        """
        from fdgcl.graphs.edge_pairs import from_edges

        return from_edges(
            edges,
            features,
            weights=weights,
            edge_types=edge_types,
            ids=ids,
            num_nodes=num_nodes,
            y=y,
            splits=splits,
            class_names=class_names,
            feature_names=feature_names,
            name=name,
            source=source,
        )

    @classmethod
    def from_pandas(
        cls, edges: Any, features: Any = None, labels: Any = None, **options: Any
    ) -> Graph:
        """Make a graph of data frames: pandas, Polars, Arrow, or a query's result.

        Columns are found as in files, and refused where two readings are plausible;
        `read_graph` says how, and `Graph.reading` what was taken.

        Args:
            edges: A table with one edge per row.
            features: A table with one node per row, or several for several types.
            labels: A table of ids and labels.
            **options: source, target, weight, id_column, drop, ... as in `read_graph`.

        Example:
            >>> import pyarrow as pa
            >>> from fdgcl import Graph
            >>> edges = pa.table({"payer": [1, 2], "payee": [2, 3], "amount": [9, 5]})
            >>> people = pa.table({"id": [1, 2, 3], "age": [31, 52, 47]})
            >>> graph = Graph.from_pandas(edges, people, weight="amount")
            >>> graph.reading[0]
            'edges: payer -> payee, weight amount'
        """
        from fdgcl.graphs.readers import read_graph

        return read_graph(edges, features, labels, **options)

    @classmethod
    def from_scipy(cls, adjacency: Any, features: Any = None, **others: Any) -> Graph:
        """Make a graph of a square SciPy sparse matrix; see `adaptors.from_scipy`.

        Example:
            >>> from scipy.sparse import csr_array
            >>> from fdgcl import Graph
            >>> Graph.from_scipy(csr_array([[0, 1], [1, 0]])).num_edges
            2
        """
        from fdgcl.graphs.adaptors import from_scipy

        return from_scipy(adjacency, features, **others)

    @classmethod
    def from_networkx(cls, graph: Any, **options: Any) -> Graph:
        """Make a graph of a NetworkX graph; see `adaptors.from_networkx`.

        Example:
            >>> import networkx as nx
            >>> from fdgcl import Graph
            >>> Graph.from_networkx(nx.path_graph(4)).num_nodes
            4
        """
        from fdgcl.graphs.adaptors import from_networkx

        return from_networkx(graph, **options)

    @classmethod
    def from_pyg(cls, data: Any, **options: Any) -> Graph:
        """Make a graph of PyTorch Geometric's `Data` or `HeteroData`.

        See `pyg.from_pyg`.
        """
        from fdgcl.graphs.pyg import from_pyg

        return from_pyg(data, **options)

    def __repr__(self) -> str:
        parts = [f"{self.num_nodes} nodes", f"{self.num_edges} edges"]
        if self.relations is not None:
            parts.append(f"{len(self.relations)} edge types")
        parts.append(f"{self.num_features} features")
        if self.y is not None:
            parts.append(f"{self.num_classes} classes")
        if self.targets is not None:
            parts.append(str(self.targets))
        if self.splits is not None:
            parts.append(f"splits {self.splits.name!r} x {len(self.splits)}")
        return f"Graph({self.name!r}: {', '.join(parts)}; from {self.source})"

    def _repr_html_(self) -> str:
        """Show sizes, source and what was read as what, as notebooks do."""
        splits = None
        if self.splits is not None:
            splits = f"{self.splits.name!r} x {len(self.splits)}"
        facts: list[tuple[str, Fact]] = [
            ("nodes", self.num_nodes),
            ("edges", self.num_edges),
            ("edge types", None if self.relations is None else list(self.relations)),
            ("features", self.num_features),
            ("classes", self.num_classes if self.y is not None else None),
            ("labels", None if self.targets is None else str(self.targets)),
            ("splits", splits),
            ("source", self.source),
            ("read as", self.reading),
        ]
        return table(f"Graph {self.name}", facts)
