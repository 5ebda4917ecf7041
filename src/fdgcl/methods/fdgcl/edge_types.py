"""The edge types that features are diffused along, and those a trained model knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.graphs import Graph
from fdgcl.methods.fdgcl.feature_columns import view_columns
from fdgcl.methods.fdgcl.settings import Settings

# Diffused features are this many times as wide: time and memory grow likewise, the
# covariances by the square.
MOST_TYPES = 16


def chosen_types(graph: Graph, settings: Settings) -> tuple[Graph, list[str]]:
    """Return the graph with the types it is diffused along, and what to tell of them.

    Args:
        graph: The graph, with features.
        settings: The model's.

    Raises:
        InputError: There are too many, or the dynamics cannot tell them apart.
    """
    types = graph.relations
    if types is None or settings.edge_types == "merge":
        return _untyped(graph), []
    count, listed = len(types), _listed(types)
    if count == 1:
        return _untyped(graph), [
            f"all edges are of one type ({listed}): they are taken as edges without"
        ]
    if not settings.is_fixed_linear:
        message = (
            f"dynamics {settings.dynamics!r} is stepped in every epoch and takes no "
            f"edge types, got {listed}: merge them by --edge-types merge "
            "(edge_types='merge')"
        )
        raise InputError(message)
    if count > MOST_TYPES:
        message = (
            f"features are diffused along {MOST_TYPES} edge types at most, got {count} "
            f"({listed}): merge them by --edge-types merge (edge_types='merge')"
        )
        raise InputError(message)
    columns = view_columns(settings, graph.num_features, graph.num_nodes)
    notices = [
        f"{count} edge types ({listed}): features are diffused along each by itself, "
        f"{count} x {columns:,} columns"
    ]
    if settings.direction in (None, "symmetric"):
        notices += _repetitions(types)
    return graph, notices


def as_trained(
    graph: Graph, trained: Sequence[str] | None, settings: Settings
) -> tuple[Graph, list[str]]:
    """Return a graph with the types a model was trained on, and what to tell of them.

    Args:
        graph: The graph.
        trained: Names of the types; None for a model that knows of none.
        settings: The model's.

    Raises:
        InputError: The graph has other types, or types where the model has none.
    """
    found = None if settings.edge_types == "merge" else graph.relations
    if trained is None:
        if found is None or len(found) == 1:
            return graph, []
        message = (
            "the model was trained on edges without types, this graph has edge types "
            f"({_listed(found)})"
        )
        raise InputError(message)
    known = f"the model was trained on edge types ({_listed(trained)})"
    if found is None:
        message = f"{known}, this graph has edges without types"
        raise InputError(message)
    unknown = [name for name in found if name not in trained]
    if unknown:
        message = f"{known}, this graph has others: {_listed(unknown)}"
        raise InputError(message)
    missing = [name for name in trained if name not in found]
    if not missing:
        return graph, []
    none = csr_array(graph.adjacency.shape, dtype=np.float32)
    notice = (
        f"this graph has no edges of type {_listed(missing)}: nodes have no neighbours "
        "along these"
    )
    return replace(graph, relations={**found, **dict.fromkeys(missing, none)}), [notice]


def _untyped(graph: Graph) -> Graph:
    return graph if graph.relations is None else replace(graph, relations=None)


def _repetitions(types: Mapping[str, csr_array]) -> list[str]:
    """Tell of types that are others backwards, where edges are used both ways."""
    return [
        f"edges are used both ways, and type {two!r} is {one!r} backwards: leave one "
        "of them out, or keep one direction ('out' or 'in')"
        for (one, there), (two, back) in combinations(types.items(), 2)
        if there.nnz == back.nnz > 0 and not (there != back.T.tocsr()).nnz
    ]


def _listed(names: Iterable[str], most: int = MOST_TYPES) -> str:
    few = list(names)
    return ", ".join(few[:most]) + (", ..." if len(few) > most else "")
