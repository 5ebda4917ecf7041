"""The GCN encoders: against a dense forward, and that they train."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl import Graph, block_model
from fdgcl._checks import InputError
from fdgcl.methods.gcn import GCNMethod, GCNTraining, Settings
from tolerances import assert_agree

from .golden import config, embedding, on_graph, prepared, train


def _settings(**changes: Any) -> Settings:
    chosen = {"dim": 6, "epochs": 0, "dtype": "float64", "beta": 0.7}
    return Settings(**{**chosen, **changes})


def _on(graph: Graph, **changes: Any) -> GCNTraining:
    found: GCNTraining = on_graph(GCNMethod(), _settings(**changes), graph)
    return found


def _finished(trainable: GCNTraining) -> NDArray[Any]:
    trainable.finish()
    return embedding(trainable)


@pytest.fixture(params=["dense", "sparse"])
def graph(request: pytest.FixtureRequest) -> Graph:
    found = block_model(40, num_classes=2, degree=4, num_features=5, seed=3)
    if request.param == "dense":
        return found
    return found.with_features(csr_array(found.features))


def _dense(graph: Graph, loops: float = 1.0) -> tuple[NDArray[Any], NDArray[Any]]:
    x: Any = graph.features
    x = x.toarray() if isinstance(x, csr_array) else x
    a = graph.adjacency.toarray()
    a = (np.maximum(a, a.T) > 0).astype(float)
    np.fill_diagonal(a, loops)
    roots = a.sum(1) ** -0.5
    return roots[:, None] * a * roots, np.asarray(x, dtype=np.float64)


def _hidden(graph: Graph, trainable: GCNTraining, view: int) -> NDArray[Any]:
    """Two layers written out."""
    a, x = _dense(graph)
    encoder: Any = trainable.model.encoders[view]
    first, skip, second = (
        layer.weight.detach().numpy().T
        for layer in (encoder.first, encoder.skip, encoder.second)
    )
    assert first.shape == skip.shape == (5, 6)
    assert second.shape == (6, 6)
    state = np.maximum(a @ x @ first + x @ skip, 0)
    return a @ state @ second + state


def _view(graph: Graph, trainable: GCNTraining, view: int) -> NDArray[Any]:
    out = _hidden(graph, trainable, view)
    return np.maximum((out - out.mean(0)) / out.std(0), 0)


def test_views_are_those_of_two_dense_layers(graph: Graph) -> None:
    trainable = _on(graph)
    found = _finished(trainable)
    first, second = (_view(graph, trainable, view) for view in (0, 1))
    assert not np.allclose(first, second)
    assert_agree(found, 0.7 * first + 0.3 * second)
    for view, expected in zip(trainable.views(), (first, second), strict=True):
        assert_agree(view, expected)


def test_without_standardisation_columns_are_as_they_come(graph: Graph) -> None:
    trainable = _on(graph, standardize=False, activation="tanh", beta=1.0)
    assert_agree(_finished(trainable), np.tanh(_hidden(graph, trainable, 0)))


@pytest.mark.parametrize(
    ("views", "beta", "weights"),
    [(3, None, [1 / 3] * 3), (3, 0.5, [0.5, 0.25, 0.25]), (2, (1, 3), [0.25, 0.75])],
)
def test_any_number_of_views_has_its_weights(
    graph: Graph, views: int, beta: Any, weights: list[float]
) -> None:
    if beta == (1, 3):
        beta = (0.25, 0.75)
    trainable = _on(graph, encoders=views, beta=beta)
    found = _finished(trainable)
    each = [_view(graph, trainable, view) for view in range(views)]
    assert_agree(found, sum(w * z for w, z in zip(weights, each, strict=True)))


def _slope(loss: Callable[[], float], weights: torch.Tensor, place: int) -> float:
    """A central difference of the loss along one weight."""
    found = []
    for step in (1e-6, -2e-6):
        weights.view(-1)[place] += step
        found.append(loss())
    weights.view(-1)[place] += 1e-6
    return (found[0] - found[1]) / 2e-6


@pytest.mark.parametrize("batch", [None, torch.tensor([3, 1, 4, 30, 22, 8])])
@pytest.mark.parametrize("views", [2, 3])
def test_gradients_are_those_of_differences(
    graph: Graph, batch: torch.Tensor | None, views: int
) -> None:
    # Not the default loss: its gradient takes principal directions as given.
    trainable = _on(graph, encoders=views, beta=None, activation="elu", loss="vicreg")

    def value() -> float:
        return float(trainable.gradient(batch)[0])

    value()
    for weight in [*trainable.model.parameters()]:
        assert weight.grad is not None
        gradient = weight.grad.clone()
        place = int(gradient.abs().argmax())
        found = _slope(value, weight.data, place)
        assert found == pytest.approx(float(gradient.view(-1)[place]), rel=1e-4)


def test_initial_weights_go_by_each_matrix(graph: Graph) -> None:
    trainable = _on(graph, init_scale=2.0)
    for name, weight in trainable.model.named_parameters():
        bound = 2 * (6 / sum(weight.shape)) ** 0.5
        assert bound / 2 < float(weight.detach().abs().max()) <= bound, name


TRAINED: dict[str, Any] = {"epochs": 30, "lr": 0.02, "loss": "cosmean"}


def test_they_train(graph: Graph) -> None:
    def run(**changes: Any) -> tuple[list[list[float]], NDArray[Any]]:
        trainable = _on(graph, dtype="float32", **{**TRAINED, **changes})
        return train(trainable, 1, 30), _finished(trainable)

    logged, found = run()
    assert logged[-1][0] < 0.5 * logged[0][0]
    assert logged[-1][1] > logged[0][1]
    assert len(logged[0]) == 5
    np.testing.assert_array_equal(found, run()[1])
    assert not np.allclose(found, run(seed=1)[1])


@pytest.mark.parametrize("batch_size", [None, 16])
def test_a_run_goes_on_as_it_would_have(graph: Graph, batch_size: int | None) -> None:
    changes = {**TRAINED, "batch_size": batch_size}
    whole, first, second = (_on(graph, **changes) for _ in range(3))
    logged = train(whole, 1, 10)
    done = train(first, 1, 4)
    first.finish()
    second.model.load_state_dict(first.model.state_dict())
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    assert done + train(second, 5, 10) == logged
    np.testing.assert_array_equal(_finished(second), _finished(whole))


def test_another_graph_is_embedded_by_the_training_graphs_statistics(
    graph: Graph,
) -> None:
    trainable = _on(graph, beta=1.0)
    trainable.finish()
    other = block_model(30, num_classes=2, degree=4, num_features=5, seed=4)
    settings = _settings(beta=1.0)
    there = GCNMethod().on_graph(
        trainable.model, prepared(settings, other), config(settings, other)
    )
    out = _hidden(graph, trainable, 0)
    expected = (_hidden(other, trainable, 0) - out.mean(0)) / out.std(0)
    assert_agree(embedding(there), np.maximum(expected, 0))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"encoders": 0}, "encoders"),
        ({"encoders": 1, "epochs": 1}, "compares two views or more, and encoders is 1"),
        ({"beta": (0.5, 0.2, 0.3)}, "weights of all 2 views"),
        ({"beta": (0, 0)}, "not all of them 0"),
        ({"beta": 1.5}, "beta"),
        ({"loss": "cosine"}, "unknown loss 'cosine'"),
        ({"loss": "vicreg", "loss_options": {"x": 1}}, "x"),
        ({"activation": "sin"}, "unknown activation"),
        ({"normalization": "both"}, "unknown normalization"),
        ({"pairs": "some"}, "unknown pairs"),
        ({"standardize": "yes"}, "standardize must be True or False"),
        ({"batch_size": 1}, "batch_size"),
        ({"init_scale": 0}, "init_scale"),
        ({"eta": -1}, "eta"),
        ({"self_loops": -1}, "self_loops"),
    ],
)
def test_bad_settings_are_named(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        _settings(**changes)


def test_a_single_view_is_trained_by_what_asks_something_of_it(graph: Graph) -> None:
    trainable = _on(graph, encoders=1, beta=None, loss="vicreg", epochs=5)
    logged = train(trainable, 1, 5)
    assert len(logged[0]) == 4
    assert logged[-1][0] < logged[0][0]


@pytest.mark.gpu
def test_on_a_gpu_they_are_the_same(graph: Graph) -> None:
    def run(device: str) -> NDArray[Any]:
        trainable = _on(graph, epochs=3, device=device)
        train(trainable, 1, 3)
        return _finished(trainable)

    assert_agree(run("cuda"), run("cpu"))
