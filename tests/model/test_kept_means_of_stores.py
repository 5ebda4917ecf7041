"""Means over neighbours of a store: as in memory, of the edges that it has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.graphs.store import row_blocks
from fdgcl.graphs.store.arrays import DamagedError
from fdgcl.graphs.store.store import Store, write_manifest
from fdgcl.methods.fdgcl import DiffusedFeatures, shuffling
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.recipe import AVERAGE
from fdgcl.methods.fdgcl.running import diffuse_store
from fdgcl.methods.fdgcl.slice_plan import plan_diffusion
from fdgcl.methods.fdgcl.training_plan import plan_training
from fdgcl.methods.fdgcl.windows_on_disk import RowsOnDisk
from fdgcl.presets import paper_defaults
from helpers.stores import in_memory, make_store
from tolerances import assert_agree

NODES, FEATURES, DIM, MEMORY = 120, 7, 6, 4 * 10**9
ASKED = ("out", "features", "in", "global")
BLOCKS = {
    "symmetric": ["neighbours", "features", "global"],
    "out": ["out", "features", "global"],
    "in": ["features", "in", "global"],
}


def made(folder: Path, direction: str, **more: Any) -> Store:
    sizes: dict[str, Any] = {"nodes": NODES, "edges": 500, "features": FEATURES}
    sizes |= {"weighted": True}
    store = make_store(folder, directed=direction != "symmetric", **sizes, **more)
    write_manifest(folder, replace(store.manifest, direction=direction))
    return Store.open(folder)


@pytest.fixture(params=[*BLOCKS])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return made(tmp_path / "G", request.param)


def model_of(**settings: Any) -> FDGCL:
    # A directed store cannot say of its features what decides beta in memory.
    first = {"hidden": DIM, "epochs": 2, "device": "cpu", "beta": 0.5, "keep": ASKED}
    return FDGCL(**{**paper_defaults(), **first, **settings})


@pytest.mark.parametrize("blocks", [1, 3, 50])
def test_they_are_those_in_memory(
    store: Store, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = store.manifest.entries + row_blocks.ROW_WORK * NODES
    monkeypatch.setattr(row_blocks, "BLOCK_WORK", -(-work // blocks))
    monkeypatch.setattr(shuffling, "WINDOW_ROWS", max(1, NODES // blocks))
    monkeypatch.setattr(DiffusedFeatures, "block_rows", max(2, NODES // blocks))
    direction = store.manifest.direction
    weights = {"out": 0.5, "features": 2.0, "in": 3.0, "global": 1.0}
    common = {"feature_scaling": "columns"}
    if direction != "symmetric":
        common["direction"] = direction
    model = model_of(keep_weight=tuple(weights.values()), **common)
    z = model.fit_transform(store)
    assert model.config.decisions["kept"] == BLOCKS[direction]
    # In memory all blocks can be had: those are asked for that the store has.
    keep = [
        name for name in ASKED if direction == "symmetric" or name in BLOCKS[direction]
    ]
    each = [weights[name] for name in keep]
    other = model_of(keep=keep, keep_weight=each, **common)
    graph = in_memory(store)
    assert_agree(z, other.fit_transform(graph))
    assert other.config.decisions["kept"] == BLOCKS[direction]
    # What was trained on one embeds the other.
    assert_agree(model.transform(graph), z)
    assert_agree(other.transform(store), z)
    assert_agree(model.transform(store), z)


def test_blocks_of_other_edges_are_left_out_with_a_notice(store: Store) -> None:
    model = model_of().fit(store)
    direction = store.manifest.direction
    told = [text for text in model.notices_ if "left out" in text]
    if direction == "symmetric":
        assert told == []
        return
    (text,) = told
    lost = {"out": "in", "in": "out"}[direction]
    assert text.startswith(f"keep {lost!r} is left out: {store.folder} was imported")
    assert f"with direction {lost!r} for this block instead, or 'symmetric'" in text
    # Nothing is asked for that there is not: nothing to tell.
    quiet = model_of(keep=("features", direction)).fit(store)
    assert not [text for text in quiet.notices_ if "left out" in text]


def test_a_model_with_both_takes_a_symmetric_store_alone(tmp_path: Path) -> None:
    directed = made(tmp_path / "out", "out", seed=3)
    graph = in_memory(directed)
    model = model_of(keep=("out", "in"))
    model.fit(graph)
    assert model.config.decisions["kept"] == ["out", "in"]
    store = made(tmp_path / "both", "symmetric")
    z = model.transform(store)
    assert_agree(z, model.transform(in_memory(store)))
    with pytest.raises(InputError, match=r"the mean 'in', which .*'symmetric' or 'in'"):
        model.transform(directed)
    plain = model_of(keep=("out",)).fit(in_memory(store))
    with pytest.raises(InputError, match="the mean over neighbours both ways"):
        plain.transform(directed)


def test_training_does_not_read_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = made(tmp_path / "G", "symmetric")
    epochs: list[int] = []
    read: list[int] = []
    averaged = RowsOnDisk.averaged

    def note(rows: RowsOnDisk, name: str) -> Any:
        read.append(len(epochs))
        return averaged(rows, name)

    monkeypatch.setattr(RowsOnDisk, "averaged", note)
    model = model_of(keep=("out",), batch_size=30)
    model.fit(store, on_epoch=lambda record, _: epochs.append(record.epoch))
    assert epochs == [1, 2]
    assert set(read) == {2}


def test_they_are_part_of_the_diffusion(tmp_path: Path) -> None:
    store = made(tmp_path / "G", "out")
    keeping, plain = model_of().check(), model_of(keep=("in", "features")).check()
    without = Diffusion.of(store, plain)
    assert without.folder == Diffusion.of(store, model_of(keep=()).check()).folder
    diffusion = diffuse_store(store, keeping, memory=MEMORY)
    assert diffusion.folder != without.folder
    assert diffusion.recipe.blocks == (0, 1, AVERAGE)
    files = sorted(diffusion.folder.glob("*/*.npy"))
    assert {file.parent.name for file in files} == {"0", "1", "neighbours"}
    means = diffusion.path(AVERAGE, 0)
    more, less = (
        plan_diffusion(store, settings, memory=MEMORY) for settings in (keeping, plain)
    )
    assert more.disk_bytes * 2 == less.disk_bytes * 3
    assert more.sparse_products is not None
    assert less.sparse_products is not None
    assert more.sparse_products - less.sparse_products == FEATURES
    # A slice that lacks them is made anew, what is there of it stays.
    before = diffusion.path(0, 0).stat().st_ino, means.read_bytes()
    means.with_suffix(".json").unlink()
    assert diffusion.missing == [0]
    diffuse_store(store, keeping, memory=MEMORY)
    assert (diffusion.path(0, 0).stat().st_ino, means.read_bytes()) == before


def test_damaged_means_are_found(tmp_path: Path) -> None:
    store = made(tmp_path / "G", "in")
    settings = model_of(keep=("in",)).check()
    diffusion = diffuse_store(store, settings, memory=MEMORY)
    path = diffusion.path(AVERAGE, 0)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    for _ in range(2):
        with pytest.raises(DamagedError, match="neighbours"):
            model_of(keep=("in",)).fit(store)


def test_the_width_is_planned(store: Store) -> None:
    settings = model_of().check()
    width = model_of().fit_transform(store).shape[1]
    assert width == DIM + 3 * FEATURES
    assert plan_training(store, settings, memory=MEMORY).width == width
