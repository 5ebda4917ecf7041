"""Fast steps give what plain ones give."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fdgcl import FDGCL, Graph, block_model, load_dataset
from fdgcl._checks import InputError
from fdgcl.losses import LOSSES, build_loss
from fdgcl.methods.fdgcl import DiffusedFeatures, Encoders
from fdgcl.methods.fdgcl.precision import dense_products
from fdgcl.methods.fdgcl.steps import FusedStep, PlainStep, new_step
from fdgcl.methods.fdgcl.training import TrainingOptions, ViewTraining, new_adam
from fdgcl.presets import paper_defaults
from fdgcl.training import NonFiniteLossError, train
from tolerances import assert_agree, assert_within, gamma, half_digits

EXACT: dict[str, Any] = {
    **paper_defaults(),
    "time": 4.0,
    "step": 1.0,
    "rate": 0.5,
    "dim": 24,
    "epochs": 6,
    "init_scale": 1.0,
    "beta": 0.5,
    "dtype": "float64",
}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(300, num_classes=3, num_features=12, num_splits=0, seed=2)


THREE = (0.1, 0.5, 1.0)


def both(graph: Graph, **settings: Any) -> list[FDGCL]:
    return [
        FDGCL(**{**EXACT, **settings}, fast=fast).fit(graph) for fast in (True, False)
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"activation": "relu"},
        {"activation": "elu", "eta": 0.0},
        {"activation": "tanh", "loss": "cosmean"},
        {"activation": "gelu"},
        {"standardize": False, "activation": "relu"},
        {"loss": "vicreg"},
        {"loss": "barlow-twins", "activation": "relu"},
        {"batch_size": 70},
        {"batch_size": 40, "activation": "relu"},
        {"strategy": "in-loop", "activation": "relu"},
        {"dynamics": "gread", "activation": "relu"},
        {"weight_decay": 0.1, "dim": 400},
        {"orders": THREE},
        {"orders": THREE, "pairs": "consecutive", "activation": "relu"},
        {"orders": THREE, "loss": "cosmean", "batch_size": 40},
        {"orders": THREE, "strategy": "in-loop", "activation": "relu"},
    ],
    ids=str,
)
def test_training_and_embedding_are_the_same(
    graph: Graph, settings: dict[str, Any]
) -> None:
    fast, plain = both(graph, **settings)
    for ours, theirs in zip(fast.history_, plain.history_, strict=True):
        assert_agree(ours.loss, theirs.loss, size=max(1, theirs.loss))
        assert_agree(ours.alignment, theirs.alignment, size=1)
        assert_agree(ours.principal_cosine, theirs.principal_cosine, size=1)
        assert_agree(ours.effective_ranks, theirs.effective_ranks)
    assert_agree(fast.transform(graph), plain.transform(graph))


def test_many_features_are_standardised_after_the_product() -> None:
    """More features than a quarter of the nodes: no folding into the weights."""
    graph = block_model(120, num_features=60, num_splits=0, seed=0)
    fast, plain = both(graph, activation="relu")
    assert_agree(fast.history_[-1].loss, plain.history_[-1].loss, size=1)


def test_float32_on_cora_stays_near_the_plain_way() -> None:
    cora = load_dataset("cora")
    settings = {"epochs": 8, "dtype": "float32"}
    fast, plain = (
        FDGCL.preset("cora", variant="paper", fast=fast, **settings).fit(cora)
        for fast in (True, False)
    )
    for ours, theirs in zip(fast.history_, plain.history_, strict=True):
        assert_agree(ours.loss, theirs.loss, np.float32, size=1)


def test_which_way_is_taken() -> None:
    source = DiffusedFeatures.in_memory([torch.randn(40, 4), torch.randn(40, 4)])

    def kind(loss: str, *, fast: bool = True, **views: Any) -> type:
        pair = Encoders(4, 8, **views)
        optimizer = new_adam(pair, 0.01, 0.0, fast=fast)
        made = build_loss(loss)
        return type(new_step(pair, source, made, optimizer, fast=fast, captured=True))

    assert kind("regularized-cosmean") is FusedStep
    assert kind("cosmean", activation="linear") is FusedStep
    assert kind("regularized-cosmean", fast=False) is PlainStep
    assert kind("vicreg") is PlainStep
    assert kind("cosmean", activation="gelu") is PlainStep
    assert kind("cosmean", standardize=False) is PlainStep


def test_a_step_changes_nothing_but_the_gradient() -> None:
    views = Encoders(4, 8)
    source = DiffusedFeatures.in_memory([torch.randn(40, 4), torch.randn(40, 4)])
    optimizer = new_adam(views, 0.01, 0.0)
    step = FusedStep(views, source, build_loss("regularized-cosmean"), optimizer)
    first = step.gradient(None).clone()
    assert torch.equal(step.gradient(None), first)


def test_a_loss_that_is_not_finite_keeps_the_last_good_weights() -> None:
    views = Encoders(4, 8)
    source = DiffusedFeatures.in_memory([torch.randn(40, 4), torch.randn(40, 4)])
    options = TrainingOptions(partial(build_loss, "cosmean"))
    seen: list[torch.Tensor] = []

    def spoil(_: object) -> None:
        # After the second update: the third epoch sees weights that are no numbers.
        seen.append(views.weights[0].detach().clone())
        if len(seen) == 2:
            with torch.no_grad():
                views.weights[0].fill_(torch.nan)

    with pytest.raises(NonFiniteLossError, match="epoch 3"):
        train(ViewTraining(views, source, options), epochs=5, on_epoch=spoil)
    # Those of the second epoch's start, the last whose loss was finite.
    assert torch.equal(views.weights[0].detach(), seen[0])


def test_an_interrupted_fast_run_goes_on_as_it_would_have(
    graph: Graph, tmp_path: Path
) -> None:
    whole = FDGCL(**EXACT).fit(graph)

    def stop(record: Any, _: object) -> None:
        if record.epoch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FDGCL(**EXACT).fit(graph, run=tmp_path / "run", on_epoch=stop)
    resumed = FDGCL(**EXACT).fit(graph, run=tmp_path / "run", resume=True)
    losses = [record.loss for record in resumed.history_]
    assert losses == [record.loss for record in whole.history_]


def test_precision_is_put_back() -> None:
    before = torch.get_float32_matmul_precision()

    def fail() -> None:
        with dense_products("tf32"):
            assert torch.get_float32_matmul_precision() == "high"
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        fail()
    assert torch.get_float32_matmul_precision() == before


def test_unknown_precision_is_named() -> None:
    with pytest.raises(InputError, match=r"precision.*int8.*float32, tf32, float16"):
        FDGCL(precision="int8").check()


@pytest.mark.parametrize("precision", ["tf32", "float16"])
def test_a_cpu_computes_in_float32_whatever_is_asked(
    graph: Graph, precision: str
) -> None:
    settings = {**EXACT, "dtype": "float32", "device": "cpu"}
    asked = FDGCL(**settings, precision=precision).fit_transform(graph)
    np.testing.assert_array_equal(asked, FDGCL(**settings).fit_transform(graph))


@pytest.mark.gpu
@pytest.mark.parametrize(
    "settings",
    [
        *({"loss": loss, "activation": "relu"} for loss in LOSSES),
        {"activation": "relu", "batch_size": 2000},
        {"activation": "gelu"},
        {"activation": "relu", "standardize": False},
        {"activation": "relu", "strategy": "in-loop"},
        {"activation": "relu", "dynamics": "gread"},
        {"activation": "half-relu", "loss": "barlow-twins", "combine": "concat"},
    ],
    ids=str,
)
def test_a_gpu_trains_as_the_cpu_does(settings: dict[str, Any]) -> None:
    graph = block_model(3000, num_features=32, num_splits=0, seed=0)
    gpu, cpu = (
        FDGCL(**{**EXACT, **settings}, device=device, fast=device == "cuda").fit(graph)
        for device in ("cuda", "cpu")
    )
    for ours, theirs in zip(gpu.history_, cpu.history_, strict=True):
        assert_agree(ours.loss, theirs.loss, size=max(1, theirs.loss))


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "tf32", "float16"])
def test_rounded_products_on_a_gpu(precision: str) -> None:
    graph = block_model(20_000, num_features=64, num_splits=0, seed=0)
    settings = {**EXACT, "dtype": "float32", "dim": 128, "activation": "relu"}
    fast = FDGCL(**settings, device="cuda", precision=precision).fit(graph)
    plain = FDGCL(**settings, device="cuda", fast=False).fit(graph)
    for ours, theirs in zip(fast.history_, plain.history_, strict=True):
        # Numbers in tf32 have as many digits as in float16. Products and what is made
        # of them are rounded a few times each; their sums are float32.
        rounded = gamma(4, np.float16) if precision != "float32" else 0
        assert_within(ours.loss, theirs.loss, rounded + half_digits(np.float32))
    assert torch.get_float32_matmul_precision() == "highest"


def test_the_plan_knows_what_a_step_holds(graph: Graph) -> None:
    def held(**settings: Any) -> int:
        return FDGCL(**{**EXACT, **settings}).plan(graph).workload.held

    assert held() == 1
    assert held(fast=False) == held(loss="vicreg") == held(activation="gelu") == 5
    assert held(activation="half-relu", loss="barlow-twins") == 5
    assert held(batch_size=40) == 1
    wide = block_model(120, num_features=60, num_splits=0, seed=0)
    assert FDGCL(**EXACT).plan(wide).workload.held == 3
