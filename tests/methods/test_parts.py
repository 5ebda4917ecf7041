"""Layers, drawn views, moving averages and schedules against closed forms."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch import nn

from fdgcl import Graph, block_model
from fdgcl._checks import InputError
from fdgcl.methods.fdgcl.features import FeatureMatrix
from fdgcl.methods.parts.augmentations import (
    AugmentedGraph,
    MaskedFeatures,
    View,
    check_rate,
    draw_kept,
    generator_of,
)
from fdgcl.methods.parts.graph_convolution import (
    GraphConvolution,
    GraphConvolutions,
    Linear,
)
from fdgcl.methods.parts.moving_average import MovingAverage, cosine_momentum
from fdgcl.methods.parts.propagation import Edges, gcn
from fdgcl.methods.parts.schedules import cosine, warm_up_cosine
from fdgcl.methods.settings import MethodSettings
from tolerances import assert_agree


@pytest.fixture(params=["dense", "sparse"])
def graph(request: pytest.FixtureRequest) -> Graph:
    found = block_model(200, 3, degree=6, num_features=40, seed=1)
    if request.param == "dense":
        return found
    return found.with_features(csr_array(found.features))


def _features(graph: Graph) -> np.ndarray:
    x = graph.features
    return x.toarray() if isinstance(x, csr_array) else np.array(x)


def _generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_masked_columns_are_those_of_the_features_set_to_0(graph: Graph) -> None:
    x = _features(graph).astype(np.float64)
    kept = torch.arange(x.shape[1]) % 4 > 0
    assert graph.features is not None
    masked = MaskedFeatures(FeatureMatrix(graph.features), kept)
    weight = torch.randn(x.shape[1], 3, dtype=torch.float64, requires_grad=True)
    found = masked @ weight
    expected = np.where(kept, x, 0) @ weight.detach().numpy()
    assert_agree(found, expected)
    (gradient,) = torch.autograd.grad(found.sum(), weight)
    # Weights of masked columns are not trained.
    assert_agree(gradient, np.where(kept, x, 0).sum(0)[:, None].repeat(3, 1))


def test_a_layer_is_its_formula(graph: Graph) -> None:
    x = torch.from_numpy(_features(graph)).double()
    edges = Edges(graph.adjacency, dtype=torch.float64)
    propagate = gcn(edges)
    plain = Linear(40, 3, _generator(), dtype=torch.float64)
    assert_agree(plain(x), (x @ plain.weight.T + plain.bias).detach().numpy())
    layer = GraphConvolution(40, 3, _generator(), dtype=torch.float64)
    with torch.no_grad():
        layer.bias.fill_(2.0)  # type: ignore[union-attr]
    assert graph.features is not None
    features = MaskedFeatures(FeatureMatrix(graph.features))
    expected = propagate.apply(x) @ layer.weight.T + 2
    assert_agree(layer(features, propagate), expected.detach().numpy())
    assert GraphConvolution(40, 3, _generator(), bias=False).bias is None


def test_layers_have_a_relu_between_them() -> None:
    layers = GraphConvolutions([4, 5, 3], _generator(), torch.float64)
    x = torch.randn(6, 4, dtype=torch.float64)
    first, second = layers.layers

    def doubled(rows: torch.Tensor) -> torch.Tensor:
        return 2 * rows

    expected = 2 * torch.relu(2 * x @ first.weight.T) @ second.weight.T
    assert_agree(layers(x, doubled), expected.detach().numpy())
    assert (layers(x, doubled) < 0).any()


def test_initial_weights_are_within_their_bounds_and_alike_in_both_dtypes() -> None:
    for kind, bound in ((Linear, 40**-0.5), (GraphConvolution, math.sqrt(6 / 60))):
        layer = kind(40, 20, _generator(3), scale=2.0)
        largest = float(layer.weight.detach().abs().max())
        assert 1.9 * bound < largest <= 2 * bound
        double = kind(40, 20, _generator(3), scale=2.0, dtype=torch.float64)
        assert torch.equal(double.weight, layer.weight.double())
    assert float(Linear(40, 20, _generator()).bias.detach().abs().max()) > 0  # type: ignore[union-attr]
    assert not GraphConvolution(40, 20, _generator()).bias.any()  # type: ignore[union-attr]


def test_nothing_is_drawn_where_nothing_is_dropped() -> None:
    assert draw_kept(10, 0.0, _generator()) is None


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_as_many_are_dropped_as_the_rate_says(rate: float) -> None:
    count = 100_000
    kept = draw_kept(count, rate, _generator())
    assert kept is not None
    # Five standard deviations of a binomial distribution: once in 1.7 million seeds.
    allowed = 5 * math.sqrt(rate * (1 - rate) / count)
    assert abs(float(kept.double().mean()) - (1 - rate)) < allowed


def _settings(**changes: object) -> MethodSettings:
    return MethodSettings(device="cpu", **changes)  # type: ignore[arg-type]


def _draw(graph: Graph, seed: int, epoch: int, view: int) -> View:
    augmented = AugmentedGraph(graph, _settings(), gcn)
    return augmented.draw(generator_of(seed, epoch, view), 0.4, 0.3)


def test_views_depend_on_seed_epoch_and_view_alone(graph: Graph) -> None:
    def kept(seed: int, epoch: int, view: int) -> tuple[bool, ...]:
        found = _draw(graph, seed, epoch, view).kept
        assert found is not None
        return tuple(found.tolist())

    places = [*product((0, 1), (1, 2), (0, 1))]
    found = [kept(*place) for place in places]
    assert len(set(found)) == len(places)
    assert found == [kept(*place) for place in places]


def test_edges_are_dropped_one_way_at_a_time_and_loops_never(graph: Graph) -> None:
    view = _draw(graph, 0, 1, 0)
    edges, kept = view.edges, view.kept
    assert kept is not None
    there = csr_array(
        (kept.numpy().astype(float), (edges.targets, edges.sources)),
        shape=graph.adjacency.shape,
    )
    assert abs(there - there.T).max() == 1
    dense = view.propagate.apply(torch.eye(graph.num_nodes))
    assert (dense.diagonal() > 0).all()
    off = dense.fill_diagonal_(0).numpy()
    np.testing.assert_array_equal(off > 0, there.toarray() > 0)


def test_a_view_of_all_is_the_graph(graph: Graph) -> None:
    augmented = AugmentedGraph(graph, _settings(dtype="float64"), gcn)
    for view in (augmented.view(), augmented.draw(_generator(), 0.0, 0.0)):
        eye = torch.eye(graph.num_features, dtype=torch.float64)
        assert_agree(view.features @ eye, _features(graph))
        assert view.kept is None
        assert view.propagate is view.propagate


def test_rates_must_leave_something() -> None:
    assert check_rate("rate", 0.5) == 0.5
    for value in (1, -0.1, math.nan, "x"):
        with pytest.raises(InputError, match="rate"):
            check_rate("rate", value)  # type: ignore[arg-type]


def test_a_target_is_the_moving_average_of_its_steps() -> None:
    online, start = nn.Linear(3, 2), nn.Linear(3, 2)
    before = start.weight.detach().clone()
    target = MovingAverage(start)
    expected = before
    for momentum in (0.9, 0.5, 1.0):
        with torch.no_grad():
            online.weight.add_(1.0)
        target.follow(online, momentum)
        expected = momentum * expected + (1 - momentum) * online.weight.detach()
    assert_agree(target.network.weight, expected)
    assert int(target.state_dict()["steps"]) == 3
    assert not any(one.requires_grad for one in target.parameters())


def test_statistics_of_a_target_are_its_own() -> None:
    online, target = nn.BatchNorm1d(2), MovingAverage(nn.BatchNorm1d(2))
    online(torch.randn(9, 2))
    target.follow(online, 0.0)
    assert_agree(target.network.running_mean, np.zeros(2))


def test_schedules_are_their_formulas() -> None:
    for step in range(11):
        wave = (1 + math.cos(math.pi * step / 10)) / 2
        assert cosine(step, 10) == pytest.approx(wave)
        assert cosine_momentum(0.9, step, 10) == pytest.approx(1 - 0.1 * wave)
    found = [warm_up_cosine(step, 4, 12) for step in range(13)]
    assert found[:5] == [0, 0.25, 0.5, 0.75, 1]
    assert found[4:] == [cosine(step, 8) for step in range(9)]
    assert warm_up_cosine(0, 0, 3) == 1
