"""The compact format for many graphs: read as described, survives, refuses damage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import (
    Graph,
    GraphDataset,
    load_dataset,
    load_graphs,
    read_compact_graphs,
    write_compact_graphs,
)
from fdgcl.graphs.compact import read_compact, write_compact


def described() -> dict[str, Any]:
    """A file as a stranger would write it: a triangle, a pair, a lonely node."""
    pairs = [(0, 1), (1, 2), (2, 0), (3, 4)]
    edges = np.array(pairs + [(end, start) for start, end in pairs], "i4").T
    return {
        "edge_index": edges,
        "ptr": np.array([0, 3, 5, 6], "i4"),
        "y": np.array([1, 0, 1]),
        "node_label": np.array([0, 3, 0, 1, 1, 0], "u1"),
        "node_attr": np.array([[1.5], [2], [3], [4], [5], [-6]], "f4"),
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.npz"
    np.savez_compressed(path, **described())
    return path


def dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else values


def assert_same(got: GraphDataset, expected: GraphDataset) -> None:
    assert (got.graph.adjacency != expected.graph.adjacency).nnz == 0
    x, wanted = got.graph.features, expected.graph.features
    assert (x is None) == (wanted is None)
    if wanted is not None:
        assert sparse.issparse(x) == sparse.issparse(wanted)
        assert x.dtype == wanted.dtype
        assert np.array_equal(dense(x), dense(wanted))
    assert got.graph.ids.tolist() == expected.graph.ids.tolist()
    assert got.graph.feature_names == expected.graph.feature_names
    assert got.ptr.tolist() == expected.ptr.tolist()
    assert (got.y is None) == (expected.y is None)
    assert got.y is None or got.y.tolist() == expected.y.tolist()
    assert got.ids.tolist() == expected.ids.tolist()
    assert got.class_names == expected.class_names


def test_reads_the_described_format(file: Path) -> None:
    dataset = read_compact_graphs(file)
    assert (dataset.name, dataset.source) == ("small", str(file))
    assert dataset.ptr.tolist() == [0, 3, 5, 6]
    assert dataset.y.tolist() == [1, 0, 1]
    x = dataset.graph.features
    assert sparse.issparse(x)
    assert x.dtype == np.float32
    assert x.toarray().tolist() == np.eye(4)[[0, 3, 0, 1, 1, 0]].tolist()
    assert dataset[0].num_edges == 6
    assert dataset[1].num_edges == 2


def test_attributes_come_behind_the_labels(file: Path) -> None:
    x = dense(read_compact_graphs(file, attributes=True).graph.features)
    assert x.shape == (6, 5)
    assert np.array_equal(x[:, :4], np.eye(4)[[0, 3, 0, 1, 1, 0]])
    assert x[:, 4].tolist() == [1.5, 2, 3, 4, 5, -6]


def test_attributes_alone(file: Path) -> None:
    arrays = described()
    del arrays["node_label"]
    np.savez(file, **arrays)
    assert read_compact_graphs(file).graph.features is None
    x = read_compact_graphs(file, attributes=True).graph.features
    assert x.tolist() == [[1.5], [2], [3], [4], [5], [-6]]


def full(features: Any) -> GraphDataset:
    graph = Graph.from_edges(
        [("a", "b"), ("c", "ü"), ("ü", "d")],
        features,
        weights=np.array([0.5, 2, 1], "f4"),
        ids=["a", "b", "c", "ü", "d"],
        feature_names=None if features is None else ("length", "größe"),
    )
    return GraphDataset(
        graph,
        np.array([0, 2, 5]),
        y=np.array([-1, 2]),
        ids=["one", "zwei"],
        class_names=("x", "y", "z"),
    )


@pytest.mark.parametrize(
    "features",
    [
        None,
        np.arange(10, dtype="f4").reshape(5, 2),
        np.arange(10, dtype="f8").reshape(5, 2) / 3,
        np.eye(2, dtype="f4")[[0, 1, 1, 0, 1]],
        sparse.csr_array(np.eye(2, dtype="f4")[[0, 1, 1, 0, 1]]),
        sparse.csr_array(np.eye(2, dtype="f4")[[0, 0, 0, 0, 0]]),
        sparse.csr_array(np.eye(2, dtype="f8")[[0, 1, 1, 0, 1]]),
        sparse.csr_array(2 * np.eye(2, dtype="f4")[[0, 1, 1, 0, 1]]),
        sparse.csr_array(np.eye(5, 2, dtype="f4")),
    ],
    ids=[
        *("none", "dense", "float64", "dense labels", "labels", "a label unused"),
        *("float64 labels", "twos", "rows of zeros"),
    ],
)
def test_everything_survives(tmp_path: Path, features: Any) -> None:
    dataset = full(features)
    write_compact_graphs(tmp_path / "g.npz", dataset)
    assert_same(read_compact_graphs(tmp_path / "g.npz"), dataset)
    with np.load(tmp_path / "g.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)


def test_labels_are_written_as_labels(file: Path, tmp_path: Path) -> None:
    dataset = read_compact_graphs(file)
    attributes = described()["node_attr"]
    write_compact_graphs(tmp_path / "g.npz", dataset, node_attr=attributes)
    with np.load(tmp_path / "g.npz") as archive:
        assert sorted(archive.files) == [
            "edge_index",
            "node_attr",
            "node_label",
            "ptr",
            "y",
        ]
        assert archive["node_label"].tolist() == [0, 3, 0, 1, 1, 0]
    for wanted in (False, True):
        again = read_compact_graphs(tmp_path / "g.npz", attributes=wanted)
        assert_same(again, read_compact_graphs(file, attributes=wanted))


def test_same_dataset_same_bytes(tmp_path: Path, monkeypatch: Any) -> None:
    dataset = full(np.ones((5, 2), "f4"))
    write_compact_graphs(tmp_path / "a.npz", dataset)
    monkeypatch.setattr("time.time", lambda: 2e9)
    write_compact_graphs(tmp_path / "b.npz", dataset)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("edge_index", np.array([[0], [6]]), "must name nodes 0 to 5, got 6"),
        ("edge_index", np.array([[2], [3]]), "no edge may join two graphs"),
        ("edge_index", np.zeros((2, 2)), "edge_index must hold whole numbers"),
        ("edge_index", np.zeros((2, 0), int), "at least one edge"),
        ("ptr", np.array([0, 3, 3, 6]), "got 3 and then 3 for graph 1"),
        ("ptr", np.array([1, 3, 5, 6]), "ptr must start at 0"),
        ("ptr", np.array([0, 3, 5]), "must name nodes|one label per node"),
        ("ptr", np.array([0.0, 6.0]), "ptr must hold whole numbers"),
        ("ptr", np.zeros(0, int), "one label per node|square|at least"),
        ("y", np.zeros(2, int), "one integer class code per graph"),
        ("y", np.zeros(3), "one integer class code per graph"),
        ("node_label", np.zeros(5, int), r"one label per node, \(6,\), got"),
        ("node_label", np.full(6, -1), "labels from 0 .* got -1"),
        ("node_label", np.full(6, 2**40), "labels from 0 .* got 1099511627776"),
        ("node_label", np.zeros(6), "node_label must hold whole numbers"),
        ("node_attr", np.zeros((5, 1)), r"one row per node, \(6, columns\)"),
        ("node_attr", np.full(6, "a"), "node_attr must hold numbers"),
        ("node_attr", np.full(6, np.nan), "must be finite"),
        ("ids", np.array([1, 1, 2]), "graph ids must be unique"),
        ("class_names", np.array(["a"]), "class_names must name 2"),
        ("x", np.ones((5, 2), "f4"), "one row per node"),
    ],
)
def test_arrays_that_do_not_fit(
    file: Path, name: str, value: Any, sentence: str
) -> None:
    np.savez(file, **(described() | {name: value}))
    with pytest.raises(InputError, match=sentence) as caught:
        read_compact_graphs(file, attributes=True)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["edge_index", "node_attr"])
def test_a_missing_array_is_named(file: Path, name: str) -> None:
    arrays = described()
    del arrays[name]
    np.savez(file, **arrays)
    with pytest.raises(InputError, match=f"the array {name} is (missing|not there)"):
        read_compact_graphs(file, attributes=True)


def test_each_reader_names_the_other(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"many graphs .*ptr.* load_graphs reads"):
        read_compact(file)
    with pytest.raises(InputError, match="load_graphs reads"):
        load_dataset(file)
    one = tmp_path / "one.npz"
    write_compact(one, Graph.from_edges([(0, 1)]))
    with pytest.raises(InputError, match=r"one graph .*ptr.* load_dataset reads"):
        read_compact_graphs(one)
    with pytest.raises(InputError, match="load_dataset reads"):
        load_graphs(one)


def test_other_files_are_refused(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"id,x\n1,2\n")
    with pytest.raises(InputError, match=r"is not a compact .npz file but text"):
        read_compact_graphs(file)
    with pytest.raises(InputError, match=r"there is no file .*nothing\.npz"):
        read_compact_graphs(tmp_path / "nothing.npz")


@given(data=st.data())
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_damage_is_noticed_or_harmless(file: Path, data: Any) -> None:
    np.savez_compressed(file, **described())
    expected = read_compact_graphs(file)
    content = bytearray(file.read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
    file.write_bytes(bytes(content))
    try:
        got = read_compact_graphs(file)
    except InputError:
        return
    # A byte of an array's name may make an optional array unknown, never another.
    assert got.ptr.tolist() == expected.ptr.tolist()
    assert (got.graph.adjacency != expected.graph.adjacency).nnz == 0


@pytest.mark.dataset
@pytest.mark.parametrize("name", ["proteins", "dd"])
def test_benchmark_files_are_read_exactly(data_root: Path, name: str) -> None:
    if not (data_root / f"{name}.npz").is_file():
        pytest.skip(f"no {name}.npz in the benchmark data")
    dataset = read_compact_graphs(data_root / f"{name}.npz")
    with np.load(data_root / f"{name}.npz") as arrays:
        edges, ptr, y = arrays["edge_index"], arrays["ptr"], arrays["y"]
        labels = arrays["node_label"]
    assert dataset.ptr.tolist() == ptr.tolist()
    assert dataset.y.tolist() == y.tolist()
    for at in (0, len(y) // 2, len(y) - 1):
        graph = dataset[at]
        start, end = int(ptr[at]), int(ptr[at + 1])
        inside = (edges[0] >= start) & (edges[0] < end)
        expected = set(zip(*(edges[:, inside] - start).tolist(), strict=True))
        got = graph.adjacency.tocoo()
        assert set(zip(got.row.tolist(), got.col.tolist(), strict=True)) == expected
        found = graph.features.toarray()
        assert found.argmax(1).tolist() == labels[start:end].tolist()
        assert found.sum() == end - start


def test_unlabelled_datasets_survive(tmp_path: Path) -> None:
    bare = replace(full(None), y=None, class_names=None)
    write_compact_graphs(tmp_path / "g.npz", bare)
    assert_same(read_compact_graphs(tmp_path / "g.npz"), bare)


def test_nodes_and_characters_that_cannot_be_are_refused(
    file: Path, tmp_path: Path
) -> None:
    with np.load(file) as archive:
        arrays = dict(archive)
    names = np.array(["a"] * 3)
    names.view(np.uint32)[1] = 0x110000
    many = np.array([0, 2**60])
    for name, changed in (("class_names", names), ("ptr", many)):
        damaged = tmp_path / "damaged.npz"
        np.savez(damaged, **{**arrays, name: changed})
        with pytest.raises(InputError, match=r"damaged|more than memory holds"):
            load_graphs(damaged)
