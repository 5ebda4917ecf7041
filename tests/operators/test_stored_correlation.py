"""How features persist along the edges of a store, and of the same graph in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fdgcl import Graph
from fdgcl.graphs import rows as blocks
from fdgcl.graphs.store import row_blocks
from fdgcl.graphs.store.features import StoredFeatures
from fdgcl.operators import feature_correlation as measured
from fdgcl.operators import mixing
from fdgcl.operators.feature_correlation import FeatureCorrelation, feature_correlation
from fdgcl.operators.stored import StoredOperator
from helpers.stores import in_memory, make_store
from tolerances import assert_within, gamma


def rounding_bound(graph: Graph) -> float:
    """Of two measures in float32, as shares of the energy.

    Sums over features, neighbours and mixtures; four times: of both factors of a
    product, in what is divided and in what it is divided by.
    """
    neighbours = int(np.diff(graph.adjacency.indptr).max())
    terms = graph.num_features + neighbours + measured.MIXTURES[1]
    return 4 * gamma(terms, np.float32)


def assert_same(
    found: FeatureCorrelation, wanted: FeatureCorrelation, bound: float
) -> None:
    for name in ("one_hop", "two_hop", "noise"):
        assert_within(getattr(found, name), getattr(wanted, name), bound)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_store_is_measured_as_the_graph_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weighted: bool
) -> None:
    store = make_store(tmp_path / "g", nodes=4000, edges=20000, weighted=weighted)
    graph = in_memory(store)
    wanted = feature_correlation(graph.features, graph.adjacency)
    bound = rounding_bound(graph)
    assert bound < wanted.noise / 20
    monkeypatch.setattr(blocks, "NUMBERS", 777)
    monkeypatch.setattr(mixing, "SAMPLE_NUMBERS", 555)
    monkeypatch.setattr(row_blocks, "BLOCK_WORK", 3000)
    monkeypatch.setattr(measured, "GROUP_NUMBERS", 4000 * 7)  # the last of one
    operator = StoredOperator(store, 0.0, "symmetric", 2)
    found = feature_correlation(StoredFeatures(store.features), operator)
    assert_same(found, wanted, bound)
    without = feature_correlation(StoredFeatures(store.features), operator, without=2)
    wanted = feature_correlation(graph.features, graph.adjacency, without=2)
    assert_same(without, wanted, bound)
    assert abs(without.two_hop - found.two_hop) > bound
