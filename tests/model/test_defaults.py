"""The defaults, on graphs nobody has seen."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from fdgcl import FDGCL, Graph, block_model, linear_probe
from fdgcl.graphs import random_splits
from fdgcl.operators.in_memory import build_operator


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
