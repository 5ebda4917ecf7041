"""Stores: what is in them, what is not whole, and ids of every kind."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs.store.arrays import DamagedError, write_array
from fdgcl.graphs.store.store import (
    Manifest,
    Store,
    features_path,
    ids_path,
    neighbours_path,
    starts_path,
    weights_path,
    write_manifest,
)
from helpers.accidents import flip
from helpers.stores import in_memory, make_store, node_ids

MANIFEST = Manifest(
    name="g",
    source="here",
    nodes=3,
    entries=4,
    edges=2,
    direction="out",
    weighted=True,
    ids="text",
    features=2,
    block_columns=2,
    feature_names=("a", "é"),
    structural="degree",
)


def verify(store: Store) -> None:
    for array in store.arrays():
        array.verify()


def test_a_manifest_survives(tmp_path: Path) -> None:
    write_manifest(tmp_path, MANIFEST)
    assert Store.open(tmp_path).manifest == MANIFEST
    assert Store.open(str(tmp_path)).folder == tmp_path


@pytest.mark.parametrize("kind", ["numbers", "int64", "text"])
def test_ids_are_read_from_anywhere(tmp_path: Path, kind: str) -> None:
    store = make_store(tmp_path / "g", nodes=30, ids=kind)
    expected = node_ids(30, kind).tolist()
    for start, stop in ((0, 30), (0, 1), (1, 2), (7, 19), (29, 30), (5, 5), (30, 30)):
        found = store.read_ids(start, stop)
        assert found.tolist() == expected[start:stop]
        assert found.dtype == (object if kind == "text" else np.int64)


@pytest.mark.parametrize("weighted", [False, True])
def test_all_parts_are_there(tmp_path: Path, weighted: bool) -> None:
    store = make_store(
        tmp_path / "g", features=8, block_columns=3, weighted=weighted, ids="text"
    )
    files = {str(array.path.relative_to(tmp_path / "g")) for array in store.arrays()}
    written = {str(p.relative_to(tmp_path / "g")) for p in tmp_path.rglob("*.npy")}
    assert files == written
    assert [array.shape[1] for array in store.features] == [3, 3, 2]
    graph = in_memory(store)
    assert graph.is_symmetric
    assert graph.is_weighted == weighted
    assert graph.num_edges == store.manifest.entries


@pytest.mark.parametrize(
    "change",
    [
        {"format": "fdgcl-store-0"},
        {"nodes": None, "entries": None, "other": 1},
        {"feature_names": 3},
    ],
    ids=str,
)
def test_a_damaged_manifest_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    write_manifest(tmp_path, MANIFEST)
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InputError, match=r"manifest\.json was not written by fdgcl"):
        Store.open(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", "\udcff"])
def test_a_manifest_of_another_kind_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=r"manifest\.json was not written by fdgcl"):
        Store.open(tmp_path)


def test_other_folders_are_no_stores(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "none", tmp_path / "file"):
        with pytest.raises(InputError, match=f"{place} is not a store") as caught:
            Store.open(place)
        assert "fdgcl data import" in str(caught.value)


@pytest.mark.parametrize("path", [starts_path, neighbours_path, weights_path, ids_path])
def test_an_altered_part_is_named(tmp_path: Path, path: Any) -> None:
    store = make_store(tmp_path / "g", weighted=True, ids="int64")
    before = store.fingerprint
    flip(path(store.folder), 300)
    with pytest.raises(DamagedError, match=path(store.folder).name):
        verify(Store.open(store.folder))
    assert Store.open(store.folder).fingerprint == before  # of what was written


@pytest.mark.parametrize("number", [0, 1, 2])
def test_an_altered_feature_block_is_named(tmp_path: Path, number: int) -> None:
    store = make_store(tmp_path / "g")
    flip(features_path(store.folder, number), 500)
    with pytest.raises(DamagedError, match=rf"features/00{number}\.npy is damaged"):
        verify(store)


def test_a_part_of_another_store_is_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path / "g", nodes=60)
    other = make_store(tmp_path / "h", nodes=61, weighted=True)
    for ending in (".npy", ".json"):
        for name in ("graph/starts", "features/001"):
            shutil.copy(
                (other.folder / name).with_suffix(ending),
                (store.folder / name).with_suffix(ending),
            )
    opened = Store.open(store.folder)
    with pytest.raises(DamagedError, match=r"starts\.npy .* it has 62 numbers, not 61"):
        _ = opened.starts
    with pytest.raises(DamagedError, match=r"001\.npy .* 61 x 3 numbers, not 60 x 3"):
        _ = opened.features
    assert opened.neighbours.shape == (store.manifest.entries,)


def test_missing_parts_are_named(tmp_path: Path) -> None:
    store = make_store(tmp_path / "g", weighted=True)
    weights_path(store.folder).unlink()
    features_path(store.folder, 2).with_suffix(".json").unlink()
    with pytest.raises(DamagedError, match=r"weights\.npy is damaged"):
        _ = store.weights
    with pytest.raises(DamagedError, match=r"002\.npy is missing or was not finished"):
        _ = store.features


def test_fingerprints_tell_graphs_apart(tmp_path: Path) -> None:
    stores = [
        make_store(tmp_path / "a"),
        make_store(tmp_path / "b"),
        make_store(tmp_path / "c", seed=1),
        make_store(tmp_path / "d", ids="int64"),
    ]
    first, again, *others = [store.fingerprint for store in stores]
    assert first == again
    assert len({first, *others}) == 3
    x = np.load(features_path(stores[1].folder, 0))
    x[7, 1] += 1
    write_array(features_path(stores[1].folder, 0), x)
    assert Store.open(stores[1].folder).fingerprint != first
