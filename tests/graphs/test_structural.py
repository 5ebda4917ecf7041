"""Features made of the edges: against NetworkX and dense eigenvectors."""

from __future__ import annotations

from pathlib import Path

import networkx
import numpy as np
import pytest
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import (
    STRUCTURAL,
    Graph,
    block_model,
    eigenvectors,
    read_compact,
    structural_features,
)
from tolerances import assert_agree, assert_within, gamma, half_digits

GRAPHS = {
    "pair": Graph.from_edges([(0, 1)]),
    "star": Graph.from_networkx(networkx.star_graph(30)),
    "ring": Graph.from_networkx(networkx.cycle_graph(700)),
    "pairs": Graph.from_edges(np.arange(1200).reshape(-1, 2)),
    "lonely": Graph.from_edges([(0, 1), (1, 1)], num_nodes=900),
    "weighted": Graph.from_edges([(0, 1), (1, 2)], weights=[0.5, 1e6]),
    "block": block_model(800, seed=1),
}


@pytest.mark.parametrize("kind", STRUCTURAL)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_kind_works_on_every_graph(kind: str, name: str) -> None:
    graph = GRAPHS[name]
    first = structural_features(graph, kind, dim=16)
    assert first.dtype == np.float32
    columns = min(16, graph.num_nodes) if kind == "spectral" else 16
    assert first.shape == (graph.num_nodes, columns)
    assert np.isfinite(first).all()
    assert np.array_equal(first, structural_features(graph, kind, dim=16))
    graph.with_features(first)


def test_degree_statistics_agree_with_networkx() -> None:
    theirs = networkx.gnp_random_graph(60, 0.08, seed=0, directed=True)
    theirs.add_edge(0, 0)
    found = structural_features(Graph.from_networkx(theirs), "degree", dim=20)
    theirs.remove_edge(0, 0)
    both = theirs.to_undirected()
    for node in theirs:
        near = [both.degree(other) for other in both[node]] or [0]
        total = theirs.out_degree(node) + theirs.in_degree(node)
        expected = [
            theirs.out_degree(node),
            theirs.in_degree(node),
            total,
            np.mean(near),
            max(near),
        ]
        # Logarithms in float32: their digits count as many times as they are large.
        sizes = 1 + np.array(expected)
        bound = gamma(4, np.float32) * sizes * (1 + np.log(sizes))
        assert_within(np.expm1(found[node, :5]), expected, bound)
        place = int(np.floor(2 * np.log2(1 + both.degree(node))))
        assert found[node, 5:].tolist() == [float(i == place) for i in range(15)]


def test_degree_columns_mean_the_same_on_a_larger_graph() -> None:
    small = Graph.from_edges([(0, 1), (1, 2)])
    large = Graph.from_edges([(0, 1), (1, 2), *((i, i + 1) for i in range(3, 90))])
    a, b = (structural_features(graph, "degree") for graph in (small, large))
    assert np.array_equal(a, b[:3])


def test_spectral_agrees_with_dense_eigenvectors() -> None:
    graph = block_model(900, 4, degree=20, homophily=0.9, seed=3, directed=True)
    matrix = graph.adjacency.toarray().astype(np.float64)
    matrix = np.maximum(matrix, matrix.T)
    scale = 1 / np.sqrt(matrix.sum(axis=1))
    values, vectors = np.linalg.eigh(matrix * scale * scale[:, None])
    found = structural_features(graph, "spectral", dim=4)
    assert_agree((found**2).mean(axis=0), np.ones(4))
    # Asked for to a residual of 1e-3. No eigenvalue is off by more than that, and no
    # eigenvector by a larger sine than it makes of the gap to the next eigenvalue (the
    # theorem of Davis and Kahan).
    gaps = np.append(np.diff(values), np.inf)[::-1]
    for column in range(4):
        sine = 1e-3 / (min(gaps[column], gaps[column + 1]) - 1e-3)
        assert sine < 0.5
        expected = vectors[:, -1 - column] * np.sqrt(900)
        cosine = abs(found[:, column] @ expected) / 900
        assert cosine >= np.sqrt(1 - sine**2)


def test_self_loops_are_no_edges_between_nodes() -> None:
    graph = block_model(500, 2, seed=0)
    looped = Graph(sparse.csr_array(graph.adjacency + 3 * sparse.eye_array(500)))
    found, wanted = (structural_features(one, "spectral") for one in (looped, graph))
    assert np.array_equal(found, wanted)


@pytest.mark.dataset
@pytest.mark.parametrize("name", ["acm", "chameleon", "squirrel-filtered"])
def test_spectral_features_miss_no_eigenvalue(data_root: Path, name: str) -> None:
    """Of a graph in parts the largest comes many times, which is easily missed."""
    graph = read_compact(data_root / f"{name}.npz")
    matrix = graph.adjacency.toarray().astype(np.float64)
    matrix = np.maximum(matrix, matrix.T)
    np.fill_diagonal(matrix, 0)
    degrees = matrix.sum(axis=1)
    root = np.sqrt(np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0))
    matrix *= root * root[:, None]
    x = structural_features(graph, "spectral") / np.sqrt(graph.num_nodes)
    moved = matrix @ x
    quotients = (x * moved).sum(axis=0)
    # Columns are kept in float32.
    bound = eigenvectors.RESIDUAL + half_digits(np.float32)
    assert np.linalg.norm(moved - x * quotients, axis=0).max() <= bound
    assert_within(quotients, np.linalg.eigvalsh(matrix)[::-1][:32], bound)


def test_where_eigenvalues_crowd_smooth_vectors_serve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ring = Graph.from_networkx(networkx.cycle_graph(5000))
    taken = []
    times = eigenvectors._Normalized.products

    def counted(self: object, x: np.ndarray) -> object:
        taken.append(x.shape[1])
        return times(self, x)

    monkeypatch.setattr(eigenvectors._Normalized, "products", counted)
    monkeypatch.setattr(eigenvectors, "RESIDUAL", 0.0)
    found = structural_features(ring, "spectral", dim=8)
    assert 80 < len(taken) <= eigenvectors.MOST_PRODUCTS
    assert set(taken) == {8 + eigenvectors.GUARD}
    assert_agree(found.T @ found / 5000, np.eye(8), np.float32)
    neighbours = (ring.adjacency @ found) / 2
    smoothness = (found * neighbours).sum(axis=0) / 5000
    assert (smoothness > 0.99).all()


def test_random_rows_do_not_depend_on_those_that_follow() -> None:
    short, long = (Graph(sparse.eye_array(n, format="csr")) for n in (10, 50))
    a = structural_features(short, "random", dim=7, seed=2)
    b = structural_features(long, "random", dim=7, seed=2)
    assert np.array_equal(a, b[:10])
    assert not np.array_equal(a, structural_features(short, "random", dim=7, seed=3))


def test_bad_kinds_and_sizes_are_refused() -> None:
    graph = GRAPHS["pair"]
    with pytest.raises(InputError, match='did you mean "spectral"'):
        structural_features(graph, "spectrum")
    with pytest.raises(InputError, match="dim must be at least 6 for degree, got 5"):
        structural_features(graph, "degree", dim=5)
    with pytest.raises(InputError, match="dim must be a whole number"):
        structural_features(graph, "random", dim=0)
