"""The GCN encoder: against a dense forward, and that it trains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from fdgcl import FDGCL, Graph
from fdgcl.experiments.gcn import GraphConvolution, gcn_embedding
from fdgcl.graphs import block_model
from fdgcl.methods.fdgcl import Encoders
from fdgcl.methods.fdgcl.preparation import prepare
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.training import EpochRecord
from tolerances import assert_agree


def _settings(**changes: Any) -> Settings:
    chosen = {"dim": 6, "epochs": 0, "dtype": "float64", "activation": "relu"}
    return FDGCL(**{**chosen, "init_scale": 1.0, "beta": 0.7, **changes}).check()


@pytest.fixture(params=["dense", "sparse"])
def graph(request: pytest.FixtureRequest) -> Graph:
    found = block_model(40, num_classes=2, degree=4, num_features=5, seed=3)
    if request.param == "dense":
        return found
    import scipy.sparse

    assert found.features is not None
    return found.with_features(scipy.sparse.csr_array(found.features))


def _dense(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    x: Any = graph.features
    x = x.toarray() if hasattr(x, "toarray") else x
    a = graph.adjacency.toarray()
    a = (np.maximum(a, a.T) > 0).astype(float)
    np.fill_diagonal(a, 1)
    roots = a.sum(1) ** -0.5
    return roots[:, None] * a * roots, np.asarray(x, dtype=np.float64)


def _view(graph: Graph, weight: np.ndarray) -> np.ndarray:
    """Two layers written out, standardised, then the activation."""
    a, x = _dense(graph)
    f = x.shape[1]
    first, skip, second = weight[:f], weight[f : 2 * f], weight[2 * f :]
    state = np.maximum(a @ x @ first + x @ skip, 0)
    out = a @ state @ second + state
    return np.maximum((out - out.mean(0)) / out.std(0), 0)


def test_forward_is_that_of_two_dense_layers(graph: Graph) -> None:
    settings = _settings()
    source = GraphConvolution(prepare(graph, settings), torch.device("cpu"))
    views = Encoders(source.num_weights, 6, dtype=torch.float64)
    source.initialize(views, 1.0, settings.seed)
    weights = [w.detach().numpy() for w in views.weights]
    assert weights[0].shape == (5 + 5 + 6, 6)
    assert not np.allclose(weights[0], weights[1])
    expected = 0.7 * _view(graph, weights[0]) + 0.3 * _view(graph, weights[1])
    assert_agree(gcn_embedding(graph, settings), expected)
    rows = torch.tensor([3, 1, 4])
    first, _ = views(source, rows)
    assert_agree(first, _view(graph, weights[0])[[3, 1, 4]])


def test_gradients_reach_every_weight(graph: Graph) -> None:
    source = GraphConvolution(prepare(graph, _settings()), torch.device("cpu"))
    weight = torch.randn(16, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: source.hidden(0, w), (weight,))
    (gradient,) = torch.autograd.grad(source.hidden(0, weight).square().sum(), weight)
    assert (gradient.abs().sum(1) > 0).all()


def test_glorot_goes_by_each_matrix(graph: Graph) -> None:
    source = GraphConvolution(prepare(graph, _settings()), torch.device("cpu"))
    views = Encoders(source.num_weights, 6, dtype=torch.float64)
    source.initialize(views, 2.0, 0)
    for part in torch.split(views.weights[0].detach(), [5, 5, 6]):
        bound = 2 * (6 / sum(part.shape)) ** 0.5
        assert bound / 2 < float(part.abs().max()) <= bound


def test_it_trains(graph: Graph) -> None:
    history: list[EpochRecord] = []
    settings = _settings(epochs=30, lr=0.02, loss="cosmean", dtype="float32")
    trained = gcn_embedding(graph, settings, history)
    assert len(history) == 30
    assert history[-1].loss < 0.5 * history[0].loss
    assert history[-1].alignment > history[0].alignment
    np.testing.assert_array_equal(trained, gcn_embedding(graph, settings))
    other = gcn_embedding(graph, _settings(epochs=30, lr=0.02, seed=1))
    assert not np.allclose(trained, other)


@pytest.mark.gpu
def test_it_trains_on_a_gpu(graph: Graph) -> None:
    settings = _settings(epochs=3)
    on_gpu = gcn_embedding(graph, _settings(epochs=3, device="cuda"))
    assert_agree(on_gpu, gcn_embedding(graph, settings))
