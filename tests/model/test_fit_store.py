"""`FDGCL().fit(store)` against `fit(graph)`: one path, at one block and at many."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fdgcl import FDGCL, Graph
from fdgcl._checks import InputError
from fdgcl.graphs.store import row_blocks
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl import shuffling
from fdgcl.training import TrainingWarning
from helpers.stores import in_memory, make_store
from tolerances import assert_agree

NODES, EDGES, FEATURES = 400, 3000, 10
#: Settings that take every way through training: the defaults, batches, kept blocks,
#: three orders, the paper's literal views, plain steps, scaled features.
CASES: list[dict[str, Any]] = [
    {},
    {"batch_size": 90, "epochs": 3},
    {"orders": (0.1, 0.5, 1.0), "loss": "vicreg", "epochs": 4},
    {"keep": ("features", "global"), "combine": "concat", "feature_scaling": "columns"},
    {"keep": ("out", "features", "in"), "keep_weight": (0.5, 1.0, 2.0), "epochs": 3},
    {"standardize": False, "fast": False, "activation": "relu", "epochs": 4},
    {"time": 30.0, "step": 10.0, "rate": 0.5, "epochs": 4},  # amplifies
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_store(
        tmp_path_factory.mktemp("fit") / "G",
        nodes=NODES,
        edges=EDGES,
        features=FEATURES,
        weighted=True,
    )


@pytest.fixture(params=[1, 3, 50], ids=lambda count: f"{count} blocks")
def store(
    request: pytest.FixtureRequest,
    made: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Store:
    """The store, whose rows pass by in so many blocks, and train in windows of few."""
    work = made.manifest.entries + row_blocks.ROW_WORK * NODES
    monkeypatch.setattr(row_blocks, "BLOCK_WORK", -(-work // request.param))
    monkeypatch.setattr(shuffling, "WINDOW_ROWS", max(1, NODES // request.param))
    blocks = len(row_blocks.RowBlocks.of(made).bounds) - 1
    # A block ends with a whole row, so that long rows may leave one block less.
    assert blocks in (request.param, request.param - 1, request.param + 1)
    return copied(made, tmp_path)


def copied(store: Store, folder: Path) -> Store:
    """The same store where nothing is diffused yet."""
    place = folder / "G"
    shutil.copytree(
        store.folder, place, ignore=shutil.ignore_patterns("diffused", "runs")
    )
    return Store.open(place)


def model_of(case: dict[str, Any]) -> FDGCL:
    return FDGCL(
        **{"dim": 16, "epochs": 6, "device": "cpu", "dtype": "float64", **case}
    )


def fitted(model: FDGCL, data: Graph | Store) -> tuple[NDArray[np.float32], list[str]]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        z = model.fit_transform(data)
    told = [str(one.message) for one in heard if one.category is TrainingWarning]
    return z, told


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_store_is_fitted_as_the_graph_is(store: Store, case: dict[str, Any]) -> None:
    graph = in_memory(store)
    ours, theirs = model_of(case), model_of(case)
    (z, told), (expected, told_there) = fitted(ours, store), fitted(theirs, graph)
    assert_agree(z, expected)
    assert told == told_there
    assert ours.notices_ == theirs.notices_
    for one, other in zip(ours.history_, theirs.history_, strict=True):
        assert_agree(one.loss, other.loss, np.float32, size=max(1, abs(other.loss)))
        assert_agree(one.effective_ranks, other.effective_ranks, np.float32)
    assert ours.config.decisions == theirs.config.decisions


def test_stability_is_told_of_a_store_as_of_the_graph(store: Store) -> None:
    case = CASES[-1]
    ours, theirs = model_of(case).fit(store), model_of(case).fit(in_memory(store))
    assert ours.stability_ is not None
    assert theirs.stability_ is not None
    assert ours.stability_.is_stable == theirs.stability_.is_stable
    assert ours.stability_.amplifies == theirs.stability_.amplifies
    # Bounds by 30 and by 100 steps of Lanczos' recurrence, both of the same spectrum.
    assert ours.stability_.lambda_max == pytest.approx(
        theirs.stability_.lambda_max, rel=0.05
    )
    assert len(ours.stability_notes_) == len(theirs.stability_notes_)


def test_a_trained_model_embeds_stores_and_graphs_alike(
    store: Store, tmp_path: Path
) -> None:
    other = make_store(tmp_path / "H", nodes=150, edges=600, features=FEATURES, seed=7)
    for case in ({}, {"feature_scaling": "columns", "keep": ("features",)}):
        model = model_of(case).fit(store)
        found = model.transform(store)
        assert_agree(found, model.transform(in_memory(store)))
        assert_agree(model.transform(other), model.transform(in_memory(other)))
        views = model.views(other), model.views(in_memory(other))
        for one, same in zip(*views, strict=True):
            assert_agree(one, same)


def test_a_run_folder_of_a_store_is_resumed_and_loaded(
    made: Store, tmp_path: Path
) -> None:
    store, run = copied(made, tmp_path), tmp_path / "run"
    whole = model_of({}).fit_transform(store)

    def stop(record: Any, _: object) -> None:
        if record.epoch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model_of({}).fit(store, run=run, on_epoch=stop)
    resumed = model_of({}).fit(store, run=run, resume=True)
    assert resumed.resumed_epochs_ == 3
    loaded = FDGCL.load(run)
    np.testing.assert_array_equal(loaded.transform(store), whole)


def test_what_a_store_cannot_do_is_refused(made: Store) -> None:
    with pytest.raises(InputError, match="memory must be at least"):
        model_of({}).fit(made, memory="1MB")
    with pytest.raises(InputError, match="readout is for datasets of graphs"):
        model_of({"readout": ("sum",)}).fit(made)
    with pytest.raises(InputError, match="level 'graph' needs a GraphDataset"):
        model_of({}).fit_transform(made, level="graph")


def test_other_columns_are_refused_in_a_sentence(made: Store, tmp_path: Path) -> None:
    model = model_of({"epochs": 1}).fit(made)
    other = make_store(tmp_path / "H", nodes=50, edges=100, features=4)
    with pytest.raises(InputError, match="trained on 10 features, this graph has 4"):
        model.transform(other)
