"""The copy of Cora inside the package: complete, small, licensed, its own split."""

from __future__ import annotations

import hashlib
import runpy
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import fdgcl.graphs
from fdgcl.graphs import Graph
from fdgcl.graphs.compact import read_compact
from fdgcl.graphs.datasets import load_dataset
from fdgcl.graphs.summaries import edge_homophily

FOLDER = Path(fdgcl.graphs.__file__).parent / "bundled"
TOOL = Path(__file__).parents[2] / "tools" / "build_bundled_cora.py"


@pytest.fixture(scope="module")
def stored() -> Graph:
    return read_compact(FOLDER / "cora.npz")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load_dataset("cora-bundled")


def test_is_small_and_says_where_it_comes_from() -> None:
    content = (FOLDER / "cora.npz").read_bytes()
    assert len(content) <= 200_000
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert hashlib.sha256(content).hexdigest() in readme
    assert "graphdatascience` 2.2" in readme
    assert "Apache License" in (FOLDER / "LICENSE.txt").read_text("utf-8")
    assert "graphdatascience" in (FOLDER / "NOTICE.txt").read_text("utf-8")


def test_holds_every_paper_word_and_citation(stored: Graph) -> None:
    assert stored.num_nodes == 2708
    assert stored.num_edges == 5429
    assert stored.features.shape == (2708, 1433)
    assert stored.features.nnz == 49216
    assert set(stored.features.data.tolist()) == {1.0}
    assert np.bincount(stored.y).tolist() == [818, 180, 217, 426, 351, 418, 298]
    assert stored.class_names is not None
    assert stored.class_names[0] == "Neural_Networks"
    assert stored.class_names[6] == "Case_Based"
    # Facts of the source files: the first paper, and the first relation, 35 -> 1033.
    assert stored.ids[0] == 31336
    place = {identifier: row for row, identifier in enumerate(stored.ids.tolist())}
    assert stored.adjacency[place[35], place[1033]] == 1


def test_its_structure_is_coras(graph: Graph) -> None:
    assert graph.is_symmetric
    assert graph.num_edges == 2 * 5278
    network = nx.from_scipy_sparse_array(graph.adjacency)
    assert nx.number_connected_components(network) == 78
    assert len(max(nx.connected_components(network), key=len)) == 2485
    assert round(edge_homophily(graph), 2) == 0.81


def test_its_split_is_balanced(graph: Graph) -> None:
    splits = graph.splits
    assert len(splits) == 1
    assert "seed 0" in splits.name
    assert np.bincount(graph.y[splits.train[0]]).tolist() == [20] * 7
    assert splits.val.sum() == 500
    assert splits.test.sum() == 1000
    assert not (splits.train & splits.val).any()
    assert not ((splits.train | splits.val) & splits.test).any()


def test_cora_falls_back_to_it_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FDGCL_DATA", raising=False)
    graph = load_dataset("cora")
    assert graph.name == "cora"
    assert graph.source == "bundled copy"
    assert graph.splits.name == "20 per class / 500 / 1000, seed 0"


@pytest.mark.dataset
def test_it_is_planetoids_graph_in_another_order(data_root: Path, graph: Graph) -> None:
    theirs = load_dataset("cora", data_root)

    def degrees(which: Graph) -> list[int]:
        return sorted(np.diff(which.adjacency.indptr).tolist())

    assert degrees(graph) == degrees(theirs)
    assert sorted(np.bincount(graph.y)) == sorted(np.bincount(theirs.y))
    assert not np.array_equal(graph.y, theirs.y)


def test_the_tool_packs_it_as_stored(stored: Graph) -> None:
    tool = runpy.run_path(str(TOOL))
    packed = tool["small_arrays"](stored)
    with np.load(FOLDER / "cora.npz", allow_pickle=False) as archive:
        assert set(archive.files) == set(packed)
        for name in archive.files:
            assert archive[name].dtype == packed[name].dtype
            assert np.array_equal(archive[name], packed[name])
