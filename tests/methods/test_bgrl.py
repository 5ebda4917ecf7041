"""BGRL against numbers made with the authors' code, and against mistakes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import nn

from fdgcl import Graph, block_model
from fdgcl._checks import InputError
from fdgcl.methods.bgrl import WARM_UP, BGRLMethod, BGRLTraining, Settings
from fdgcl.methods.parts.moving_average import cosine_momentum
from fdgcl.methods.parts.schedules import warm_up_cosine
from fdgcl.training import NonFiniteLossError
from fdgcl.training import train as run_loop
from tolerances import assert_agree

from .golden import Golden, embedding, on_graph, train


def _encoder(theirs: str, ours: str) -> dict[str, str]:
    names = {}
    for number in (1, 2):
        layer = f"{ours}.layers.{number - 1}"
        for what in ("weight", "bias"):
            names[f"{theirs}.conv{number}.{what}"] = f"{layer}.convolution.{what}"
        for what in ("weight", "bias", "running_mean", "running_var"):
            names[f"{theirs}.bn{number}.{what}"] = f"{layer}.norm.{what}"
        names[f"{theirs}.prelu{number}.slope"] = f"{layer}.activation.weight"
    return names


NAMES = {
    **_encoder("online", "online"),
    **_encoder("target", "target.network"),
    **{f"pred1.{what}": f"predictor.first.{what}" for what in ("weight", "bias")},
    **{f"pred2.{what}": f"predictor.second.{what}" for what in ("weight", "bias")},
    "pred_prelu.slope": "predictor.activation.weight",
}
# Batch normalisation hides them. What follows them moves as little, so it is noise too.
NOISY = ("conv1.bias", "conv2.bias")


class Case:
    """A fixture, and the method with its weights."""

    def __init__(self, name: str, dtype: str) -> None:
        golden = self.golden = Golden(name, dtype, NAMES)
        settings = Settings(
            hidden=8,
            dim=6,
            predictor=10,
            direction="in",
            lr=golden.value("hyper.base_lr"),
            epochs=int(golden.value("hyper.total_steps")),
            dtype=dtype,
            device="cpu",
        )
        self.trainable: BGRLTraining = on_graph(BGRLMethod(), settings, golden.graph)
        golden.load(self.trainable.model)
        self.views = tuple(
            self.trainable.graph.view(
                golden.edges_kept(view), golden.columns_kept(view)
            )
            for view in (1, 2)
        )

    def step(self) -> float:
        """The loss of a step on the fixture's views, at the fixture's step."""
        self.trainable.model.target.steps.fill_(int(self.golden.value("hyper.step")))
        return float(self.trainable.gradient(self.views)[0])


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["bgrl", "bgrl_edge"])
def case(request: pytest.FixtureRequest, dtype: str) -> Case:
    return Case(request.param, dtype)


@pytest.mark.dataset
def test_loss_gradients_and_step_are_those_of_the_authors_code(case: Case) -> None:
    golden, trainable = case.golden, case.trainable
    golden.check(case.step(), "loss")
    golden.check_gradients(trainable.model)
    trainable.update()
    golden.check_after(trainable.model, NOISY)
    (group,) = trainable.optimizer.param_groups
    assert group["lr"] == pytest.approx(golden.value("hyper.lr"))


@pytest.mark.dataset
def test_five_steps_are_those_of_the_authors_code(case: Case) -> None:
    losses = []
    for _ in range(5):
        losses.append(case.step())
        case.trainable.update()
    case.golden.check(losses, "trajectory.loss")


@pytest.mark.dataset
def test_embedding_is_that_of_the_authors_code(case: Case) -> None:
    golden, trainable = case.golden, case.trainable
    golden.check(embedding(trainable), "embedding")
    case.step()
    trainable.update()
    golden.take_noise(trainable.model, NOISY)
    golden.check(embedding(trainable), "after.embedding")


@pytest.mark.dataset
def test_both_networks_are_those_of_the_authors_code(dtype: str) -> None:
    case = Case("bgrl", dtype)
    model = case.trainable.model.train()
    one, two = case.views
    case.golden.check(model.predictor(model.online(one)), "mid.q1")
    case.golden.check(model.predictor(model.online(two)), "mid.q2")
    case.golden.check(model.target.network(one), "mid.y1")
    case.golden.check(model.target.network(two), "mid.y2")


@pytest.mark.dataset
def test_schedules_are_those_of_the_authors_code() -> None:
    golden = Golden("bgrl", "float64", NAMES)
    steps = int(golden.value("hyper.total_steps"))
    warm_up = int(WARM_UP * steps)
    assert warm_up == int(golden.value("hyper.warmup_steps"))
    base = golden.value("hyper.base_lr")
    found = [
        base * warm_up_cosine(int(t), warm_up, steps) for t in golden["schedule.step"]
    ]
    np.testing.assert_allclose(found, golden["schedule.lr"], rtol=0, atol=1e-15)
    found = [cosine_momentum(0.99, int(t), steps) for t in golden["schedule.step"]]
    np.testing.assert_allclose(found, golden["schedule.momentum"], rtol=0, atol=1e-15)


def _without_activation(case: Case) -> None:
    case.trainable.model.predictor.activation = nn.Identity()  # type: ignore[assignment]


def _each_norm(case: Case) -> list[nn.BatchNorm1d]:
    modules = case.trainable.model.modules()
    return [one for one in modules if isinstance(one, nn.BatchNorm1d)]


def _running_statistics(case: Case) -> None:
    for norm in _each_norm(case):
        norm.train = lambda mode=True, norm=norm: norm  # type: ignore[method-assign]
        norm.training = False


def _without_norm(case: Case) -> None:
    model = case.trainable.model
    for encoder in (model.online, model.target.network):
        for layer in encoder.layers:
            layer.norm = nn.Identity()


MISTAKES = {
    1.634939: _running_statistics,
    1.746337: _without_norm,
    1.928776: _without_activation,
}


@pytest.mark.dataset
@pytest.mark.parametrize("value", MISTAKES)
def test_typical_mistakes_give_other_losses(value: float) -> None:
    assert abs(Case("bgrl", "float64").step() - value) > 1e-2
    # Made on purpose, each gives the loss it is known by.
    wrong = Case("bgrl", "float64")
    MISTAKES[value](wrong)
    assert wrong.step() == pytest.approx(value, abs=1e-6)


@pytest.fixture
def graph() -> Graph:
    return block_model(60, 3, degree=5, homophily=0.8, num_features=9, seed=2)


QUICK: dict[str, Any] = {
    "hidden": 8,
    "dim": 5,
    "predictor": 7,
    "epochs": 20,
    "lr": 0.01,
}


def test_it_trains_the_same_from_the_same_seed(graph: Graph) -> None:
    settings = Settings(**QUICK)

    def run(**changes: Any) -> tuple[list[list[float]], np.ndarray]:
        trainable = on_graph(BGRLMethod(), replace(settings, **changes), graph)
        logged = train(trainable, 1, settings.epochs)
        return logged, embedding(trainable)

    logged, found = run()
    again, same = run()
    assert logged == again
    np.testing.assert_array_equal(found, same)
    assert found.shape == (60, 5)
    assert logged[-1][0] < logged[0][0]
    assert not np.allclose(found, run(seed=1)[1])


def test_a_run_goes_on_as_it_would_have(graph: Graph) -> None:
    settings = Settings(**QUICK)
    whole = on_graph(BGRLMethod(), settings, graph)
    logged = train(whole, 1, 20)
    first, second = (on_graph(BGRLMethod(), settings, graph) for _ in range(2))
    train(first, 1, 8)
    second.model.load_state_dict(first.model.state_dict())
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    assert train(second, 9, 20) == logged[8:]
    np.testing.assert_array_equal(embedding(second), embedding(whole))
    assert int(second.model.target.steps) == 20


def test_sparse_features_give_what_dense_ones_do(graph: Graph) -> None:
    settings = Settings(**QUICK, dtype="float64")
    dense = on_graph(BGRLMethod(), settings, graph)
    sparse_graph = graph.with_features(csr_array(graph.features))
    sparse = on_graph(BGRLMethod(), settings, sparse_graph)
    assert_agree(np.array(train(sparse, 1, 3)), np.array(train(dense, 1, 3)))
    assert_agree(embedding(sparse), embedding(dense))


def test_the_target_starts_elsewhere_and_is_not_trained(graph: Graph) -> None:
    model = on_graph(BGRLMethod(), Settings(**QUICK), graph).model
    online, target = model.online.layers[0], model.target.network.layers[0]
    theirs, ours = target.convolution.weight, online.convolution.weight
    assert not np.allclose(theirs.detach(), ours.detach())
    assert not any(one.requires_grad for one in model.target.parameters())
    assert all(one.requires_grad for one in model.online.parameters())


def test_at_step_0_the_target_alone_moves(graph: Graph) -> None:
    trainable: BGRLTraining = on_graph(BGRLMethod(), Settings(**QUICK), graph)
    model = trainable.model
    before = {name: one.clone() for name, one in model.named_parameters()}
    train(trainable, 1, 1)
    for name, one in model.named_parameters():
        moved = not torch.equal(one, before[name])
        # Scales, shifts and slopes are alike in both networks at first.
        assert moved == (name.startswith("target.") and "convolution.weight" in name)
    first = "layers.0.convolution.weight"
    expected = before[f"target.network.{first}"].lerp(before[f"online.{first}"], 0.01)
    found = dict(model.named_parameters())[f"target.network.{first}"]
    assert_agree(found, expected)


def test_few_epochs_have_no_warm_up(graph: Graph) -> None:
    for epochs in (1, 9):
        settings = replace(Settings(**QUICK), epochs=epochs)
        trainable = on_graph(BGRLMethod(), settings, graph)
        assert len(train(trainable, 1, epochs)) == epochs


def test_columns_that_are_all_masked_leave_the_loss_finite() -> None:
    graph = block_model(30, 2, degree=4, num_features=1, seed=0)
    trainable = on_graph(BGRLMethod(), Settings(**QUICK), graph)
    nothing = trainable.graph.view(columns=torch.tensor([False]))
    assert trainable.gradient((nothing, nothing)).isfinite().all()
    grads = [one.grad for one in trainable.model.parameters() if one.requires_grad]
    assert all(grad is not None and grad.isfinite().all() for grad in grads)


def test_a_run_that_diverges_keeps_statistics_of_its_last_good_epoch(
    graph: Graph,
) -> None:
    settings = replace(Settings(**QUICK), lr=1e25)
    trainable: BGRLTraining = on_graph(BGRLMethod(), settings, graph)
    with pytest.raises(NonFiniteLossError):
        run_loop(trainable, epochs=20, on_epoch=lambda _: None)
    assert all(one.isfinite().all() for one in trainable.model.state_dict().values())
    assert np.isfinite(embedding(trainable)).all()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"layers": 0}, "layers"),
        ({"predictor": -1}, "predictor"),
        ({"momentum": 1.1}, "momentum"),
        ({"drop_edges_2": 1.0}, "drop_edges_2 must be below 1"),
        ({"drop_features_1": "x"}, "drop_features_1"),
        ({"weight_decay": -1}, "weight_decay"),
    ],
)
def test_bad_settings_are_named(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        Settings(**changes)


@pytest.mark.gpu
def test_on_a_gpu_it_is_the_same(graph: Graph) -> None:
    def run(device: str) -> np.ndarray:
        settings = Settings(**QUICK, device=device, dtype="float64")
        trainable = on_graph(BGRLMethod(), settings, graph)
        train(trainable, 1, 5)
        return embedding(trainable)

    assert_agree(run("cuda"), run("cpu"))
