"""Whether neighbours tell of each other, measured without labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fdgcl import Graph, block_model
from fdgcl.operators import feature_correlation as measured
from fdgcl.operators import mixing
from fdgcl.operators.feature_correlation import feature_correlation
from tolerances import assert_agree, assert_within, half_digits


def measure(classes: int, homophily: float, seed: int = 0) -> tuple[Graph, object]:
    graph = block_model(
        1500, classes, homophily=homophily, num_features=32, signal=1.2, seed=seed
    )
    return graph, feature_correlation(graph.features, graph.adjacency)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("classes", "homophily"),
    [(2, 0.0), (2, 0.1), (2, 0.8), (2, 1.0), (5, 0.6), (5, 0.9)],
)
def test_the_ratio_estimates_what_a_step_keeps(
    classes: int, homophily: float, seed: int
) -> None:
    """In a block model a step keeps h - (1 - h) / (C - 1) of the class signal.

    One in ten of the second steps returns at degree 10, and is not counted.
    """
    _, found = measure(classes, homophily, seed)
    kept = homophily - (1 - homophily) / (classes - 1)
    assert found.is_informative
    assert found.is_homophilic == (kept > 0)
    # From graph to graph it deviates by 0.034 at most.
    assert found.ratio == pytest.approx(0.9 * abs(kept), abs=3 * 0.034)
    assert np.sign(found.one_hop) == np.sign(kept)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("classes", "homophily"), [(2, 0.5), (5, 0.2), (5, 0.1)])
def test_edges_that_ignore_the_classes_are_uninformative(
    classes: int, homophily: float, seed: int
) -> None:
    _, found = measure(classes, homophily, seed)
    assert not found.is_informative


def test_against_a_plain_loop() -> None:
    """Walks of two steps that return are left out; one column, no mixing."""
    graph = block_model(30, 2, degree=4, num_features=1, seed=3)
    found = feature_correlation(graph.features, graph.adjacency)
    a = graph.adjacency.toarray()
    degree = a.sum(1)
    n = np.array(
        [
            [
                a[i, j] / np.sqrt(degree[i] * degree[j]) if a[i, j] else 0.0
                for j in range(30)
            ]
            for i in range(30)
        ]
    )
    x = np.array(graph.features)[:, 0].astype(float)
    x -= x.mean()
    twice = n @ n
    np.fill_diagonal(twice, 0)
    # Features are float32, and their mean is one.
    assert_agree(found.one_hop, x @ n @ x / (x @ x), np.float32, size=1)
    assert_agree(found.two_hop, x @ twice @ x / (x @ x), np.float32, size=1)


def test_constant_features_and_sparse_ones() -> None:
    graph = block_model(200, 2, num_features=5, seed=0)
    constant = feature_correlation(np.ones((200, 3)), graph.adjacency)
    assert not constant.is_informative
    dense = feature_correlation(np.array(graph.features), graph.adjacency)
    stored = sparse.csr_array(np.array(graph.features))
    same = feature_correlation(stored, graph.adjacency)
    assert_agree(same.two_hop, dense.two_hop, np.float32, size=1)


def test_columns_that_are_the_same_for_all_leave_no_rounding() -> None:
    graph = block_model(200, 2, num_features=5, seed=0)
    odd = np.full((200, 3), 0.1, np.float32)
    for constant in (odd, sparse.csr_array(odd)):
        found = feature_correlation(constant, graph.adjacency)
        assert (found.one_hop, found.two_hop, found.noise) == (0.0, 0.0, 0.0)


def test_larger_graphs_need_fewer_mixtures_and_shuffles() -> None:
    counts = {
        nodes: (
            measured._as_many(measured.MIXTURES, nodes),
            measured._as_many(measured.SHUFFLES, nodes),
        )
        for nodes in (1, 2**16, 2**17, 2**19, 10**8)
    }
    assert [*counts.values()] == [(64, 10), (64, 10), (32, 5), (8, 2), (8, 2)]


@pytest.mark.parametrize(("homophily", "informative"), [(0.9, True), (0.2, False)])
def test_few_mixtures_of_a_sample_decide_alike(
    monkeypatch: pytest.MonkeyPatch, homophily: float, informative: bool
) -> None:
    """As on a large graph: a chance of the size of its nodes is still left here."""
    graph = block_model(
        3000, 5, homophily=homophily, num_features=32, signal=1.2, seed=0
    )
    wanted = feature_correlation(graph.features, graph.adjacency)
    monkeypatch.setattr(measured, "FEW_NODES", 1)
    monkeypatch.setattr(mixing, "SAMPLE_ROWS", 1500)
    monkeypatch.setattr(mixing, "SAMPLE_NUMBERS", 32 * 100)
    features = np.array(graph.features) + 5  # no mean is that of all rows
    found = feature_correlation(features, graph.adjacency)
    assert found.two_hop != wanted.two_hop
    assert found.is_informative == wanted.is_informative == informative
    assert abs(found.two_hop - wanted.two_hop) < 0.1


def test_offsets_of_columns_do_not_matter() -> None:
    graph = block_model(1500, 2, homophily=0.9, num_features=8, seed=0)
    features = np.array(graph.features)
    wanted = feature_correlation(features, graph.adjacency)
    found = feature_correlation(features + 1000, graph.adjacency)
    # Features lose the digits of the offset, and nothing else does.
    lost = 1000 * half_digits(np.float32) ** 2
    assert_within(found.two_hop, wanted.two_hop, 8 * lost)
