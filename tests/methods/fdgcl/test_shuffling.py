"""Every row once an epoch, in the same batches for any number of members."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from fdgcl.methods.fdgcl.shuffling import Shuffle

CASES = [
    (300, 50, 100),
    (300, 7, 64),
    (1000, 999, 1000),
    (65, 64, 10),
    (5, 2, 100),
    (3, 2, 10),
    (2, 2, 2),
    (40_001, 1_000, 9_000),
]


def batches(
    shuffle: Shuffle, epoch: int = 1, seed: int = 0
) -> list[list[NDArray[np.int64]]]:
    """Of each batch, the row numbers of each member."""
    members = [
        list(shuffle.windows(seed, epoch, rank)) for rank in range(shuffle.members)
    ]
    found = []
    for windows in zip(*members, strict=True):
        held = [
            np.concatenate([np.empty(0, int), *(np.arange(*r) for r in one.ranges)])
            for one in windows
        ]
        for number, size in enumerate(windows[0].sizes):
            assert {one.sizes[number] for one in windows} == {size}
            parts = [
                rows[one.batches[number]]
                for rows, one in zip(held, windows, strict=True)
            ]
            assert sum(map(len, parts)) == size
            found.append(parts)
    return found


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("members", [1, 2, 3, 5])
def test_every_row_once_and_the_same_batches_for_all_teams(
    case: tuple[int, int, int], members: int
) -> None:
    rows, size, window = case
    shuffle = Shuffle(rows, size, window, members)
    found = batches(shuffle)
    alone = batches(Shuffle(rows, size, window))
    assert len(found) == len(alone)
    for parts, whole in zip(found, alone, strict=True):
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.sort(whole[0]))
    every = np.concatenate([part for parts in found for part in parts])
    np.testing.assert_array_equal(np.sort(every), np.arange(rows))
    assert min(sum(map(len, parts)) for parts in found) >= 2
    assert max(len(part) for parts in found for part in parts) <= shuffle.largest_batch
    for rank in range(members):
        held = [one.rows for one in shuffle.windows(0, 1, rank)]
        assert max(held) <= shuffle.largest_window


def test_batches_are_about_as_large_as_asked() -> None:
    for rows in (1_000_000, 1_234_567):
        shuffle = Shuffle(rows, 32_768)
        sizes = [size for one in shuffle.windows(0, 1) for size in one.sizes]
        assert len(sizes) == -(-rows // 32_768)
        assert max(sizes) <= 1.05 * 32_768
        assert min(sizes) >= 0.9 * 32_768


def test_a_batch_has_rows_of_all_chunks_of_its_window() -> None:
    shuffle = Shuffle(40_000, 1_000, 8_000)
    window = next(shuffle.windows(0, 1))
    bounds = np.cumsum([stop - start for start, stop in window.ranges])
    for batch in window.batches:
        chunks = np.bincount(np.searchsorted(bounds, batch, side="right"))
        assert len(chunks) == len(window.ranges)
        assert chunks.max() - chunks.min() <= 1


def test_epochs_and_seeds_differ_and_repeat_themselves() -> None:
    shuffle = Shuffle(900, 100, 300)
    first = batches(shuffle)
    again = batches(shuffle)
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(first, again, strict=True))
    for other in (batches(shuffle, epoch=2), batches(shuffle, seed=1)):
        assert set(other[0][0].tolist()) != set(first[0][0].tolist())


def test_long_rows_make_windows_short_but_never_less_than_a_batch() -> None:
    def window(num_features: int, batch_size: int) -> int:
        return Shuffle.of(10**6, num_features, batch_size).window_rows

    assert window(64, 1_000) == 131_072
    assert window(4_096, 1_000) == 4_096
    assert window(4_096, 32_768) == 32_768


@pytest.mark.parametrize("case", CASES, ids=str)
def test_where_all_rows_are_held_positions_are_their_numbers(
    case: tuple[int, int, int],
) -> None:
    whole = Shuffle(*case, holds_all=True)
    windows = list(whole.windows(0, 1))
    assert all(one.ranges == ((0, case[0]),) for one in windows)
    found = [batch for one in windows for batch in one.batches]
    for ours, (theirs,) in zip(found, batches(Shuffle(*case)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert whole.share() == ((0, case[0]),)


@pytest.mark.parametrize("members", [1, 2, 3])
def test_shares_of_all_rows(members: int) -> None:
    shuffle = Shuffle(1000, 1000, members=members)
    ranges = [ends for rank in range(members) for ends in shuffle.share(rank)]
    rows = np.concatenate([np.arange(*ends) for ends in ranges])
    np.testing.assert_array_equal(np.sort(rows), np.arange(1000))


def smooth(rows: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """A function that rows which follow each other have nearly in common."""
    found: NDArray[np.float64] = np.sin(2 * np.pi * rows / count)
    return found


def test_a_batch_of_one_window_has_the_mean_of_all_rows() -> None:
    """Every time, where a permutation has it on average."""
    count, size = 40_000, 1_000
    shuffle = Shuffle(count, size)
    expected = smooth(np.arange(count), count).mean()
    # A row differs from another of its chunk by the slope, 2 pi, times their distance.
    # A chunk has up to one row in a batch more or less than its share, of values up
    # to 1.
    share = size / shuffle.num_chunks
    bound = 2 * np.pi * shuffle.chunk_rows / count + 2 / share
    means = [smooth(batch, count).mean() for (batch,) in batches(shuffle)]
    assert max(abs(mean - expected) for mean in means) <= bound
    # The deviation of such means in a permutation's batches is sqrt(1/2 / size).
    assert np.std(means) < 0.2 * np.sqrt(0.5 / size)


def test_a_batch_of_some_chunks_has_that_mean_on_average() -> None:
    count, size, epochs = 4_000, 100, 400
    shuffle = Shuffle(count, size, window_rows=1_000)
    assert shuffle.num_windows == 4
    expected = smooth(np.arange(count), count).mean()
    means = np.array(
        [
            [smooth(batch, count).mean() for (batch,) in batches(shuffle, epoch)]
            for epoch in range(epochs)
        ]
    )
    off = np.abs(means.mean(0) - expected) / (means.std(0) / np.sqrt(epochs))
    # Forty means of four hundred: five deviations are met once in 40,000 times.
    assert off.max() < 5
    # A window is a random quarter of the chunks, whose mean deviates by this much.
    chunks = shuffle.num_chunks / shuffle.num_windows
    assert means.std() < 1.2 * np.sqrt(0.5 / chunks)
