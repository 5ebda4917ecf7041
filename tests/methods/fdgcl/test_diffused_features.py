"""Diffused features: in memory and in windows read from a store, the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl.graphs.store.arrays import DamagedError
from fdgcl.methods.fdgcl import Combination, DiffusedFeatures, Encoders, shuffling
from fdgcl.methods.fdgcl.diffused import Diffusion
from fdgcl.methods.fdgcl.embedding_parts import Parts
from fdgcl.methods.fdgcl.kept_features import KeptFeatures
from fdgcl.methods.fdgcl.sources import Factors
from fdgcl.methods.fdgcl.stored_statistics import load_statistics
from fdgcl.methods.fdgcl.windows import Held
from fdgcl.methods.fdgcl.windows_on_disk import RowsOnDisk
from fdgcl.training import ProcessGroupError, SingleProcess
from fdgcl.training.process_group import ProcessGroup
from helpers.trainings import diffused_store
from tolerances import assert_agree, assert_within, gamma, unit_roundoff

NODES = 300


@pytest.fixture(scope="module")
def diffusion(tmp_path_factory: pytest.TempPathFactory) -> Diffusion:
    return diffused_store(tmp_path_factory.mktemp("diffused") / "G")[1]


def rows_of(diffusion: Diffusion, order: int) -> NDArray[np.float32]:
    """All rows, by NumPy alone."""
    files = sorted((diffusion.folder / str(order)).glob("*.npy"))
    return np.concatenate([np.load(file) for file in files], axis=1)


def on_disk(diffusion: Diffusion) -> DiffusedFeatures:
    statistics = load_statistics(diffusion, SingleProcess())
    return DiffusedFeatures(RowsOnDisk(diffusion, statistics.means), statistics)


def in_memory(diffusion: Diffusion) -> DiffusedFeatures:
    rows = [torch.from_numpy(rows_of(diffusion, order)) for order in (0, 1)]
    blocks = diffusion.store.features
    x = np.concatenate([block.read(0, NODES) for block in blocks], 1)
    return DiffusedFeatures.in_memory(rows, KeptFeatures(x))


def numbers_of(held: Held) -> Tensor:
    """The row numbers of what is held."""
    return torch.cat([torch.arange(*ends) for ends in held.ranges])


#: Windows of an epoch, the rows of each, and the most of a batch.
WINDOWS = [(1, NODES, 60), (3, 100, 60), (50, 6, 6)]


@pytest.fixture(params=WINDOWS, ids=lambda case: f"{case[0]} windows")
def batch_size(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[int]:
    """That of an epoch in so many windows, and of an embedding in so many blocks."""
    count, rows, size = request.param
    monkeypatch.setattr(shuffling, "WINDOW_ROWS", rows)
    monkeypatch.setattr(DiffusedFeatures, "block_rows", rows)
    assert shuffling.Shuffle.of(NODES, 10, size).num_windows == count
    return size


def weights() -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(10, 6, generator=generator) for _ in range(2)]


def check_the_same(
    ours: DiffusedFeatures,
    theirs: DiffusedFeatures,
    rows: Tensor | None = None,
    others: Tensor | None = None,
) -> None:
    """Hidden, standardised, moments and factors, of two sources' rows."""
    chosen = weights()
    for view, weight in enumerate(chosen):
        for name in ("hidden", "standardized"):
            expected = getattr(theirs, name)(view, weight, others)
            assert_agree(getattr(ours, name)(view, weight, rows), expected)
        pairs = zip(
            ours.moments(view, weight), theirs.moments(view, weight), strict=True
        )
        for one, other in pairs:
            assert_agree(one, other, np.float32, size=1)
    single = factors_of(ours, rows), factors_of(theirs, others)
    assert_agree(single[0].weights, single[1].weights)
    for one, other in zip(single[0].features, single[1].features, strict=True):
        assert_agree(one, other)
    check_halves(single[0], factors_of(ours, rows, half=True))
    check_halves(single[1], factors_of(theirs, others, half=True))


def factors_of(
    source: DiffusedFeatures, rows: Tensor | None, *, half: bool = False
) -> Factors:
    found = source.factors(weights(), rows, half=half)
    assert found is not None
    return found


def check_halves(single: Factors, half: Factors) -> None:
    for k in (0, 1):
        assert half.features[k].dtype == torch.float16
        features, weight = single.features[k], single.weights[k]
        assert_within(
            half.features[k].float() @ half.weights[k],
            features @ weight,
            # Features are rounded to float16; all else is float32.
            (unit_roundoff(np.float16) + gamma(99, np.float32))
            * (features.abs() @ weight.abs()),
        )


def test_batches_are_the_same_in_memory_and_on_disk(
    diffusion: Diffusion, batch_size: int
) -> None:
    disk, memory = on_disk(diffusion), in_memory(diffusion)
    seen: list[Tensor] = []
    for ours, theirs in zip(
        disk.batches(batch_size, 3, 2), memory.batches(batch_size, 3, 2), strict=True
    ):
        assert ours.rows is not None
        assert theirs.rows is not None
        numbers = numbers_of(disk._rows.held)[ours.rows]
        assert torch.equal(numbers, theirs.rows)
        assert ours.size == theirs.size == len(numbers) <= batch_size + 2
        check_the_same(disk, memory, ours.rows, theirs.rows)
        seen.append(numbers)
    assert torch.equal(torch.cat(seen).sort().values, torch.arange(NODES))


@pytest.mark.parametrize("dim", [42, 17])
def test_embeddings_are_the_same_in_memory_and_on_disk(
    diffusion: Diffusion, batch_size: int, dim: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By blocks, with what is kept beside the views; against all rows at once."""
    kept = ("features", "local", "global")
    parts = Parts((6, 6, 10, 10, 10), dim)

    def new_views() -> Encoders:
        combination = Combination((0.3, 0.7), parts, "concat", kept)
        return Encoders(10, 6, combination=combination)

    found = []
    for source in (on_disk(diffusion), in_memory(diffusion)):
        views = new_views()
        views.freeze_statistics(source)
        found.append((views.embed(source), views.state_dict()))
    monkeypatch.setattr(DiffusedFeatures, "block_rows", NODES)
    views = new_views()
    source = in_memory(diffusion)
    views.freeze_statistics(source)
    expected = views.embed(source)
    assert len(expected) == NODES
    for embedding, state in found:
        assert_agree(embedding, expected)
        for name, value in state.items():
            assert_agree(value, views.state_dict()[name], np.float32, size=1)


@pytest.mark.parametrize("size", [None, NODES, 1000])
def test_all_rows_at_once_are_in_their_order(
    diffusion: Diffusion, size: int | None
) -> None:
    disk, memory = on_disk(diffusion), in_memory(diffusion)
    for source in (disk, memory):
        (batch,) = source.batches(size, 0, 1)
        assert batch == (None, NODES)
        for order, name in enumerate(("local", "global")):
            assert_agree(source.kept(name), rows_of(diffusion, order))
    check_the_same(disk, memory)
    # What is held stays, and is not read again.
    held = disk._rows.held
    next(disk.batches(size, 0, 2))
    assert disk._rows.held is held


def test_blocks_come_in_order(diffusion: Diffusion) -> None:
    for source in (on_disk(diffusion), in_memory(diffusion)):
        found = [
            (ends, source.kept("global").clone(), source.kept("features"))
            for ends in source.blocks(5, 290, 64)
        ]
        assert [ends for ends, _, _ in found][::4] == [(5, 69), (261, 290)]
        views, features = (torch.cat([one[k] for one in found]) for k in (1, 2))
        assert_agree(views, rows_of(diffusion, 1)[5:290])
        blocks = diffusion.store.features
        x = np.concatenate([block.read(5, 290) for block in blocks], 1)
        assert torch.equal(features, torch.from_numpy(x))


def test_in_memory_nothing_is_copied() -> None:
    """Views are taken over; a block of rows is a part of them."""
    views = [torch.randn(60, 3) + 5 for _ in range(2)]
    source = DiffusedFeatures.in_memory(views)
    places = [view.data_ptr() for view in views]
    assert [view.data_ptr() for view in source._rows.held.views] == places
    for start, _ in source.blocks(0, 60, 20):
        for view, place in zip(source._rows.held.views, places, strict=True):
            assert view.data_ptr() == place + start * 3 * 4
    assert len(source._rows.held.views[0]) == 60
    stopped = source.blocks(0, 60, 20)
    next(stopped)
    stopped.close()  # type: ignore[attr-defined]
    assert len(source._rows.held.views[0]) == 60


def test_many_features_take_their_variance_from_all_rows() -> None:
    """In memory, more than a quarter as many as rows: no covariance is made."""
    views = [torch.randn(24, 7, dtype=torch.float64) * 3 + 2 for _ in range(2)]
    weight = torch.randn(7, 5, dtype=torch.float64)
    few = DiffusedFeatures.in_memory([view.repeat(2, 1) for view in views])
    many = DiffusedFeatures.in_memory([view.clone() for view in views])
    rows = torch.tensor([3, 3, 17, 0])
    assert many.factors([weight, weight]) is None
    assert few.factors([weight, weight]) is not None
    for view in (0, 1):
        for name in ("hidden", "standardized"):
            found = getattr(many, name)(view, weight, rows)
            torch.testing.assert_close(found, getattr(few, name)(view, weight, rows))
            whole = getattr(many, name)(view, weight)
            torch.testing.assert_close(whole[rows], found)
        pairs = zip(many.moments(view, weight), few.moments(view, weight), strict=True)
        for one, other in pairs:
            torch.testing.assert_close(one, other)


def test_a_reader_that_fails_is_heard_of(
    diffusion: Diffusion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffling, "WINDOW_ROWS", 100)
    source = on_disk(diffusion)
    rows = source._rows
    assert isinstance(rows, RowsOnDisk)
    read, calls = rows._rows.read, []

    def fail(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) > 60:
            raise DamagedError("the disk is gone")
        read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(rows._rows, "read", fail)
    with pytest.raises(DamagedError, match="gone"):
        list(source.batches(20, 0, 1))


def test_what_reads_ahead_changes_nothing(
    diffusion: Diffusion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A consumer that stops early, and one that is quick."""
    monkeypatch.setattr(shuffling, "WINDOW_ROWS", 100)
    source = on_disk(diffusion)
    first = source.batches(20, 0, 1)
    next(first)
    first.close()

    def taken() -> list[Tensor]:
        eye = torch.eye(10)
        return [source.hidden(0, eye, batch.rows) for batch in source.batches(20, 0, 1)]

    once, again = taken(), taken()
    assert all(torch.equal(a, b) for a, b in zip(once, again, strict=True))


def test_two_windows_are_all_the_memory(
    diffusion: Diffusion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the plan counts them: one that is used, and one that is read."""
    monkeypatch.setattr(shuffling, "WINDOW_ROWS", 100)
    source = on_disk(diffusion)
    rows = source._rows
    assert isinstance(rows, RowsOnDisk)
    places = set()
    for _ in source.batches(20, 0, 1):
        assert rows._space is not None
        assert rows._space.numel() == 2 * 2 * source.shuffle(20).largest_window * 10
        places.add(rows.held.views[0].data_ptr())
    assert len(places) == 2
    source.release()
    assert rows._space is None


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
