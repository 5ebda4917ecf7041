"""The distinct ids of an edge list, sorted: all of them need not fit in memory."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdgcl.graphs.importing.columns import as_text, only_whole
from fdgcl.graphs.importing.edgefile import EdgeBatch
from fdgcl.graphs.importing.idfiles import TextWriter
from fdgcl.graphs.importing.index import read_texts
from fdgcl.graphs.importing.ordering import changes
from fdgcl.graphs.store.arrays import StoredArray

_MERGED_AT_ONCE = 1 << 14


class DistinctNumbers:
    """Collects whole numbers; memory holds the distinct ones and some that wait."""

    def __init__(self, waiting_bytes: int) -> None:
        self._known = np.empty(0, np.int64)
        self._waiting: list[NDArray[np.int64]] = []
        self._count, self._limit = 0, max(1, waiting_bytes // 16)

    @property
    def count(self) -> int:
        """Distinct numbers among those that do not wait."""
        return len(self._known)

    def add(self, batch: EdgeBatch, *, typed: bool) -> None:
        """Take in both ends of some edges.

        Raises:
            MixedError: An id is text, and no number in text either.
        """
        for ids in (batch.start, batch.end):
            self._waiting.append(_distinct(only_whole(ids, typed=typed).copy()))
            self._count += len(self._waiting[-1])
        if self._count > self._limit:
            self._merge()

    def finish(self) -> NDArray[np.int64]:
        """All distinct numbers, sorted."""
        self._merge()
        return self._known

    def _merge(self) -> None:
        values = np.concatenate((self._known, *self._waiting))
        self._known, self._waiting, self._count = values[:0], [], 0
        self._known = _distinct(values)


class DistinctTexts:
    """Collects texts; what does not fit in memory waits sorted in files."""

    def __init__(self, folder: Path, waiting_bytes: int) -> None:
        self._folder, self._limit = folder, max(1, waiting_bytes // 2)
        self._waiting: list[pa.Array] = []
        self._bytes = 0
        self._files: list[tuple[StoredArray, StoredArray]] = []

    def add(self, batch: EdgeBatch) -> None:
        """Take in both ends of some edges."""
        for ids in (batch.start, batch.end):
            texts = pc.unique(as_text(ids))
            self._waiting.append(texts)
            self._bytes += texts.nbytes
        if self._bytes > self._limit:
            found = self._merge()
            # What is mostly new goes to a file; what shrinks much can wait on.
            if found.nbytes > self._limit // 2:
                self._write(found)
            else:
                self._waiting, self._bytes = [found], found.nbytes

    def finish(self) -> Iterator[pa.Array]:
        """Yield all distinct texts in the order of their bytes, some at a time."""
        if not self._files:
            yield self._merge()
            return
        if self._waiting:
            self._write(self._merge())
        rows = max(1, self._limit // (len(self._files) * 128))
        streams = [_stream(data, ends, rows) for data, ends in self._files]
        last, found = "", []
        # Python orders texts by code points, which is the order of their bytes.
        for text in heapq.merge(*streams):
            if text != last:
                last = text
                found.append(text)
            if len(found) == _MERGED_AT_ONCE:
                yield pa.array(found, pa.large_string())
                found = []
        yield pa.array(found, pa.large_string())

    def _merge(self) -> pa.Array:
        found = pc.unique(pa.chunked_array(self._waiting, pa.large_string()))
        return found.take(pc.sort_indices(found))

    def _write(self, texts: pa.Array) -> None:
        place = self._folder / f"texts-{len(self._files):04}.npy"
        ends = self._folder / f"text-ends-{len(self._files):04}.npy"
        with TextWriter(place, ends) as writer:
            writer.append(texts)
        self._files.append((StoredArray.open(place), StoredArray.open(ends)))
        self._waiting, self._bytes = [], 0


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Distinct values, sorted where they are: `np.unique` takes more time and room."""
    values.sort()
    return values[changes(values)]


def _stream(data: StoredArray, ends: StoredArray, rows: int) -> Iterator[str]:
    nodes = ends.shape[0] - 1
    for start in range(0, nodes, rows):
        yield from read_texts(data, ends, start, min(start + rows, nodes)).to_pylist()
