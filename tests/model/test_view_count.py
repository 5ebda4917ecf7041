"""One view, two or any number: how they are compared, weighted and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fdgcl import FDGCL, Graph, block_model
from fdgcl._checks import InputError
from fdgcl.losses import LOSSES, build_loss
from fdgcl.methods.fdgcl import DiffusedFeatures, Encoders, pairs_of, view_weights
from fdgcl.methods.fdgcl.steps import new_step
from fdgcl.methods.fdgcl.training import new_adam
from helpers.papers_method import papers_method
from tolerances import assert_agree

THREE = (0.1, 0.5, 1.0)
QUICK: dict[str, Any] = {"dim": 12, "epochs": 4, "time": 4, "step": 1, "beta": 0.5}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(150, 3, num_features=10, num_splits=0, seed=0)


def test_pairs() -> None:
    assert pairs_of(2) == pairs_of(2, "consecutive") == [(0, 1)]
    assert pairs_of(4, "consecutive") == [(0, 1), (1, 2), (2, 3)]
    assert len(pairs_of(5)) == 10


def test_weights() -> None:
    assert view_weights(0.3, 2) == (0.3, 0.7)
    assert view_weights(0.3, 1) == (1.0,)
    assert view_weights(1.0, 3) == (1.0, 0.0, 0.0)
    assert view_weights([2, 1, 1], 3) == (0.5, 0.25, 0.25)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("pairs", ["all", "consecutive"])
def test_a_loss_is_the_mean_over_the_pairs(loss: str, pairs: str) -> None:
    torch.manual_seed(0)
    diffused = [torch.randn(60, 5, dtype=torch.float64) for _ in range(3)]
    source = DiffusedFeatures.in_memory(diffused)
    views = Encoders(5, 7, count=3, dtype=torch.float64)
    compare = build_loss(loss)
    optimizer = new_adam(views, 0.01, 0.0)
    step = new_step(
        views, source, compare, optimizer, fast=True, captured=False, pairs=pairs
    )
    found, *_ = step.gradient(None)
    z = views(source)
    compared = [(0, 1), (1, 2)] if pairs == "consecutive" else [(0, 1), (0, 2), (1, 2)]
    expected = sum(compare(z[i], z[j]) for i, j in compared) / len(compared)
    assert_agree(found, expected)
    gradients = torch.autograd.grad(expected, list(views.weights))
    for weight, gradient in zip(views.weights, gradients, strict=True):
        assert_agree(weight.grad, gradient)


@pytest.mark.parametrize("loss", LOSSES)
def test_three_orders_are_trained_saved_and_applied(
    graph: Graph, loss: str, tmp_path: Path
) -> None:
    model = papers_method(orders=THREE, loss=loss, **QUICK).fit(graph)
    z = model.transform(graph)
    assert z.shape == (150, 12)
    views = model.views(graph)
    assert len(views) == 3
    assert_agree(z, 0.5 * views[0] + 0.25 * views[1] + 0.25 * views[2])
    record = model.history_[-1]
    assert len(record.effective_ranks) == 3
    assert {"effective_rank_1", "effective_rank_3"} < record.to_dict().keys()
    model.save(tmp_path / "m")
    again = FDGCL.load(tmp_path / "m")
    assert again.history_ == model.history_
    np.testing.assert_array_equal(again.transform(graph), z)


def test_a_copy_of_an_order_adds_a_view_and_nothing_else(graph: Graph) -> None:
    given = {**QUICK, "epochs": 0, "combine": "concat", "beta": (1, 1, 0)}
    three = papers_method(orders=(0.1, 1.0, 1.0), **given).fit_transform(graph)
    two = papers_method(orders=(0.1, 1.0), **{**given, "beta": 0.5})
    expected = two.fit_transform(graph)
    np.testing.assert_array_equal(three, expected)


def test_kept_blocks_are_those_of_the_first_and_the_last_order(graph: Graph) -> None:
    given = {**QUICK, "epochs": 0, "keep": ("local", "global")}
    three = papers_method(orders=THREE, **given).fit_transform(graph)[:, 12:]
    ends = papers_method(orders=(THREE[0], THREE[2]), **given)
    two = ends.fit_transform(graph)[:, 12:]
    assert_agree(three, two)


@pytest.mark.parametrize("loss", ["barlow-twins", "vicreg"])
def test_a_single_order_is_trained_by_what_is_asked_of_each_view(
    graph: Graph, loss: str
) -> None:
    model = papers_method(orders=(0.5,), loss=loss, **QUICK).fit(graph)
    assert model.history_[-1].loss < model.history_[0].loss
    np.testing.assert_array_equal(model.transform(graph), model.views(graph)[0])


def test_a_single_order_needs_no_other_untrained(graph: Graph) -> None:
    given = {**QUICK, "epochs": 0, "beta": None}
    z = papers_method(orders=(0.5,), **given).fit_transform(graph)
    assert z.shape == (150, 12)
    with pytest.raises(InputError, match="compares views of two orders"):
        papers_method(orders=(0.5,), **QUICK).fit(graph)


def test_views_left_open_are_weighted_alike(graph: Graph) -> None:
    model = papers_method(orders=THREE, **{**QUICK, "beta": None}).fit(graph)
    assert model._config.decisions["beta"] in (1 / 3, 1.0)
    stepped = papers_method(orders=THREE, dynamics="gread", **QUICK).fit(graph)
    assert len(stepped.views(graph)) == 3
