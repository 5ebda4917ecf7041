"""Datasets by name: where they are looked for, what is checked, what is said."""

from __future__ import annotations

import hashlib
import shutil
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import Graph, Splits
from fdgcl.graphs.catalogue import CATALOGUE, Dataset, Loader, Sizes, SplitRule
from fdgcl.graphs.compact import read_compact, write_compact
from fdgcl.graphs.datasets import (
    data_root as find_root,
)
from fdgcl.graphs.datasets import (
    load_dataset,
    locate,
    verify_folder,
)
from fdgcl.graphs.summaries import edge_homophily, summarise

RANDOM = SplitRule("random 50/25/25, seed 0", 3, train=0.5, val=0.25)
PAPER = (
    *("cora", "citeseer", "pubmed", "computers", "photo", "ogbn-arxiv"),
    *("texas", "cornell", "wisconsin", "chameleon", "squirrel", "crocodile", "actor"),
    *("roman-empire", "arxiv-year"),
)


@pytest.fixture(autouse=True)
def no_network_no_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FDGCL_DATA", raising=False)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was used without being asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def toy_graph() -> Graph:
    # A directed path 0 -> 1 -> 2 -> 3 with a self-loop at 0.
    adjacency = np.eye(4, k=1, dtype="f4")
    adjacency[0, 0] = 1
    x = sparse.csr_array(np.eye(4, 3, dtype="f4"))
    return Graph(sparse.csr_array(adjacency), features=x, y=np.array([0, 0, 1, 1]))


def toy_entry(**changes: Any) -> Dataset:
    entry = Dataset(
        "toy",
        Sizes(4, 3, 2, 6),
        None,
        "homophilic",
        undirected=True,
        split=RANDOM,
        source="a test",
        licence="none",
        loader=Loader("pyg", "toy/raw", "Planetoid", "toy"),
    )
    return replace(entry, **changes)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root with the dataset `toy`, known to the catalogue."""
    monkeypatch.setitem(CATALOGUE, "toy", toy_entry())
    write_compact(tmp_path / "toy.npz", toy_graph())
    return tmp_path


def masks(*parts: list[int]) -> Splits:
    table = np.zeros((3, 4), bool)
    for row, nodes in zip(table, parts, strict=True):
        row[nodes] = True
    return Splits(*table, name="as stored")


def test_the_papers_datasets_are_all_known() -> None:
    assert set(PAPER) <= set(CATALOGUE)
    for name in PAPER:
        entry = CATALOGUE[name]
        assert entry.paper is not None
        assert entry.loader is not None
        assert entry.sizes.nodes == entry.paper.nodes
        assert entry.sizes.classes == entry.paper.classes
        if entry.sizes != entry.paper:
            assert entry.note, f"{name} differs from the paper without a note"


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match=r"unknown dataset 'squirel'.*\"squirrel\""):
        load_dataset("squirel")


@pytest.mark.parametrize("name", ["cora-bundled", "Cora_Bundled", " CORA-BUNDLED "])
def test_case_and_underscores_do_not_matter(name: str) -> None:
    assert load_dataset(name).name == "cora-bundled"


def test_a_file_may_stand_for_a_name(toy: Path) -> None:
    graph = load_dataset(toy / "toy.npz")
    assert graph.num_edges == 4  # as stored: not made undirected
    assert load_dataset(str(toy / "toy.npz")).source == str(toy / "toy.npz")


def test_the_argument_comes_before_the_variable(
    toy: Path, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("other")
    shutil.copy(toy / "toy.npz", other)
    monkeypatch.setenv("FDGCL_DATA", str(other))
    assert load_dataset("toy").source == str(other / "toy.npz")
    assert load_dataset("toy", toy).source == str(toy / "toy.npz")
    assert find_root() == other


def test_a_root_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(InputError, match=f"the data root {gone} is not a folder"):
        load_dataset("cora", gone)
    monkeypatch.setenv("FDGCL_DATA", str(gone))
    with pytest.raises(InputError, match=r"gone \(from FDGCL_DATA\) is not a folder"):
        load_dataset("cora")
    assert load_dataset("cora-bundled").source == "bundled copy"


def test_a_dataset_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_dataset("texas", tmp_path)
    message = str(caught.value)
    assert "looked for texas.npz or PyTorch Geometric's WebKB texas" in message
    assert f"in {tmp_path}" in message
    command = f"fdgcl data convert texas --download -o {tmp_path / 'texas.npz'}"
    assert command in message
    assert "\n" not in message
    with pytest.raises(InputError, match=r"FDGCL_DATA is not set.*--download"):
        load_dataset("texas")
    with pytest.raises(InputError, match="it has no download"):
        load_dataset("ogbn-arxiv-nofeat", tmp_path, download=True)


def test_the_catalogued_form(toy: Path) -> None:
    graph = load_dataset("toy", toy)
    path = np.eye(4, k=1) + np.eye(4, k=-1)
    assert np.array_equal(graph.adjacency.toarray(), path)
    assert graph.name == "toy"
    assert len(graph.splits) == 3
    assert graph.splits.train.sum(axis=1).tolist() == [2, 2, 2]
    assert graph.splits.name == "random 50/25/25, seed 0"
    again = load_dataset("toy", toy)
    assert np.array_equal(graph.splits.train, again.splits.train)


def test_directed_datasets_stay_as_given(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = toy_entry(undirected=False, sizes=Sizes(4, 3, 2, 4))
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    got = load_dataset("toy", toy).adjacency
    assert np.array_equal(got.toarray(), toy_graph().adjacency.toarray())


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        (Sizes(5, 3, 2, 6), "toy has 5 nodes, but .*toy.npz has 4"),
        (Sizes(4, 9, 2, 6), "toy has 9 features, but .*toy.npz has 3"),
        (Sizes(4, 3, 7, 6), "toy has 7 classes, but .*toy.npz has 2"),
        (Sizes(4, 3, 2, 8), "toy has 8 edges once made undirected, but .* has 6"),
    ],
)
def test_other_sizes_are_refused(
    toy: Path, monkeypatch: pytest.MonkeyPatch, sizes: Sizes, sentence: str
) -> None:
    monkeypatch.setitem(CATALOGUE, "toy", toy_entry(sizes=sizes))
    with pytest.raises(InputError, match=sentence):
        load_dataset("toy", toy)


def test_a_known_wrong_feature_file_is_refused(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CATALOGUE, "toy", toy_entry(feature_entries=3))
    load_dataset("toy", toy)
    entry = toy_entry(feature_entries=5, note="Beware.")
    monkeypatch.setitem(CATALOGUE, "toy", entry)
    with pytest.raises(InputError, match=r"5 non-zero features, but .* has 3: Beware"):
        load_dataset("toy", toy)


def test_published_splits_come_from_the_file(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CATALOGUE, "toy", toy_entry(split=SplitRule("public", 1)))
    with pytest.raises(InputError, match=r"has no masks .*public split of toy cannot"):
        load_dataset("toy", toy)
    arrays = dict(np.load(toy / "toy.npz"))
    for part, node in (("train", 2), ("val", 0), ("test", 3)):
        arrays[f"{part}_mask"] = np.arange(4) == node
    np.savez(toy / "toy.npz", **arrays)
    splits = load_dataset("toy", toy).splits
    assert splits.name == "public"
    assert np.flatnonzero(splits.train[0]).tolist() == [2]
    np.savez(toy / "toy.npz", **arrays, split_name=np.array("my own"))
    with pytest.raises(InputError, match=r"the public split, but .* split 'my own'"):
        load_dataset("toy", toy)


def test_masks_in_the_file_come_before_random_ones(toy: Path) -> None:
    write_compact(toy / "toy.npz", replace(toy_graph(), splits=masks([0, 2], [1], [3])))
    splits = load_dataset("toy", toy).splits
    assert np.flatnonzero(splits.train).tolist() == [0, 2]


def test_the_bundled_copy_is_not_taken_for_planetoids_cora(tmp_path: Path) -> None:
    write_compact(tmp_path / "cora.npz", load_dataset("cora-bundled"))
    with pytest.raises(InputError, match=r"cora comes with the public split, but"):
        load_dataset("cora", tmp_path)


def test_a_download_is_kept_in_the_root(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def fetch(entry: Dataset) -> Graph:
        asked.append(entry.name)
        return toy_graph()

    monkeypatch.setattr("fdgcl.graphs.datasets.fetch", fetch)
    load_dataset("toy", toy, download=True)
    assert asked == []  # it was there
    root = toy / "new" / "root"
    graph = load_dataset("toy", root, download=True)
    assert asked == ["toy"]
    assert graph.source.startswith("download of PyTorch Geometric's Planetoid toy")
    again = load_dataset("toy", root)
    assert again.source == str(root / "toy.npz")
    assert (again.adjacency != graph.adjacency).nnz == 0
    assert np.array_equal(again.splits.train, graph.splits.train)
    assert load_dataset("toy", download=True).name == "toy"
    assert asked == ["toy", "toy"]


def test_a_download_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(*_: Any, **__: Any) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr("urllib.request.urlopen", offline)
    with pytest.raises(InputError, match=r"cannot download crocodile .*no route"):
        load_dataset("crocodile", tmp_path, download=True)
    assert list(tmp_path.iterdir()) == []


def test_locate_reads_nothing(toy: Path) -> None:
    (toy / "texas.npz").write_bytes(b"not read")
    place = locate("texas", toy)
    assert place is not None
    assert place.kind == "compact"
    assert str(place) == str(toy / "texas.npz")
    assert locate("wisconsin", toy) is None
    assert str(locate("cora")) == "bundled copy"


def test_verify_reports_every_known_file(toy: Path) -> None:
    write_compact(toy / "cora-bundled.npz", load_dataset("cora-bundled"))
    write_compact(toy / "texas.npz", toy_graph())
    (toy / "wisconsin.npz").write_bytes(b"broken")
    (toy / "unknown.npz").write_bytes(b"not looked at")
    done: list[tuple[int, int]] = []
    reports = verify_folder(toy, lambda _, *counts: done.append(counts))
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]
    found = {report.name: report for report in reports}
    assert set(found) == {"cora-bundled", "texas", "wisconsin", "toy"}
    assert found["toy"].problem is None
    assert found["cora-bundled"].problem is None
    assert found["cora-bundled"].summary["split_sizes"] == [140, 500, 1000]
    assert "texas has 183 nodes" in str(found["texas"].problem)
    assert found["texas"].summary["nodes"] == 4
    assert "is not a compact .npz file" in str(found["wisconsin"].problem)
    assert found["wisconsin"].summary == {}
    expected = hashlib.sha256((toy / "toy.npz").read_bytes()).hexdigest()
    assert found["toy"].sha256 == expected


def test_verify_finds_masks_that_overlap(toy: Path) -> None:
    arrays = dict(np.load(toy / "toy.npz"))
    arrays |= {f"{part}_mask": np.ones(4, bool) for part in ("train", "val", "test")}
    np.savez(toy / "toy.npz", **arrays)
    (report,) = verify_folder(toy)
    assert "must be disjoint" in str(report.problem)


def test_verify_needs_something_to_check(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no file of a known dataset"):
        verify_folder(tmp_path)
    with pytest.raises(InputError, match="gone is not a folder"):
        verify_folder(tmp_path / "gone")


def test_homophily_against_a_loop() -> None:
    rng = np.random.default_rng(3)
    dense = (rng.random((30, 30)) < 0.2).astype("f4")
    y = rng.integers(-1, 3, 30)
    same = total = 0
    for i, j in zip(*dense.nonzero(), strict=True):
        if i != j and y[i] >= 0 and y[j] >= 0:
            total += 1
            same += int(y[i] == y[j])
    graph = Graph(sparse.csr_array(dense), y=y)
    assert edge_homophily(graph) == pytest.approx(same / total)
    assert edge_homophily(replace(graph, y=None)) is None
    assert edge_homophily(replace(graph, y=np.full(30, -1))) is None
    assert summarise(replace(graph, y=None))["homophily"] is None


@pytest.mark.dataset
@pytest.mark.parametrize(
    ("name", "nodes", "features", "classes", "edges", "sizes"),
    [
        ("cora", 2708, 1433, 7, 10556, [140, 500, 1000]),
        ("citeseer", 3327, 3703, 6, 9104, [120, 500, 1000]),
        ("pubmed", 19717, 500, 3, 88648, [60, 500, 1000]),
        ("computers", 13752, 767, 10, 491722, [1375, 1375, 11002]),
        ("photo", 7650, 745, 8, 238162, [765, 765, 6120]),
        ("texas", 183, 1703, 5, 325, [87, 59, 37]),
        ("wisconsin", 251, 1703, 5, 515, [120, 80, 51]),
        ("cornell", 183, 1703, 5, 298, [87, 59, 37]),
        ("actor", 7600, 932, 5, 30019, [3648, 2432, 1520]),
        ("chameleon", 2277, 2325, 5, 36101, [1092, 729, 456]),
        ("squirrel", 5201, 2089, 5, 217073, [2496, 1664, 1041]),
        ("crocodile", 11631, 13183, 5, 180020, [5583, 3722, 2326]),
        ("ogbn-arxiv-nofeat", 169343, 0, 40, 1166243, [90941, 29799, 48603]),
    ],
)
def test_every_benchmark_file_loads(
    data_root: Path,
    name: str,
    nodes: int,
    features: int,
    classes: int,
    edges: int,
    sizes: list[int],
) -> None:
    graph = load_dataset(name, data_root)
    assert graph.num_nodes == nodes
    assert graph.num_features == features
    assert graph.num_classes == classes
    assert graph.num_edges == edges
    assert summarise(graph)["split_sizes"] == sizes
    assert graph.splits.name == CATALOGUE[name].split.name
    assert len(graph.splits) == CATALOGUE[name].split.count


@pytest.mark.dataset
def test_texas_features_do_not_pass_for_cornells(
    data_root: Path, tmp_path: Path
) -> None:
    cornell = read_compact(data_root / "cornell.npz")
    texas = read_compact(data_root / "texas.npz")
    write_compact(tmp_path / "cornell.npz", cornell.with_features(texas.features))
    with pytest.raises(InputError, match=r"17240 non-zero features, but .* has 15266"):
        load_dataset("cornell", tmp_path)


def test_the_documented_table_is_the_catalogues() -> None:
    text = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text("utf-8")
    rows = [line.split("|")[1:6] for line in text.splitlines() if line[:3] == "| `"]
    documented = {}
    for cells in rows:
        name = cells[0].strip().strip("`")
        if name in CATALOGUE:
            numbers = [int(cell.replace(",", "")) for cell in cells[1:]]
            documented[name] = Sizes(*numbers)
    assert documented == {
        name: entry.sizes
        for name, entry in CATALOGUE.items()
        if name != "ogbn-arxiv-nofeat"
    }
