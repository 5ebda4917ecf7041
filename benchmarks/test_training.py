"""An epoch of training, plain and fast, and the probe."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from fdgcl import Graph, linear_probe
from fdgcl.graphs.splits import random_splits
from fdgcl.losses import build_loss
from fdgcl.methods.fdgcl.method import new_views
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation
from fdgcl.methods.fdgcl.training import TrainingOptions, ViewTraining
from fdgcl.training import EpochRecord, train


@pytest.mark.parametrize("fast", [True, False], ids=["fast", "plain"])
def test_epoch(
    benchmark: BenchmarkFixture, prepared: DiffusionPreparation, fast: bool
) -> None:
    """Forward, loss, backward and update, on features diffused before."""
    settings = prepared.settings
    source = prepared.source(torch.device("cpu"))
    features, kept = prepared.graph.num_features, prepared.kept
    views = new_views(settings, features, prepared.beta, kept=kept)
    options = TrainingOptions(settings.new_loss, settings.lr, fast=fast)
    training = ViewTraining(views, source, options)
    seen: list[EpochRecord] = []

    def epoch() -> None:
        train(training, epochs=1, on_epoch=seen.append)

    benchmark(epoch)
    assert np.isfinite(seen[-1].loss)


def test_loss(benchmark: BenchmarkFixture, prepared: DiffusionPreparation) -> None:
    """The loss alone, forward and backward, as it is written down."""
    shape = (prepared.graph.num_nodes, prepared.settings.dim)
    generator = torch.Generator().manual_seed(0)
    views = [
        torch.randn(shape, generator=generator, requires_grad=True) for _ in range(2)
    ]
    loss = build_loss(prepared.settings.loss, prepared.settings.eta)
    benchmark(lambda: loss(*views).backward())
    assert views[0].grad is not None


def test_probe(benchmark: BenchmarkFixture, graph: Graph) -> None:
    """Two splits, all weight decays and normalisations."""
    splits = random_splits(graph.y, train=0.1, val=0.1, count=2, seed=0)
    result = benchmark.pedantic(
        linear_probe, (graph.features, graph.y, splits), rounds=3, warmup_rounds=1
    )
    assert len(result.test) == 2
