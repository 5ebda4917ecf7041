"""What needs no training is the same whatever a model does to its features first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fdgcl import FDGCL, Graph, block_model
from fdgcl.experiments import baselines


@pytest.fixture
def graph() -> Graph:
    made = block_model(60, 2, seed=3)
    return replace(made, features=np.maximum(made.features, 0))


@pytest.mark.parametrize("scaling", ["none", "row", "tf-idf"])
def test_x_is_the_features_as_they_came(graph: Graph, scaling: str) -> None:
    model = FDGCL(feature_scaling=scaling)
    np.testing.assert_array_equal(baselines.features(model, graph), graph.features)


@pytest.mark.parametrize("scaling", ["none", "row", "tf-idf"])
def test_smoothed_is_two_products_by_hand(graph: Graph, scaling: str) -> None:
    a = graph.adjacency.toarray() + 2 * np.eye(60)
    a /= np.sqrt(np.outer(a.sum(1), a.sum(1)))
    found = baselines.smoothed(FDGCL(feature_scaling=scaling, self_loops=2.0), graph)
    np.testing.assert_allclose(found, a @ a @ graph.features, rtol=1e-4, atol=1e-6)
