"""What the micro-benchmarks share: one graph, its operator and features.

`make bench` runs them. BENCH_NODES makes the graph larger or smaller.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch

from fdgcl import Graph
from fdgcl.benchmark.problems import bench_settings, generate
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation, prepare
from fdgcl.operators.in_memory import InMemoryOperator

NODES = int(os.environ.get("BENCH_NODES", "20000"))
DEGREE, FEATURES, DIM = 20, 64, 64


@pytest.fixture(scope="session")
def graph() -> Graph:
    """A graph of `NODES` nodes with dense features and labels."""
    return generate(NODES, NODES * DEGREE // 2, FEATURES, seed=0)


@pytest.fixture(scope="session")
def prepared(graph: Graph) -> DiffusionPreparation:
    """The graph under the settings that `fdgcl bench` times."""
    settings = bench_settings(
        dim=DIM, device="cpu", strategy="precompute", batch_size=NODES
    )
    return prepare(graph, settings)


@pytest.fixture(scope="session")
def operator(prepared: DiffusionPreparation) -> InMemoryOperator:
    """Its operator."""
    return prepared.operator


@pytest.fixture(scope="session")
def x(graph: Graph) -> torch.Tensor:
    """Its features."""
    return torch.from_numpy(np.array(graph.features))
