"""Features diffused beforehand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fdgcl.diffusion import Grand, PolynomialFilter, Schedule
from fdgcl.graphs import load_dataset
from fdgcl.methods.fdgcl.precompute import diffuse_features
from fdgcl.operators.in_memory import build_operator
from tolerances import assert_agree

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


@pytest.mark.gpu
def test_the_same_on_a_device(polynomial):
    x = np.random.default_rng(0).normal(size=(2708, 70)).astype(np.float32)
    here, there = (
        diffuse_features(x, polynomial, dtype=torch.float32, device=torch.device(name))
        for name in ("cpu", "cuda")
    )
    for ours, theirs in zip(there, here, strict=True):
        assert_agree(ours, theirs)
