"""CCA-SSG against numbers made with the authors' code, and against mistakes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fdgcl import Graph, block_model
from fdgcl._checks import InputError
from fdgcl.methods.cca_ssg import CCASSGMethod, CCASSGTraining, Settings, loss
from fdgcl.methods.parts.augmentations import AugmentedGraph
from fdgcl.methods.parts.propagation import gcn
from tolerances import assert_agree

from .golden import Golden, config, embedding, on_graph, prepared, train

LAYERS = {
    f"conv{number}.{what}": f"encoder.layers.{number - 1}.{what}"
    for number in (1, 2)
    for what in ("weight", "bias")
}
MLP = {
    **{f"lin1.{what}": f"encoder.first.{what}" for what in ("weight", "bias")},
    **{f"lin2.{what}": f"encoder.second.{what}" for what in ("weight", "bias")},
    **{
        f"bn.{what}": f"encoder.norm.{what}"
        for what in ("weight", "bias", "running_mean", "running_var")
    },
}
# Columns between, columns of the result, and biases that a standardisation hides.
CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "ccassg": ({"layers": 2, "dim": 6}, ["conv2.bias"]),
    "ccassg_edge": ({"layers": 2, "dim": 6}, ["conv2.bias"]),
    "ccassg_1layer": ({"layers": 1, "dim": 8}, ["conv1.bias"]),
    "ccassg_mlp": ({"encoder": "mlp", "dim": 6}, ["lin1.bias", "lin2.bias"]),
}


class Case:
    """A fixture, and the method with its weights."""

    def __init__(self, name: str, dtype: str) -> None:
        sizes, self.noisy = CASES[name]
        self.golden = Golden(name, dtype, MLP if name == "ccassg_mlp" else LAYERS)
        self.settings = Settings(
            hidden=8,
            direction="in",
            lr=self.golden.value("hyper.lr"),
            decorrelation=self.golden.value("hyper.lambda"),
            dtype=dtype,
            device="cpu",
            **sizes,
        )
        self.trainable = on_graph(CCASSGMethod(), self.settings, self.golden.graph)
        self.golden.load(self.trainable.model)
        self.views = tuple(
            self.trainable.graph.view(
                self.golden.edges_kept(view), self.golden.columns_kept(view)
            )
            for view in (1, 2)
        )

    def step(self) -> float:
        """The loss of a step on the fixture's views."""
        return float(self.trainable.gradient(self.views)[0])


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, dtype: str) -> Case:
    return Case(request.param, dtype)


@pytest.mark.dataset
def test_loss_gradients_and_step_are_those_of_the_authors_code(case: Case) -> None:
    golden, trainable = case.golden, case.trainable
    golden.check(case.step(), "loss")
    golden.check_gradients(trainable.model)
    trainable.update()
    golden.check_after(trainable.model, case.noisy)


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
    if "embedding_evalmode" in golden:
        golden.check(embedding(trainable), "embedding_evalmode")
    trainable.finish()
    golden.check(embedding(trainable), "embedding")
    case.step()
    trainable.update()
    golden.take_noise(trainable.model, case.noisy)
    trainable.finish()
    golden.check(embedding(trainable), "after.embedding")


@pytest.mark.dataset
def test_each_term_is_that_of_the_authors_code(dtype: str) -> None:
    golden = Case("ccassg", dtype).golden
    first, second = (torch.from_numpy(golden[f"mid.z{view}"]) for view in (1, 2))
    alike = float(loss(first, second, 0.0))
    golden.check(alike, "mid.loss_invariance")
    # Of a view with itself: its correlations twice, less n - 1 for each column.
    rows, columns = first.shape
    for view, z in ((1, first), (2, second)):
        correlated = (float(loss(z, z, 1.0)) + columns * (rows - 1) / rows) / 2
        golden.check(correlated, f"mid.loss_decorrelation{view}")


# What an implementation with one mistake gives for the fixture `ccassg`.
MISTAKES = {"PyG's rule": -3.015215, "biased deviations": -3.128821}


@pytest.mark.dataset
def test_typical_mistakes_give_other_losses() -> None:
    case = Case("ccassg", "float64")
    found = case.step()
    for value in MISTAKES.values():
        assert abs(found - value) > 1e-3
    # The mistakes themselves give what they are said to: the two rules do differ here.
    wrong = AugmentedGraph(case.golden.graph, case.settings, gcn)
    views = [
        wrong.view(case.golden.edges_kept(view), case.golden.columns_kept(view))
        for view in (1, 2)
    ]
    by_pyg = float(case.trainable.gradient(views)[0])
    assert by_pyg == pytest.approx(MISTAKES["PyG's rule"], abs=1e-6)
    biased = [
        (rows - rows.mean(0)) / rows.std(0, unbiased=False)
        for rows in (case.trainable.model(view).detach() for view in case.views)
    ]
    value = float(loss(*biased, case.settings.decorrelation))
    assert value == pytest.approx(MISTAKES["biased deviations"], abs=1e-6)
    # A ReLU after the last layer leaves a column without any variance.
    dead = [torch.relu(case.trainable.model(view).detach()) for view in case.views]
    undefined = [(rows - rows.mean(0)) / rows.std(0) for rows in dead]
    assert math.isnan(float(loss(*undefined, case.settings.decorrelation)))
    assert math.isfinite(found)


@pytest.fixture
def graph() -> Graph:
    return block_model(60, 3, degree=5, homophily=0.8, num_features=9, seed=2)


QUICK: dict[str, Any] = {"hidden": 8, "dim": 5, "epochs": 60, "lr": 0.01}


@pytest.mark.parametrize("encoder", ["gcn", "mlp"])
def test_it_trains_the_same_from_the_same_seed(graph: Graph, encoder: str) -> None:
    settings = Settings(**QUICK, encoder=encoder, drop_edges=0.3)

    def run(**changes: Any) -> tuple[list[list[float]], np.ndarray]:
        trainable = on_graph(CCASSGMethod(), replace(settings, **changes), graph)
        logged = train(trainable, 1, settings.epochs)
        trainable.finish()
        return logged, embedding(trainable)

    logged, found = run()
    again, same = run()
    assert logged == again
    np.testing.assert_array_equal(found, same)
    assert found.shape == (60, 5)
    losses = [value for value, *_ in logged]
    assert np.mean(losses[-20:]) < np.mean(losses[:20])
    assert not np.allclose(found, run(seed=1)[1])


@pytest.mark.parametrize("encoder", ["gcn", "mlp"])
def test_a_run_goes_on_as_it_would_have(graph: Graph, encoder: str) -> None:
    settings = Settings(**QUICK, encoder=encoder)
    whole = on_graph(CCASSGMethod(), settings, graph)
    logged = train(whole, 1, 60)
    first, second = (on_graph(CCASSGMethod(), settings, graph) for _ in range(2))
    train(first, 1, 5)
    first.finish()  # as for an embedding on the way, which training must not notice
    second.model.load_state_dict(first.model.state_dict())
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    assert train(second, 6, 60) == logged[5:]
    for each in (whole, second):
        each.finish()
    np.testing.assert_array_equal(embedding(second), embedding(whole))


def test_sparse_features_give_what_dense_ones_do(graph: Graph) -> None:
    settings = Settings(**QUICK, dtype="float64")
    dense = on_graph(CCASSGMethod(), settings, graph)
    sparse_graph = graph.with_features(csr_array(graph.features))
    sparse = on_graph(CCASSGMethod(), settings, sparse_graph)
    assert_agree(np.array(train(sparse, 1, 3)), np.array(train(dense, 1, 3)))
    assert_agree(embedding(sparse), embedding(dense))


def test_what_is_logged_is_of_both_views(graph: Graph) -> None:
    trainable = on_graph(CCASSGMethod(), Settings(**QUICK), graph)
    (batch,) = trainable.batches(1)
    assert len(trainable.gradient(batch)) == 5
    whole = trainable.graph.view()
    value, alignment, cosine, *ranks = trainable.gradient((whole, whole)).tolist()
    assert value < 0
    assert alignment == pytest.approx(1)
    assert cosine == pytest.approx(1)
    assert ranks[0] == pytest.approx(ranks[1])


def test_columns_that_are_all_masked_leave_the_loss_finite() -> None:
    graph = block_model(30, 2, degree=4, num_features=1, seed=0)
    trainable = on_graph(CCASSGMethod(), Settings(**QUICK), graph)
    nothing = trainable.graph.view(columns=torch.tensor([False]))
    found = trainable.gradient((nothing, nothing))
    assert float(found[0]) == pytest.approx(2e-3 * 5)
    assert all(weight.grad.isfinite().all() for weight in trainable.model.parameters())


def test_another_graph_is_embedded_by_the_same_weights(graph: Graph) -> None:
    settings = Settings(**QUICK, encoder="mlp")
    trainable = on_graph(CCASSGMethod(), settings, graph)
    train(trainable, 1, 3)
    trainable.finish()
    # By the training graph's statistics: half of its rows are the same rows.
    assert graph.features is not None
    half = Graph(graph.adjacency[:30, :30], graph.features[:30])
    other = CCASSGMethod().on_graph(
        trainable.model, prepared(settings, half), config(settings, half)
    )
    assert_agree(embedding(other), embedding(trainable)[:30], torch.float32)


def test_rows_of_the_loss_are_standardised_by_n_minus_1() -> None:
    z = torch.tensor([[1.0], [2.0], [6.0]], dtype=torch.float64)
    ready = (z - z.mean(0)) / z.std(0)
    # Of a view with itself: -(n - 1) / n for each column, and 2 / n^2 of the diagonals.
    expected = -2 / 3 + 0.5 * 2 / 9
    assert float(loss(ready, ready, 0.5)) == pytest.approx(expected)
    assert math.isclose(float(ready.square().sum()), 2.0)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"encoder": "gnc"}, "encoder"),
        ({"layers": 0}, "layers"),
        ({"hidden": 1.5}, "hidden"),
        ({"dim": 0}, "dim"),
        ({"decorrelation": -1}, "decorrelation"),
        ({"drop_edges": 1}, "drop_edges must be below 1"),
        ({"drop_features": -0.1}, "drop_features"),
        ({"lr": 0}, "lr"),
    ],
)
def test_bad_settings_are_named(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        Settings(**changes)


def test_one_layer_is_as_wide_as_the_embedding(graph: Graph) -> None:
    trainable = on_graph(CCASSGMethod(), Settings(layers=1, hidden=8, dim=5), graph)
    assert embedding(trainable).shape == (60, 5)


@pytest.mark.gpu
@pytest.mark.parametrize("encoder", ["gcn", "mlp"])
def test_on_a_gpu_it_is_the_same(graph: Graph, encoder: str) -> None:
    def run(device: str) -> np.ndarray:
        settings = Settings(
            **QUICK, encoder=encoder, device=device, dtype="float64", layers=3
        )
        trainable: CCASSGTraining = on_graph(CCASSGMethod(), settings, graph)
        train(trainable, 1, 3)
        trainable.finish()
        return embedding(trainable)

    assert_agree(run("cuda"), run("cpu"))
