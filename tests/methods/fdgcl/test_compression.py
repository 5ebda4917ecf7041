"""Blocks compressed to their shares: by every path, against NumPy's SVD."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from fdgcl.methods.fdgcl import compression as module
from fdgcl.methods.fdgcl.compression import Compression, fitting_bytes, shares
from fdgcl.methods.fdgcl.embedding_parts import Parts

WIDTHS = st.lists(st.integers(1, 300), min_size=1, max_size=6)
# Rounding of float32, of rows of 40 columns that are multiplied twice, with room.
CLOSE = 1e-5


@given(WIDTHS, st.integers(0, 2000))
def test_shares_fill_the_embedding(widths: list[int], more: int) -> None:
    dim = len(widths) + more
    found = shares(widths, dim)
    assert sum(found) == min(dim, sum(widths))
    assert all(1 <= share <= width for share, width in zip(found, widths, strict=True))
    # One that is cut has at most one column less than any other.
    cut = [s for s, w in zip(found, widths, strict=True) if s < w]
    assert not cut or min(cut) >= max(found) - 1
    wider = shares(widths, dim + 1)
    assert all(a <= b for a, b in zip(found, wider, strict=True))


def rows_of(width: int, count: int = 200, seed: int = 0) -> Tensor:
    """Correlated columns off their origin, whose variances fall by half."""
    rng = np.random.default_rng(seed)
    scale = 0.5 ** np.arange(width).clip(max=20)
    turn = np.linalg.qr(rng.normal(size=(width, width)))[0]
    rows = rng.normal(size=(count, width)) * scale @ turn + 3
    return torch.from_numpy(rows.astype(np.float32))


def by_blocks(blocks: Sequence[Tensor], step: int) -> module.Pass:
    def rows(wanted: Sequence[int]) -> Iterator[list[Tensor]]:
        for start in range(0, len(blocks[0]), step):
            yield [blocks[number][start : start + step] for number in wanted]

    return rows


def expected(block: Tensor, share: int) -> np.ndarray:
    centred = block.double().numpy() - block.double().numpy().mean(0)
    _, values, turned = np.linalg.svd(centred, full_matrices=False)
    assert values[share - 1] > values[share] * 1.1
    return centred @ turned[:share].T


def assert_same_up_to_signs(found: Tensor, wanted: np.ndarray, close: float) -> None:
    signs = np.sign((found.double().numpy() * wanted).sum(0))
    np.testing.assert_allclose(found.numpy(), wanted * signs, rtol=0, atol=close)


@pytest.mark.parametrize("step", [200, 64, 1])
def test_each_block_is_compressed_by_its_own_directions(step: int) -> None:
    # The second varies a thousand times less, and none of it is lost to the first.
    blocks = [rows_of(40), rows_of(12, seed=1) / 1000, rows_of(3, seed=2)]
    compression = Compression((40, 12, 3), (5, 5, 3))
    squares = compression.fit(by_blocks(blocks, step))
    first, second, third = compression(blocks)
    assert_same_up_to_signs(first, expected(blocks[0], 5), CLOSE)
    assert_same_up_to_signs(second, expected(blocks[1], 5), CLOSE / 100)
    assert third is blocks[2]
    for found, square in zip((first, second, third), squares, strict=True):
        mean = found.double().square().sum(1).mean()
        assert abs(mean / square - 1) < CLOSE


@pytest.mark.parametrize("step", [200, 7])
def test_wide_blocks_come_to_the_same(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = rows_of(120)
    exact = Compression((120,), (6,))
    squares = exact.fit(by_blocks([block], step))
    monkeypatch.setattr(module, "WIDEST_EXACT", 100)
    for _ in range(2):
        sketch = Compression((120,), (6,))
        found = sketch.fit(by_blocks([block], step))
        # Variances fall by four and more a direction: five products leave nothing.
        assert_same_up_to_signs(sketch([block])[0], exact([block])[0].numpy(), CLOSE)
        assert abs(found / squares - 1) < CLOSE
    again = Compression((120,), (6,))
    again.fit(by_blocks([block], step))
    assert torch.equal(again([block])[0], sketch([block])[0])


def test_a_flat_spectrum_loses_little_to_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    block = torch.from_numpy(np.random.default_rng(0).normal(size=(400, 300)))
    exact = Compression((300,), (30,), torch.float64)
    best = exact.fit(by_blocks([block], 100))
    monkeypatch.setattr(module, "WIDEST_EXACT", 100)
    found = Compression((300,), (30,), torch.float64).fit(by_blocks([block], 100))
    assert 0.97 * best < found <= best


@pytest.mark.parametrize("widest", [2048, 10])
def test_what_does_not_vary_is_no_column(
    widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two directions alone vary: the others are zeros, of unseen rows as well."""
    monkeypatch.setattr(module, "WIDEST_EXACT", widest)
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 30)) + 7
    block = torch.from_numpy(plane.astype(np.float32))
    compression = Compression((30,), (6,))
    compression.fit(by_blocks([block], 20))
    unseen = torch.from_numpy(rng.normal(size=(9, 30)).astype(np.float32))
    for rows in (block, unseen):
        (found,) = compression([rows])
        assert found[:, :2].abs().min() > 0
        assert not found[:, 2:].any()


@pytest.mark.parametrize("widest", [2048, 10])
def test_constant_and_broken_blocks(
    widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WIDEST_EXACT", widest)
    compression = Compression((30,), (6,))
    assert compression.fit(by_blocks([torch.full((8, 30), 2.0)], 8)) == 0
    assert not compression([torch.rand(4, 30)])[0].any()
    broken = torch.rand(8, 30)
    broken[3, 3] = torch.inf
    compression.fit(by_blocks([broken], 8))
    assert compression([torch.rand(4, 30)])[0].isnan().all()


def test_nothing_is_kept_where_nothing_is_compressed() -> None:
    assert not Compression((3, 4), (3, 4)).state_dict()
    assert not Compression((3, 4), (3, 4)).is_needed
    assert fitting_bytes((3000,), (3000,)) == 0
    # A wide block takes far less than all of its products.
    assert fitting_bytes((10_000,), (100,)) < 8 * 10_000**2 / 4


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (Parts((8, 8), (4, 4)), "16 columns; each is compressed by PCA, to 8 in all"),
        (Parts((8, 2), (4, 2)), "10 columns; one of them is compressed"),
        (Parts((8, 2, 9), (4, 2, 4)), "19 columns; the wide ones are each compressed"),
        (Parts((8,), (4,)), "8 columns; these are compressed by PCA, to 4 in all"),
    ],
)
def test_what_is_told(parts: Parts, words: str) -> None:
    assert words in parts.notices()[0]
    assert not Parts((8, 2), (8, 2)).notices()
