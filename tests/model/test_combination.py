"""How the embedding is put together: mixing, concatenating, keeping, scaling."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fdgcl import FDGCL, Graph, block_model
from fdgcl._checks import InputError
from fdgcl.graphs.scaling import scale_features
from fdgcl.methods.fdgcl import DiffusedFeatures
from fdgcl.methods.fdgcl.preparation import prepare
from fdgcl.presets import paper_defaults
from fdgcl.training import EpochRecord
from tolerances import assert_agree

SETTINGS: dict[str, Any] = {
    **paper_defaults(),
    "hidden": 8,
    "dim": 500,
    "epochs": 3,
    "activation": "relu",
    "beta": 0.3,
}


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = block_model(90, 3, homophily=0.8, seed=1)
    return replace(made, features=np.maximum(made.features, 0))


def fitted(graph: Graph, **settings: Any) -> tuple[FDGCL, NDArray[np.float32]]:
    model = FDGCL(**{**SETTINGS, **settings})
    return model, model.fit_transform(graph)


def unit(block: NDArray[Any]) -> NDArray[Any]:
    return block / np.sqrt(np.square(block).sum(1).mean())


def diffused(model: FDGCL, graph: Graph) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both orders applied to the features by the stepped solver's twin, in float64."""
    settings = replace(model.check(), dtype="float64")
    prepared = prepare(graph, settings)
    source = prepared.source(settings.torch_device)
    assert isinstance(source, DiffusedFeatures)
    return source.kept("local").numpy(), source.kept("global").numpy()


def test_a_sum_is_the_papers_mixture(graph: Graph) -> None:
    model, z = fitted(graph)
    first, second = model.views(graph)
    assert_agree(z, 0.3 * first + 0.7 * second)


@pytest.mark.parametrize("directed", [False, True])
def test_by_default_views_stand_beside_blocks_of_weights_told(directed: bool) -> None:
    graph = block_model(90, 3, directed=directed, homophily=0.8, num_features=9, seed=1)
    model = FDGCL(epochs=3)
    z = model.fit_transform(graph)
    told = model.config.decisions
    means = ["out", "in"] if directed else ["neighbours"]
    assert told["kept"] == ["features", "global", *means]
    first, second = model.views(graph)
    assert first.shape == second.shape == (90, 256)
    one, other = np.array(told["beta"]) / np.hypot(*told["beta"])
    assert_agree(z[:, :256], one * unit(first))
    assert_agree(z[:, 256:512], other * unit(second))
    scaled = scale_features(np.asarray(graph.features), "columns")
    assert_agree(z[:, 512:521], told["keep_weight"][0] * unit(scaled))
    assert z.shape == (90, 512 + 9 * len(told["kept"]))
    for at, weight in enumerate(told["keep_weight"]):
        block = z[:, 512 + 9 * at : 521 + 9 * at]
        assert_agree(np.square(block).sum(1).mean(), weight**2)


def test_concatenation_weights_views_of_equal_size(graph: Graph) -> None:
    model, z = fitted(graph, combine="concat")
    first, second = model.views(graph)
    length = np.hypot(0.3, 0.7)
    expected = np.hstack([0.3 / length * unit(first), 0.7 / length * unit(second)])
    assert_agree(z, expected)
    assert_agree(np.square(z).sum(1).mean(), 1)


@pytest.mark.parametrize(("beta", "view"), [(1.0, 0), (0.0, 1)])
def test_a_view_without_weight_takes_no_columns(
    graph: Graph, beta: float, view: int
) -> None:
    model, z = fitted(graph, combine="concat", beta=beta)
    expected = unit(model.views(graph)[view])
    assert_agree(z, expected)


def test_what_is_kept_stands_beside_untouched(graph: Graph) -> None:
    keep = ("features", "local", "global")
    model, z = fitted(graph, keep=keep, keep_weight=0.5)
    local, everywhere = diffused(model, graph)
    first, second = model.views(graph)
    blocks = [0.3 * first + 0.7 * second, graph.features, local, everywhere]
    weights = [1, 0.5, 0.5, 0.5]
    parts = [w * unit(np.asarray(b)) for w, b in zip(weights, blocks, strict=True)]
    assert_agree(z, np.hstack(parts))


def test_keeping_does_not_change_what_is_learned(graph: Graph) -> None:
    plain, _ = fitted(graph)
    keeping, _ = fitted(graph, keep=("global",), combine="concat")
    for one, other in zip(plain.views(graph), keeping.views(graph), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("strategy", ["precompute", "in-loop"])
def test_both_strategies_keep_the_same(graph: Graph, strategy: str) -> None:
    _, reference = fitted(graph, keep=("features", "local", "global"))
    _, z = fitted(graph, keep=("features", "local", "global"), strategy=strategy)
    assert_agree(z, reference)


def test_row_blocks_change_nothing(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"keep": ("features", "global"), "combine": "concat"}
    _, whole = fitted(graph, **settings)
    monkeypatch.setattr(DiffusedFeatures, "block_rows", 7)
    _, parts = fitted(graph, **settings)
    assert_agree(parts, whole)


@pytest.mark.parametrize("scaling", ["tf-idf", "columns"])
def test_a_saved_model_embeds_as_before(
    graph: Graph, tmp_path: Path, scaling: str
) -> None:
    model, z = fitted(
        graph,
        feature_scaling=scaling,
        combine="concat",
        keep=("features", "local"),
        keep_weight=2.0,
    )
    model.save(tmp_path)
    loaded = FDGCL.load(tmp_path)
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.transform(graph), z)


@pytest.mark.parametrize("scaling", ["tf-idf", "columns"])
def test_another_graph_is_scaled_as_the_training_graph(
    graph: Graph, scaling: str
) -> None:
    model, z = fitted(graph, feature_scaling=scaling, keep=("features",))
    # Half of the rows as a graph of their own have other statistics.
    half = np.arange(45)
    part = Graph(
        ids=graph.ids[half],
        adjacency=graph.adjacency[half][:, half],
        features=np.asarray(graph.features)[half],
    )
    kept = model.transform(part)[:, 8:]
    assert_agree(kept, z[half, 8:])


@pytest.mark.parametrize("scaling", ["row", "tf-idf", "columns"])
def test_scaling_is_done_before_everything(graph: Graph, scaling: str) -> None:
    _, z = fitted(graph, feature_scaling=scaling, keep=("features",))
    scaled = scale_features(np.asarray(graph.features), scaling)
    _, expected = fitted(graph.with_features(scaled), keep=("features",))
    assert_agree(z, expected)


@pytest.mark.parametrize("scaling", ["tf-idf", "columns"])
def test_other_widths_are_refused_with_columns_scaled(
    graph: Graph, scaling: str
) -> None:
    model, _ = fitted(graph, feature_scaling=scaling)
    other = graph.with_features(np.ones((90, 2), dtype=np.float32))
    with pytest.raises(InputError, match=r"trained on \d+ features, this graph has 2"):
        model.transform(other)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"combine": "product"}, "unknown combine 'product'"),
        ({"keep": "features"}, "keep must be a list of some of features, local"),
        ({"keep": ("feature",)}, 'did you mean "features"'),
        ({"keep_weight": 0.0}, "keep_weight must be"),
        ({"feature_scaling": "l2"}, "unknown feature_scaling"),
    ],
)
def test_bad_settings_are_named(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FDGCL(**setting).check()


def test_each_epoch_can_be_embedded(graph: Graph) -> None:
    found: dict[int, NDArray[np.float32]] = {}

    def look(record: EpochRecord, embed: Any) -> None:
        found[record.epoch] = embed()

    z = FDGCL(**SETTINGS).fit_transform(graph, on_epoch=look)
    assert sorted(found) == [1, 2, 3]
    np.testing.assert_array_equal(found[3], z)
    shorter = FDGCL(**{**SETTINGS, "epochs": 2}).fit_transform(graph)
    np.testing.assert_array_equal(found[2], shorter)
