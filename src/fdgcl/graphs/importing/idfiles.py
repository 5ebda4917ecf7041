"""Writing the ids of nodes: numbers, or texts one after the other."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdgcl.graphs.importing.hashing import text_buffers
from fdgcl.graphs.store.arrays import ArrayWriter, note_path
from fdgcl.graphs.store.store import id_ends_path, ids_path


class TextWriter:
    """Writes texts: all bytes into one array, where each starts into another."""

    def __init__(self, data: Path, ends: Path) -> None:
        self._data = ArrayWriter(data, np.uint8)
        self._ends = ArrayWriter(ends, np.int64)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._ends)
        self._stack.enter_context(self._data)
        self._ends.append(np.zeros(1, np.int64))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    @property
    def rows(self) -> int:
        """Texts written so far."""
        return self._ends.rows - 1

    def append(self, texts: pa.Array) -> None:
        """Write some large strings."""
        offsets, data = text_buffers(texts)
        self._ends.append(offsets[1:] - offsets[0] + self._data.rows)
        self._data.append(data[offsets[0] : offsets[-1]])


class NumberWriter(ArrayWriter):
    """Writes numbers, and sees whether they are 0, 1, 2, ...

    Attributes:
        is_range: Whether they are, so far.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(ids_path(folder), np.int64)
        self.is_range = True

    def append(self, rows: NDArray[Any]) -> None:
        """Write some numbers."""
        expected = np.arange(self.rows, self.rows + len(rows))
        self.is_range = self.is_range and np.array_equal(rows, expected)
        super().append(rows)


def remove_ids(folder: Path) -> None:
    """Take the ids of a store away."""
    for path in (ids_path(folder), id_ends_path(folder)):
        note_path(path).unlink(missing_ok=True)
        path.unlink(missing_ok=True)
