"""Arrays on disk: what is written is read, and nothing else ever is."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdgcl._checks import InputError
from fdgcl.graphs.store.arrays import (
    ArrayWriter,
    DamagedError,
    StoredArray,
    is_finished,
    note_path,
    write_array,
)
from helpers.accidents import everything, flip, full_disk, partial_files

HEADER = 256  # bytes before the numbers, as `np.load` finds them
CHUNK = 2**24
KINDS = ["float32", "float64", "int32", "int64", "uint8", "uint64"]
SHAPES = [(0,), (1,), (1000,), (0, 3), (1, 3), (257, 7), (5, 0)]


def open_files() -> int:
    gc.collect()
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def numbers(shape: tuple[int, ...], kind: str = "float32", seed: int = 0) -> Any:
    values = np.random.default_rng(seed).integers(0, 2**62, shape)
    return (values % 251 if kind == "uint8" else values).astype(kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numpy_reads_what_is_written(
    tmp_path: Path, kind: str, shape: tuple[int, ...]
) -> None:
    values = numbers(shape, kind)
    array = write_array(tmp_path / "x.npy", values)
    found = np.load(tmp_path / "x.npy")
    assert (found.dtype, found.shape) == (values.dtype, shape)
    np.testing.assert_array_equal(found, values)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(mapped, values)
    np.testing.assert_array_equal(array.map(), values)
    np.testing.assert_array_equal(array.read(0, shape[0]), values)
    assert (array.shape, array.dtype, array.nbytes) == (
        shape,
        values.dtype,
        values.nbytes,
    )
    array.verify()
    assert everything(tmp_path) == {"x.npy", "x.json"}


def test_large_numbers_survive(tmp_path: Path) -> None:
    values = np.array([2**63 - 1, -(2**63), 2**53 + 1], np.int64)
    assert write_array(tmp_path / "x.npy", values).read(0, 3).tolist() == [
        2**63 - 1,
        -(2**63),
        2**53 + 1,
    ]


def test_checksums_are_those_of_zlib(tmp_path: Path) -> None:
    # Two and a half chunks, and rows that no chunk is a multiple of.
    values = numbers((5 * CHUNK // 2 // 28, 7), "float32")
    array = write_array(tmp_path / "x.npy", values)
    data = (tmp_path / "x.npy").read_bytes()[HEADER:]
    pieces = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
    assert array.checksums == tuple(map(zlib.crc32, pieces))
    assert len(pieces) == 3
    for number, piece in enumerate(pieces):
        # The last byte of the piece.
        place = HEADER + number * CHUNK + len(piece) - 1
        flip(array.path, place)
        row = (place - HEADER) // 28
        with pytest.raises(DamagedError, match=rf"x\.npy is damaged: block {number} "):
            array.verify()
        with pytest.raises(DamagedError, match=rf"to {row:,}\) does not match"):
            for _ in array.blocks(1000):
                pass
        flip(array.path, place)
    array.verify()


@pytest.mark.parametrize("rows", [1, 7, 100, 257, 1000])
def test_blocks_are_all_rows_in_order(tmp_path: Path, rows: int) -> None:
    values = numbers((257, 3))
    array = write_array(tmp_path / "x.npy", values)
    found = [(start, block.copy()) for start, block in array.blocks(rows)]
    assert [start for start, _ in found] == list(range(0, 257, rows))
    np.testing.assert_array_equal(np.concatenate([b for _, b in found]), values)


def test_rows_go_into_the_memory_given(tmp_path: Path) -> None:
    values = numbers((50, 4))
    array = write_array(tmp_path / "x.npy", values)
    space = np.full((20, 4), np.nan, np.float32)
    found = array.read(10, 25, space)
    assert np.shares_memory(found, space)
    np.testing.assert_array_equal(found, values[10:25])
    assert np.isnan(space[15:]).all()
    with pytest.raises(AssertionError):
        array.read(0, 5, np.empty((20, 4)))  # float64
    with pytest.raises(AssertionError):
        array.read(0, 5, np.empty((20, 8), np.float32)[:, ::2])
    with pytest.raises(DamagedError, match="ends early"):
        array.read(45, 51)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 40), max_size=8), st.data())
def test_pieces_make_the_same_file(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], data: st.DataObject
) -> None:
    """However rows are cut, and whereever a writer dies, the bytes are the same."""
    folder = tmp_path_factory.mktemp("pieces")
    values = numbers((sum(sizes), 3), "float64")
    write_array(folder / "whole.npy", values)
    at = data.draw(st.integers(0, len(sizes)))
    bounds = np.cumsum([0, *sizes])

    def write(writer: ArrayWriter, last: int) -> None:
        for number in range(last):
            first = max(bounds[number], writer.rows)
            writer.append(values[first : bounds[number + 1]])
            if data.draw(st.booleans()):
                writer.keep(piece=number)

    with (
        suppress(KeyboardInterrupt),
        ArrayWriter(folder / "x.npy", "float64", 3, resumable=True) as writer,
    ):
        write(writer, at)
        raise KeyboardInterrupt
    assert not is_finished(folder / "x.npy")
    with ArrayWriter(folder / "x.npy", "float64", 3, resumable=True) as writer:
        if writer.notes:
            assert writer.rows == bounds[writer.notes["piece"] + 1]
        else:
            assert writer.rows == 0
        write(writer, len(sizes))
    assert (folder / "x.npy").read_bytes() == (folder / "whole.npy").read_bytes()
    assert (folder / "x.json").read_bytes() == (folder / "whole.json").read_bytes()
    assert len(everything(folder)) == 4


def test_a_checksum_goes_on_within_a_chunk(tmp_path: Path) -> None:
    """A writer that went on in the middle of the second chunk."""
    values = numbers((CHUNK // 8 * 5 // 2,), "int64")
    cut = CHUNK // 8 * 3 // 2 + 5
    with (
        suppress(KeyboardInterrupt),
        ArrayWriter(tmp_path / "x.npy", np.int64, resumable=True) as writer,
    ):
        writer.append(values[:cut])
        writer.keep(first=1)
        writer.append(numbers((1000,), "int64", seed=9))  # lost
        raise KeyboardInterrupt
    with ArrayWriter(tmp_path / "x.npy", np.int64, resumable=True) as writer:
        assert (writer.rows, writer.notes) == (cut, {"first": 1})
        writer.append(values[cut:])
    array = StoredArray.open(tmp_path / "x.npy")
    array.verify()
    np.testing.assert_array_equal(array.map(), values)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.unlink(), "has 0 bytes, not 1,256"),
        (lambda path: note_path(path).unlink(), "missing or was not finished"),
        (lambda path: os.truncate(path, 1000), "has 1,000 bytes, not 1,256"),
        (lambda path: os.truncate(path, 1257), "has 1,257 bytes, not 1,256"),
    ],
)
def test_what_is_not_whole_is_refused(tmp_path: Path, spoil: Any, words: str) -> None:
    write_array(tmp_path / "x.npy", numbers((250,)))
    spoil(tmp_path / "x.npy")
    with pytest.raises(DamagedError, match=words) as caught:
        StoredArray.open(tmp_path / "x.npy")
    assert "x.npy" in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"shape": []},
        {"shape": [-250]},
        {"shape": ["a"]},
        {"shape": None},
        {"shape": [float("inf")]},
        {"dtype": "no type"},
        {"dtype": "O"},
        {"checksums": 5},
    ],
    ids=str,
)
def test_damaged_notes_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    write_array(tmp_path / "x.npy", numbers((250,)))
    note = tmp_path / "x.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), **change}))
    with pytest.raises(DamagedError, match=r"x\.json was not written by fdgcl"):
        StoredArray.open(tmp_path / "x.npy")


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "\udcff"])
def test_notes_of_another_kind_are_refused(tmp_path: Path, text: str) -> None:
    write_array(tmp_path / "x.npy", numbers((250,)))
    (tmp_path / "x.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DamagedError, match=r"x\.json was not written by fdgcl"):
        StoredArray.open(tmp_path / "x.npy")


def test_checksums_that_are_missing_are_noticed(tmp_path: Path) -> None:
    write_array(tmp_path / "x.npy", numbers((250,)))
    note = tmp_path / "x.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), "checksums": []}))
    with pytest.raises(DamagedError, match="block 0"):
        StoredArray.open(tmp_path / "x.npy").verify()


def test_what_fails_leaves_the_old_array(tmp_path: Path) -> None:
    old = numbers((10, 2))
    write_array(tmp_path / "x.npy", old)
    with (
        suppress(KeyboardInterrupt),
        ArrayWriter(tmp_path / "x.npy", np.float32, 2) as writer,
    ):
        writer.append(numbers((5, 2), seed=1))
        raise KeyboardInterrupt
    array = StoredArray.open(tmp_path / "x.npy")
    array.verify()
    np.testing.assert_array_equal(array.map(), old)
    assert everything(tmp_path) == {"x.npy", "x.json"}


def test_another_array_takes_the_place(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    seen: list[bool] = []
    write_array(path, numbers((10, 2)))
    new = numbers((4, 3), "int64", seed=1)
    replace = Path.replace

    def watched(self: Path, target: Path) -> Path:
        result = replace(self, target)
        seen.append(is_finished(path))
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", watched)
        write_array(path, new)
        # Never the old note beside the new numbers: first none, then its own.
        assert seen == [False, True]
        seen.clear()
        write_array(path, new)
        assert seen == [True]  # the same again is whole at every moment
    np.testing.assert_array_equal(np.load(path), new)
    StoredArray.open(path).verify()


def test_the_same_again_repairs(tmp_path: Path) -> None:
    values = numbers((100,))
    array = write_array(tmp_path / "x.npy", values)
    flip(array.path, HEADER + 17)
    with pytest.raises(DamagedError):
        array.verify()
    write_array(tmp_path / "x.npy", values).verify()


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    with full_disk(200_000), pytest.raises(InputError, match="disk is full") as caught:
        write_array(tmp_path / "x.npy", numbers((100_000,)))
    assert "x.npy" in str(caught.value)
    assert everything(tmp_path) == set()
    write_array(tmp_path / "x.npy", numbers((100_000,))).verify()


def test_a_full_disk_when_the_end_is_near(tmp_path: Path) -> None:
    """The numbers fit, the note does not."""
    with full_disk(100), pytest.raises(InputError, match="disk is full"):
        write_array(tmp_path / "x.npy", numbers((0,)))
    assert not is_finished(tmp_path / "x.npy")
    assert not partial_files(tmp_path)


def test_what_was_kept_survives_a_full_disk(tmp_path: Path) -> None:
    values, path = numbers((100_000,)), tmp_path / "x.npy"

    def write() -> None:
        with ArrayWriter(path, np.float32, resumable=True) as writer:
            for start in range(0, len(values), 10_000):
                writer.append(values[start : start + 10_000])
                writer.keep()

    with full_disk(200_000), pytest.raises(InputError, match="disk is full"):
        write()
    assert not is_finished(path)
    with ArrayWriter(path, np.float32, resumable=True) as writer:
        assert writer.rows == 40_000
        writer.append(values[writer.rows :])
    StoredArray.open(path).verify()
    np.testing.assert_array_equal(np.load(path), values)
    assert everything(tmp_path) == {"x.npy", "x.json"}


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write_array(tmp_path / "file" / "x.npy", numbers((3,)))


def test_many_threads_read_at_once(tmp_path: Path) -> None:
    values = numbers((20_000, 3))
    array = write_array(tmp_path / "x.npy", values)

    def read(array: StoredArray, seed: int) -> bool:
        start = int(np.random.default_rng(seed).integers(0, 19_900))
        found = array.read(start, start + 100)
        return np.array_equal(found, values[start : start + 100])

    before = open_files()
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(partial(read, array), range(2000)))
    assert open_files() == before, "no file stays open"


def test_copies_read_the_same(tmp_path: Path) -> None:
    values = numbers((20,))
    array = write_array(tmp_path / "x.npy", values)
    for other in (copy.copy(array), pickle.loads(pickle.dumps(array))):
        np.testing.assert_array_equal(other.read(0, 20), values)
