"""The graph everything else works on: checked once, never changed afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl.graphs import _validate
from fdgcl.graphs.splits import Splits

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

    Raises:
        InputError: The parts do not make up a graph; the message names the part.
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
            "class_names": _validate.class_names(self.class_names, y),
            "feature_names": _validate.feature_names(self.feature_names, columns),
        }
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
        if self.class_names is not None:
            return len(self.class_names)
        return 0 if self.y is None else int(self.y.max(initial=-1)) + 1

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether every edge is there both ways, with the same weight."""
        here, there = self.adjacency, self.adjacency.T.tocsr()
        there.sort_indices()
        return (
            np.array_equal(here.indptr, there.indptr)
            and np.array_equal(here.indices, there.indices)
            and np.array_equal(here.data, there.data)
        )

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
            source=source or self.source,
        )

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        features: Any = None,
        *,
        weights: Any = None,
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
        """
        from fdgcl.graphs.edges import from_edges

        return from_edges(
            edges,
            features,
            weights=weights,
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
    def from_scipy(cls, adjacency: Any, features: Any = None, **others: Any) -> Graph:
        """Make a graph of a square SciPy sparse matrix; see `adaptors.from_scipy`."""
        from fdgcl.graphs.adaptors import from_scipy

        return from_scipy(adjacency, features, **others)

    @classmethod
    def from_networkx(cls, graph: Any, **options: Any) -> Graph:
        """Make a graph of a NetworkX graph; see `adaptors.from_networkx`."""
        from fdgcl.graphs.adaptors import from_networkx

        return from_networkx(graph, **options)

    @classmethod
    def from_pyg(cls, data: Any, **options: Any) -> Graph:
        """Make a graph of a PyTorch Geometric `Data`; see `adaptors.from_pyg`."""
        from fdgcl.graphs.adaptors import from_pyg

        return from_pyg(data, **options)

    def __repr__(self) -> str:
        parts = [f"{self.num_nodes} nodes", f"{self.num_edges} edges"]
        parts.append(f"{self.num_features} features")
        if self.y is not None:
            parts.append(f"{self.num_classes} classes")
        if self.splits is not None:
            parts.append(f"splits {self.splits.name!r} x {len(self.splits)}")
        return f"Graph({self.name!r}: {', '.join(parts)}; from {self.source})"
