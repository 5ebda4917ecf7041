"""Writers of one array: killed ones, and several at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs.store.arrays import ArrayWriter, StoredArray, is_finished, write_array
from helpers.accidents import begin, everything, kill, partial_files

PIECE = 1000
# Writes one piece after the other, and says so.
WRITES = """
import sys
from pathlib import Path
import numpy as np
from fdgcl.graphs.store.arrays import ArrayWriter
path, resumable = Path(sys.argv[1]), sys.argv[2] == "resumable"
with ArrayWriter(path, np.int64, resumable=resumable) as writer:
    for number in range(10**6):
        writer.append(np.arange(number * 1000, (number + 1) * 1000))
        if resumable and number % 3 == 2:
            writer.keep(pieces=number + 1)
        print(number, flush=True)
"""
# Writes one array again and again, and some others once.
REPEATS = """
import sys
from pathlib import Path
import numpy as np
from fdgcl.graphs.store.arrays import ArrayWriter, write_array
print("ready", flush=True)
sys.stdin.readline()
for number in range(25):
    write_array(Path(sys.argv[1]) / "x.npy", np.arange(50_000))
    write_array(Path(sys.argv[1]) / f"y{number}.npy", np.arange(1000) + number)
"""


def run_until_killed(path: Path, kind: str, pieces: int) -> None:
    process = begin(WRITES, path, kind)
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == pieces:
                break
        kill(process.pid)
    assert process.returncode < 0


def test_a_killed_writer_leaves_nothing_for_long(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    run_until_killed(path, "own", 5)
    assert not is_finished(path)
    assert len(partial_files(tmp_path)) == 1  # it had no chance
    values = np.arange(7.0)
    write_array(path, values).verify()
    assert everything(tmp_path) == {"x.npy", "x.json"}


def test_a_killed_writer_is_followed_by_another(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    run_until_killed(path, "resumable", 20)
    assert not is_finished(path)
    with ArrayWriter(path, np.int64, resumable=True) as writer:
        kept = writer.notes["pieces"]
        assert kept >= 18
        assert kept % 3 == 0
        assert writer.rows == kept * PIECE
        writer.append(np.arange(writer.rows, 50 * PIECE))
    StoredArray.open(path).verify()
    np.testing.assert_array_equal(np.load(path), np.arange(50 * PIECE))
    assert everything(tmp_path) == {"x.npy", "x.json"}


def test_two_processes_may_write_the_same(tmp_path: Path) -> None:
    """Once it is there, it is there and whole at every moment."""
    path, looks = tmp_path / "x.npy", 0
    write_array(path, np.arange(50_000))
    with ExitStack() as stack:
        processes = [stack.enter_context(begin(REPEATS, tmp_path)) for _ in range(2)]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        while any(process.poll() is None for process in processes):
            StoredArray.open(path).verify()
            looks += 1
        errors = [process.stderr.read() for process in processes if process.stderr]
    assert errors == ["", ""]
    assert looks > 10
    np.testing.assert_array_equal(np.load(path), np.arange(50_000))
    for number in range(25):
        other = StoredArray.open(tmp_path / f"y{number}.npy")
        other.verify()
        np.testing.assert_array_equal(other.map(), np.arange(1000) + number)
    assert len(everything(tmp_path)) == 2 * 26


def test_writers_leave_each_other_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    with ArrayWriter(path, np.int64) as first:
        first.append(np.arange(5))
        write_array(path, np.arange(3)).verify()
        assert len(partial_files(tmp_path)) == 1
        write_array(tmp_path / "xy.npy", np.arange(3))
        first.append(np.arange(5))
    np.testing.assert_array_equal(np.load(path), [*range(5), *range(5)])
    StoredArray.open(path).verify()


def test_only_one_may_go_on(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    with ArrayWriter(path, np.int64, resumable=True) as first:
        first.append(np.arange(5))
        first.keep()
        with pytest.raises(InputError, match=r"x\.npy is being written by another"):
            ArrayWriter(path, np.int64, resumable=True).__enter__()
        first.append(np.arange(5, 9))
    np.testing.assert_array_equal(np.load(path), np.arange(9))
    StoredArray.open(path).verify()


@pytest.fixture
def interrupted(tmp_path: Path) -> Iterator[Path]:
    """An array of which 30 rows of 2 columns were kept, and 5 more written."""
    path = tmp_path / "x.npy"
    writer = ArrayWriter(path, np.float32, 2, resumable=True)
    writer.__enter__()
    writer.append(np.ones((30, 2), np.float32))
    writer.keep(where=30)
    writer.append(np.full((5, 2), 7, np.float32))
    writer.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    return path


@pytest.mark.parametrize(
    ("dtype", "columns"), [("float32", 3), ("float32", None), ("float64", 2)]
)
def test_rows_of_another_kind_are_not_gone_on_with(
    interrupted: Path, dtype: str, columns: int | None
) -> None:
    with ArrayWriter(interrupted, dtype, columns, resumable=True) as writer:
        assert (writer.rows, writer.notes) == (0, {})
        new = np.zeros((4,) if columns is None else (4, columns), dtype)
        writer.append(new)
    StoredArray.open(interrupted).verify()
    np.testing.assert_array_equal(np.load(interrupted), new)


@pytest.mark.parametrize("length", [0, 100, 256, 256 + 30 * 8 - 1])
def test_rows_that_are_gone_are_written_anew(interrupted: Path, length: int) -> None:
    (partial,) = partial_files(interrupted.parent)
    with partial.open("r+b") as stream:
        stream.truncate(length)
    with ArrayWriter(interrupted, np.float32, 2, resumable=True) as writer:
        assert (writer.rows, writer.notes) == (0, {})
        writer.append(np.zeros((3, 2), np.float32))
    StoredArray.open(interrupted).verify()
    assert np.load(interrupted).tolist() == [[0, 0]] * 3


def test_torn_rows_are_forgotten(interrupted: Path) -> None:
    (partial,) = partial_files(interrupted.parent)
    with partial.open("r+b") as stream:
        stream.truncate(256 + 30 * 8 + 13)  # a row and a half
    with ArrayWriter(interrupted, np.float32, 2, resumable=True) as writer:
        assert (writer.rows, writer.notes) == (30, {"where": 30})
        writer.append(np.zeros((1, 2), np.float32))
    StoredArray.open(interrupted).verify()
    assert np.load(interrupted).tolist() == [[1, 1]] * 30 + [[0, 0]]


def test_an_old_bookmark_is_not_believed(interrupted: Path) -> None:
    """Killed between renaming the numbers and clearing up, then again later on."""
    (partial,) = partial_files(interrupted.parent)
    partial.rename(interrupted)
    writer = ArrayWriter(interrupted, np.float32, 2, resumable=True)
    writer.__enter__()
    assert writer.rows == 0
    writer.append(np.full((40, 2), 3, np.float32))
    writer.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    with ArrayWriter(interrupted, np.float32, 2, resumable=True) as writer:
        assert (writer.rows, writer.notes) == (0, {})
