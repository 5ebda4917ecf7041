"""Features diffused beforehand, and their mean and covariance."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fdgcl.diffusion import Grand, PolynomialFilter, Schedule
from fdgcl.graphs import load_dataset
from fdgcl.methods.fdgcl import precompute
from fdgcl.methods.fdgcl.precompute import (
    column_means,
    diffuse_features,
    mean_and_covariance,
)
from fdgcl.operators.in_memory import build_operator
from tolerances import assert_agree, assert_within, covariance_bound, sum_bound

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def polynomial():
    operator = build_operator(load_dataset("cora-bundled").adjacency)
    return PolynomialFilter.of(Grand(), operator, Schedule(20, 1), (0.01, 1.0))


@pytest.mark.parametrize("kind", ["dense", "read-only", "float64", "whole", "sparse"])
def test_features_of_every_kind_are_diffused(polynomial, kind):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2708, 70)) * (rng.random((2708, 70)) < 0.3)
    if kind == "whole":
        x = np.sign(x).astype(np.int8)
    expected = polynomial.apply(torch.from_numpy(x).double())
    given = {
        "dense": x.astype(np.float32),
        "read-only": x.astype(np.float32),
        "sparse": csr_array(x.astype(np.float32)),
    }.get(kind, x)
    if kind == "read-only":
        given.flags.writeable = False
    seen = []
    found = diffuse_features(
        given,
        polynomial,
        dtype=torch.float32,
        device=CPU,
        progress=lambda *done: seen.append(done),
    )
    assert seen[-1] == (70, 70)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == torch.float32
        assert_agree(ours, theirs)


@pytest.mark.parametrize("precision", ["highest", "high"])
@pytest.mark.parametrize("rows", [1, 7, 100, 8192])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_mean_and_covariance(monkeypatch, precision, rows, dtype):
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: precision)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4)) + [0, 1, -3, 10]
    x = torch.from_numpy(x).to(dtype)
    mean, covariance = mean_and_covariance(x, rows)
    assert mean.dtype == covariance.dtype == dtype
    exact = x.double().numpy()
    # NumPy rounds too, in float64: the second term of each bound.
    bound = (sum_bound(exact, dtype) + sum_bound(exact, np.float64)) / len(exact)
    assert_within(mean, exact.mean(0), bound)
    expected = np.cov(exact, rowvar=False, bias=True)
    bound = covariance_bound(exact, dtype, rows) + covariance_bound(exact, np.float64)
    assert_within(covariance, expected, bound)


def test_a_large_mean_leaves_a_small_variance_its_digits():
    x = 1000 + torch.from_numpy(np.random.default_rng(0).normal(size=(20_000, 3)))
    single = x.float()
    _, covariance = mean_and_covariance(single)
    expected = np.cov(single.double().numpy(), rowvar=False, bias=True)
    bound = covariance_bound(single, np.float32, 8192) + covariance_bound(x, np.float64)
    assert_within(covariance, expected, bound)
    # Sums of squares that were not centred first would be worse by far.
    assert bound.max() < 1e-2 < sum_bound(single.square(), np.float32).max() / 20_000


@pytest.mark.parametrize("precision", ["high", "medium"])
def test_rounded_products_are_not_used(monkeypatch, precision):
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: precision)
    assert not precompute.products_are_exact(CPU)
    assert not precompute.products_are_exact(torch.device("cuda"))


@pytest.mark.gpu
def test_the_same_on_a_device(polynomial):
    x = np.random.default_rng(0).normal(size=(2708, 70)).astype(np.float32)
    here, there = (
        diffuse_features(x, polynomial, dtype=torch.float32, device=torch.device(name))
        for name in ("cpu", "cuda")
    )
    for ours, theirs in zip(there, here, strict=True):
        assert_agree(ours, theirs)
        for found, expected in zip(
            mean_and_covariance(ours), mean_and_covariance(theirs), strict=True
        ):
            assert_agree(found, expected)


def test_means_of_columns_keep_their_digits() -> None:
    # Whole numbers, of which 8,192 add up to less than 2^24, and all to more: sums of
    # blocks are exact in float32 in any order, and only sums of blocks are.
    rows = np.random.default_rng(0).integers(1000, 1024, (30_000, 3))
    found = column_means(torch.tensor(rows, dtype=torch.float32))
    assert found.tolist() == rows.mean(0).astype(np.float32).tolist()
