"""An import equals reading the same files at once, however small its pieces are."""

from __future__ import annotations

import gzip
import os
import string
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdgcl._checks import InputError
from fdgcl._memory import resident_bytes
from fdgcl.graphs import Graph, read_graph, structural_features
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.importing import Request, budget
from helpers.importing_twin import (
    TINY,
    check,
    import_graph,
    import_in_pieces,
    stored_features,
    stored_matrix,
)
from tolerances import assert_agree


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of tiny files: that each one reaches the disk is not looked at here."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


DIRECTIONS = ("symmetric", "out", "in")


def write_text(path: Path, columns: dict[str, Any], header: bool = True) -> Path:
    separator = "\t" if ".tsv" in path.name else ","
    rows = [tuple(columns)] if header else []
    rows += list(zip(*columns.values(), strict=True))
    text = "".join(separator.join(map(str, row)) + "\n" for row in rows)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def write_parquet(path: Path, columns: dict[str, Any], groups: int = 11) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=groups)
    return path


WRITERS: dict[str, Callable[[Path, dict[str, Any]], Path]] = {
    "edges.parquet": write_parquet,
    "edges.csv": write_text,
    "edges.tsv.gz": write_text,
}


def ids_of(kind: str, numbers: np.ndarray[Any, Any]) -> list[Any]:
    """The same nodes by other names."""
    if kind == "numbers":
        return numbers.tolist()
    if kind == "dense":
        return (numbers * 2 + 1000).tolist()
    if kind == "sparse":
        return (numbers.astype(np.int64) ** 5 * 1_000_003 - 10**12).tolist()
    if kind == "long":
        return ["n" * 70 + f"{n}" + "é" * (n % 3) for n in numbers.tolist()]
    return [f"n{n}" for n in numbers.tolist()]


def graph_files(
    folder: Path, kind: str, name: str, *, weighted: bool, seed: int = 0
) -> Request:
    """Random edges with loops and repeats, and features by id in another order."""
    rng = np.random.default_rng(seed)
    nodes, edges = 40, 150
    start = rng.integers(0, nodes - 3, edges)
    end = np.where(rng.random(edges) < 0.1, start, rng.integers(0, nodes - 3, edges))
    end[20:30] = end[10:20]
    start[20:30] = start[10:20]
    columns = {"source": ids_of(kind, start), "target": ids_of(kind, end)}
    if weighted:
        weights = rng.choice([0.0, 1.0, 0.1, 2.5, 1e-3, 7e5], edges).astype(np.float32)
        columns["weight"] = weights.tolist()
    order = np.arange(nodes) if kind == "numbers" else rng.permutation(nodes)
    x = rng.standard_normal((nodes, 19)).astype(np.float32)
    features = {"id": ids_of(kind, order), **{f"f{j}": x[:, j] for j in range(19)}}
    edges_path = WRITERS[name](folder / name, columns)
    return Request(edges_path, write_parquet(folder / "x.parquet", features))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", list(WRITERS))
@pytest.mark.parametrize("weighted", [False, True])
def test_files_of_every_kind(
    tmp_path: Path, direction: str, name: str, weighted: bool
) -> None:
    request = graph_files(tmp_path, "numbers", name, weighted=weighted)
    request = replace(request, direction=direction)
    store = import_in_pieces(tmp_path / "store", request)
    check(store, request)
    assert store.manifest.ids == "numbers"
    assert not (tmp_path / "store" / "ids").exists() or not list(
        (tmp_path / "store" / "ids").iterdir()
    )


@pytest.mark.parametrize("kind", ["dense", "sparse", "text", "long"])
@pytest.mark.parametrize("name", ["edges.parquet", "edges.csv"])
@pytest.mark.parametrize("with_features", [False, True])
def test_ids_of_every_kind(
    tmp_path: Path, kind: str, name: str, with_features: bool
) -> None:
    request = graph_files(tmp_path, kind, name, weighted=False)
    if not with_features:
        request = replace(request, features=None)
    store = import_in_pieces(tmp_path / "store", request)
    check(store, request)
    assert store.manifest.ids == ("text" if kind in ("text", "long") else "int64")


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[list[Any], list[Any], list[float] | None]:
    count = draw(st.integers(1, 60))
    known = draw(
        st.sampled_from(
            (
                list(range(9)),
                [-5, 7, 10**17, 3, 10**6],
                ["07", "7", "x", "-0", "é", "0x1", "1" * 19],
                [str(n) for n in range(5)],
            )
        )
    )
    pick = st.lists(st.sampled_from(known), min_size=count, max_size=count)
    weight = st.floats(0, 1e6, width=32)
    weights = st.lists(weight, min_size=count, max_size=count)
    start, end = draw(pick), draw(pick)
    start[0], end[0] = known[0], known[1]
    found = draw(st.none() | weights)
    if found is not None:
        found[0] = 1.0
    return start, end, found


@settings(max_examples=60, deadline=None)
@given(edges=edge_lists(), direction=st.sampled_from(DIRECTIONS), data=st.data())
def test_random_edge_lists(
    tmp_path_factory: pytest.TempPathFactory,
    edges: tuple[list[Any], list[Any], list[float] | None],
    direction: str,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("random")
    start, end, weights = edges
    columns: dict[str, Any] = {"source": start, "target": end}
    if weights is not None:
        columns["weight"] = pa.array(weights, pa.float32())
    if data.draw(st.booleans(), "as text"):
        columns = {k: pa.array(v).to_pylist() for k, v in columns.items()}
        path = write_text(folder / "e.csv", columns)
    else:
        path = write_parquet(folder / "e.parquet", columns)
    request = Request(path, direction=direction, made="random")
    limits = replace(
        TINY,
        batch_rows=data.draw(st.integers(1, 70), "batch"),
        run_entries=data.draw(st.integers(2, 200), "run"),
    )
    check(import_in_pieces(folder / "store", request, limits), request)


@pytest.mark.parametrize("kinds", [("int", "text"), ("text", "int")])
def test_seven_is_seven_in_text(tmp_path: Path, kinds: tuple[str, str]) -> None:
    known = [3, 7, 10, -4, 123456789012345678]
    kept = [known if kind == "int" else list(map(str, known)) for kind in kinds]
    edges = {"u": kept[0], "v": [*kept[0][1:], kept[0][0]]}
    path = write_parquet(tmp_path / "e.parquet", edges)
    x = write_parquet(tmp_path / "x.parquet", {"id": kept[1], "a": np.arange(5.0)})
    request = Request(path, x)
    store = import_in_pieces(tmp_path / "store", request)
    check(store, request)
    assert store.manifest.ids == ("text" if kinds[1] == "text" else "int64")


def test_one_column_of_numbers_and_one_of_text(tmp_path: Path) -> None:
    edges = {"source": [1, 10, 2, 1], "target": ["a", "1", "b", "2"]}
    request = Request(write_parquet(tmp_path / "e.parquet", edges))
    check(import_in_pieces(tmp_path / "store", request), request)


def test_a_first_column_of_whole_numbers_is_ids_only_if_the_edges_say_so(
    tmp_path: Path,
) -> None:
    edges = write_text(tmp_path / "e.csv", {"source": [0, 5, 2], "target": [5, 2, 0]})
    for number, first in enumerate(([5, 2, 0, 9], [5, 2, 1, 9, 4, 4], [1, 2, 3] * 2)):
        columns = {"a": first, "b": np.linspace(0, 1, len(first))}
        x = write_parquet(tmp_path / f"x{number}.parquet", columns)
        request = Request(edges, x)
        store = import_in_pieces(tmp_path / f"store{number}", request)
        check(store, request)
        assert store.manifest.features == (1 if number == 0 else 2)


@pytest.mark.parametrize("fortran", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_features_in_a_numpy_file(tmp_path: Path, fortran: bool, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    x = (rng.standard_normal((23, 11)) * 50).astype(dtype)
    np.save(tmp_path / "x.npy", np.asfortranarray(x) if fortran else x)
    edges = write_text(tmp_path / "e.csv", {"u": [0, 3, 22], "v": [1, 5, 4]})
    request = Request(edges, tmp_path / "x.npy")
    check(import_in_pieces(tmp_path / "store", request), request)


@pytest.mark.parametrize("size", [-1, 13])
def test_features_as_vectors(tmp_path: Path, size: int) -> None:
    x = np.random.default_rng(1).standard_normal((31, 13)).astype(np.float32)
    vectors = pa.array(list(x), pa.list_(pa.float32(), size))
    features = {"id": [f"n{i}" for i in range(31)], "features": vectors}
    path = write_parquet(tmp_path / "x.parquet", features)
    edges = {"u": ["n0", "n5", "n30"], "v": ["n1", "n2", "n3"]}
    request = Request(write_parquet(tmp_path / "e.parquet", edges), path)
    check(import_in_pieces(tmp_path / "store", request), request)


def test_features_in_text_without_ids(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    x = {f"c{j}": rng.standard_normal(17).round(3).tolist() for j in range(9)}
    x["flag"] = ["true", "false"] * 8 + ["true"]
    path = write_text(tmp_path / "x.csv", x)
    edges = write_text(tmp_path / "e.tsv.gz", {"a": [0, 16], "b": [3, 4]}, header=False)
    request = Request(edges, path)
    check(import_in_pieces(tmp_path / "store", request), request)


@pytest.mark.parametrize("kind", [None, "spectral", "degree", "random"])
def test_without_features_they_are_made_as_in_memory(
    tmp_path: Path, kind: str | None
) -> None:
    request = graph_files(tmp_path, "text", "edges.csv", weighted=True)
    request = replace(request, features=None, seed=5, made=kind)
    store = import_in_pieces(tmp_path / "store", request)
    # As the store has them: both ways, each pair at its larger weight.
    graph = Graph(stored_matrix(store))
    wanted = structural_features(graph, kind or "spectral", seed=5)
    np.testing.assert_array_equal(stored_features(store), wanted)
    assert store.manifest.structural == (kind or "spectral")
    assert store.manifest.features == wanted.shape[1]


def test_a_file_read_and_a_file_imported_have_the_same_spectrum(tmp_path: Path) -> None:
    """Edges of both ways and of one, loops and weights among them."""
    request = graph_files(tmp_path, "text", "edges.csv", weighted=True)
    request = replace(request, features=None)
    store = import_in_pieces(tmp_path / "store", request)
    wanted = structural_features(read_graph(request.edges), "spectral")
    assert_agree(np.abs(stored_features(store)), np.abs(wanted))


@pytest.mark.parametrize("direction", ["out", "in"])
def test_a_store_of_one_direction_makes_no_features_of_both(
    tmp_path: Path, direction: str
) -> None:
    edges = write_text(tmp_path / "e.csv", {"a": [0, 1], "b": [1, 2]})
    folder = tmp_path / "store"
    options = {"memory": resident_bytes() + 10**9, "direction": direction}
    for kind in (None, "degree"):
        with pytest.raises(InputError, match="need them both ways: give a file"):
            import_graph(edges, folder, kind, **options)
    store = import_graph(edges, folder, "random", **options)
    assert store.manifest.structural == "random"
    with pytest.raises(InputError, match="knows its edges one way, and 'spectral'"):
        structural_features(store, "spectral")


def test_features_that_memory_cannot_hold_are_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = write_text(tmp_path / "e.csv", {"a": [0, 1], "b": [1, 2]})
    monkeypatch.setattr(budget, "structural_bytes", lambda kind, nodes: 10**12)
    memory = resident_bytes() + 10**9
    with pytest.raises(
        InputError, match=r"to make 'spectral' features for 3 nodes \('random' takes"
    ):
        import_graph(edges, tmp_path / "a", memory=memory)
    import_graph(edges, tmp_path / "b", "random", memory=memory)


def test_weights_that_are_all_one_are_not_kept(tmp_path: Path) -> None:
    edges = {"u": [0, 1, 2, 2], "v": [1, 2, 3, 1], "w": [0.5, 1.0, 1.0, 0.0]}
    # The first edge stands there again, so that its weights come to one.
    edges = {key: [*values, values[0]] for key, values in edges.items()}
    request = Request(write_parquet(tmp_path / "e.parquet", edges))
    store = import_in_pieces(tmp_path / "store", request)
    check(store, request)
    assert not store.manifest.weighted
    assert not (tmp_path / "store" / "graph" / "weights.npy").exists()


def test_the_front_door(tmp_path: Path) -> None:
    request = graph_files(tmp_path, "text", "edges.csv", weighted=True)
    seen: list[str] = []
    store = import_graph(
        request.edges,
        tmp_path / "store",
        request.features,
        memory=resident_bytes() + 10**9,
        name="mine",
        progress=lambda stage, done, total: seen.append(stage),
    )
    check(store, request)
    assert store.manifest.name == "mine"
    assert store.manifest.edges == 150
    assert list(dict.fromkeys(seen)) == [
        "looking at features",
        "reading ids",
        "sorting edges",
        "merging edges",
        "copying features",
    ]


def test_the_same_bytes_whatever_the_pieces(tmp_path: Path) -> None:
    request = graph_files(tmp_path, "sparse", "edges.parquet", weighted=True)
    one = import_in_pieces(tmp_path / "one", request)
    memory = resident_bytes() + 10**9
    two = import_graph(request.edges, tmp_path / "two", request.features, memory=memory)
    assert one.fingerprint == two.fingerprint


def test_names_of_columns_may_be_given(tmp_path: Path) -> None:
    letters = list(string.ascii_lowercase[:8])
    columns = {"x": letters, "to": letters[::-1], "n": range(8), "m": letters[3:] * 2}
    columns["m"] = columns["m"][:8]
    path = write_text(tmp_path / "e.csv", columns)
    options = TableOptions(source="m", target="x", weight="n")
    request = Request(path, tables=options)
    check(import_in_pieces(tmp_path / "store", request), request)
