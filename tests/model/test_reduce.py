"""FD-GCL with wide features reduced, and scaled as the graph asks for: both kinds."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse as sp
from scipy.sparse import csr_array

from fdgcl import FDGCL, Graph
from fdgcl._checks import InputError
from fdgcl.graphs import rows
from fdgcl.graphs.store import row_blocks
from fdgcl.graphs.store.arrays import write_array
from fdgcl.graphs.store.store import Store
from fdgcl.methods import find_method
from fdgcl.methods.fdgcl import shuffling
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.feature_columns import reduces_views
from fdgcl.methods.fdgcl.preparation import prepare
from fdgcl.methods.fdgcl.slice_plan import plan_diffusion
from fdgcl.methods.fdgcl.training_plan import plan_training
from fdgcl.methods.resources import Resources
from fdgcl.presets import paper_defaults
from fdgcl.run_folder import RunFolder
from helpers.stores import in_memory, make_store
from tolerances import assert_agree

NODES, FEATURES, REDUCED = 300, 70, 9
CASES: list[dict[str, Any]] = [
    {},
    {"keep": ("features", "global"), "combine": "concat", "feature_scaling": "columns"},
    {"keep": ("features", "global"), "dim": 8},
    {"feature_scaling": "tf-idf", "batch_size": 90, "reduce_views": None},
    {"keep": ("features", "global", "out"), "reduce_views": None, "dim": 20},
    {"keep": ("local", "in"), "reduce_views": False, "batch_size": 90},
    {"keep": ("local", "out"), "reduce_views": None, "strategy": "auto", "hidden": 4},
    {"feature_scaling": "auto", "beta": None, "orders": (0.1, 0.5, 1.0)},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return counted(tmp_path_factory.mktemp("wide") / "G")


def counted(folder: Path, **sizes: Any) -> Store:
    wanted = {"nodes": NODES, "edges": 2000, "features": FEATURES, **sizes}
    # Slices and files of columns are not the same.
    store = make_store(folder, **wanted, counts=True, block_columns=4)
    for path in (folder / "features").glob("*.npy"):
        # Mostly zeros, as words are.
        write_array(path, np.maximum(np.load(path) - 1, 0))
    return Store.open(store.folder)


@pytest.fixture(params=[1, 3], ids=lambda count: f"{count} blocks")
def store(
    request: pytest.FixtureRequest,
    made: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Store:
    """The store, whose rows pass by in so many blocks; nothing of it is diffused."""
    work = made.manifest.entries + row_blocks.ROW_WORK * NODES
    monkeypatch.setattr(row_blocks, "BLOCK_WORK", -(-work // request.param))
    monkeypatch.setattr(shuffling, "WINDOW_ROWS", NODES // request.param)
    monkeypatch.setattr(rows, "NUMBERS", NODES * FEATURES // request.param)
    return copied(made, tmp_path / "G")


def copied(store: Store, place: Path) -> Store:
    ignored = shutil.ignore_patterns("diffused", "runs")
    shutil.copytree(store.folder, place, ignore=ignored)
    return Store.open(place)


def model_of(**case: Any) -> FDGCL:
    some: dict[str, Any] = {
        "hidden": 8,
        "dim": 64,
        "epochs": 4,
        "time": 2.0,
        "step": 1.0,
    }
    some |= {"reduce": REDUCED, "reduce_views": True, "device": "cpu"}
    some |= {"dtype": "float64"}
    return FDGCL(**{**paper_defaults(), **some, **case})


def sparse(graph: Graph) -> Graph:
    assert graph.features is not None
    return replace(graph, features=csr_array(graph.features))


def folders(store: Store) -> list[str]:
    return sorted(path.name for path in (store.folder / "diffused").iterdir())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_store_is_fitted_as_the_graph_is(store: Store, case: dict[str, Any]) -> None:
    graph = in_memory(store)
    ours, theirs = model_of(**case), model_of(**case)
    z, expected = ours.fit_transform(store), theirs.fit_transform(graph)
    assert_agree(z, expected)
    assert ours.notices_ == theirs.notices_
    assert ours.config.decisions == theirs.config.decisions
    scalings = [one.config.settings.feature_scaling for one in (ours, theirs)]
    assert scalings[0] == scalings[1] != "auto"
    assert_agree(ours._model.directions, theirs._model.directions)
    told = [one for one in ours.notices_ if "principal" in one]
    assert len(told) == 1
    assert "70 columns of features are reduced to 9 by their principal" in told[0]
    of_all = not ours.config.decisions["reduced_views"]
    assert ("views are trained on all" in told[0]) == of_all
    assert len(ours._model.weights[0]) == (FEATURES if of_all else REDUCED)
    # Another graph, and this one again, are taken by what was found then.
    other = counted(store.folder.parent / "H", nodes=100, edges=500, seed=4)
    for data, same in ((store, graph), (other, in_memory(other))):
        found = ours.transform(data)
        assert_agree(found, theirs.transform(same))
        assert_agree(found, theirs.transform(data))
        assert_agree(found, ours.transform(same))
    assert_agree(ours.transform(store), z)
    # The training store was diffused once; by the model from memory once more, whose
    # directions may differ in their last digit.
    assert 1 <= len(folders(store)) <= 2


def test_sparse_features_are_reduced_as_dense_ones_are(made: Store) -> None:
    graph = in_memory(made)
    ours, theirs = model_of(), model_of()
    assert_agree(ours.fit_transform(sparse(graph)), theirs.fit_transform(graph))
    assert_agree(ours.transform(graph), theirs.transform(sparse(graph)))


@pytest.mark.parametrize("strategy", ["precompute", "in-loop"])
def test_only_reduced_columns_are_seen(made: Store, strategy: str) -> None:
    graph = in_memory(made)
    settings = model_of(strategy=strategy).check()
    prepared = prepare(graph, settings)
    assert prepared.plan.workload.features == REDUCED
    assert prepared.features.shape == (NODES, REDUCED)
    source = prepared.source(settings.torch_device)
    assert (source.num_rows, source.num_features) == (NODES, REDUCED)
    # What is asked of another graph, and told of this one, is of the columns given.
    assert prepared.schema()["num_features"] == FEATURES
    assert prepared.findings.columns == FEATURES
    model = model_of(strategy=strategy, keep=("features",)).fit(graph)
    assert model._model.weights[0].shape == (REDUCED, 8)
    assert model.transform(graph).shape == (NODES, 8 + REDUCED)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("strategy", ["precompute", "in-loop"])
def test_views_see_all_columns_and_what_is_kept_the_reduced(
    made: Store, strategy: str, as_sparse: bool
) -> None:
    graph = sparse(in_memory(made)) if as_sparse else in_memory(made)
    keep = ("features", "global", "out", "in")
    settings = model_of(strategy=strategy, reduce_views=None, keep=keep).check()
    prepared = prepare(graph, settings)
    x = in_memory(made).features
    assert x is not None
    load = prepared.plan.workload
    assert (load.features, load.kept_features, load.given) == (70, REDUCED, 70)
    assert load.nonzeros == (np.count_nonzero(x) if as_sparse else x.size)
    source = prepared.source(settings.torch_device)
    assert source.num_features == FEATURES
    assert prepared.feature_map.reduction is not None
    directions = prepared.feature_map.reduction.directions
    # Order 1 takes Euler's steps, here two.
    identity = sp.eye_array(NODES)
    laplacian = identity - prepared.operator.matrix.matrix
    step = identity - settings.step * settings.rate * laplacian
    reduced = x.astype(np.float64) @ directions
    for name, expected in {
        "features": reduced,
        "global": step @ (step @ reduced),
        "neighbours": _mean(graph.adjacency) @ reduced,
    }.items():
        assert_agree(source.kept(name), expected.astype(np.float32))
    # What is diffused has the digits that the model asks for, in the loop as well.
    assert source.kept("global").dtype == torch.float64
    # And a view is the same of all columns.
    weight = torch.eye(FEATURES, 8, dtype=torch.float64)
    assert_agree(source.hidden(1, weight), (step @ (step @ x))[:, :8])


def _mean(adjacency: csr_array) -> csr_array:
    sums = adjacency.sum(1)
    return csr_array(adjacency / np.where(sums > 0, sums, 1)[:, None])


def test_batches_are_of_reduced_features() -> None:
    def found(nodes: int, **case: Any) -> bool:
        return reduces_views(model_of(**{"reduce_views": None} | case).check(), nodes)

    assert not found(1000)
    assert found(1000, batch_size=90)
    assert not found(90, batch_size=90)
    # 16 million numbers of a view of 8 columns.
    assert [found(2**21), found(2**21 + 1)] == [False, True]
    assert found(10, reduce_views=True)
    assert not found(2**30, reduce_views=False)


def test_nothing_is_reduced_where_nothing_is_made_of_it(made: Store) -> None:
    graph = in_memory(made)
    model = model_of(reduce_views=None)
    z = model.fit_transform(graph)
    assert "directions" not in model._model.state_dict()
    assert not any("principal" in one for one in model.notices_)
    np.testing.assert_array_equal(z, model_of(reduce=0).fit_transform(graph))


def test_stepped_dynamics_step_what_is_reduced(made: Store) -> None:
    graph = in_memory(made)
    model = model_of(dynamics="gread", epochs=1, batch_size=None)
    assert model.fit_transform(graph).shape == (NODES, 8)


def test_each_edge_type_has_the_reduced_columns(made: Store) -> None:
    graph = in_memory(made)
    half = csr_array(graph.adjacency.multiply(graph.adjacency > 0))
    typed = replace(graph, relations={"a": graph.adjacency, "b": half})
    model = model_of(keep=("local",))
    z = model.fit_transform(typed)
    assert model._model.weights[0].shape == (2 * REDUCED, 8)
    assert z.shape == (NODES, 8 + 2 * REDUCED)
    assert any("2 x 9 columns" in one for one in model.notices_)


@pytest.mark.parametrize("strategy", ["precompute", "in-loop"])
def test_views_see_all_columns_along_each_edge_type(made: Store, strategy: str) -> None:
    graph = in_memory(made)
    typed = replace(graph, relations={"a": graph.adjacency, "b": graph.adjacency})
    case: dict[str, Any] = {"reduce_views": False, "keep": ("global", "out")}
    z = model_of(strategy=strategy, **case).fit_transform(typed)
    plain = model_of(strategy=strategy, epochs=0, **case).fit_transform(graph)
    # Twice the same edges: each block twice, brought to rows of mean square norm 1.
    for found, block in ((z[:, 8:26], plain[:, 8:17]), (z[:, 26:], plain[:, 17:])):
        assert_agree(found, np.hstack([block, block]) / np.sqrt(2), np.float32)


def test_what_is_not_wide_is_left_alone(made: Store, tmp_path: Path) -> None:
    graph, store = in_memory(made), copied(made, tmp_path / "G")
    plain = model_of(reduce=0).fit_transform(graph)
    for data in (graph, store):
        model = model_of(reduce=FEATURES)
        assert_agree(model.fit_transform(data), plain)
        assert "directions" not in model._model.state_dict()
        assert not any("principal" in one for one in model.notices_)
    # Neither does a seed that mixes nothing ask for another diffusion.
    settings = model_of(reduce=FEATURES).check()
    of_seeds = {
        Diffusion.of(store, replace(settings, seed=seed)).folder for seed in (0, 1)
    }
    assert len(of_seeds) == 1


def test_diffusions_do_not_take_each_other_for_done(made: Store) -> None:
    cases: list[dict[str, Any]] = [{}, {"seed": 1}, {"reduce": 8}, {"reduce": 0}]
    found = {Diffusion.of(made, model_of(**case).check()).folder for case in cases}
    assert len(found) == len(cases)


def test_a_seed_repeats_itself(made: Store) -> None:
    graph = in_memory(made)
    first, again, other = (model_of(seed=seed).fit(graph) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.transform(graph), again.transform(graph))
    found = first._model.directions - other._model.directions
    assert float(found.abs().max()) > 0.1


@pytest.mark.parametrize("scaling", ["none", "columns"])
def test_it_is_saved_and_loaded(made: Store, tmp_path: Path, scaling: str) -> None:
    store, run = copied(made, tmp_path / "G"), tmp_path / "run"
    model = model_of(feature_scaling=scaling)
    z = model.fit_transform(store, run=run)
    loaded = FDGCL.load(run)
    np.testing.assert_array_equal(loaded.transform(store), z)
    assert len(folders(store)) == 1, "the training store is not diffused again"
    model.save(tmp_path / "saved")
    graph = in_memory(store)
    expected = model.transform(graph)
    np.testing.assert_array_equal(
        FDGCL.load(tmp_path / "saved").transform(graph), expected
    )


def test_other_widths_are_refused(made: Store, tmp_path: Path) -> None:
    graph = in_memory(made)
    model = model_of().fit(graph)
    narrow = counted(tmp_path / "H", features=20)
    for data in (narrow, in_memory(narrow)):
        with pytest.raises(InputError, match="trained on 70 features, this graph has"):
            model.transform(data)
    with pytest.raises(InputError, match="reduce must be a whole number of at least 0"):
        model_of(reduce=-1).check()


def test_weights_of_other_sizes_are_refused(made: Store, tmp_path: Path) -> None:
    model = model_of().fit(in_memory(made))
    model.save(tmp_path / "run")
    files = RunFolder(tmp_path / "run")
    config = files.read_finished()
    assert find_method("fdgcl").sizes(config) == {REDUCED, FEATURES, 8}
    files.write_config(replace(config, settings=replace(config.settings, reduce=11)))
    with pytest.raises(InputError, match="does not fit the settings"):
        FDGCL.load(tmp_path / "run")


def test_plans_count_what_is_reduced(made: Store) -> None:
    whole, reduced = (model_of(reduce=count).check() for count in (0, REDUCED))
    plans = [plan_diffusion(made, one, memory=10**11) for one in (whole, reduced)]
    assert [plan.features for plan in plans] == [FEATURES, REDUCED]
    # Beside two orders of float64, the reduced features and directions in float32.
    disk = NODES * REDUCED * (2 * 8 + 4) + FEATURES * REDUCED * 4
    assert plans[1].disk_bytes == disk
    assert plans[1].does[0] == "70 columns of features reduced to 9"
    trained = [plan_training(made, one, memory=10**11) for one in (whole, reduced)]
    assert trained[1].peak_bytes < trained[0].peak_bytes
    found = model_of().prepare(in_memory(made), Resources()).plan
    assert f"{REDUCED} features of {FEATURES}" in found.does[0]


def test_a_column_that_outweighs_the_others_is_found_among_those_given(
    made: Store, tmp_path: Path
) -> None:
    store = copied(made, tmp_path / "G")
    path = min((store.folder / "features").glob("*.npy"))
    write_array(path, outweighed(np.load(path)))
    store = Store.open(store.folder)
    prepared = prepare(in_memory(store), model_of(beta=None).check())
    assert prepared.findings.outweighing == 1
    model = model_of(beta=None).fit(store)
    assert model.config.decisions["beta"] == prepared.beta


def outweighed(x: NDArray[np.float32]) -> NDArray[np.float32]:
    x[:, 1] *= 20
    return x


def test_auto_is_settled_on_the_training_graph(made: Store, tmp_path: Path) -> None:
    store, run = copied(made, tmp_path / "G"), tmp_path / "run"
    graph = in_memory(store)
    for data in (store, graph, sparse(graph)):
        model = model_of(feature_scaling="auto")
        z = model.fit_transform(data)
        assert model.notices_[0] == (
            "feature_scaling 'row' was chosen: the features look like bags of words"
        )
        assert model.config.settings.feature_scaling == "row"
        same = model_of(feature_scaling="row")
        np.testing.assert_array_equal(z, same.fit_transform(data))
    model.save(run)
    # Another graph decides nothing anew.
    other = make_store(tmp_path / "H", nodes=50, features=FEATURES, seed=2)
    found = model.transform(in_memory(other))
    assert_agree(found, same.transform(other))
    assert_agree(found, FDGCL.load(run).transform(other))
    assert not any("feature_scaling" in one for one in model.notices_)


@pytest.mark.parametrize("method", ["gcn", "bgrl", "cca-ssg"])
def test_auto_is_for_all_methods(made: Store, method: str) -> None:
    from fdgcl.estimators import estimator_of

    graph = in_memory(made)
    kind = estimator_of(method)
    some: dict[str, Any] = {"epochs": 1, "device": "cpu"}
    model = kind(feature_scaling="auto", **some).fit(graph)
    assert model.config.settings.feature_scaling == "row"
    expected = kind(feature_scaling="row", **some).fit(graph).transform(graph)
    np.testing.assert_array_equal(model.transform(graph), expected)


def test_structural_features_stay_as_they_are(made: Store, tmp_path: Path) -> None:
    bare = replace(in_memory(made), features=None)
    model = model_of(feature_scaling="auto").fit(bare)
    assert model.config.settings.feature_scaling == "none"
    # More of them than are wanted are reduced as any others are.
    assert model._model.directions.shape == (32, REDUCED)
    store = copied(made, tmp_path / "G")
    own = Store(store.folder, replace(store.manifest, structural="degree"))
    assert model_of(feature_scaling="auto").prepare(
        own, Resources()
    ).settings.feature_scaling == ("none")
