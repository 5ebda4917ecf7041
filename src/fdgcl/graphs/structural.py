"""Features for a graph that has none, taken from its edges (or drawn at random)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._checks import InputError, check_count, choose
from fdgcl.graphs.eigenvectors import GUARD, leading_eigenvectors
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.store.row_blocks import weight_blocks
from fdgcl.graphs.store.store import Store

Matrix = npt.NDArray[np.float32]

#: Columns, unless told.
COLUMNS = 32
_STATISTICS = 5


def structural_features(
    graph: Graph | Store, kind: str, *, dim: int = COLUMNS, seed: int = 0
) -> Matrix:
    """Make features for a graph that has none.

    A graph in a store gets those that it gets in memory, where edges go both ways.

    Args:
        graph: The graph, or its store; its own features, if any, are not looked at.
        kind: `degree`: logarithms of out-degree, in-degree, total weight, mean and
            largest degree of the neighbours, then the degree's half-octave as one-hot
            columns; the same columns mean the same on every graph.
            `spectral`: leading eigenvectors of the normalised adjacency without
            self-loops, edges taken both ways and each pair at its larger weight,
            scaled to unit mean square; they belong to this graph alone.
            `random`: standard normal numbers; a row depends on the seed and its place
            alone, not on how many rows follow.
        dim: Number of columns (`spectral`: at most the number of nodes).
        seed: Seed of `random`, and of the start vectors of `spectral`.

    Returns:
        (N, dim) float32.

    Raises:
        InputError: Unknown kind, `dim` too small for it, or a store whose edges are
            known one way only, which has `random` ones alone.

    >>> graph = Graph.from_edges([(0, 1), (1, 2)])
    >>> structural_features(graph, "degree", dim=8).shape
    (3, 8)
    """
    make = choose("kind of structural features", kind, STRUCTURAL)
    if isinstance(graph, Store):
        check_structural(kind, graph.manifest.direction)
    return make(graph, check_count("dim", dim), seed)


def check_structural(kind: str, direction: str) -> None:
    """Refuse features that a store of this direction cannot have.

    Raises:
        InputError: They need edges both ways.
    """
    if direction != "symmetric" and kind != "random":
        message = (
            f"a store with direction {direction!r} knows its edges one way, and "
            f"{kind!r} features need them both ways: give a file of features or "
            "'random' ones, or take direction 'symmetric'"
        )
        raise InputError(message)


def structural_bytes(kind: str, nodes: int, *, dim: int = COLUMNS) -> int:
    """Memory that `structural_features` holds at most, beside a part of the edges."""
    width = {"spectral": 2 * (dim + GUARD), "degree": dim}.get(kind, 0)
    return nodes * (4 * width + 32)


def degree(graph: Graph | Store, dim: int, seed: int = 0) -> Matrix:  # noqa: ARG001
    """Return statistics of the degrees and the binned degree; see above."""
    bins = dim - _STATISTICS
    if bins < 1:
        message = f"dim must be at least {_STATISTICS + 1} for degree, got {dim}"
        raise InputError(message)
    if isinstance(graph, Store):
        return _degree_columns(lambda: weight_blocks(graph), _nodes(graph), dim, 2)
    weights = _without_loops(graph.adjacency)
    both = weights + weights.T
    both.sort_indices()
    columns = _degree_columns(lambda: iter([(0, both)]), graph.num_nodes, dim, 1)
    columns[:, 0] = np.log1p(np.diff(weights.indptr))
    columns[:, 1] = np.log1p(np.bincount(weights.indices, minlength=graph.num_nodes))
    return columns


def spectral(graph: Graph | Store, dim: int, seed: int = 0) -> Matrix:
    """Return the leading eigenvectors of the normalised adjacency; see above."""
    nodes = _nodes(graph)
    blocks: Callable[[], Iterator[tuple[int, Any]]]
    if isinstance(graph, Store):
        blocks = lambda: weight_blocks(graph)  # noqa: E731
    else:
        weights = _without_loops(graph.adjacency)
        both = sparse.csr_array(weights.maximum(weights.T))
        both.eliminate_zeros()
        both.sort_indices()
        blocks = lambda: iter([(0, both)])  # noqa: E731
    vectors = leading_eigenvectors(blocks, nodes, min(dim, nodes), seed)
    vectors *= np.float32(np.sqrt(nodes))
    return vectors


def random(graph: Graph | Store, dim: int, seed: int = 0) -> Matrix:
    """Return standard normal numbers; see above."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((_nodes(graph), dim), np.float32)


STRUCTURAL: dict[str, Callable[[Graph | Store, int, int], Matrix]] = {
    "degree": degree,
    "spectral": spectral,
    "random": random,
}


def _nodes(graph: Graph | Store) -> int:
    return graph.manifest.nodes if isinstance(graph, Store) else graph.num_nodes


def _without_loops(adjacency: Any) -> Any:
    entries = adjacency.tocoo()
    proper = entries.row != entries.col
    parts = (entries.data[proper], (entries.row[proper], entries.col[proper]))
    return sparse.coo_array(parts, shape=adjacency.shape).tocsr()


def _degree_columns(
    blocks: Callable[[], Iterator[tuple[int, Any]]], nodes: int, dim: int, ways: int
) -> Matrix:
    """All columns of `degree`, as if edges went both ways.

    Args:
        blocks: The neighbours of all nodes, some nodes at a time.
        nodes: How many there are.
        dim: Number of columns.
        ways: How often each weight counts: as often as an edge stands in a graph.
    """
    columns = np.zeros((nodes, dim), np.float32)
    counts = np.empty(nodes, np.int64)
    for start, rows in blocks():
        part = slice(start, start + rows.shape[0])
        counts[part] = np.diff(rows.indptr)
        columns[part, :2] = np.log1p(counts[part])[:, None]
        # SciPy adds float32 in float32, whatever it is asked for.
        columns[part, 2] = np.log1p(ways * rows.astype(np.float64).sum(axis=1))
        octave = np.floor(2 * np.log2(1.0 + counts[part])).astype(np.int64)
        places = _STATISTICS + octave.clip(0, dim - _STATISTICS - 1)
        columns[np.arange(part.start, part.stop), places] = 1.0
    for start, rows in blocks():
        part = slice(start, start + rows.shape[0])
        mean, largest = _of_neighbours(rows, counts)
        columns[part, 3], columns[part, 4] = np.log1p(mean), np.log1p(largest)
    return columns


def _of_neighbours(
    rows: Any, counts: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return mean and largest degree of some nodes' neighbours, 0 without any."""
    own = np.diff(rows.indptr)
    mean, largest = np.zeros(len(own)), np.zeros(len(own))
    linked = np.flatnonzero(own)
    if len(linked):
        neighbours = counts[rows.indices].astype(np.float64)
        first = rows.indptr[linked]
        mean[linked] = np.add.reduceat(neighbours, first) / own[linked]
        largest[linked] = np.maximum.reduceat(neighbours, first)
    return mean, largest
