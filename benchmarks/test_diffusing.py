"""What comes before training: sparse products, the filter, standardisation."""

from __future__ import annotations

import numpy as np
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from fdgcl.benchmark.solver_in_loop import SolverInLoop
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation
from fdgcl.methods.fdgcl.statistics import BLOCK_ROWS, Statistics
from fdgcl.operators.in_memory import InMemoryOperator
from fdgcl.operators.sparse import csr_tensor


def test_sparse_product_scipy(
    benchmark: BenchmarkFixture, operator: InMemoryOperator, x: torch.Tensor
) -> None:
    """A X by SciPy, on one thread."""
    matrix, dense = operator.matrix.matrix.astype(np.float32), x.numpy()
    assert benchmark(lambda: matrix @ dense).shape == x.shape


def test_sparse_product_torch(
    benchmark: BenchmarkFixture, operator: InMemoryOperator, x: torch.Tensor
) -> None:
    """A X by a torch CSR tensor as it comes, with 64-bit indices."""
    matrix = operator.matrix.matrix
    sparse = csr_tensor(
        torch.from_numpy(matrix.indptr.astype(np.int64)),
        torch.from_numpy(matrix.indices.astype(np.int64)),
        torch.from_numpy(matrix.data.astype(np.float32)),
        matrix.shape,
    )
    assert benchmark(lambda: sparse @ x).shape == x.shape


def test_sparse_product_ours(
    benchmark: BenchmarkFixture, operator: InMemoryOperator, x: torch.Tensor
) -> None:
    """A X by the operator that diffusion uses."""
    assert benchmark(operator.apply, x).shape == x.shape


def test_filter_of_both_orders(
    benchmark: BenchmarkFixture, prepared: DiffusionPreparation, x: torch.Tensor
) -> None:
    """What is done once, before training."""
    views = benchmark(prepared.filters[0].apply, x)
    assert len(views) == 2


def test_solver_of_both_orders(
    benchmark: BenchmarkFixture, prepared: DiffusionPreparation
) -> None:
    """The twin of the filter: stepped, with all history."""
    solver = SolverInLoop(prepared)
    views = benchmark(lambda: [solver.kept("local"), solver.kept("global")])
    assert len(views) == 2


def test_statistics(benchmark: BenchmarkFixture, x: torch.Tensor) -> None:
    """Mean and covariance of diffused features."""
    found = benchmark(lambda: Statistics.of([torch.split(x, BLOCK_ROWS)]))
    assert found.covariances is not None
    assert found.covariances.shape == (1, x.shape[1], x.shape[1])


def test_standardisation(
    benchmark: BenchmarkFixture, prepared: DiffusionPreparation
) -> None:
    """Hidden features of a view, brought to mean 0 and variance 1."""
    source = prepared.source(torch.device("cpu"))
    weight = torch.randn(prepared.graph.num_features, prepared.settings.dim)
    source.standardized(0, weight)
    with torch.no_grad():
        hidden = benchmark(source.standardized, 0, weight)
    assert float(hidden.var(0, unbiased=False).mean()) > 0.9
