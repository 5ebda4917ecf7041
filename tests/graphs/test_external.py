"""Other libraries' files: same graphs as the compact ones, never a download."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from fdgcl._checks import InputError, MissingExtraError
from fdgcl.graphs import Graph
from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.graphs.compact import read_compact
from fdgcl.graphs.datasets import load_dataset
from fdgcl.graphs.external import (
    find_raw,
    graph_from_data,
    read_musae,
    read_ogb_arxiv,
    read_raw,
)


@pytest.fixture(scope="module")
def torch_geometric() -> Any:
    """PyTorch Geometric, imported while its deprecations are not errors."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return pytest.importorskip("torch_geometric")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was used without being asked for")

    monkeypatch.setattr("urllib.request.urlopen", refuse)


def dense(graph: Graph) -> Any:
    x: Any = graph.features
    return x.toarray() if hasattr(x, "toarray") else x


def pairs(graph: Graph) -> list[tuple[int, int]]:
    rows, columns = graph.adjacency.nonzero()
    return sorted(zip(rows.tolist(), columns.tolist(), strict=True))


def assert_same(got: Graph, expected: Graph) -> None:
    assert (got.adjacency != expected.adjacency).nnz == 0
    assert np.array_equal(dense(got), dense(expected))
    assert np.array_equal(got.y, expected.y)
    assert got.splits.name == expected.splits.name
    for part in ("train", "val", "test"):
        assert np.array_equal(getattr(got.splits, part), getattr(expected.splits, part))


@pytest.mark.dataset
@pytest.mark.parametrize("name", ["cora", "texas", "photo"])
def test_pyg_gives_the_compact_graph(
    data_root: Path, tmp_path: Path, torch_geometric: Any, name: str
) -> None:
    if not (data_root / "pyg" / name).is_dir():
        pytest.skip(f"no PyTorch Geometric root pyg/{name} in the benchmark data")
    shutil.copytree(data_root / "pyg" / name, tmp_path / "pyg" / name)
    before = sorted(tmp_path.rglob("*"))
    graph = load_dataset(name, tmp_path)
    assert "PyTorch Geometric" in graph.source
    assert_same(graph, load_dataset(name, data_root))
    assert sorted(tmp_path.rglob("*")) == before  # no cache beside the raw files


def test_incomplete_files_start_no_download(
    tmp_path: Path, torch_geometric: Any
) -> None:
    raw = tmp_path / "texas" / "raw"
    raw.mkdir(parents=True)
    (raw / "out1_graph_edges.txt").write_text("id\tid\n0\t1\n")
    with pytest.raises(InputError, match=r"lacks out1_node_feature_label\.txt, texas_"):
        read_raw(CATALOGUE["texas"], tmp_path)


def test_damaged_files_get_one_sentence(tmp_path: Path, torch_geometric: Any) -> None:
    raw = tmp_path / "Photo" / "raw"
    raw.mkdir(parents=True)
    (raw / "amazon_electronics_photo.npz").write_bytes(b"broken")
    with pytest.raises(
        InputError, match="cannot read PyTorch Geometric's Amazon Photo"
    ):
        load_dataset("photo", tmp_path)


def test_missing_library_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "texas" / "raw").mkdir(parents=True)
    (tmp_path / "texas" / "raw" / "file").touch()
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(MissingExtraError, match=r"pip install -e '\.\[pyg\]'"):
        load_dataset("texas", tmp_path)


def write_geom_gcn(raw: Path, prefix: str, words: list[str]) -> None:
    raw.mkdir(parents=True)
    lines = [f"{node}\t{have}\t{node % 2}" for node, have in enumerate(words)]
    text = "\n".join(["node_id\tfeature\tlabel", *lines, ""])
    (raw / "out1_node_feature_label.txt").write_text(text)
    (raw / "out1_graph_edges.txt").write_text("a\tb\n0\t1\n0\t1\n1\t2\n2\t2\n")
    for split in range(10):
        parts = {p: np.arange(3) == k for k, p in enumerate(("train", "val", "test"))}
        path = raw / f"{prefix}_split_0.6_0.2_{split}.npz"
        np.savez(path, **{f"{p}_mask": np.roll(m, split) for p, m in parts.items()})


@pytest.mark.parametrize(
    ("name", "raw", "prefix", "words"),
    [
        ("wisconsin", "wisconsin/raw", "wisconsin", ["1,0", "0,0", "1,1"]),
        ("chameleon", "chameleon/geom_gcn/raw", "chameleon", ["1,0", "0,0", "1,1"]),
        ("actor", "actor/raw", "film", ["0", "0", "0,1"]),
    ],
)
def test_geom_gcn_files(
    tmp_path: Path,
    torch_geometric: Any,
    name: str,
    raw: str,
    prefix: str,
    words: list[str],
) -> None:
    write_geom_gcn(tmp_path / raw, prefix, words)
    root = find_raw(CATALOGUE[name], tmp_path)
    assert root is not None
    graph = read_raw(CATALOGUE[name], root)
    assert pairs(graph) == [(0, 1), (1, 2), (2, 2)]
    assert graph.y.tolist() == [0, 1, 0]
    expected = [[1, 0], [1, 0], [1, 1]] if name == "actor" else [[1, 0], [0, 0], [1, 1]]
    assert dense(graph).tolist() == expected
    assert len(graph.splits) == 10
    assert np.flatnonzero(graph.splits.train[1]).tolist() == [1]
    assert np.flatnonzero(graph.splits.val[9]).tolist() == [1]


def test_roman_empire_files(tmp_path: Path, torch_geometric: Any) -> None:
    raw = tmp_path / "pyg" / "roman-empire" / "roman_empire" / "raw"
    raw.mkdir(parents=True)
    masks = {f"{part}_masks": np.zeros((10, 3), bool) for part in ("val", "test")}
    np.savez(
        raw / "roman_empire.npz",
        node_features=np.array([[0.5, 1], [2, 3], [4, 5]], "f4"),
        node_labels=np.array([0, 2, 1]),
        edges=np.array([[0, 1], [1, 2]]),
        train_masks=np.eye(3, dtype=bool)[np.arange(10) % 3],
        **masks,
    )
    root = find_raw(CATALOGUE["roman-empire"], tmp_path)
    assert root is not None
    graph = read_raw(CATALOGUE["roman-empire"], root)
    assert pairs(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert isinstance(graph.features, np.ndarray)  # dense features stay dense
    assert graph.features.tolist() == [[0.5, 1], [2, 3], [4, 5]]
    assert np.flatnonzero(graph.splits.train[4]).tolist() == [1]
    with pytest.raises(InputError, match=r"roman-empire has 22662 nodes, but .* has 3"):
        load_dataset("roman-empire", tmp_path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_data_object(torch_geometric: Any) -> None:
    import torch

    data = torch_geometric.data.Data(
        x=torch.tensor([[0.0, 0.0], [0.0, 3.0], [0.0, 0.0]]),
        edge_index=torch.tensor([[0, 0, 2], [1, 1, 2]]),
        y=torch.tensor([[1], [0], [1]]),
    )
    graph = graph_from_data(data)
    assert pairs(graph) == [(0, 1), (2, 2)]
    assert graph.features.nnz == 1
    assert graph.y.tolist() == [1, 0, 1]
    assert graph.splits is None


def write_ogb(folder: Path, arrays: dict[str, Any], split: Any) -> None:
    for part in ("raw", "split/time"):
        (folder / part).mkdir(parents=True)
    codes = {"train": 0, "valid": 1, "test": 2}
    files = {f"raw/{name}": np.asarray(values) for name, values in arrays.items()}
    for name, code in codes.items():
        files[f"split/time/{name}"] = np.flatnonzero(np.asarray(split) == code)
    for name, values in files.items():
        columns = values.reshape(len(values), -1).T
        table = pa.table({str(k): column for k, column in enumerate(columns)})
        with gzip.open(folder / f"{name}.csv.gz", "wb", compresslevel=1) as stream:
            csv.write_csv(table, stream, csv.WriteOptions(include_header=False))


def test_ogb_files(tmp_path: Path) -> None:
    arrays = {
        "node-feat": np.array([[0.5, -1], [2, 3], [4, 5], [6, 7], [8, 9.25]], "f4"),
        "edge": np.array([[0, 1], [4, 0], [0, 1]]),
        "node-label": np.array([3, 0, 1, 2, 0]),
        "node_year": np.array([2001, 2005, 2003, 2002, 2004]),
    }
    write_ogb(tmp_path / "ogbn_arxiv", arrays, [0, 1, 2, 0, 2])
    root = find_raw(CATALOGUE["ogbn-arxiv"], tmp_path)
    assert root == tmp_path
    graph = read_raw(CATALOGUE["ogbn-arxiv"], root)
    assert pairs(graph) == [(0, 1), (4, 0)]
    assert np.array_equal(dense(graph), arrays["node-feat"])
    assert graph.y.tolist() == [3, 0, 1, 2, 0]
    assert np.flatnonzero(graph.splits.val[0]).tolist() == [1]
    assert np.flatnonzero(graph.splits.test[0]).tolist() == [2, 4]
    years = read_raw(CATALOGUE["arxiv-year"], root)
    assert years.y.tolist() == [0, 4, 2, 1, 3]
    assert years.splits is None
    (tmp_path / "ogbn_arxiv" / "raw" / "edge.csv.gz").unlink()
    with pytest.raises(InputError, match=r"raw lacks edge\.csv\.gz"):
        read_raw(CATALOGUE["ogbn-arxiv"], root)


@pytest.mark.dataset
def test_arxiv_years_and_splits_are_the_published_ones(
    data_root: Path, tmp_path: Path
) -> None:
    with np.load(data_root / "ogbn-arxiv-nofeat.npz") as stored:
        parts = {name: stored[name] for name in stored.files}
    arrays = {
        "node-feat": np.ones((len(parts["y"]), 1)),
        "edge": parts["edge_index"].T,
        "node-label": parts["y"],
        "node_year": parts["node_year"],
    }
    write_ogb(tmp_path / "ogbn_arxiv", arrays, parts["split"])
    years = read_ogb_arxiv(tmp_path / "ogbn_arxiv", years=True)
    assert np.array_equal(years.y, parts["y_arxiv_year"])
    graph = read_ogb_arxiv(tmp_path / "ogbn_arxiv")
    compact = read_compact(data_root / "ogbn-arxiv-nofeat.npz")
    assert (graph.adjacency != compact.adjacency).nnz == 0
    assert np.array_equal(graph.splits.test, compact.splits.test)


def write_musae(folder: Path, words: Any, edges: Any, traffic: Any, order: Any) -> None:
    folder.mkdir(parents=True)
    (folder / "musae_crocodile_features.json").write_text(json.dumps(words))
    for name, table in {
        "edges": {"id1": edges[0], "id2": edges[1]},
        "target": {"id": order, "target": np.asarray(traffic)[order]},
    }.items():
        csv.write_csv(pa.table(table), folder / f"musae_crocodile_{name}.csv")


def test_musae_files(tmp_path: Path) -> None:
    folder = tmp_path / "wikipedia" / "crocodile"
    words = {"1": [2, 0], "0": [], "4": [1, 1]}
    traffic = [10, 50, 20, 40, 30]
    write_musae(folder, words, [[0, 3], [1, 3]], traffic, np.array([4, 2, 0, 1, 3]))
    root = find_raw(CATALOGUE["crocodile"], tmp_path)
    assert root == tmp_path
    graph = read_raw(CATALOGUE["crocodile"], root)
    assert graph.y.tolist() == [0, 4, 1, 3, 2]
    assert pairs(graph) == [(0, 1), (3, 3)]
    assert dense(graph).tolist() == [
        *([0, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0])
    ]


@pytest.mark.dataset
def test_musae_gives_the_compact_graph(data_root: Path, tmp_path: Path) -> None:
    compact = read_compact(data_root / "crocodile.npz")
    with np.load(data_root / "crocodile.npz") as stored:
        traffic, edges = stored["target"], stored["edge_index"]
    x: Any = compact.features
    bounds = zip(x.indptr[:-1], x.indptr[1:], strict=True)
    words = {str(k): x.indices[a:b].tolist() for k, (a, b) in enumerate(bounds)}
    write_musae(tmp_path / "c", words, edges, traffic, np.arange(len(traffic)))
    graph = read_musae(tmp_path / "c", "crocodile")
    assert (graph.adjacency != compact.adjacency).nnz == 0
    assert (graph.features != compact.features).nnz == 0
    assert np.array_equal(graph.y, compact.y)


def test_a_bare_raw_folder_is_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "file").touch()
    assert find_raw(CATALOGUE["actor"], tmp_path) is None
    assert find_raw(CATALOGUE["cora-bundled"], tmp_path) is None
