"""The embedding has `dim` columns, whatever its parts have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from fdgcl import FDGCL, Graph, block_model
from fdgcl._checks import InputError
from fdgcl._tensors import read_tensors, write_tensors
from fdgcl.methods.fdgcl import principal_directions
from fdgcl.methods.fdgcl.batching import batch_rows
from fdgcl.methods.fdgcl.preparation import prepare
from fdgcl.run_folder import FORMAT, RunFolder
from helpers.papers_method import papers_method

SETTINGS: dict[str, Any] = {"epochs": 3, "activation": "relu", "beta": 0.3}
PARTS: dict[str, Any] = {
    **SETTINGS,
    "hidden": 16,
    "combine": "concat",
    "keep": ("features", "global"),
}
# Rounding of float32, of products of some dozens of terms, with room; entries are
# below 1.
CLOSE = 1e-4


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = block_model(90, 3, homophily=0.8, seed=1)
    return replace(made, features=np.maximum(made.features, 0))


def split(z: NDArray[Any], graph: Graph) -> list[NDArray[Any]]:
    features = graph.num_features
    return np.split(z.astype(np.float64), np.cumsum([16, 16, features]), axis=1)


def compressed(block: NDArray[Any], share: int) -> NDArray[Any]:
    """As PCA does, from NumPy, the mean square norm as it was before."""
    centred = block - block.mean(0)
    found = centred @ np.linalg.svd(centred, full_matrices=False)[2][:share].T
    length = np.sqrt(np.square(block).sum(1).mean())
    return found / np.sqrt(np.square(found).sum(1).mean()) * length


def gram(z: NDArray[Any]) -> NDArray[Any]:
    """Products of rows, which do not depend on the signs of columns."""
    return z.astype(np.float64) @ z.astype(np.float64).T


def ranked(blocks: list[NDArray[Any]], dim: int) -> list[int]:
    """Columns of each block, given one by one to the largest variance that is left."""
    variances = []
    for block in blocks:
        found = np.linalg.svd(block - block.mean(0), compute_uv=False) ** 2
        variances.append(found / found.sum() * np.square(block).sum(1).mean())
    columns = [max(1, min(8, dim // (2 * len(blocks))))] * len(blocks)
    while sum(columns) < dim:
        left = [one[taken] for one, taken in zip(variances, columns, strict=True)]
        columns[int(np.argmax(left))] += 1
    return columns


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.1, 3.0)])
def test_columns_go_where_they_carry_most(
    graph: Graph, weights: tuple[float, float]
) -> None:
    settings = {**PARTS, "keep_weight": weights}
    made = papers_method(**settings, dim=500).fit_transform(graph)
    apart = split(made, graph)
    model = papers_method(**settings, dim=20)
    z = model.fit_transform(graph)
    assert z.shape == (90, 20)
    columns = ranked(apart, 20)
    assert [*model.part_columns_] == columns
    assert len({*columns}) > 1
    pairs = zip(apart, columns, strict=True)
    blocks = [compressed(block, share) for block, share in pairs]
    # Products of rows of the largest part are that much larger.
    allowed = CLOSE * max(weights) ** 2
    np.testing.assert_allclose(gram(z), gram(np.hstack(blocks)), atol=allowed)
    found = np.split(z, np.cumsum(columns)[:-1], axis=1)
    for part, block in zip(found, blocks, strict=True):
        np.testing.assert_allclose(gram(part), gram(block), atol=allowed)


def test_parts_that_are_not_compressed_have_their_columns(graph: Graph) -> None:
    model = papers_method(**PARTS, dim=500).fit(graph)
    assert model.part_columns_ == (16, 16, graph.num_features, graph.num_features)
    assert papers_method(**SETTINGS, dim=16).fit(graph).part_columns_ == (16,)
    with pytest.raises(InputError, match="not fitted"):
        _ = papers_method().part_columns_


def test_a_mixture_wider_than_the_embedding_is_compressed(graph: Graph) -> None:
    wide = papers_method(**SETTINGS, dim=16).fit_transform(graph).astype(np.float64)
    model = papers_method(**SETTINGS, dim=6, hidden=16)
    z = model.fit_transform(graph)
    assert "have 16 columns; these are compressed by PCA, to 6" in model.notices_[-1]
    centred = wide - wide.mean(0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    expected = left[:, :6] * values[:6]
    allowed = CLOSE * np.abs(gram(expected)).max()
    np.testing.assert_allclose(gram(z), gram(expected), rtol=0, atol=allowed)
    assert [view.shape for view in model.views(graph)] == [(90, 16), (90, 16)]


@pytest.mark.parametrize("dim", [8, 9, 100])
def test_nothing_is_compressed_without_need(graph: Graph, dim: int) -> None:
    plain = papers_method(**SETTINGS, dim=8)
    z = plain.fit_transform(graph)
    model = papers_method(**SETTINGS, dim=dim, hidden=8)
    np.testing.assert_array_equal(model.fit_transform(graph), z)
    assert not any("compress" in text for text in model.notices_)
    assert not any("compress" in name for name in model._fitted_model().state_dict())


def test_training_does_not_know_of_it(graph: Graph) -> None:
    views = papers_method(**SETTINGS, dim=16).fit(graph).views(graph)
    others = papers_method(**PARTS, dim=7).fit(graph).views(graph)
    for one, other in zip(views, others, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("strategy", ["precompute", "in-loop"])
@pytest.mark.parametrize("widest", [2048, 4])
def test_saved_it_embeds_alike_and_rows_by_themselves(
    graph: Graph,
    tmp_path: Path,
    strategy: str,
    widest: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(principal_directions, "WIDEST_EXACT", widest)
    model = papers_method(**{**PARTS, "keep": ("features",)}, dim=13, strategy=strategy)
    z = model.fit_transform(graph, run=tmp_path / "run")
    model.save(tmp_path / "saved")
    for folder in ("run", "saved"):
        loaded = FDGCL.load(tmp_path / folder)
        np.testing.assert_array_equal(loaded.transform(graph), z)
        assert loaded.part_columns_ == model.part_columns_
    # Of a graph of some of the nodes, features are as they were: so is their block.
    some = np.arange(40)
    part = Graph(
        ids=graph.ids[some],
        adjacency=graph.adjacency[some][:, some],
        features=np.asarray(graph.features)[some],
    )
    found = model.transform(part)
    assert found.shape == (40, 13)
    first = 13 - model.part_columns_[-1]
    np.testing.assert_allclose(found[:, first:], z[some, first:], rtol=0, atol=CLOSE)


def test_another_dim_is_not_the_model_that_was_saved(
    graph: Graph, tmp_path: Path
) -> None:
    papers_method(**PARTS, dim=20).fit(graph).save(tmp_path)
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace('"dim": 20', '"dim": 24'))
    with pytest.raises(InputError, match=r"model\.safetensors"):
        FDGCL.load(tmp_path)


@pytest.mark.parametrize("shape", [(16, 2), (16, 4), (15, 3), (48,)])
def test_directions_of_another_shape_are_refused(
    graph: Graph, tmp_path: Path, shape: tuple[int, ...]
) -> None:
    model = papers_method(**{**PARTS, "keep": ()}, dim=20).fit(graph)
    model.save(tmp_path)
    files = RunFolder(tmp_path)
    tensors, metadata = read_tensors(files.model, FORMAT)
    name = "combination.compression.directions_0"
    assert tensors[name].shape != shape
    write_tensors(files.model, {**tensors, name: torch.zeros(shape)}, metadata)
    with pytest.raises(InputError, match=r"model\.safetensors does not fit the sett"):
        FDGCL.load(tmp_path)


def test_a_run_is_taken_up_whatever_its_columns_were(
    graph: Graph, tmp_path: Path
) -> None:
    """A checkpoint has columns too: none yet found, or those of some epoch."""
    settings = {**PARTS, "keep_weight": (0.1, 3.0), "dim": 20}
    expected = papers_method(**settings).fit_transform(graph)

    def stop(record: Any, embed_now: Any) -> None:
        if looked:
            embed_now()
        if record.epoch == 2:
            raise KeyboardInterrupt

    for looked in (False, True):
        run = tmp_path / str(looked)
        with pytest.raises(KeyboardInterrupt):
            papers_method(**settings).fit(graph, run=run, on_epoch=stop)
        model = papers_method(**settings)
        z = model.fit_transform(graph, run=run, resume=True)
        assert model.resumed_epochs_ == 2
        np.testing.assert_array_equal(z, expected)


def test_a_view_without_weight_has_no_share(graph: Graph) -> None:
    settings = {**PARTS, "beta": 1.0, "keep": ()}
    model = papers_method(**settings, dim=16)
    assert model.fit_transform(graph).shape == (90, 16)
    assert not any("compress" in text for text in model.notices_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": 0}, "hidden must be"),
        ({"hidden": 2.5}, "hidden must be"),
        (
            {"dim": 3, "combine": "concat", "keep": ("features", "local")},
            r"dim must be at least 4.*\(2 views, 'features' and 'local'\), got 3",
        ),
        (
            {"dim": 1, "combine": "sum", "keep": ("global",)},
            r"dim must be at least 2.*\(the view and 'global'\), got 1",
        ),
    ],
)
def test_refusals(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FDGCL(**settings).check()


def test_hidden_decides_what_training_takes(graph: Graph) -> None:
    assert papers_method(dim=8).check().hidden_columns == 8
    wide = papers_method(dim=8, hidden=512).check()
    narrow = papers_method(dim=512, hidden=8).check()
    nodes = 2**17
    assert batch_rows(wide, nodes) == 8192
    assert batch_rows(narrow, nodes) is None
    plans = [prepare(graph, one).plan for one in (wide, narrow)]
    assert [plan.workload.dim for plan in plans] == [512, 8]
    assert [plan.workload.width for plan in plans] == [8, 8]
    assert "dim 8, hidden 512" in plans[0].describe()[0]
    assert plans[0].peak_bytes > plans[1].peak_bytes
    kept = replace(wide, keep=("features",), dim=4096, hidden=4096)
    more = prepare(graph, kept).plan.peak_bytes - prepare(graph, wide).plan.peak_bytes
    # The search for directions of a block of 4,096 columns.
    assert more > 8 * 4096**2
