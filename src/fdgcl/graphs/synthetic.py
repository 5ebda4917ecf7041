"""Random graphs, for tests, demos and scale runs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fdgcl._checks import (
    InputError,
    check_count,
    check_fraction,
    check_nonnegative,
    check_positive,
)
from fdgcl.graphs.edges import build_csr
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.splits import random_splits

Indices = npt.NDArray[np.int64]


def block_model(
    num_nodes: int = 1000,
    num_classes: int = 2,
    *,
    degree: float = 10.0,
    homophily: float = 0.8,
    num_features: int = 16,
    signal: float = 1.0,
    directed: bool = False,
    num_splits: int = 3,
    seed: int = 0,
) -> Graph:
    """Draw a contextual stochastic block model.

    Classes are as equal in size as can be. Each edge starts at a random node and ends,
    with probability `homophily`, at a random node of the same class, else at one of
    another class. Features are the class's own random direction times `signal`, plus
    standard normal noise. Self-loops and repeated edges are dropped, so that the mean
    degree falls a little short of `degree` on small, dense graphs.

    Args:
        num_nodes: Number of nodes.
        num_classes: Number of classes; with one, `homophily` must be 1.
        degree: Mean number of neighbours (of outgoing edges, when directed).
        homophily: Expected fraction of edges within a class, in [0, 1];
            1 / num_classes is a graph that ignores the classes.
        num_features: Number of features; 0 for a graph without.
        signal: Distance of the class means from the origin, in units of the noise.
        directed: Keep the direction of each edge instead of entering it both ways.
        num_splits: Random 10/10/80 splits; 0 for none.
        seed: Seed; the same arguments give the same graph.

    Raises:
        InputError: An argument is out of range.

    Example:
        >>> from fdgcl import block_model
        >>> graph = block_model(100, 2, num_features=8)
        >>> graph.features.shape, graph.num_classes, len(graph.splits)
        ((100, 8), 2, 3)
    """
    check_count("num_nodes", num_nodes, minimum=2)
    check_count("num_classes", num_classes)
    check_fraction("homophily", homophily)
    check_positive("degree", degree)
    if num_classes > num_nodes or (num_classes == 1 and homophily < 1):
        message = (
            "num_classes must not exceed num_nodes, and one class needs homophily 1, "
            f"got num_classes {num_classes}, num_nodes {num_nodes}, homophily "
            f"{homophily:g}"
        )
        raise InputError(message)
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(num_nodes) % num_classes)
    count = round(num_nodes * degree / (1 if directed else 2))
    start = rng.integers(num_nodes, size=count)
    end = _partners(rng, y, start, num_classes, homophily)
    features = _class_features(rng, y, num_features, signal)
    splits = (
        random_splits(y, train=0.1, val=0.1, count=num_splits, seed=seed)
        if num_splits
        else None
    )
    return Graph(
        adjacency=_simple(start, end, num_nodes, directed),
        features=features,
        y=y,
        splits=splits,
        class_names=tuple(f"class {code}" for code in range(num_classes)),
        name="block-model",
        source=f"block_model, seed {seed}",
    )


def power_law_graph(
    num_nodes: int,
    num_edges: int,
    num_features: int = 0,
    *,
    exponent: float = 2.5,
    directed: bool = False,
    seed: int = 0,
) -> Graph:
    """Draw a graph whose degrees follow a power law (Chung-Lu), for scale runs.

    Both ends of each edge are drawn with probability proportional to
    `(rank + 10) ** (-1 / (exponent - 1))`. Self-loops and repeated edges are dropped.

    Args:
        num_nodes: Number of nodes.
        num_edges: Edges to draw, a pair of nodes counted once.
        num_features: Standard normal features; 0 for a graph without.
        exponent: Exponent of the degree distribution, above 2.
        directed: Keep the direction of each edge instead of entering it both ways.
        seed: Seed; the same arguments give the same graph.

    Example:
        >>> from fdgcl.graphs import power_law_graph
        >>> graph = power_law_graph(100, 300, num_features=4)
        >>> graph.num_nodes, graph.num_features, graph.is_symmetric
        (100, 4, True)
    """
    check_count("num_nodes", num_nodes, minimum=2)
    check_count("num_edges", num_edges)
    if check_positive("exponent", exponent) <= 2:
        message = f"exponent must be above 2, got {exponent:g}"
        raise InputError(message)
    rng = np.random.default_rng(seed)
    expected = (np.arange(num_nodes) + 10.0) ** (-1.0 / (exponent - 1.0))
    cumulated = np.cumsum(rng.permutation(expected))
    draws = rng.random((2, num_edges)) * cumulated[-1]
    start, end = np.searchsorted(cumulated, draws.ravel()).reshape(2, -1)
    limit = num_nodes - 1
    features = _noise(rng, num_nodes, num_features)
    return Graph(
        adjacency=_simple(
            start.clip(0, limit), end.clip(0, limit), num_nodes, directed
        ),
        features=features,
        name="power-law",
        source=f"power_law_graph, seed {seed}",
    )


def _partners(
    rng: np.random.Generator,
    y: npt.NDArray[np.int64],
    start: Indices,
    classes: int,
    homophily: float,
) -> Indices:
    within = rng.random(len(start)) < homophily
    shift = rng.integers(1, classes, size=len(start)) if classes > 1 else 0
    target = np.where(within, y[start], (y[start] + shift) % classes)
    members = np.argsort(y, kind="stable")
    sizes = np.bincount(y, minlength=classes)
    first = np.cumsum(sizes) - sizes
    # Among its own class a node is skipped, so that no edge is lost to self-loops.
    own = np.empty(len(y), np.int64)
    own[members] = np.arange(len(y)) - first[y[members]]
    room = sizes[target] - within
    pick = (rng.random(len(start)) * room).astype(np.int64)
    pick += within & (pick >= own[start])
    return np.asarray(members[first[target] + pick.clip(0, sizes[target] - 1)])


def _class_features(
    rng: np.random.Generator, y: npt.NDArray[np.int64], columns: int, signal: float
) -> npt.NDArray[np.float32] | None:
    check_nonnegative("signal", signal)
    features = _noise(rng, len(y), columns)
    if features is None:
        return None
    means = rng.standard_normal((int(y.max()) + 1, columns))
    means *= signal / np.linalg.norm(means, axis=1, keepdims=True)
    features += means.astype(np.float32)[y]
    return features


def _noise(
    rng: np.random.Generator, rows: int, columns: int
) -> npt.NDArray[np.float32] | None:
    if check_count("num_features", columns, minimum=0) == 0:
        return None
    return rng.standard_normal((rows, columns), np.float32)


def _simple(start: Indices, end: Indices, nodes: int, directed: bool) -> object:
    proper = start != end
    start, end = start[proper], end[proper]
    if not directed:
        start, end = np.concatenate((start, end)), np.concatenate((end, start))
    return build_csr(start, end, None, nodes)
