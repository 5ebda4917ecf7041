"""Features of a store, scaled while they are read: as in memory, and by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.embeddings import read_embeddings
from fdgcl.executors import Processes
from fdgcl.graphs import rows as blocks
from fdgcl.graphs.store.arrays import DamagedError, write_array
from fdgcl.graphs.store.features import measure_scaling
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.diffused import DiffusedRows
from fdgcl.methods.fdgcl.preparation import prepare
from fdgcl.methods.fdgcl.running import diffuse_store
from fdgcl.training import TrainingWarning
from helpers.accidents import flip
from helpers.stores import in_memory, make_store
from helpers.tasks import begun, diffused_here, some_settings, tasks_of
from helpers.trainings import MEMORY, SMALL, small, train_store
from tolerances import assert_agree, assert_within, gamma

SCALINGS = ["none", "row", "tf-idf", "columns"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "G", nodes=50, features=8, counts=True)


def by_hand(store: Store, scaling: str) -> np.ndarray:
    """In float64, entry by entry."""
    x = np.asarray(in_memory(store).features, np.float64)
    if scaling == "tf-idf":
        x = x * np.array([np.log(len(x) / sum(column > 0)) for column in x.T])
    if scaling == "none":
        return x
    if scaling == "columns":
        return (x - x.mean(axis=0)) / x.std(axis=0)
    return np.array([row / (sum(row * row) ** 0.5 or 1) for row in x])


@pytest.mark.parametrize("scaling", SCALINGS)
def test_they_are_what_the_formulas_say(
    store: Store, scaling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "NUMBERS", 60)  # seven nodes at a time
    found = measure_scaling(store, scaling, tmp_path / "lengths.npy")
    wanted = by_hand(store, scaling)
    raw = by_hand(store, "none")
    assert not raw[0].any(), "there is a node without features"
    # A length is the root of a sum of eight squares; a weight may stand before it. A
    # column less its mean loses what is below the last digit of the larger of both.
    size = np.abs(wanted)
    if scaling == "columns":
        size = size + np.abs(raw).max(axis=0) / raw.std(axis=0)
    bound = gamma(8 + 4, np.float32) * size
    assert_within(found.read(0, 50), wanted, bound)
    assert_within(found.read(3, 9), wanted[3:9], bound[3:9])
    assert found.shape == (50, 8)
    ranges = [*blocks.row_blocks(found)]
    assert [start for start, _ in ranges] == [*range(0, 50, 7)]
    assert_within(np.concatenate([rows for _, rows in ranges]), wanted, bound)
    for number, first in enumerate((0, 3, 6)):
        for start, rows in found.column_block(number, 20):
            place = (slice(start, start + 20), slice(first, first + 3))
            assert_within(rows, wanted[place], bound[place])
    assert (tmp_path / "lengths.npy").exists() == (scaling in ("row", "tf-idf"))


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("width", [2, 8])
def test_they_are_diffused_as_in_memory(store: Store, scaling: str, width: int) -> None:
    diffusion = begun(store, width, feature_scaling=scaling)
    diffused_here(diffusion)
    rows = DiffusedRows(diffusion)
    settings = some_settings(feature_scaling=scaling)
    source = prepare(in_memory(store), settings).source(settings.torch_device)
    for order, name in enumerate(("local", "global")):
        found = np.empty((50, 8), np.float32)
        rows.read(order, 0, 50, found)
        wanted = source.kept(name).numpy()
        assert_agree(found, wanted)


def test_scalings_do_not_take_each_other_for_done(store: Store) -> None:
    folders = {begun(store, feature_scaling=scaling).folder for scaling in SCALINGS}
    assert len(folders) == len(SCALINGS)


def test_another_process_scales_alike(store: Store, tmp_path: Path) -> None:
    twin = make_store(tmp_path / "twin", nodes=50, features=8, counts=True)
    wanted = diffused_here(begun(twin, 3, feature_scaling="tf-idf"))
    diffusion = begun(store, 3, feature_scaling="tf-idf")
    Processes(1).run(tasks_of(diffusion), lambda _: None)
    assert diffusion.missing == []
    for order in (0, 1):
        for number in range(3):
            path = diffusion.path(order, number)
            assert path.read_bytes() == wanted[str(path.relative_to(diffusion.folder))]


@pytest.mark.parametrize("scaling", ["row", "tf-idf", "columns"])
@pytest.mark.parametrize("case", [{}, {"keep": ("features",)}, {"beta": None}], ids=str)
def test_a_model_of_scaled_features_is_that_of_memory(
    tmp_path: Path, scaling: str, case: dict[str, Any]
) -> None:
    store = make_store(tmp_path / "G", nodes=200, edges=900, features=9, counts=True)
    given = {**case, "feature_scaling": scaling}
    settings = small(**given)
    diffuse_store(store, settings, memory=MEMORY)
    folders = tmp_path / "run", tmp_path / "Z"
    found = train_store(store, settings, *folders, memory=MEMORY)
    graph = in_memory(store)
    model = FDGCL(**{**SMALL, **given})
    wanted = model.fit_transform(graph)
    for ours, theirs in zip(found.history, model.history_, strict=True):
        assert_agree(ours.loss, theirs.loss, np.float32, size=1)
    assert_agree(read_embeddings(folders[1])[1], wanted)
    # Another graph is weighted as the one it was trained on.
    other = in_memory(make_store(tmp_path / "H", features=9, counts=True, seed=3))
    loaded = FDGCL.load(folders[0]).transform(other)
    assert_agree(loaded, model.transform(other))


def test_what_is_no_count_is_refused(tmp_path: Path) -> None:
    negative = make_store(tmp_path / "negative")
    with pytest.raises(InputError, match="there are negative features"):
        begun(negative, feature_scaling="tf-idf")
    full = make_store(tmp_path / "full", counts=True)
    for path in (full.folder / "features").glob("*.npy"):
        write_array(path, np.load(path) + 1)
    with pytest.raises(InputError, match="there are none in these features"):
        begun(Store.open(full.folder), feature_scaling="tf-idf")


def test_altered_lengths_are_named(store: Store) -> None:
    diffusion = begun(store, feature_scaling="row")
    flip(diffusion.lengths_path, 300)
    with pytest.raises(DamagedError, match=r"lengths\.npy is damaged: block 0"):
        diffused_here(diffusion)


def rewritten(store: Store, change: Callable[[np.ndarray], np.ndarray]) -> Store:
    """The store with other features in its first columns."""
    path = min((store.folder / "features").glob("*.npy"))
    write_array(path, change(np.load(path)).astype(np.float32))
    return Store.open(store.folder)


def with_times(x: np.ndarray) -> np.ndarray:
    x[:, 1] = np.random.default_rng(5).uniform(1.5e9, 1.7e9, len(x))
    return x


def test_a_column_that_outweighs_the_others_is_told(tmp_path: Path) -> None:
    made = make_store(tmp_path / "G", nodes=200, edges=900, features=9)
    store = rewritten(made, with_times)
    settings = small(beta=None)
    diffusion = diffuse_store(store, settings, memory=MEMORY)
    with pytest.warns(TrainingWarning) as told:
        train_store(store, settings, tmp_path / "run", tmp_path / "Z", memory=MEMORY)
    before, after = (str(one.message) for one in told)
    assert "has 100 % of the variance of all 9 columns" in before
    assert "one direction" in after
    # As in memory, where the same is decided.
    prepared = prepare(in_memory(store), settings)
    assert diffusion.recipe.findings == prepared.findings
    assert diffusion.recipe.informative == (prepared.beta == 0.5)


def test_features_of_zeros_are_refused(tmp_path: Path) -> None:
    made = make_store(tmp_path / "G", nodes=50, features=3)
    store = rewritten(made, np.zeros_like)
    with pytest.raises(InputError, match="all features are 0"):
        begun(store)
