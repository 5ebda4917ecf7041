"""The GCN method gives what the experiments' own GCN gave, from the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from fdgcl import FDGCL, block_model
from fdgcl.experiments.gcn import gcn_embedding
from fdgcl.methods.gcn import GCN, Settings
from fdgcl.training import EpochRecord
from tolerances import assert_agree

from .golden import embedding, on_graph, train

SHARED: dict[str, Any] = {
    "dim": 16,
    "epochs": 10,
    "activation": "relu",
    "init_scale": 1.0,
    "beta": 0.6,
    "eta": 0.15,
    "dtype": "float64",
    "seed": 3,
}
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "batches": {"batch_size": 32},
    "three views": {"views": 3, "pairs": "consecutive"},
    "vicreg": {"loss": "vicreg", "loss_options": {"variance": 10}},
    "tanh": {"activation": "tanh", "standardize": False, "loss": "cosmean"},
    "operator": {"self_loops": 2.0, "normalization": "row", "direction": "out"},
    "weighted": {"beta": (0.25, 0.75), "init_scale": 10.0, "weight_decay": 1e-2},
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_it_is_the_same(name: str, sparse: bool) -> None:
    graph = block_model(90, num_classes=3, degree=5, num_features=12, seed=5)
    if sparse:
        graph = graph.with_features(csr_array(graph.features))
    changes = {**SHARED, **CASES[name]}
    trainable = on_graph(GCN(), Settings(**changes), graph)
    logged = train(trainable, 1, 10)
    trainable.finish()
    views = changes.pop("views", 2)
    history: list[EpochRecord] = []
    model = FDGCL(orders=[0.5] * views, **changes)
    expected = gcn_embedding(graph, model.check(), history)
    # What is expected was rounded to float32; entries are below 8, of which that is
    # at most 2.4e-7.
    np.testing.assert_allclose(embedding(trainable), expected, rtol=0, atol=1e-6)
    steps = len(logged) // 10
    losses = np.reshape([value for value, *_ in logged], (10, steps)).mean(1)
    assert_agree(losses, np.array([record.loss for record in history]))
    ranks = [row[3:] for row in logged[::steps]]
    assert_agree(np.array(ranks), np.array([one.effective_ranks for one in history]))
