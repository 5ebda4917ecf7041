"""Means over neighbours kept beside the views, `out` and `in`, against dense NumPy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl import FDGCL, Graph
from fdgcl._checks import InputError
from fdgcl.methods.fdgcl import DiffusedFeatures
from fdgcl.methods.fdgcl.kept_blocks import block_weights
from fdgcl.methods.fdgcl.preparation import prepare
from fdgcl.methods.resources import Resources
from fdgcl.presets import paper_defaults
from tolerances import assert_agree

NODES, FEATURES, DIM = 40, 5, 4
BOTH = ("features", "out", "in")
Array = NDArray[np.float64]


def drawn(
    seed: int = 0, *, directed: bool, weighted: bool = False, sparse: bool = False
) -> Graph:
    """A graph with loops in its data; the last node has no other edge."""
    rng = np.random.default_rng(seed)
    weights = (rng.random((NODES, NODES)) < 0.1).astype(float)
    if weighted:
        weights *= rng.integers(1, 9, (NODES, NODES)) / 4
    weights[-1] = weights[:, -1] = 0
    weights[3] = 0 if directed else weights[3]
    if not directed:
        weights = np.maximum(weights, weights.T)
    np.fill_diagonal(weights, np.arange(NODES) % 3)
    x = rng.standard_normal((NODES, FEATURES)).astype(np.float32)
    if sparse:
        x[rng.random(x.shape) < 0.6] = 0
    return Graph(csr_array(weights), csr_array(x) if sparse else x)


def dense(values: Any) -> Array:
    return np.asarray(
        values.toarray() if isinstance(values, csr_array) else values, np.float64
    )


def mean(weights: Array, x: Array) -> Array:
    """The weighted mean over neighbours, without loops; 0 where there are none."""
    alone = weights * (1 - np.eye(len(weights)))
    found = np.zeros((len(weights), x.shape[1]))
    for node, row in enumerate(alone):
        if row.sum():
            found[node] = (row[:, None] * x).sum(0) / row.sum()
    return found


def means(graph: Graph) -> dict[str, Array]:
    weights, x = dense(graph.adjacency), dense(graph.features)
    return {
        "out": mean(weights, x),
        "in": mean(weights.T, x),
        "neighbours": mean(np.maximum(weights, weights.T), x),
    }


def unit(block: Array) -> Array:
    length: float = np.sqrt(np.square(block).sum(1).mean())
    return block / length


def fitted(graph: Graph, **settings: Any) -> tuple[FDGCL, NDArray[np.float32]]:
    # Room for all of it: nothing is compressed.
    quick = {"hidden": DIM, "dim": 512, "epochs": 2, "device": "cpu"}
    model = FDGCL(**{**paper_defaults(), **quick, **settings})
    return model, model.fit_transform(graph)


@pytest.mark.parametrize("direction", [None, "symmetric", "out", "in"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_of_a_directed_graph_they_follow_the_arrows(
    weighted: bool, sparse: bool, direction: str | None
) -> None:
    graph = drawn(directed=True, weighted=weighted, sparse=sparse)
    model, z = fitted(graph, keep=BOTH, direction=direction)
    assert model.config.decisions["kept"] == [*BOTH]
    expected = means(graph)
    # Nodes 3 and the last point to none.
    assert not expected["out"][[3, -1]].any()
    blocks = [dense(graph.features), expected["out"], expected["in"]]
    assert_agree(z[:, DIM:], np.hstack([unit(block) for block in blocks]))


@pytest.mark.parametrize("keep", [("out", "in"), ("in", "out"), ("out",), ("in",)])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_of_an_undirected_graph_there_is_one(
    weighted: bool, keep: tuple[str, ...]
) -> None:
    graph = drawn(directed=False, weighted=weighted)
    model, z = fitted(graph, keep=(*keep, "features"))
    assert model.config.decisions["kept"] == ["neighbours", "features"]
    blocks = [means(graph)["out"], dense(graph.features)]
    assert_agree(z[:, DIM:], np.hstack([unit(block) for block in blocks]))


def test_scaled_features_are_averaged() -> None:
    graph = drawn(directed=True)
    _, z = fitted(graph, keep=("in",), feature_scaling="columns")
    x = dense(graph.features)
    scaled = graph.with_features((x - x.mean(0)) / x.std(0))
    assert_agree(z[:, DIM:], unit(means(scaled)["in"]), np.float32)


def test_directed_and_undirected_graphs_get_each_others_blocks() -> None:
    one, other = drawn(directed=True, weighted=True), drawn(1, directed=False)
    for here, there, names in (
        (one, other, ("out", "in")),
        (other, one, ("neighbours",)),
    ):
        model, _ = fitted(here, keep=("out", "in"))
        assert model.config.decisions["kept"] == [*names]
        z = model.transform(there)
        # Brought to the size that they have on the graph of the training.
        trained = means(here)
        sizes = [np.sqrt(np.square(trained[name]).sum(1).mean()) for name in names]
        found = means(there)
        blocks = [found[n] / size for n, size in zip(names, sizes, strict=True)]
        assert_agree(z[:, DIM:], np.hstack(blocks))


@pytest.mark.parametrize("dynamics", ["gread", "grand"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_source_has_the_same(dynamics: str, dtype: str) -> None:
    graph = drawn(directed=True)
    settings: dict[str, Any] = {"keep": BOTH, "dtype": dtype, "dynamics": dynamics}
    settings |= {"time": 2.0, "step": 1.0}
    _, z = fitted(graph, **settings, strategy="in-loop")
    _, expected = fitted(graph, keep=BOTH, dtype=dtype)
    assert_agree(z[:, DIM:], expected[:, DIM:])


def test_auto_diffuses_before_training_where_they_are_kept() -> None:
    rng = np.random.default_rng(0)
    graph = drawn(directed=True)
    x = csr_array((rng.random((NODES, 400)) < 0.01).astype(np.float32))
    wide = graph.with_features(x)
    small = {"hidden": 2, "dim": 2000, "epochs": 1}
    settings = FDGCL(**{**paper_defaults(), **small}).check()
    assert prepare(wide, settings).plan.strategy == "in-loop"
    load = prepare(wide, replace(settings, keep=("out", "in"))).plan
    assert (load.strategy, load.workload.averages) == ("precompute", 2)
    # As wide an embedding, of blocks that are diffused anyway.
    same = replace(settings, strategy="precompute", keep=("local", "global"))
    plain = prepare(wide, same).plan
    assert load.peak_bytes - plain.peak_bytes == 2 * NODES * 400 * 4


def test_training_does_not_see_them() -> None:
    graph = drawn(directed=True)
    plain, keeping = fitted(graph)[0], fitted(graph, keep=BOTH)[0]
    for one, other in zip(plain.views(graph), keeping.views(graph), strict=True):
        np.testing.assert_array_equal(one, other)
    assert [r.loss for r in plain.history_] == [r.loss for r in keeping.history_]


def test_row_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = drawn(directed=True)
    _, whole = fitted(graph, keep=("out", "global", "in"))
    monkeypatch.setattr(DiffusedFeatures, "block_rows", 7)
    _, parts = fitted(graph, keep=("out", "global", "in"))
    assert_agree(parts, whole)


def test_blocks_alike_are_held_once() -> None:
    settings = FDGCL(**{**paper_defaults(), "keep": ("out", "in")}).check()
    prepared = prepare(drawn(directed=False), settings, kept=("out", "in"))
    found = prepared.kept_features(torch.device("cpu")).averages
    assert found["out"] is found["in"]
    assert [*found] == ["out", "in"]
    assert len(found) == 2


def test_each_edge_type_has_its_own_mean() -> None:
    graphs = [drawn(seed, directed=True) for seed in (0, 1)]
    parts = {name: g.adjacency for name, g in zip(("a", "b"), graphs, strict=True)}
    whole = csr_array(parts["a"] + parts["b"])
    graph = replace(graphs[0], adjacency=whole, relations=parts)
    model, z = fitted(graph, keep=("in",))
    x = dense(graph.features)
    each = [mean(dense(part).T, x) for part in parts.values()]
    assert_agree(z[:, DIM:], unit(np.hstack(each)))
    assert model.prepare(graph, Resources()).width == z.shape[1]


def test_a_saved_model_embeds_as_before(tmp_path: Path) -> None:
    for directed in (True, False):
        graph, folder = drawn(directed=directed), tmp_path / str(directed)
        model, z = fitted(graph, keep=BOTH, keep_weight=(1, 2, 3))
        model.save(folder)
        loaded = FDGCL.load(folder)
        assert loaded.get_params() == model.get_params()
        np.testing.assert_array_equal(loaded.transform(graph), z)
        other = drawn(5, directed=not directed)
        np.testing.assert_array_equal(loaded.transform(other), model.transform(other))


def test_each_block_has_a_weight_of_its_own() -> None:
    graph = drawn(directed=True)
    _, plain = fitted(graph, keep=BOTH)
    _, one = fitted(graph, keep=BOTH, keep_weight=(1.0, 1.0, 1.0))
    np.testing.assert_array_equal(one, plain)
    _, each = fitted(graph, keep=BOTH, keep_weight=(0.5, 2, 3))
    factors = np.repeat([1, 0.5, 2, 3], [DIM, *[FEATURES] * 3])
    assert_agree(each, plain * factors)


def test_of_two_weights_one_block_has_the_larger() -> None:
    graph = drawn(directed=False)
    _, plain = fitted(graph, keep=BOTH)
    _, each = fitted(graph, keep=BOTH, keep_weight=(0.5, 3, 2))
    factors = np.repeat([1, 0.5, 3], [DIM, FEATURES, FEATURES])
    assert_agree(each, plain * factors)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep_weight": (1.0, 2.0)}, r"each of the 3 blocks of keep \(features, out"),
        ({"keep_weight": (1.0, 2.0, 0.0)}, "keep_weight must be positive, got 0.0"),
        ({"keep_weight": "heavy"}, "keep_weight must be"),
        ({"keep": ("inn",)}, 'did you mean "in"'),
        ({"keep": ("neighbours",)}, "unknown kept block 'neighbours'"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FDGCL(**{"keep": BOTH, **settings}).check()


def test_blocks_nobody_asked_for_are_refused() -> None:
    with pytest.raises(InputError, match=r"asks for \(features\), got 'local'"):
        block_weights(["features", "local"], ["features"], 1.0)
