"""What graphs in memory and in stores have in common: `GraphData`."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from fdgcl.graphs.fingerprint import fingerprint as fingerprint_in_memory
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.store.store import Store


@runtime_checkable
class GraphData(Protocol):
    """A graph to embed: a `Graph` in memory, or a `Store` on disk.

    A `Graph` is one block, all of whose rows are at hand; a `Store` is many, which pass
    by. What a method does with either is the same.

    Example:
        >>> from fdgcl import block_model
        >>> isinstance(block_model(12, seed=0), GraphData)
        True
    """

    @property
    def name(self) -> str:
        """Short name, for tables and file names."""

    @property
    def source(self) -> str:
        """Where it came from, in a phrase."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""

    @property
    def num_edges(self) -> int:
        """Number of edges."""

    @property
    def num_features(self) -> int:
        """Columns of the features."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """One name for each column, where they have names."""


def fingerprint(data: GraphData, *, features: bool = True) -> str:
    """A short hash of a graph's edges and, if wanted, its features."""
    if isinstance(data, Store):
        return data.fingerprint if features else data.edge_fingerprint
    assert isinstance(data, Graph)
    return fingerprint_in_memory(data, features=features)


def table_of(data: GraphData) -> dict[str, Any] | None:
    """How the columns of a table became features, for a file; None for arrays."""
    if isinstance(data, Store):
        return data.manifest.feature_schema
    assert isinstance(data, Graph)
    if data.feature_schema is None:
        return None
    # Here, as it loads Arrow, which arrays do without.
    from fdgcl.graphs.schema import schema_to_dict

    return schema_to_dict(data.feature_schema)
