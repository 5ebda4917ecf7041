"""The defaults, on graphs nobody has seen."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from fdgcl import FDGCL, Graph, block_model, linear_probe
from fdgcl.graphs import random_splits
from fdgcl.methods.fdgcl.preparation import prepare
from fdgcl.operators.in_memory import build_operator
from helpers.stores import in_memory, make_store
from tolerances import assert_agree


def bipartite(side: int) -> Graph:
    block = sparse.csr_array(np.ones((side, side), dtype=np.float32))
    adjacency = sparse.block_array([[None, block], [block, None]], format="csr")
    x = np.random.default_rng(0).random((2 * side, 3), dtype=np.float32)
    return Graph(adjacency, features=x)


@pytest.mark.parametrize(
    "graph",
    [
        bipartite(2),
        bipartite(300),
        block_model(200, 2, homophily=0.0, num_features=4),
        block_model(200, 2, homophily=1.0, num_features=4),
        block_model(200, 3, directed=True, num_features=4),
    ],
)
@pytest.mark.parametrize("self_loops", [0.0, 1.0])
def test_no_frequency_is_amplified(graph: Graph, self_loops: float) -> None:
    model = FDGCL(self_loops=self_loops)
    model.plan(graph)
    assert model.stability_.is_stable
    assert not model.stability_.amplifies


def weights(classes: int, homophily: float) -> tuple[float, float]:
    """Of a node's own features and of the global view, as the graph decides them."""
    drawn = block_model(
        1500, classes, homophily=homophily, num_features=32, signal=3.0, num_splits=0
    )
    decided = prepare(drawn, FDGCL().check()).decisions()
    own, neighbours = decided["beta"]
    assert decided["kept"] == ["features", "global", "neighbours"]
    # Blocks beside the views have the weights of what they are made of, too.
    features, everywhere, means = decided["keep_weight"]
    assert features / everywhere == pytest.approx(own / neighbours)
    assert means < everywhere
    return own, neighbours


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_neighbours_weigh_by_how_alike_they_are(classes: int) -> None:
    chance = 1 / classes
    steps = chance + (1 - chance) * np.array([0, 0.25, 0.5, 1])
    found = [weights(classes, float(homophily)) for homophily in steps]
    own, neighbours = zip(*found, strict=True)
    assert list(neighbours) == sorted(neighbours)
    assert list(own) == sorted(own, reverse=True)
    # Least is 0.1, and rounding of shares near 0 adds a few hundredths.
    assert neighbours[0] < 0.2
    assert own[0] > 0.8
    assert neighbours[-1] > 0.9
    assert own[-1] < 0.3


def test_neighbours_that_are_never_alike_weigh_as_much() -> None:
    """Of two classes, the other one tells as much of a node as its own."""
    alike, apart = weights(2, 1.0), weights(2, 0.0)
    assert apart == pytest.approx(alike, abs=0.05)


@pytest.mark.parametrize("dim", [16, 64, 512])
@pytest.mark.parametrize(
    ("columns", "directed"), [(0, False), (5, True), (5, False), (1500, True)]
)
def test_no_more_columns_than_dim(dim: int, columns: int, directed: bool) -> None:
    graph = block_model(
        120, 3, num_features=columns, directed=directed, num_splits=0, seed=0
    )
    model = FDGCL(dim=dim, epochs=1)
    z = model.fit_transform(graph)
    # Without features, 32 are made; wide ones are reduced to as many as there are rows.
    parts = 4 if directed else 3
    available = 2 * min(dim, 256) + parts * (min(columns, 1024) or 32)
    assert z.shape == (120, min(dim, available))
    assert any("compressed" in text for text in model.notices_) == (available > dim)
    np.testing.assert_array_equal(model.transform(graph), z)


@pytest.mark.parametrize("columns", [10, 1100])
def test_a_store_is_fitted_as_the_graph_is(tmp_path: Path, columns: int) -> None:
    store = make_store(
        tmp_path / "G", nodes=200, edges=900, features=columns, block_columns=300
    )
    # In float64, where rounding does not grow over the epochs.
    ours, theirs = FDGCL(dtype="float64"), FDGCL(dtype="float64")
    z, expected = ours.fit_transform(store), theirs.fit_transform(in_memory(store))
    assert_agree(z, expected)
    assert ours.notices_ == theirs.notices_
    assert ours.config.decisions == theirs.config.decisions


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classes", "homophily"),
    [(2, 0.0), (2, 0.5), (2, 0.9), (5, 0.1), (5, 0.5), (5, 0.9)],
)
def test_never_a_point_below_what_needs_no_training(
    classes: int, homophily: float
) -> None:
    drawn = block_model(
        1500, classes, homophily=homophily, num_features=32, signal=1.2, seed=3
    )
    assert drawn.y is not None
    splits = random_splits(drawn.y, train=0.48, val=0.32, count=10, seed=0)
    graph = dataclasses.replace(drawn, splits=splits)
    a = build_operator(graph.adjacency).matrix.matrix
    x = np.array(graph.features)
    untrained = FDGCL(epochs=0).fit_transform(graph)

    def accuracy(z: np.ndarray) -> float:
        return 100 * linear_probe(z, graph.y, graph.splits).test_mean

    rows = [accuracy(z) for z in (x, a @ (a @ x), untrained)]
    assert accuracy(FDGCL().fit_transform(graph)) > max(rows) - 1.0
