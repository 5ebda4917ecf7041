"""Features for a graph that has none, taken from its edges (or from dice)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._checks import InputError, check_count, choose
from fdgcl.graphs.graph import Graph

Matrix = npt.NDArray[np.float32]

_STATISTICS = 5
_DENSE_UP_TO = 400
_RESTARTS = 15
_SMOOTHINGS = 10


def structural_features(
    graph: Graph, kind: str, *, dim: int = 32, seed: int = 0
) -> Matrix:
    """Make features for a graph that has none.

    Args:
        graph: The graph; its own features, if any, are not looked at.
        kind: `degree`: logarithms of out-degree, in-degree, total weight, mean and
            largest degree of the neighbours, then the degree's half-octave as one-hot
            columns; the same columns mean the same on every graph.
            `spectral`: leading eigenvectors of the symmetrised, normalised adjacency,
            scaled to unit mean square; they belong to this graph alone.
            `random`: standard normal numbers; a row depends on the seed and its place
            alone, not on how many rows follow.
        dim: Number of columns (`spectral`: at most the number of nodes).
        seed: Seed of `random`, and of the start vector of `spectral`.

    Returns:
        (N, dim) float32.

    Raises:
        InputError: Unknown kind, or `dim` too small for it.
    """
    make = choose("kind of structural features", kind, STRUCTURAL)
    return make(graph, check_count("dim", dim), seed)


def degree(graph: Graph, dim: int, seed: int = 0) -> Matrix:  # noqa: ARG001
    """Return statistics of the degrees and the binned degree; see above."""
    bins = dim - _STATISTICS
    if bins < 1:
        message = f"dim must be at least {_STATISTICS + 1} for degree, got {dim}"
        raise InputError(message)
    weights = _without_loops(graph.adjacency)
    out = np.diff(weights.indptr)
    into = np.bincount(weights.indices, minlength=graph.num_nodes)
    both = weights + weights.T
    both.sort_indices()
    counts = np.diff(both.indptr)
    columns = np.zeros((graph.num_nodes, dim), np.float32)
    total = np.asarray(both.sum(axis=1), np.float64)
    mean, largest = _of_neighbours(both, counts)
    for place, values in enumerate((out, into, total, mean, largest)):
        columns[:, place] = np.log1p(values)
    octave = np.floor(2 * np.log2(1.0 + counts)).astype(np.int64)
    columns[np.arange(len(counts)), _STATISTICS + octave.clip(0, bins - 1)] = 1.0
    return columns


def spectral(graph: Graph, dim: int, seed: int = 0) -> Matrix:
    """Return the leading eigenvectors of the normalised adjacency; see above."""
    matrix = graph.adjacency.astype(np.float64)
    matrix = (matrix + matrix.T) / 2
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    scale = np.zeros_like(degrees)
    np.divide(1.0, np.sqrt(degrees), out=scale, where=degrees > 0)
    matrix = sparse.diags_array(scale) @ matrix @ sparse.diags_array(scale)
    nodes = graph.num_nodes
    columns = min(dim, nodes)
    if nodes <= max(_DENSE_UP_TO, 2 * columns + 1):
        vectors = np.linalg.eigh(matrix.toarray())[1][:, ::-1][:, :columns]
    else:
        vectors = _leading(matrix.tocsr(), columns, seed)
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(columns)])
    return np.asarray(vectors * signs * np.sqrt(nodes), np.float32)


def random(graph: Graph, dim: int, seed: int = 0) -> Matrix:
    """Return standard normal numbers; see above."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((graph.num_nodes, dim), np.float32)


STRUCTURAL: dict[str, Callable[[Graph, int, int], Matrix]] = {
    "degree": degree,
    "spectral": spectral,
    "random": random,
}


def _without_loops(adjacency: Any) -> Any:
    entries = adjacency.tocoo()
    proper = entries.row != entries.col
    parts = (entries.data[proper], (entries.row[proper], entries.col[proper]))
    return sparse.coo_array(parts, shape=adjacency.shape).tocsr()


def _of_neighbours(
    both: Any, counts: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return mean and largest degree of each node's neighbours, 0 without any."""
    mean = np.zeros(len(counts))
    largest = np.zeros(len(counts))
    linked = np.flatnonzero(counts)
    if len(linked):
        neighbours = counts[both.indices].astype(np.float64)
        first = both.indptr[linked]
        mean[linked] = np.add.reduceat(neighbours, first) / counts[linked]
        largest[linked] = np.maximum.reduceat(neighbours, first)
    return mean, largest


def _leading(matrix: Any, columns: int, seed: int) -> npt.NDArray[np.float64]:
    # Here, so that graphs with features of their own need not load it.
    from scipy.sparse import linalg

    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {"v0": rng.standard_normal(matrix.shape[0])}
    if "rng" in inspect.signature(linalg.eigsh).parameters:
        options["rng"] = rng
    try:
        values, vectors = linalg.eigsh(
            matrix, k=columns, which="LA", tol=1e-3, maxiter=_RESTARTS, **options
        )
    except linalg.ArpackNoConvergence:
        # Rings, grids, roads: eigenvalues too close to tell apart. Smooth vectors
        # serve as well, and come at a known price.
        values, vectors = _smoothest(matrix, columns, rng)
    return np.asarray(vectors[:, np.argsort(-values, kind="stable")])


def _smoothest(matrix: Any, columns: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return Ritz values and vectors of a random block smoothed by (I + A) / 2."""
    block = rng.standard_normal((matrix.shape[0], columns))
    for _ in range(_SMOOTHINGS):
        for _ in range(_SMOOTHINGS):
            block = (block + matrix @ block) / 2
        block = np.linalg.qr(block)[0]
    values, mix = np.linalg.eigh(block.T @ (matrix @ block))
    return values, block @ mix
