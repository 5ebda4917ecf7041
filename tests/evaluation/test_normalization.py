"""The normalisations, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.evaluation import normalization
from fdgcl.evaluation.normalization import NORMALIZATIONS
from tolerances import assert_agree

CPU = torch.device("cpu")
ALL = np.arange(40)
every_normalization = pytest.mark.parametrize("name", NORMALIZATIONS)


def matrix() -> np.ndarray:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(40, 6)) * [1, 2, 5, 0.1, 1, 1] + [0, 3, 0, 1, 0, 0]
    z[rng.random(z.shape) < 0.6] = 0
    z[:, 4] = 7.3
    z[5] = 0
    return z


def by_hand(name: str, z: np.ndarray) -> np.ndarray:
    if name == "row":
        lengths = np.linalg.norm(z, axis=1, keepdims=True)
        z = z / np.where(lengths, lengths, 1)
    z = z - z.mean(0)
    if name == "column":
        deviations = z.std(0)
        z = np.where(deviations > 1e-9, z / np.where(deviations, deviations, 1), 0)
    return z / np.sqrt((z**2).sum(1).mean())


@every_normalization
@pytest.mark.parametrize("stored", [torch.tensor, sparse.csr_array])
@pytest.mark.parametrize("chunk", [7, 2**24])
def test_equals_numpy(name, stored, chunk, monkeypatch):
    monkeypatch.setattr(normalization, "_CHUNK_ENTRIES", chunk)
    z = matrix()
    found = NORMALIZATIONS[name](stored(z), CPU)
    expected = by_hand(name, z)
    some = np.array([3, 5, 21])
    assert_agree(found.dense_rows(ALL), expected)
    assert_agree(found.dense_rows(some), expected[some])
    weights = np.random.default_rng(1).normal(size=(6, 3))
    assert_agree(found.scores(torch.tensor(weights)), expected @ weights)
    padded = torch.cat([torch.tensor(weights), torch.ones(1, 3)]).T
    assert_agree(found.rows(some).scores(padded).T, expected[some] @ weights + 1)


@every_normalization
def test_scale_of_the_embedding_does_not_matter(name):
    z = torch.tensor(matrix())
    first = NORMALIZATIONS[name](z, CPU).dense_rows(ALL)
    torch.testing.assert_close(
        NORMALIZATIONS[name](1e4 * z, CPU).dense_rows(ALL), first
    )


@every_normalization
def test_a_constant_embedding_becomes_zeros(name):
    z = torch.full((40, 6), 3.3)
    rows = NORMALIZATIONS[name](z, CPU).dense_rows(ALL)
    assert torch.isfinite(rows).all()
    if name == "column":
        assert (rows == 0).all()


def test_numbers_too_large_to_square_are_refused():
    with pytest.raises(InputError, match=r"too large to square in torch\.float32"):
        NORMALIZATIONS["global"](torch.tensor([[1e30], [-1e30]]), CPU)
