"""One row per node or per graph, from datasets of many graphs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fdgcl import FDGCL, Graph, GraphDataset, block_model
from fdgcl._checks import InputError
from fdgcl.experiments.baselines import pooled_features
from fdgcl.graphs.structural import structural_features
from tolerances import assert_agree

from .conftest import quick_model

SIZES = (9, 14, 6, 21, 11)
DYNAMICS: dict[str, dict[str, Any]] = {
    "default": {},
    "stepped": {"dynamics": "cde", "time": 3.0, "step": 1.0, "rate": 0.3},
}


@pytest.fixture
def dataset() -> GraphDataset:
    """Graphs of several sizes, and between them a node that is a graph by itself."""
    parts = [
        block_model(size, 2, degree=3, num_features=7, seed=size) for size in SIZES
    ]
    x = np.vstack([np.full((1, 7), 0.5), *(part.features for part in parts)])
    blocks = [sparse.csr_array((1, 1)), *(part.adjacency for part in parts)]
    whole = Graph(sparse.block_diag(blocks, "csr"), features=x)
    return GraphDataset(whole, np.cumsum([0, 1, *SIZES]))


def pooled(rows: np.ndarray, dataset: GraphDataset, readout: str) -> np.ndarray:
    """A graph at a time, by NumPy."""
    ways = {"mean": np.mean, "sum": np.sum, "max": np.max}
    parts = (rows[start:end] for start, end in pairwise(dataset.ptr.tolist()))
    return np.array([ways[readout](part.astype(np.float64), axis=0) for part in parts])


@pytest.mark.parametrize("kind", DYNAMICS)
@pytest.mark.parametrize(
    "readout", [("mean",), ("sum",), ("max",), ("max", "mean", "sum")]
)
def test_a_graphs_row_is_made_of_its_nodes(
    dataset: GraphDataset, kind: str, readout: tuple[str, ...]
) -> None:
    model = quick_model(**DYNAMICS[kind], readout=readout)
    found = model.fit_transform(dataset, level="graph")
    nodes = model.transform(dataset, level="node")
    assert nodes.shape == (1 + sum(SIZES), 12)
    assert found.shape == (len(dataset), 12 * len(readout))
    assert found.dtype == np.float32
    expected = np.hstack([pooled(nodes, dataset, name) for name in readout])
    assert_agree(found, expected)
    np.testing.assert_array_equal(found[0], np.tile(nodes[0], len(readout)))


def test_levels_follow_the_data(dataset: GraphDataset, quick: FDGCL) -> None:
    by_default = quick.fit_transform(dataset)
    assert by_default.shape == (6, 12)
    assert by_default.tobytes() == quick.transform(dataset, level="graph").tobytes()
    nodes = quick.transform(dataset, level="node")
    assert nodes.tobytes() == quick.transform(dataset.graph).tobytes()
    assert nodes.tobytes() == quick.transform(dataset.graph, level="node").tobytes()
    # Training sees all nodes as one graph, whatever is asked for at the end.
    assert quick_model().fit_transform(dataset.graph).tobytes() == nodes.tobytes()
    at_nodes = quick_model().fit_transform(dataset, level="node")
    assert at_nodes.tobytes() == nodes.tobytes()


@pytest.mark.parametrize(
    ("of", "level", "message"),
    [
        ("graph", "graph", "level 'graph' needs a GraphDataset.*got Graph"),
        ("graph", "graphs", "unknown level 'graphs'; did you mean \"graph\""),
        ("dataset", "nodes", "unknown level 'nodes'; did you mean \"node\""),
        ("dataset", "edge", "unknown level 'edge'.*known: node, graph"),
    ],
)
def test_levels_that_are_not_there_are_refused_before_training(
    dataset: GraphDataset, tmp_path: Path, of: str, level: str, message: str
) -> None:
    data = dataset if of == "dataset" else dataset.graph
    model = quick_model()
    with pytest.raises(InputError, match=message):
        model.fit_transform(data, level=level, run=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    model.fit(data)
    with pytest.raises(InputError, match=message):
        model.transform(data, level=level)


@pytest.mark.parametrize("kind", DYNAMICS)
def test_a_graphs_row_depends_on_that_graph_alone(
    dataset: GraphDataset, kind: str
) -> None:
    model = quick_model(**DYNAMICS[kind], readout=("mean", "max"))
    whole = model.fit_transform(dataset)
    for chosen in ([4, 0, 2], [3], [5, 4, 3, 2, 1, 0]):
        some = model.transform(dataset.subset(chosen))
        assert_agree(some, whole[chosen])
    # The rows themselves do differ.
    gaps = np.abs(whole[:, None] - whole[None]).max(-1) + np.eye(len(dataset))
    assert gaps.min() > 1e-2


def test_a_graph_of_the_dataset_alone(dataset: GraphDataset, quick: FDGCL) -> None:
    quick.fit(dataset)
    nodes = quick.transform(dataset, level="node")
    for position in (1, 4):
        start, end = dataset.ptr[position : position + 2]
        alone = quick.transform(dataset[position])
        assert_agree(alone, nodes[start:end])


@pytest.mark.parametrize("kind", DYNAMICS)
def test_views_are_of_nodes(dataset: GraphDataset, kind: str) -> None:
    model = quick_model(**DYNAMICS[kind], beta=0.25).fit(dataset)
    first, second = model.views(dataset)
    assert first.shape == second.shape == (1 + sum(SIZES), 12)
    assert not np.allclose(first, second)
    expected = 0.25 * first + 0.75 * second
    nodes = model.transform(dataset, level="node")
    assert_agree(nodes, expected)


def test_a_loaded_model_reads_graphs_alike(
    dataset: GraphDataset, tmp_path: Path
) -> None:
    model = quick_model(readout=("sum", "max"))
    rows = model.fit_transform(dataset, run=tmp_path / "run")
    loaded = FDGCL.load(tmp_path / "run")
    assert loaded.readout == ("sum", "max")
    assert loaded.transform(dataset).tobytes() == rows.tobytes()
    # Which rows are made of the nodes is no matter of training.
    loaded.set_params(readout=("max",))
    np.testing.assert_array_equal(loaded.transform(dataset), rows[:, 12:])


def test_plan_takes_a_dataset(dataset: GraphDataset, quick: FDGCL) -> None:
    assert quick.plan(dataset) == quick.plan(dataset.graph)


@pytest.mark.parametrize("readout", ["mean", (), ("mean", "mean"), ("median",)])
def test_readouts_that_are_not_there(dataset: GraphDataset, readout: Any) -> None:
    with pytest.raises(InputError, match="readout"):
        quick_model(readout=readout).fit(dataset)


def test_graphs_without_features_are_told_by_degrees(
    dataset: GraphDataset, tmp_path: Path
) -> None:
    bare = replace(dataset, graph=dataset.graph.with_features(None))
    model = quick_model()
    rows = model.fit_transform(bare, run=tmp_path / "run")
    by_degree = quick_model(structural="degree").fit_transform(bare)
    np.testing.assert_array_equal(rows, by_degree)
    assert any("'degree' features" in notice for notice in model.notices_)
    # Degrees mean the same elsewhere: some of the graphs, one alone, a loaded model.
    loaded = FDGCL.load(tmp_path / "run")
    part = bare.subset([4, 1])
    for one in (model, loaded):
        assert_agree(one.transform(part), rows[[4, 1]])
        alone = one.transform(bare[3])
        assert_agree(alone.mean(0), rows[3])


def test_other_kinds_of_made_features_are_left_as_asked(dataset: GraphDataset) -> None:
    bare = replace(dataset, graph=dataset.graph.with_features(None))
    model = quick_model(structural="random").fit(bare)
    assert any("'random' features" in notice for notice in model.notices_)
    single = quick_model().fit(bare.graph)  # one graph, though of several parts
    assert any("'spectral' features" in notice for notice in single.notices_)


def test_rows_without_training_have_the_same_made_features(
    dataset: GraphDataset,
) -> None:
    bare = replace(dataset, graph=dataset.graph.with_features(None))
    x = structural_features(bare.graph, "degree")
    assert_agree(pooled_features(bare, model=FDGCL()), pooled(x, bare, "mean"))
