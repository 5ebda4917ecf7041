"""Generated graphs have the properties asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs import Graph, block_model, power_law_graph


def share_within(graph: Graph) -> float:
    coo = graph.adjacency.tocoo()
    return float((graph.y[coo.row] == graph.y[coo.col]).mean())


@pytest.mark.parametrize("homophily", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("directed", [False, True])
def test_homophily_and_degree(homophily: float, classes: int, directed: bool) -> None:
    graph = block_model(
        5000, classes, degree=12, homophily=homophily, directed=directed, seed=5
    )
    edges = graph.num_edges / (1 if directed else 2)
    deviation = np.sqrt(homophily * (1 - homophily) / edges)
    # Edges drawn twice count once: within one of seven classes half of 12 / 714 are.
    assert abs(share_within(graph) - homophily) <= 5 * deviation + 2e-3
    assert graph.num_edges / 5000 == pytest.approx(12, rel=12 / 714)
    assert graph.is_symmetric is not directed
    assert not graph.adjacency.diagonal().any()
    assert not graph.is_weighted
    assert np.ptp(np.bincount(graph.y)) <= 1


def test_edges_between_classes_do_not_favour_one() -> None:
    graph = block_model(6000, 4, degree=20, homophily=0.1, seed=0)
    coo = graph.adjacency.tocoo()
    table = np.zeros((4, 4))
    np.add.at(table, (graph.y[coo.row], graph.y[coo.col]), 1)
    between = table[~np.eye(4, dtype=bool)]
    # Each pair of classes has 9,000 edges or so, give or take 1.5 %.
    assert between.std() / between.mean() < 0.03


def test_class_means_lie_at_the_signal() -> None:
    graph = block_model(20_000, 2, num_features=8, signal=3.0, seed=1)
    for code in (0, 1):
        rows = graph.features[graph.y == code]
        # Of 10,000 rows a mean deviates by 0.01 and a deviation by 0.007.
        assert np.linalg.norm(rows.mean(axis=0)) == pytest.approx(3.0, abs=7 * 0.01)
        assert rows.std(axis=0) == pytest.approx(np.ones(8), abs=7 * 0.007)
    flat = block_model(20_000, 2, num_features=8, signal=0.0, seed=1)
    assert np.linalg.norm(flat.features[flat.y == 0].mean(axis=0)) < 7 * 0.01 * 8**0.5


def test_seeds_decide_all() -> None:
    first, again, other = (block_model(300, 3, seed=seed) for seed in (1, 1, 2))
    assert first.adjacency.indices.tobytes() == again.adjacency.indices.tobytes()
    assert first.features.tobytes() == again.features.tobytes()
    assert first.splits.train.tobytes() == again.splits.train.tobytes()
    assert first.features.tobytes() != other.features.tobytes()


def test_parts_can_be_left_out() -> None:
    graph = block_model(50, num_features=0, num_splits=0)
    assert graph.features is None
    assert graph.splits is None
    assert len(block_model(50, num_splits=4).splits) == 4
    assert block_model(2, 1, homophily=1, degree=1).num_edges == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_nodes": 1}, "num_nodes must be"),
        ({"num_classes": 0}, "num_classes must be"),
        ({"num_nodes": 3, "num_classes": 4}, "num_classes must not exceed"),
        ({"num_classes": 1}, "one class needs homophily 1"),
        ({"homophily": 1.5}, r"homophily must lie in \[0, 1\], got 1.5"),
        ({"degree": 0}, "degree must be positive"),
        ({"signal": -1}, "signal must be zero or more"),
        ({"num_features": -1}, "num_features must be"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        block_model(**arguments)


def test_power_law_degrees() -> None:
    graph = power_law_graph(20_000, 100_000, 3, seed=0)
    degrees = np.sort(np.diff(graph.adjacency.indptr))[::-1]
    assert graph.is_symmetric
    assert graph.features.shape == (20_000, 3)
    # Less what was drawn twice, between the few nodes that have most edges.
    assert 0.95 * 200_000 < graph.num_edges <= 200_000
    # Hill's estimate of the exponent of the tail, 2.5 asked for: 1.5 / sqrt(1,000) is
    # its standard deviation, and it is biased by the shift of ranks.
    tail = degrees[:1000].astype(float)
    assert 1 + 1 / np.log(tail[:-1] / tail[-1]).mean() == pytest.approx(2.5, abs=0.5)
    again = power_law_graph(20_000, 100_000, 3, seed=0)
    assert graph.adjacency.indices.tobytes() == again.adjacency.indices.tobytes()
    with pytest.raises(InputError, match="exponent must be above 2, got 2"):
        power_law_graph(10, 10, exponent=2)


@pytest.mark.slow
def test_a_million_nodes_in_seconds() -> None:
    import time

    begin = time.process_time()
    graph = block_model(1_000_000, 5, degree=20, homophily=0.3)
    assert time.process_time() - begin < 60
    # Drawn twice: half of 20 of the 200,000 nodes of a class, and fewer between them.
    assert (1 - 10 / 200_000) * 20_000_000 < graph.num_edges <= 20_000_000
