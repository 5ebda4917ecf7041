"""Datasets of many graphs by name: compact, raw files, download, sizes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import Graph, GraphDataset, load_dataset, load_graphs
from fdgcl.graphs.catalogue import CATALOGUE, Dataset, Loader, Sizes, SplitRule
from fdgcl.graphs.compact_graphs import write_compact_graphs
from fdgcl.graphs.datasets import locate, verify_folder

ATTRIBUTES = np.array([[0.5], [1.5], [2.5], [3.5], [4.5]], "f4")


@pytest.fixture(autouse=True)
def no_network_no_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FDGCL_DATA", raising=False)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was used without being asked for")

    monkeypatch.setattr("urllib.request.urlopen", refuse)


def toy_graphs() -> GraphDataset:
    edges = np.array([[0, 1, 2, 3, 3, 4, 4, 2], [1, 0, 3, 2, 4, 3, 2, 4]])
    labels = sparse.csr_array(np.eye(3, dtype="f4")[[0, 1, 2, 2, 0]])
    graph = Graph.from_edges(edges, labels, num_nodes=5)
    return GraphDataset(graph, np.array([0, 2, 5]), y=np.array([0, 1]))


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root with the dataset `toy`, known to the catalogue."""
    entry = Dataset(
        "toy",
        Sizes(5, 3, 2, 8),
        None,
        "many graphs",
        undirected=True,
        split=SplitRule("folds", 2),
        source="a test",
        licence="none",
        loader=Loader("pyg", "TOY/raw", "TUDataset", "TOY"),
        graphs=2,
        attributes=1,
    )
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    write_compact_graphs(tmp_path / "toy.npz", toy_graphs(), node_attr=ATTRIBUTES)
    return tmp_path


def write_raw(folder: Path) -> None:
    """The same two graphs as TU files, which count everything from 1."""
    folder.mkdir(parents=True)
    pairs = [(1, 2), (2, 1), (3, 4), (4, 3), (4, 5), (5, 4), (5, 3), (3, 5)]
    columns = {
        "A": [f"{start}, {end}" for start, end in pairs],
        "graph_indicator": [1, 1, 2, 2, 2],
        "graph_labels": [4, 7],
        "node_labels": [1, 2, 3, 3, 1],
        "node_attributes": ATTRIBUTES[:, 0].tolist(),
    }
    for part, lines in columns.items():
        text = "\n".join(map(str, lines)) + "\n"
        (folder / f"TOY_{part}.txt").write_text(text, "utf-8")


def assert_same(got: GraphDataset, expected: GraphDataset) -> None:
    assert got.ptr.tolist() == expected.ptr.tolist()
    assert got.y.tolist() == expected.y.tolist()
    assert got.class_names == expected.class_names
    assert (got.graph.adjacency != expected.graph.adjacency).nnz == 0
    x, wanted = got.graph.features, expected.graph.features
    assert sparse.issparse(x)
    assert sparse.issparse(wanted)
    assert x.dtype == wanted.dtype == np.float32
    assert np.array_equal(x.toarray(), wanted.toarray())


def test_a_compact_file_in_the_data_root(toy: Path) -> None:
    dataset = load_graphs("Toy", toy)
    assert_same(dataset, toy_graphs())
    assert (dataset.name, dataset.source) == ("toy", str(toy / "toy.npz"))
    assert dataset.graph.name == "toy"
    with_attributes = load_graphs("toy", toy, attributes=True).graph.features.toarray()
    assert np.array_equal(with_attributes[:, 3:], ATTRIBUTES)
    assert_same(load_graphs(toy / "toy.npz"), dataset)


def test_raw_files_give_the_same(toy: Path) -> None:
    pytest.importorskip("torch_geometric")
    compact = load_graphs("toy", toy)
    richer = load_graphs("toy", toy, attributes=True)
    (toy / "toy.npz").unlink()
    write_raw(toy / "pyg" / "toy" / "TOY" / "raw")
    before = sorted(toy.rglob("*"))
    raw = load_graphs("toy", toy)
    assert "PyTorch Geometric's TUDataset TOY" in raw.source
    assert_same(raw, compact)
    assert_same(load_graphs("toy", toy, attributes=True), richer)
    assert sorted(toy.rglob("*")) == before  # no cache beside the raw files


def test_raw_files_that_are_incomplete_are_not_downloaded(toy: Path) -> None:
    pytest.importorskip("torch_geometric")
    (toy / "toy.npz").unlink()
    write_raw(toy / "pyg" / "toy" / "TOY" / "raw")
    (toy / "pyg" / "toy" / "TOY" / "raw" / "TOY_A.txt").unlink()
    with pytest.raises(InputError, match=r"lacks TOY_A\.txt"):
        load_graphs("toy", toy)


def test_a_download_is_kept_with_its_attributes(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy / "toy.npz").unlink()
    asked = []

    def fetch(entry: Dataset) -> tuple[GraphDataset, Any]:
        asked.append(entry.name)
        return toy_graphs(), ATTRIBUTES

    monkeypatch.setattr("fdgcl.graphs.datasets.fetch_graphs", fetch)
    got = load_graphs("toy", toy, download=True)
    assert "download of PyTorch Geometric's TUDataset" in got.source
    assert_same(got, toy_graphs())
    again = load_graphs("toy", toy, attributes=True, download=True)
    assert np.array_equal(again.graph.features.toarray()[:, 3:], ATTRIBUTES)
    assert asked == ["toy"]


def test_a_download_without_a_root_keeps_nothing(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy)
    monkeypatch.setattr(
        "fdgcl.graphs.datasets.fetch_graphs", lambda _: (toy_graphs(), ATTRIBUTES)
    )
    before = sorted(toy.rglob("*"))
    got = load_graphs("toy", attributes=True, download=True)
    assert np.array_equal(got.graph.features.toarray()[:, 3:], ATTRIBUTES)
    assert sorted(toy.rglob("*")) == before


def test_each_loader_names_the_other(data_root: Path) -> None:
    with pytest.raises(InputError, match="1113 graphs: load_graphs reads them"):
        load_dataset("proteins", data_root)
    with pytest.raises(InputError, match="one graph: load_dataset reads it"):
        load_graphs("cora", data_root)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="data convert proteins --download"):
        load_graphs("proteins", tmp_path)
    with pytest.raises(InputError, match="no data root was given"):
        load_graphs("dd")
    with pytest.raises(InputError, match="dd has no node attributes"):
        load_graphs("dd", attributes=True)
    with pytest.raises(InputError, match=r'did you mean "proteins"'):
        load_graphs("protein")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"graphs": 3}, "toy has 3 graphs, but .* has 2"),
        ({"sizes": Sizes(5, 3, 3, 8)}, "toy has 3 classes, but .* has 2"),
        ({"sizes": Sizes(5, 4, 2, 8)}, "toy has 4 features, but .* has 3"),
        ({"sizes": Sizes(5, 3, 2, 9)}, "toy has 9 edges once made undirected"),
    ],
)
def test_other_sizes_are_refused(
    toy: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], sentence: str
) -> None:
    monkeypatch.setitem(CATALOGUE, "toy", replace(CATALOGUE["toy"], **change))
    with pytest.raises(InputError, match=sentence):
        load_graphs("toy", toy)
    (report,) = [r for r in verify_folder(toy) if r.name == "toy"]
    assert report.problem is not None
    assert report.summary["graphs"] == 2


def test_verify_counts_graphs(toy: Path) -> None:
    (report,) = [r for r in verify_folder(toy) if r.name == "toy"]
    assert report.problem is None
    assert report.summary["graphs"] == 2
    assert report.summary["nodes"] == 5
    assert (report.summary["smallest_graph"], report.summary["largest_graph"]) == (2, 3)
    assert report.summary["class_sizes"] == [1, 1]


@pytest.mark.dataset
@pytest.mark.parametrize("attributes", [False, True])
def test_pyg_gives_the_compact_proteins(
    data_root: Path, tmp_path: Path, attributes: bool
) -> None:
    pytest.importorskip("torch_geometric")
    if not (data_root / "pyg" / "proteins").is_dir():
        pytest.skip("no PyTorch Geometric root pyg/proteins in the benchmark data")
    shutil.copytree(data_root / "pyg" / "proteins", tmp_path / "pyg" / "proteins")
    assert locate("proteins", tmp_path).kind == "raw"
    raw = load_graphs("proteins", tmp_path, attributes=attributes)
    assert_same(raw, load_graphs("proteins", data_root, attributes=attributes))
