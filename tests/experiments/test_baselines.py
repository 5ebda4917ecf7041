"""What needs no training is the same whatever a model does to its features first."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from fdgcl import FDGCL, Graph, GraphDataset, block_model
from fdgcl._checks import InputError
from fdgcl.experiments import baselines
from fdgcl.presets import paper_defaults
from tolerances import assert_agree


@pytest.fixture
def graph() -> Graph:
    made = block_model(60, 2, seed=3)
    return replace(made, features=np.maximum(made.features, 0))


@pytest.mark.parametrize("scaling", ["none", "row", "tf-idf", "columns"])
def test_x_is_the_features_as_they_came(graph: Graph, scaling: str) -> None:
    model = FDGCL(feature_scaling=scaling)
    np.testing.assert_array_equal(baselines.features(model, graph), graph.features)


@pytest.mark.parametrize("scaling", ["none", "row", "tf-idf", "columns"])
def test_smoothed_is_two_products_by_hand(graph: Graph, scaling: str) -> None:
    a = graph.adjacency.toarray() + 2 * np.eye(60)
    a /= np.sqrt(np.outer(a.sum(1), a.sum(1)))
    found = baselines.smoothed(FDGCL(feature_scaling=scaling, self_loops=2.0), graph)
    assert_agree(found, a @ a @ graph.features, np.float32)


def some_graphs(graph: Graph) -> GraphDataset:
    others = [block_model(nodes, 2, seed=nodes) for nodes in (20, 35)]
    return GraphDataset.from_graphs([graph, *others], [0, 1, 1])


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("chunk", [1, 10**6])
def test_pooled_rows_are_means_by_hand(
    graph: Graph, thin: bool, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baselines, "_CHUNK_ENTRIES", chunk)
    dataset = some_graphs(graph)
    if thin:
        x = sparse.csr_array(dataset.graph.features)
        dataset = replace(dataset, graph=dataset.graph.with_features(x))
    alone = [dataset[at] for at in range(3)]
    rows = [one.features.toarray() if thin else one.features for one in alone]
    found = baselines.pooled_features(dataset, ("mean", "max"))
    expected = [np.r_[part.mean(0), part.max(0)] for part in rows]
    assert_agree(found, expected, np.float32)
    model = FDGCL()
    smooth = [baselines.smoothed(model, one) for one in alone]
    expected = [np.asarray(part.mean(0)).ravel() for part in smooth]
    found = baselines.pooled_smoothed(model, dataset)
    assert_agree(found, expected, np.float32)


def test_the_untrained_encoder_gives_a_row_per_graph(graph: Graph) -> None:
    dataset = some_graphs(graph)
    small = {"dim": 4, "epochs": 3, "direction": "symmetric"}
    model = FDGCL(**{**paper_defaults(), **small})
    found = baselines.untrained(model, dataset)
    assert found.shape == (3, 4)
    rows = baselines.untrained(model, dataset.graph)
    expected = [rows[a:b].mean(0) for a, b in pairwise(dataset.ptr.tolist())]
    assert_agree(found, expected, np.float32)
    made = replace(dataset, graph=dataset.graph.with_features(None))
    assert baselines.pooled_features(made, model=model).shape[0] == 3


def by_hand(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The mean over each node's neighbours, one at a time; zeros without any."""
    means = np.zeros_like(x)
    for node, row in enumerate(weights):
        others = [k for k in np.flatnonzero(row) if k != node]
        if others:
            means[node] = sum(row[k] * x[k] for k in others) / row[others].sum()
    return means


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def one_way(request: pytest.FixtureRequest) -> Graph:
    """Weighted edges one way, a loop, and a node that nothing touches."""
    pairs = [(0, 1), (0, 2), (1, 2), (3, 0), (3, 3), (2, 0)]
    x = np.random.default_rng(0).random((5, 3)).astype(np.float32)
    return Graph.from_edges(
        pairs,
        sparse.csr_array(x) if request.param else x,
        weights=[1.0, 2.0, 1.0, 4.0, 3.0, 0.5],
    )


def _dense(values: object) -> np.ndarray:
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def test_neighbour_means_by_hand(one_way: Graph) -> None:
    weights, x = one_way.adjacency.toarray(), _dense(one_way.features)
    for direction, matrix in (("out", weights), ("in", weights.T)):
        found = baselines.neighbour_mean(one_way, direction)
        assert found.dtype == np.float32
        assert sparse.issparse(found) is sparse.issparse(one_way.features)
        assert_agree(_dense(found), by_hand(matrix, x.astype(float)), np.float32)


@pytest.mark.parametrize("times", [0, 1, 2])
def test_smoothed_plainly_is_products_by_hand(one_way: Graph, times: int) -> None:
    weights = one_way.adjacency.toarray()
    a = np.maximum(weights, weights.T)
    np.fill_diagonal(a, 1.0)
    a /= np.sqrt(np.outer(a.sum(1), a.sum(1)))
    expected = _dense(one_way.features).astype(float)
    for _ in range(times):
        expected = a @ expected
    found = baselines.smoothed_plainly(one_way, times)
    assert found.dtype == np.float32
    assert_agree(_dense(found), expected, np.float32)


def test_rows_without_a_model_need_features(one_way: Graph) -> None:
    bare = one_way.with_features(None)
    with pytest.raises(InputError, match="graph has no features"):
        baselines.neighbour_mean(bare, "out")
    with pytest.raises(InputError, match="graph has no features"):
        baselines.smoothed_plainly(bare, 1)
