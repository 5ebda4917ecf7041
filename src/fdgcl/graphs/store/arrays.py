"""Arrays on disk: a `.npy` file and, beside it, what says that it is whole.

`x.npy` is an ordinary NumPy file that anyone can map into memory; `x.json` holds its
shape, its type and a checksum of every 16 MiB. The second is written last, so that an
array with both is finished, and one without is not there.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fdgcl._checks import InputError
from fdgcl._files import explain, read_into, write_json
from fdgcl.graphs.store.checksums import CHUNK_BYTES, Checksums, as_bytes
from fdgcl.graphs.store.partial_files import open_own, open_shared

FORMAT = "fdgcl-array-1"
# Room for any header: NumPy aligns them to 64 bytes.
_HEADER_BYTES = 256


class DamagedError(InputError):
    """A file of a store is not what was written."""


@dataclass(frozen=True, eq=False)
class StoredArray:
    """A finished array, read by rows.

    Attributes:
        path: The `.npy` file.
        shape: Rows and, of a matrix, columns.
        dtype: Of its numbers.
        checksums: CRC-32 of every `CHUNK_BYTES` after the header.

    Example:
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from fdgcl.graphs.store import StoredArray
        >>> from fdgcl.graphs.store.arrays import write_array
        >>> _ = write_array(Path("x.npy"), np.array([3, 1, 4, 1]))
        >>> StoredArray.open(Path("x.npy")).read(1, 3).tolist()
        [1, 4]
    """

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    checksums: tuple[int, ...]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a finished array, after a check of its file's size.

        Raises:
            DamagedError: It is missing, unfinished or cut short.
        """
        note = note_path(path)
        try:
            value = json.loads(note.read_text(encoding="utf-8"))
            if value["format"] != FORMAT:
                raise ValueError
            array = cls(
                path,
                tuple(int(size) for size in value["shape"]),
                np.dtype(value["dtype"]),
                tuple(int(number) for number in value["checksums"]),
            )
            if not array.shape or min(array.shape) < 0 or array.dtype.hasobject:
                raise ValueError
        except FileNotFoundError:
            message = f"{path} is missing or was not finished"
            raise DamagedError(message) from None
        except (
            *(ValueError, KeyError, TypeError, OverflowError, RecursionError),
            SyntaxError,  # of NumPy, which reads some names of types as Python
        ):
            message = f"{note} was not written by fdgcl, or is damaged"
            raise DamagedError(message) from None
        found = path.stat().st_size if path.is_file() else 0
        expected = _HEADER_BYTES + array.nbytes
        if found != expected:
            message = f"{path} is damaged: it has {found:,} bytes, not {expected:,}"
            raise DamagedError(message)
        return array

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.dtype.itemsize * math.prod(self.shape[1:])

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        return self.shape[0] * self.row_bytes

    def map(self) -> NDArray[Any]:
        """All of it as an array in the file, read-only."""
        if self.nbytes == 0:
            return np.empty(self.shape, self.dtype)
        return np.memmap(self.path, self.dtype, "r", _HEADER_BYTES, self.shape)

    def read(
        self, start: int, stop: int, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """The rows from start to stop, in memory of their own or in that given.

        Not by mapping: what is mapped counts as memory in use, and stays.

        Args:
            start: The first row.
            stop: The row after the last.
            out: Contiguous, of this type, with at least as many numbers.
        """
        shape = (stop - start, *self.shape[1:])
        if out is None:
            found = np.empty(shape, self.dtype)
        else:
            assert out.dtype == self.dtype, (out.dtype, self.dtype)
            assert out.flags.c_contiguous, "rows would be read into a copy"
            count = int(np.prod(shape, dtype=np.int64))
            found = out.reshape(-1)[:count].reshape(shape)
        place = _HEADER_BYTES + start * self.row_bytes
        # Opened for each read: any thread or process may, and no file is left open.
        with self.path.open("rb", buffering=0) as stream:
            if not read_into(stream.fileno(), as_bytes(found), place):
                message = f"{self.path} is damaged: it ends early"
                raise DamagedError(message)
        return found

    def blocks(self, rows: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """All rows in order, so many at a time, checked on the way.

        Yields:
            The number of the first row, and the rows; the next ones take their place.

        Raises:
            DamagedError: A part does not match its checksum.
        """
        check = _Check(self)
        space = np.empty((min(rows, self.shape[0]), *self.shape[1:]), self.dtype)
        for start in range(0, self.shape[0], rows):
            found = self.read(start, min(start + rows, self.shape[0]), space)
            check.add(found)
            yield start, found

    def verify(self) -> None:
        """Read all of it.

        Raises:
            DamagedError: A part does not match its checksum.
        """
        for _ in self.blocks(max(1, CHUNK_BYTES // max(self.row_bytes, 1))):
            pass


class _Check:
    """Compares a stream of an array's rows with its checksums."""

    def __init__(self, array: StoredArray) -> None:
        self._array, self._found, self._seen = array, Checksums(), 0

    def add(self, rows: NDArray[Any]) -> None:
        completed = self._found.add(rows)
        self._seen += rows.nbytes
        if self._seen == self._array.nbytes:
            completed += self._found.finish()
        for number in completed:
            self._compare(number)

    def _compare(self, number: int) -> None:
        array = self._array
        expected = array.checksums
        if number < len(expected) and self._found.done[number] == expected[number]:
            return
        first = number * CHUNK_BYTES // array.row_bytes
        last = min((number + 1) * CHUNK_BYTES - 1, array.nbytes - 1) // array.row_bytes
        message = (
            f"{array.path} is damaged: block {number} (rows {first:,} to {last:,}) "
            "does not match its checksum"
        )
        raise DamagedError(message)


class ArrayWriter:
    """Writes an array row after row; it is there only once all of it is.

    Used as a context: what is written when the block ends is the array. With
    `resumable`, what was there at the last `keep` before an accident is found again.

    Args:
        path: The `.npy` file to be.
        dtype: Of its numbers.
        columns: Of a matrix; none for a vector.
        resumable: Go on after the rows that an earlier writer had kept.

    Attributes:
        rows: Rows written so far.
    """

    def __init__(
        self,
        path: Path,
        dtype: DTypeLike,
        columns: int | None = None,
        *,
        resumable: bool = False,
    ) -> None:
        self.path, self.dtype = path, np.dtype(dtype)
        self._row = () if columns is None else (columns,)
        self._kept = path.with_name(f".{path.stem}.kept.json")
        self._resumable = resumable
        self._sums, self.rows = Checksums(), 0
        self._state: dict[str, Any] | None = None
        self._partial: Path | None = None
        self._stream: io.FileIO | None = None

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            opened = open_shared if self._resumable else open_own
            self._partial, self._stream = opened(self.path)
            self._state = self._read_state() if self._resumable else None
            if self._state is not None:
                self.rows = self._state["rows"]
                self._sums = Checksums(
                    self._state["done"], self._state["current"], self._state["size"]
                )
            elif self._resumable:
                # What says where to go on must never outlive what it speaks of.
                self._kept.unlink(missing_ok=True)
            self._stream.truncate(_HEADER_BYTES + self.rows * self._row_bytes)
            self._stream.seek(0, os.SEEK_END)
        except OSError as error:
            self._close()
            raise explain(error, self.path) from error
        return self

    @property
    def _row_bytes(self) -> int:
        return self.dtype.itemsize * int(np.prod(self._row, dtype=np.int64))

    @property
    def _layout(self) -> dict[str, Any]:
        return {"dtype": self.dtype.str, "row": list(self._row)}

    def append(self, rows: NDArray[Any]) -> None:
        """Write more rows.

        Raises:
            InputError: The disk is full, or cannot be written.
        """
        assert rows.shape[1:] == self._row, (rows.shape, self._row)
        data = np.ascontiguousarray(rows, self.dtype)
        try:
            self._write(as_bytes(data))
        except OSError as error:
            raise explain(error, self.path) from error
        self._sums.add(data)
        self.rows += len(rows)

    def _write(self, left: memoryview) -> None:
        assert self._stream is not None
        while len(left):
            written = self._stream.write(left[:CHUNK_BYTES])
            if not written:
                raise OSError(errno.ENOSPC, "nothing was written", str(self.path))
            left = left[written:]

    def keep(self, **notes: Any) -> None:
        """Let a later writer go on from here; `notes` are given to it then."""
        assert self._stream is not None
        assert self._resumable
        try:
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise explain(error, self.path) from error
        sums = {"done": self._sums.done, "current": self._sums.current}
        state = {"rows": self.rows, "size": self._sums.size, **sums, "notes": notes}
        write_json(self._kept, {**self._layout, **state})

    @property
    def notes(self) -> dict[str, Any]:
        """What the earlier writer left with `keep`; nothing if there was none."""
        return {} if self._state is None else dict(self._state["notes"])

    def _read_state(self) -> dict[str, Any] | None:
        """Where an earlier writer of an array like this one stopped."""
        assert self._stream is not None
        state = _read_json(self._kept)
        if state is None or any(state.get(k) != v for k, v in self._layout.items()):
            return None
        length = os.fstat(self._stream.fileno()).st_size
        there = length >= _HEADER_BYTES + state["rows"] * self._row_bytes
        return dict(state) if there else None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._finish()
        except OSError as failure:
            raise explain(failure, self.path) from failure
        finally:
            self._close()

    def _close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        if self._partial is not None and not self._resumable:
            self._partial.unlink(missing_ok=True)

    def _finish(self) -> None:
        assert self._stream is not None
        assert self._partial is not None
        self._sums.finish()
        shape = (self.rows, *self._row)
        self._stream.seek(0)
        self._write(memoryview(_header(shape, self.dtype)))
        os.fsync(self._stream.fileno())
        value = {
            "format": FORMAT,
            "shape": list(shape),
            "dtype": self.dtype.str,
            "checksums": self._sums.done,
        }
        # If another process writes the same array, it stays whole at every moment; a
        # different one of this name is unfinished from here on, until this one is.
        note = note_path(self.path)
        found = _read_json(note)
        if found is not None and found != value:
            note.unlink(missing_ok=True)
        self._partial.replace(self.path)
        if found != value:
            write_json(note, value)
        self._kept.unlink(missing_ok=True)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def note_path(path: Path) -> Path:
    """The file beside an array that says it is whole."""
    return path.with_suffix(".json")


def is_finished(path: Path) -> bool:
    """Whether an array was written to its end."""
    return note_path(path).is_file() and path.is_file()


def write_array(path: Path, values: NDArray[Any]) -> StoredArray:
    """Write all of an array at once."""
    columns = None if values.ndim == 1 else values.shape[1]
    with ArrayWriter(path, values.dtype, columns) as writer:
        writer.append(values)
    return StoredArray.open(path)


def _header(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    """A NumPy header, padded to the room there is."""
    text = repr({"descr": dtype.str, "fortran_order": False, "shape": shape})
    start = b"\x93NUMPY\x01\x00" + (_HEADER_BYTES - 10).to_bytes(2, "little")
    return start + text.encode().ljust(_HEADER_BYTES - 11) + b"\n"


def row_ranges(nodes: int, rows: int) -> Iterator[tuple[int, int]]:
    """All rows, so many at a time."""
    for start in range(0, nodes, rows):
        yield start, min(start + rows, nodes)
