"""What neighbours tell of a node: against cases in which the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csr_array
from tests.tolerances import gamma

from fdgcl import block_model
from fdgcl.operators.neighbour_information import (
    NeighbourInformation,
    choose_sample,
    gather,
    mean_weights,
    neighbour_information,
)

pytestmark = pytest.mark.numeric


def pairs(count: int) -> csr_array:
    """Nodes 0 and 1 are linked, 2 and 3, and so on."""
    nodes = np.arange(count)
    return csr_array((np.ones(count), (nodes, nodes ^ 1)), shape=(count, count))


def factors(count: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of rank 2: hidden columns follow from the others without an error."""
    return rng.standard_normal((count, 2)) @ rng.standard_normal((2, columns))


def test_own_columns_of_low_rank_tell_all_and_strangers_nothing() -> None:
    rng = np.random.default_rng(0)
    x = factors(2000, 20, rng)
    found = measured(x, pairs(2000))
    # The least penalty, a thousandth of the mean of 16 variances of which 14 are zero,
    # takes less than that from what two directions explain.
    assert 1 - 1e-3 < found.own <= 1
    # Two coefficients fitted to 1,000 rows of noise explain about 2 in 1,000 of other
    # rows less than nothing, with a deviation of the same size: five of them.
    assert abs(found.neighbours["both"]) < 0.01
    assert found.ratio("both") < (0.01 + 0.01) / (1 - 1e-3 + 0.01) + 1e-12


def test_twins_tell_as_much_as_the_node_itself() -> None:
    rng = np.random.default_rng(1)
    x = np.repeat(factors(1000, 20, rng), 2, axis=0)
    found = measured(x, pairs(2000))
    # Nodes 2k and 2k + 1 are the same rows, so that the two regressions are one.
    assert found.neighbours["both"] == pytest.approx(found.own, rel=1e-12)
    assert found.ratio("both") == pytest.approx(1, rel=1e-12)


def test_half_of_the_signal_explains_a_quarter_of_what_the_whole_does() -> None:
    rng = np.random.default_rng(2)
    mixing = rng.standard_normal((1, 16))
    common = np.repeat(rng.standard_normal((2000, 1)), 2, axis=0) @ mixing
    own = rng.standard_normal((4000, 1)) @ mixing
    found = measured(common + own, pairs(4000))
    # x = (c + e) m with variances of c and e alike: the neighbour's correlation with
    # the node is 1/2, and what it explains the square of that, give or take sampling.
    assert found.neighbours["both"] == pytest.approx(0.25, abs=5 / np.sqrt(4000))


def test_where_nothing_tells_anything_neighbours_count_as_much() -> None:
    # Independent columns: what 16 of them explain of 4 others on rows held out is at
    # most chance, and what is below zero counts as nothing.
    x = np.random.default_rng(3).standard_normal((2000, 20))
    found = measured(x, pairs(2000))
    assert found.own <= 5 * np.sqrt(16 / 1000) / np.sqrt(1000)
    assert found.neighbours["both"] <= 5 * np.sqrt(16 / 1000) / np.sqrt(1000)
    assert NeighbourInformation(-0.01, {"both": -0.02}).ratio("both") == 1


def test_constant_hidden_columns_and_a_single_column_are_no_error() -> None:
    assert measured(np.ones((50, 4)), pairs(50)).own == 0
    alone = np.repeat(np.random.default_rng(4).standard_normal((500, 1)), 2, axis=0)
    found = measured(alone, pairs(1000))
    assert found.own == 1
    # The twin is the node: what is missing is the least penalty's, a thousandth, and
    # the same again for the mean of the half that was fitted.
    assert found.neighbours["both"] > 1 - 2e-3


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_means_are_gathered_in_one_pass(kind: type) -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((40, 3)) * (rng.random((40, 3)) < 0.5)
    edges = csr_array(sparse.random(40, 40, 0.2, rng=rng))
    sample = np.array([0, 3, 17, 39])
    weights = mean_weights(csr_array(edges[sample]), sample)
    own, means = gather(kind(x), sample, {"both": weights})
    dense = edges.toarray()
    np.fill_diagonal(dense, 0)
    sums = dense.sum(1, keepdims=True)
    expected = np.divide(dense, sums, out=np.zeros_like(dense), where=sums > 0) @ x
    np.testing.assert_array_equal(own, x[sample].astype(np.float32))
    # Means of at most 40 numbers below 4: each product and sum of 40 rounds once, and
    # weights and features did before.
    bound = 4 * gamma(42, np.float32)
    np.testing.assert_allclose(means["both"], expected[sample], rtol=0, atol=bound)


def test_a_sample_is_sorted_without_repeats_and_bounded() -> None:
    sample = choose_sample(10**6, 64)
    assert len(sample) == 4096
    assert (np.diff(sample) > 0).all()
    assert len(choose_sample(10**6, 2**15)) == 512


def test_the_same_seed_gives_the_same() -> None:
    graph = block_model(300, 2, homophily=0.9, seed=1)
    assert measured(graph.features, graph.adjacency) == measured(
        graph.features, graph.adjacency
    )


def measured(x: np.ndarray, edges: csr_array) -> NeighbourInformation:
    return neighbour_information(
        x, np.arange(x.shape[0]), {"both": mean_weights(edges)}
    )
