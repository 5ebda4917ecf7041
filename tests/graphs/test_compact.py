"""The compact format: what is written comes back; damaged files get one sentence."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import Graph, Splits
from fdgcl.graphs.compact import read_compact, write_compact

NODES = 5


def manifest_arrays() -> dict[str, Any]:
    """A file as a stranger would write it, straight from the format's description."""
    dense = np.array([[1, 0, 2], [0, 0, 0], [0, 3, 0], [0, 0, 1], [4, 0, 0]], "f4")
    train = np.array([1, 1, 0, 0, 0], bool)
    return {
        # 0 -> 1 is there twice, 3 -> 3 is a self-loop, 4 has no edge
        "edge_index": np.array([[0, 0, 1, 3, 0], [1, 1, 2, 3, 2]], "i4"),
        "y": np.array([0, 1, 2, 0, -1]),
        "x_data": np.array([1, 2, 3, 1, 4], "f4"),
        "x_indices": np.array([0, 2, 1, 2, 0], "i4"),
        "x_indptr": np.array([0, 2, 2, 3, 4, 5], "i4"),
        "x_shape": np.array(dense.shape),
        "train_mask": train,
        "val_mask": np.array([0, 0, 1, 0, 0], bool),
        "test_mask": np.array([0, 0, 0, 1, 0], bool),
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.npz"
    np.savez_compressed(path, **manifest_arrays())
    return path


def full_graph(features: Any) -> Graph:
    adjacency = sparse.csr_array(
        (np.array([0.5, 2, 1], "f4"), ([0, 3, 4], [1, 3, 0])), shape=(NODES, NODES)
    )
    masks = np.zeros((3, 2, NODES), bool)
    masks[0, :, 0] = masks[1, 0, 1] = masks[2, 1, 2] = True
    return Graph(
        adjacency,
        features=features,
        y=np.array([2, 0, -1, 1, 0]),
        splits=Splits(*masks, name="mine"),
        ids=np.array(["a", "b", "ü", "d d", "5"], object),
        class_names=("x", "y", "z"),
        feature_names=("length", "größe"),
    )


def dense(features: Any) -> Any:
    return features.toarray() if sparse.issparse(features) else features


def assert_same(got: Graph, expected: Graph) -> None:
    assert (got.adjacency != expected.adjacency).nnz == 0
    assert got.adjacency.dtype == expected.adjacency.dtype
    assert np.array_equal(got.ids, expected.ids)
    assert got.ids.dtype == expected.ids.dtype
    assert got.class_names == expected.class_names
    assert got.feature_names == expected.feature_names
    assert (got.features is None) == (expected.features is None)
    if expected.features is not None:
        assert sparse.issparse(got.features) == sparse.issparse(expected.features)
        assert got.features.dtype == expected.features.dtype
        assert np.array_equal(dense(got.features), dense(expected.features))
    assert (got.y is None) == (expected.y is None)
    assert got.y is None or np.array_equal(got.y, expected.y)
    assert (got.splits is None) == (expected.splits is None)
    if got.splits is not None:
        assert got.splits.name == expected.splits.name
        for part in ("train", "val", "test"):
            ours, theirs = getattr(got.splits, part), getattr(expected.splits, part)
            assert np.array_equal(ours, theirs)


def test_reads_the_described_format(file: Path) -> None:
    graph = read_compact(file)
    assert graph.name == "small"
    assert graph.source == str(file)
    expected = np.zeros((NODES, NODES))
    expected[[0, 1, 3, 0], [1, 2, 3, 2]] = 1
    assert np.array_equal(graph.adjacency.toarray(), expected)
    assert dense(graph.features).tolist() == [
        *([1, 0, 2], [0, 0, 0], [0, 3, 0]),
        *([0, 0, 1], [4, 0, 0]),
    ]
    assert graph.y.tolist() == [0, 1, 2, 0, -1]
    assert graph.ids.tolist() == list(range(NODES))
    assert graph.splits.train.tolist() == [[True, True, False, False, False]]


def test_reads_one_column_of_masks_per_split(file: Path) -> None:
    arrays = manifest_arrays()
    for part in ("train_mask", "val_mask", "test_mask"):
        arrays[part] = np.stack([arrays[part], np.roll(arrays[part], 1)], axis=1)
    np.savez(file, **arrays)
    splits = read_compact(file).splits
    assert len(splits) == 2
    assert np.flatnonzero(splits.train[1]).tolist() == [1, 2]
    assert np.flatnonzero(splits.test[1]).tolist() == [4]


def test_reads_split_codes_without_features(file: Path) -> None:
    codes = np.array([2, 0, 1, -1, 0], "i1")
    edges = np.array([[0, 1], [1, 0]], "i4")
    np.savez(file, edge_index=edges, y=np.zeros(NODES, "i1"), split=codes, other=codes)
    graph = read_compact(file)
    assert graph.features is None
    assert np.flatnonzero(graph.splits.train).tolist() == [1, 4]
    assert np.flatnonzero(graph.splits.val).tolist() == [2]
    assert np.flatnonzero(graph.splits.test).tolist() == [0]


def test_repeated_weights_are_added_up(file: Path) -> None:
    weights = np.array([1, 2, 3, 4, 5], "f4")
    np.savez(file, **manifest_arrays(), edge_weight=weights)
    adjacency = read_compact(file).adjacency
    assert adjacency[0, 1] == 3
    assert adjacency[3, 3] == 4


def test_one_feature_value_stands_for_all(file: Path) -> None:
    np.savez(file, **(manifest_arrays() | {"x_data": np.ones(1, "f4")}))
    assert read_compact(file).features.data.tolist() == [1] * 5


@pytest.mark.parametrize(
    "features",
    [
        np.arange(10, dtype="f4").reshape(NODES, 2),
        np.arange(10, dtype="f8").reshape(NODES, 2) / 3,
        sparse.csr_array(np.eye(NODES, 2, dtype="f4")),
        sparse.csr_array((NODES, 2), dtype="f4"),
    ],
    ids=["dense", "float64", "sparse", "all zero"],
)
def test_everything_survives(tmp_path: Path, features: Any) -> None:
    graph = full_graph(features)
    write_compact(tmp_path / "g.npz", graph)
    assert_same(read_compact(tmp_path / "g.npz"), graph)
    with np.load(tmp_path / "g.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)


def test_bare_graph_survives(tmp_path: Path) -> None:
    graph = Graph(sparse.csr_array(np.eye(3, k=1, dtype="f4")))
    write_compact(tmp_path / "g.npz", graph)
    assert_same(read_compact(tmp_path / "g.npz"), graph)


@given(data=st.data())
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_graph_survives(tmp_path: Path, data: st.DataObject) -> None:
    nodes = data.draw(st.integers(2, 12))
    node = st.integers(0, nodes - 1)
    pairs = data.draw(st.lists(st.tuples(node, node), min_size=1, max_size=30))
    ids = data.draw(
        st.one_of(
            st.none(),
            st.lists(st.integers(-(2**62), 2**62), min_size=nodes, max_size=nodes),
            st.lists(
                st.text(st.characters(exclude_characters="\0", codec="utf-8")),
                min_size=nodes,
                max_size=nodes,
            ),
        ).filter(lambda names: names is None or len(set(names)) == nodes)
    )
    y = data.draw(st.lists(st.integers(-1, 4), min_size=nodes, max_size=nodes))
    kind = np.int64 if ids and isinstance(ids[0], int) else object
    names = np.arange(nodes) if ids is None else np.array(ids, kind)
    adjacency = np.zeros((nodes, nodes), "f4")
    adjacency[tuple(np.array(pairs).T)] = data.draw(st.sampled_from([1.0, 0.25]))
    graph = Graph(sparse.csr_array(adjacency), y=np.array(y), ids=names)
    write_compact(tmp_path / "g.npz", graph)
    assert_same(read_compact(tmp_path / "g.npz"), graph)


def test_same_graph_same_bytes(tmp_path: Path, monkeypatch: Any) -> None:
    graph = full_graph(np.ones((NODES, 2), "f4"))
    write_compact(tmp_path / "a.npz", graph)
    monkeypatch.setattr("time.time", lambda: 2e9)
    write_compact(tmp_path / "b.npz", graph)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize(
    "name", ["edge_index", "x_data", "x_indices", "x_indptr", "x_shape", "val_mask"]
)
def test_a_missing_array_is_named(file: Path, name: str) -> None:
    arrays = manifest_arrays()
    del arrays[name]
    np.savez(file, **arrays)
    with pytest.raises(InputError, match=f"{file}: the array {name} is missing"):
        read_compact(file)


def test_without_any_size_y_is_asked_for(file: Path) -> None:
    np.savez(file, edge_index=np.array([[0], [1]]))
    with pytest.raises(InputError, match=r"the array y is missing \(found: edge_index"):
        read_compact(file)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("edge_index", np.array([[0], [5]]), "must name nodes 0 to 4, got 5"),
        ("edge_index", np.array([[-1], [0]]), "must name nodes 0 to 4, got -1"),
        ("edge_index", np.zeros((3, 2), int), r"shape \(2, edges\), got \(3, 2\)"),
        ("edge_index", np.zeros((2, 2)), "edge_index must hold whole numbers"),
        ("edge_index", np.zeros((2, 0), int), "at least one edge"),
        ("edge_weight", np.ones(3, "f4"), "one number per edge, 5"),
        ("edge_weight", np.array([1, 1, 1, np.nan, 1], "f4"), "must be finite"),
        ("edge_weight", np.array(["a"] * 5), "edge_weight must hold one number"),
        ("x_shape", np.array([4, 3]), "do not fit together"),
        ("x_shape", np.array([5, 2]), "do not fit together"),
        ("x_shape", np.array(["5", "3"]), "x_shape must hold whole numbers"),
        ("x_indptr", np.array([0, 2, 1, 3, 4, 5]), "do not fit together"),
        ("x_indices", np.array([0, 2, -1, 2, 0]), "do not fit together"),
        ("x_data", np.ones(3, "f4"), "one number per entry"),
        ("x_data", np.array([1, 2, np.inf, 1, 4], "f4"), "must be finite"),
        ("y", np.zeros(4, int), "y must hold one integer class code per node"),
        ("y", np.zeros(5), "y must hold one integer class code"),
        ("train_mask", np.zeros(4, bool), "train_mask must have shape"),
        ("train_mask", np.zeros(5, bool), "at least one training node"),
        ("test_mask", np.ones(5, bool), "must be disjoint"),
        ("ids", np.array([1, 1, 2, 3, 4]), "ids must be unique"),
        ("ids", np.arange(3), "one id per node"),
        ("class_names", np.array(["a"]), "class_names must name 3"),
        ("num_nodes", np.array([5, 5]), "num_nodes must be one number"),
        ("num_nodes", np.array(-5), "num_nodes must be one number"),
        ("ptr", np.array([0, 5]), "holds many graphs"),
    ],
)
def test_arrays_that_do_not_fit(
    file: Path, name: str, value: Any, sentence: str
) -> None:
    np.savez(file, **(manifest_arrays() | {name: value}))
    with pytest.raises(InputError, match=sentence) as caught:
        read_compact(file)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"id,x\n1,2\n", b"PK\x03\x04 and then nothing"], ids=repr
)
def test_other_files_are_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"(be read as|is not) a compact \.npz file"):
        read_compact(file)


def test_npy_and_pickles_are_refused(file: Path) -> None:
    with file.open("wb") as stream:
        np.save(stream, np.ones(3))
    with pytest.raises(InputError, match=r"not a compact .npz file but a NumPy array"):
        read_compact(file)
    np.savez(file, **(manifest_arrays() | {"y": np.array([{}] * 5, object)}))
    with pytest.raises(InputError, match="cannot be read as a compact"):
        read_compact(file)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file .*nothing\.npz"):
        read_compact(tmp_path / "nothing.npz")
    with pytest.raises(InputError, match="is a folder"):
        read_compact(tmp_path)


@given(share=st.floats(0, 0.999))
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_cut_off_files_are_refused(file: Path, share: float) -> None:
    np.savez_compressed(file, **manifest_arrays())
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    # The first letters alone, PK, are text as any.
    with pytest.raises(InputError, match=r"damaged, cut off|\.npz file but text"):
        read_compact(file)


@given(data=st.data())
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_flipped_byte_is_noticed_or_harmless(file: Path, data: Any) -> None:
    np.savez_compressed(file, **manifest_arrays())
    expected = read_compact(file)
    content = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    file.write_bytes(bytes(content))
    try:
        got = read_compact(file)
    except InputError:
        return
    # A byte of an array's name may make an optional array unknown, never another.
    assert (got.adjacency != expected.adjacency).nnz == 0


def test_a_full_disk_leaves_the_old_file(file: Path, monkeypatch: Any) -> None:
    before = file.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numpy.lib.format.write_array", full)
    with pytest.raises(InputError, match="the disk is full"):
        write_compact(file, full_graph(np.ones((NODES, 2), "f4")))
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.dataset
def test_benchmark_files_are_read_exactly(data_root: Path) -> None:
    with np.load(data_root / "citeseer.npz") as arrays:
        pairs = set(zip(*arrays["edge_index"].tolist(), strict=True))
        x = sparse.csr_matrix(
            (arrays["x_data"], arrays["x_indices"], arrays["x_indptr"]),
            shape=arrays["x_shape"],
        )
        y, train = arrays["y"], arrays["train_mask"]
    graph = read_compact(data_root / "citeseer.npz")
    edges = graph.adjacency.tocoo()
    got = set(zip(edges.row.tolist(), edges.col.tolist(), strict=True))
    assert got == pairs
    assert set(edges.data.tolist()) == {1.0}
    assert np.array_equal(graph.features.toarray(), x.toarray())
    assert np.array_equal(graph.y, y)
    assert np.array_equal(graph.splits.train[0], train)
