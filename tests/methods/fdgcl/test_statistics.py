"""Mean and covariance of diffused features, in memory and beside those of a store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from fdgcl.graphs.store.arrays import DamagedError, note_path, write_array
from fdgcl.methods.fdgcl import statistics
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.statistics import BLOCK_ROWS, Statistics
from fdgcl.methods.fdgcl.stored_statistics import load_statistics
from fdgcl.methods.fdgcl.windows_on_disk import RowsOnDisk
from fdgcl.training import SingleProcess
from helpers.trainings import diffused_store
from tolerances import (
    assert_agree,
    assert_within,
    covariance_bound,
    gamma,
    sum_bound,
    unit_roundoff,
)


def statistics_of(rows: torch.Tensor, block: int = BLOCK_ROWS) -> Statistics:
    return Statistics.of([torch.split(rows, block)])


def means_bound(
    x: NDArray[np.float64], block: int, dtype: torch.dtype = torch.float32
) -> NDArray[np.float64]:
    """Of means of blocks to which the mean of what they leave of the rows is added.

    What is left is rounded in the subtraction, in each sum and in the division. It is
    no further from a block's mean than twice what it is from the mean of all, and that
    is off by what a sum is. Sums over blocks are in float64.
    """
    left = 2 * np.abs(x - x.mean(0)).mean(0) + sum_bound(x, dtype) / len(x)
    found: NDArray[np.float64] = gamma(min(block, len(x)) + 3, dtype) * left
    return found + 2 * sum_bound(x, np.float64) / len(x)


@pytest.mark.parametrize("precision", ["highest", "high"])
@pytest.mark.parametrize("block", [1, 7, 100, 8192])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_in_any_blocks_they_are_those_of_numpy(
    monkeypatch: pytest.MonkeyPatch, precision: str, block: int, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: precision)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4)) + [0, 1, -3, 10]
    rows = torch.from_numpy(x).to(dtype)
    found = statistics_of(rows, block)
    exact = rows.double().numpy()
    assert_within(found.means[0], exact.mean(0), means_bound(exact, block, dtype))
    assert found.covariances is not None
    expected = np.cov(exact, rowvar=False, bias=True)
    # Twice: products of blocks' means are added to those of their rows.
    bound = covariance_bound(exact, dtype, block) + covariance_bound(exact, np.float64)
    assert_within(found.covariances[0], expected, 2 * bound)
    alone = Statistics.of([torch.split(rows, block)], covariances=False)
    assert torch.equal(alone.means, found.means)
    assert alone.covariances is None
    rounded = Statistics.of([torch.split(rows, block)], dtype=torch.float32)
    assert rounded.covariances is not None
    assert torch.equal(rounded.covariances, found.covariances.float())
    assert torch.equal(rounded.means, found.means.float())


def hard_columns(rows: int = 30_000) -> NDArray[np.float64]:
    """A large mean, one with a tiny variance, a time in order, a drift, a constant."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, 5))
    x[:, 0] += 1000
    x[:, 1] = 1e4 + 0.03 * x[:, 1]
    x[:, 2] = 1.7e9 + 86_400 * np.sort(x[:, 2])
    x[:, 3] += np.linspace(-50, 50, rows)
    x[:, 4] = 0.1
    return x.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("in_order", [True, False])
def test_hard_columns_keep_their_digits(in_order: bool) -> None:
    exact = hard_columns()
    if not in_order:
        exact = np.random.default_rng(1).permutation(exact)
    single = exact.astype(np.float32)
    found = statistics_of(torch.from_numpy(single))
    assert found.covariances is not None
    assert_within(found.means[0], exact.mean(0), means_bound(exact, BLOCK_ROWS))
    expected = np.cov(exact, rowvar=False, bias=True)
    deviations = np.sqrt(expected.diagonal()[:4])
    scale = np.outer(deviations, deviations)
    # Centred rows are exact, but for what rounding leaves of their mean, less than a
    # deviation. Roundings of a block's sums add up like a random walk.
    allowed = 8 * np.sqrt(BLOCK_ROWS) * unit_roundoff(np.float32)
    assert_within(found.covariances[0, :4, :4], expected[:4, :4], allowed * scale)
    # The constant one: what rounding leaves of its mean, squared.
    assert abs(found.covariances[0, 4, 4]) <= (gamma(BLOCK_ROWS, np.float32) * 0.1) ** 2
    # Products of rows that were not centred first lose these columns.
    products = single.T @ single / np.float32(len(single))
    lost = products.diagonal() - np.square(single.mean(0))
    off = np.abs(lost - expected.diagonal())[:3]
    assert (off > 100 * allowed * expected.diagonal()[:3]).all()


def test_means_of_whole_numbers_are_exact() -> None:
    # Of which 8,192 add up to less than 2^24, and all to more.
    rows = np.random.default_rng(0).integers(1000, 1024, (30_000, 3))
    whole = torch.tensor(rows, dtype=torch.float32)
    found = Statistics.of([torch.split(whole, BLOCK_ROWS)], covariances=False)
    assert found.means[0].float().tolist() == rows.mean(0).astype(np.float32).tolist()


@pytest.mark.parametrize("precision", ["high", "medium"])
def test_rounded_products_are_not_used(
    monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: precision)
    assert not statistics.products_are_exact(torch.device("cpu"))
    assert not statistics.products_are_exact(torch.device("cuda"))


@pytest.mark.gpu
def test_the_same_on_a_device() -> None:
    rows = torch.from_numpy(hard_columns()[:, :4]).float()
    there, here = statistics_of(rows.cuda()), statistics_of(rows)
    assert there.means.device.type == "cuda"
    assert_agree(there.means, here.means)
    assert there.covariances is not None
    assert here.covariances is not None
    deviations = here.covariances[0].diagonal().sqrt()
    scale = torch.outer(deviations, deviations)
    assert_agree(there.covariances[0].cpu() / scale, here.covariances[0] / scale)


@pytest.fixture(scope="module")
def diffusion(tmp_path_factory: pytest.TempPathFactory) -> Diffusion:
    return diffused_store(tmp_path_factory.mktemp("statistics") / "G")[1]


def test_of_a_store_they_are_those_of_numpy(diffusion: Diffusion) -> None:
    found = load_statistics(diffusion, SingleProcess())
    assert found.covariances is not None
    for order in (0, 1):
        files = sorted((diffusion.folder / str(order)).glob("*.npy"))
        rows = np.concatenate([np.load(file) for file in files], axis=1)
        x = rows.astype(np.float64)
        assert_within(found.means[order], x.mean(0), means_bound(x, len(x)))
        expected = np.cov(x, rowvar=False, bias=True)
        bound = 2 * covariance_bound(x, np.float32)
        assert_within(found.covariances[order], expected, bound)


def test_statistics_are_kept_until_the_features_change(tmp_path: Path) -> None:
    _, diffusion = diffused_store(tmp_path / "G", nodes=80)
    first = load_statistics(diffusion, SingleProcess())
    file = diffusion.folder / "statistics.safetensors"
    written = file.stat().st_mtime_ns
    load_statistics(diffusion, SingleProcess())
    assert file.stat().st_mtime_ns == written
    path = diffusion.path(0, 0)
    write_array(path, 2 * np.load(path))
    again = load_statistics(diffusion, SingleProcess())
    torch.testing.assert_close(again.means[0], 2 * first.means[0])


def test_an_altered_block_is_named(tmp_path: Path) -> None:
    _, diffusion = diffused_store(tmp_path / "G", nodes=80)
    path = diffusion.path(1, 0)
    content = bytearray(path.read_bytes())
    content[-7] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedError, match=r"1/000\.npy is damaged: block 0 \(rows 0"):
        load_statistics(diffusion, SingleProcess())
    assert not (diffusion.folder / "statistics.safetensors").exists()
    content[-7] ^= 1
    path.write_bytes(content)
    load_statistics(diffusion, SingleProcess())
    content[-7] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedError, match="is damaged: block 0"):
        load_statistics(diffusion, SingleProcess())  # there are some, and still
    load_statistics(diffusion, SingleProcess(), verify=False)
    note_path(path).unlink()
    with pytest.raises(ValueError, match=r"1 of 1 slices .* are not diffused yet"):
        RowsOnDisk(diffusion, torch.zeros(2, 10))
