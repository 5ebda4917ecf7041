"""Rows read from a store while they are used, beside those held in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from trainings import diffused_store

from fdgcl.graphs.store.arrays import DamagedError, note_path, write_array
from fdgcl.methods.fdgcl import Combination, Diffused, Encoders
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.shuffling import Window
from fdgcl.methods.fdgcl.statistics import Statistics, _Moments, load_statistics
from fdgcl.methods.fdgcl.streamed import Streamed
from fdgcl.training import ProcessGroupError, SingleProcess
from fdgcl.training.process_group import ProcessGroup
from tolerances import (
    assert_agree,
    assert_within,
    covariance_bound,
    gamma,
    sum_bound,
    unit_roundoff,
)


@pytest.fixture(scope="module")
def diffusion(tmp_path_factory: pytest.TempPathFactory) -> Diffusion:
    return diffused_store(tmp_path_factory.mktemp("streamed") / "G")[1]


def rows_of(diffusion: Diffusion, order: int) -> np.ndarray:
    """All rows, by NumPy alone."""
    files = sorted((diffusion.folder / str(order)).glob("*.npy"))
    return np.concatenate([np.load(file) for file in files], axis=1)


def streamed(diffusion: Diffusion, window: int | None = None) -> Streamed:
    return Streamed(
        diffusion, load_statistics(diffusion, SingleProcess()), window=window
    )


def means_bound(x: np.ndarray, rows: int) -> np.ndarray:
    """Of means in float32 to which the mean of what they leave of the rows is added.

    That is rounded once for each of so many rows, in the subtraction and in the
    division.
    """
    left = np.abs(x - x.mean(0)).mean(0) + sum_bound(x, np.float32) / len(x)
    return gamma(rows + 3, np.float32) * left


def test_statistics_are_those_of_numpy(diffusion: Diffusion) -> None:
    found = load_statistics(diffusion, SingleProcess())
    for order in (0, 1):
        x = rows_of(diffusion, order).astype(np.float64)
        assert_within(found.means[order], x.mean(0), means_bound(x, len(x)))
        expected = np.cov(x, rowvar=False, bias=True)
        bound = 2 * covariance_bound(x, np.float32)
        assert_within(found.covariances[order], expected, bound)


def test_statistics_of_blocks_far_from_each_other() -> None:
    """Columns with large means, constant ones, and rows that drift."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((1000, 4)).astype(np.float32)
    rows += np.array([0, 3e3, 0, -7], np.float32)
    rows[:, 0] += np.linspace(-50, 50, 1000, dtype=np.float32)
    rows[:, 2] = 0.1
    moments = _Moments(4)
    for part in torch.split(torch.from_numpy(rows), 96):
        moments.add(part)
    exact = rows.astype(np.float64)
    assert_within(moments.mean, exact.mean(0), means_bound(exact, 96))
    expected = np.cov(exact, rowvar=False, bias=True)
    found = (moments.products / moments.count).numpy()
    # Twice: products of blocks' means are added to those of their rows.
    bound = 2 * covariance_bound(exact, np.float32, 96)
    assert_within(found, expected, bound)
    # The constant column: squares of 0.1 that were not centred first lose more.
    assert bound[2, 2] < gamma(1, np.float32) * 0.1**2


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
        Streamed(diffusion, Statistics(torch.zeros(2, 10), torch.zeros(2, 10, 10)))


@pytest.mark.parametrize("window", [None, 100])
def test_a_batch_gives_what_memory_gives(
    diffusion: Diffusion, window: int | None
) -> None:
    """Hidden, standardised, moments, factors and what is kept, of the same rows."""
    source = streamed(diffusion, window)
    rows = [torch.from_numpy(rows_of(diffusion, order)) for order in (0, 1)]
    store = diffusion.store
    x = np.concatenate([block.read(0, 300) for block in store.features], 1)
    memory = Diffused([one.clone() for one in rows], x)
    weight = torch.randn(10, 6, generator=torch.Generator().manual_seed(0))
    shuffle = source.shuffle(60)
    numbers = numbers_of(shuffle.windows(3, 2))
    seen = 0
    for batch, where in zip(source.batches(60, 3, 2), numbers, strict=True):
        assert batch.rows is not None
        assert batch.size == len(where)
        there = torch.from_numpy(where)
        for view in (0, 1):
            for name in ("hidden", "standardized"):
                assert_agree(
                    getattr(source, name)(view, weight, batch.rows),
                    getattr(memory, name)(view, weight, there),
                )
        ours = source.factors([weight, weight], batch.rows)
        theirs = memory.factors([weight, weight], there)
        if theirs is not None:
            torch.testing.assert_close(ours.weights, theirs.weights)
            for one, other in zip(ours.features, theirs.features, strict=True):
                assert_agree(one, other)
        half = source.factors([weight, weight], batch.rows, half=True)
        for k in (0, 1):
            wanted = ours.features[k], ours.weights[k]
            sizes = wanted[0].abs() @ wanted[1].abs()
            assert_within(
                half.features[k].float() @ half.weights[k],
                wanted[0] @ wanted[1],
                # Features are rounded to float16; all else is float32.
                (unit_roundoff(np.float16) + gamma(99, np.float32)) * sizes,
            )
        for name in ("local", "global", "features"):
            assert_agree(source.kept(name, batch.rows), memory.kept(name, there))
        seen += batch.size
    assert seen == 300
    for view in (0, 1):
        for ours_, theirs_ in zip(
            source.moments(view, weight), memory.moments(view, weight), strict=True
        ):
            assert_agree(ours_, theirs_, np.float32, size=1)


def numbers_of(windows: Iterable[Window]) -> Iterator[np.ndarray]:
    for window in windows:
        held = np.concatenate([np.arange(*ends) for ends in window.ranges])
        yield from (held[batch] for batch in window.batches)


def test_all_rows_at_once_are_in_their_order(diffusion: Diffusion) -> None:
    source = streamed(diffusion)
    for size in (None, 300, 1000):
        (batch,) = source.batches(size, 0, 1)
        assert batch.rows is None
        assert_agree(source.kept("local"), rows_of(diffusion, 0))


def test_blocks_come_in_order_and_freeze_the_views_alike(diffusion: Diffusion) -> None:
    source = streamed(diffusion)
    found = [
        (ends, source.kept("global").clone()) for ends in source.blocks(5, 290, 64)
    ]
    assert [ends for ends, _ in found][::4] == [(5, 69), (261, 290)]
    assert_agree(torch.cat([part for _, part in found]), rows_of(diffusion, 1)[5:290])
    rows = [torch.from_numpy(rows_of(diffusion, order)) for order in (0, 1)]
    pairs = [
        Encoders(10, 6, combination=Combination((0.3, 0.7), "concat", ("local",)))
        for _ in range(2)
    ]
    pairs[0].freeze_statistics(source)
    pairs[1].freeze_statistics(Diffused(rows))
    for name, value in pairs[0].state_dict().items():
        assert_agree(value, pairs[1].state_dict()[name], np.float32, size=1)


def test_a_reader_that_fails_is_heard_of(
    diffusion: Diffusion, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = streamed(diffusion, 100)
    read, calls = source._rows.read, []

    def fail(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) > 60:
            raise DamagedError("the disk is gone")
        read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(source._rows, "read", fail)
    with pytest.raises(DamagedError, match="gone"):
        list(source.batches(20, 0, 1))


def test_what_reads_ahead_changes_nothing(diffusion: Diffusion) -> None:
    """A slow consumer, one that stops early, and one that is quick."""
    source = streamed(diffusion, 100)
    first = source.batches(20, 0, 1)
    next(first)
    first.close()

    def taken() -> list[torch.Tensor]:
        return [
            source.kept("local", batch.rows).clone()
            for batch in source.batches(20, 0, 1)
        ]

    once, again = taken(), taken()
    assert all(torch.equal(a, b) for a, b in zip(once, again, strict=True))


def test_the_first_of_a_team_fails_for_all() -> None:
    class Second(ProcessGroup):
        rank, size = 1, 2

        def sum(self, tensor: torch.Tensor) -> torch.Tensor:
            return tensor + 1

        def gather_rows(self, tensor: torch.Tensor) -> torch.Tensor:
            return tensor

        def barrier(self) -> None:
            pass

    with pytest.raises(ProcessGroupError, match="first process"):
        Second().by_first(lambda: None)
    with pytest.raises(ZeroDivisionError):
        SingleProcess().by_first(lambda: print(1 / 0))
