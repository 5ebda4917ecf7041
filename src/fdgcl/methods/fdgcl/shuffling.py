"""Which rows are trained on together, when only some of them can be held at a time.

Rows lie in chunks that follow each other on disk. An epoch shuffles the chunks and goes
through them by windows, each held in memory as a whole; the rows of a window are dealt
to its batches like cards, so that a batch has rows of all chunks of its window.

A member of a group holds every so-manyth chunk of a window. What a batch consists of
depends on the seed and the epoch alone: neither on the members nor on the memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fdgcl.methods.fdgcl.sources import batch_seed

CHUNK_ROWS = 4096
# Of small stores: enough that all members of a group have some.
FEWEST_CHUNKS = 64
# Rows of a window, and the most numbers of one view in it, unless a batch has more.
WINDOW_ROWS = 32 * CHUNK_ROWS
WINDOW_NUMBERS = 2**24


@dataclass(frozen=True)
class Window:
    """The share of one member in the rows that are held at a time.

    Attributes:
        ranges: First row, and the one after the last, of each chunk to hold.
        batches: Of each batch, positions among the rows held, one after the other.
        sizes: Of each batch, rows of all members.
    """

    ranges: tuple[tuple[int, int], ...]
    batches: tuple[NDArray[np.int64], ...]
    sizes: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Rows that this member holds."""
        return sum(stop - start for start, stop in self.ranges)


@dataclass(frozen=True)
class Shuffle:
    """How rows are dealt, the same for every epoch and every member.

    Attributes:
        num_rows: All rows.
        batch_size: Rows of a batch, about.
        window_rows: Rows held at a time by all members together, about.
        members: Who share each batch.
    """

    num_rows: int
    batch_size: int
    window_rows: int = WINDOW_ROWS
    members: int = 1

    @property
    def chunk_rows(self) -> int:
        """Rows of a chunk; the last has the rest."""
        return max(1, min(CHUNK_ROWS, self.num_rows // FEWEST_CHUNKS))

    @property
    def num_chunks(self) -> int:
        """Number of chunks."""
        return -(-self.num_rows // self.chunk_rows)

    @cached_property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        """Of each window, its batches and the number of the first chunk; then the end.

        Chunks are shared out by batches, so that all batches have about as many rows.
        """
        batches = max(1, min(-(-self.num_rows // self.batch_size), self.num_rows // 2))
        held = max(self.window_rows, self.batch_size, self.chunk_rows)
        windows = min(batches, self.num_chunks, -(-self.num_rows // held))
        ends = [batches * k // windows for k in range(windows + 1)]
        firsts = [round(self.num_chunks * end / batches) for end in ends]
        counts = [b - a for a, b in pairwise(ends)]
        return tuple(zip([*counts, 0], firsts, strict=True))

    @property
    def num_windows(self) -> int:
        """Number of windows."""
        return len(self.bounds) - 1

    @property
    def largest_window(self) -> int:
        """Rows that a member holds at a time, at most."""
        chunks = max(self._chunks(number) for number in range(self.num_windows))
        return min(self.num_rows, -(-chunks // self.members) * self.chunk_rows)

    @property
    def largest_batch(self) -> int:
        """Rows of a batch that one member has, at most."""
        found = 0
        for number in range(self.num_windows):
            chunks = -(-self._chunks(number) // self.members)
            # A chunk's share of a batch is rounded up or down.
            share = -(-self.chunk_rows // self._fewest_batches(number))
            found = max(found, chunks * share)
        return min(self.num_rows, found)

    def _chunks(self, window: int) -> int:
        return self.bounds[window + 1][1] - self.bounds[window][1]

    def _fewest_batches(self, window: int) -> int:
        # As if the last chunk, which may have a single row, were in this window.
        fewest = (self._chunks(window) - 1) * self.chunk_rows + 1
        return max(1, min(self.bounds[window][0], fewest // 2))

    def windows(self, seed: int, epoch: int, rank: int = 0) -> Iterator[Window]:
        """The windows of an epoch as one member sees them."""
        key = batch_seed(seed, epoch)
        order = np.random.default_rng([key, 0]).permutation(self.num_chunks)
        for number in range(self.num_windows):
            yield self._window(order, number, key, rank)

    def _window(
        self, order: NDArray[np.int64], number: int, key: int, rank: int
    ) -> Window:
        chunks = order[self.bounds[number][1] : self.bounds[number + 1][1]]
        starts = chunks * self.chunk_rows
        stops = np.minimum(starts + self.chunk_rows, self.num_rows)
        # The number of a row in the window decides its batch: one for each in turn.
        firsts = np.concatenate([[0], np.cumsum(stops - starts)])
        rows = int(firsts[-1])
        # No batch of a single row: it has no principal direction.
        batches = max(1, min(self.bounds[number][0], rows // 2))
        dealt: list[list[NDArray[np.int64]]] = [[] for _ in range(batches)]
        held = 0
        for k in range(rank, len(chunks), self.members):
            count = int(stops[k] - starts[k])
            shuffle = np.random.default_rng([key, 1, int(chunks[k])])
            own = held + shuffle.permutation(count)
            for first in range(min(batches, count)):
                dealt[(int(firsts[k]) + first) % batches].append(own[first::batches])
            held += count
        return Window(
            tuple(
                (int(starts[k]), int(stops[k]))
                for k in range(rank, len(chunks), self.members)
            ),
            tuple(_joined(parts) for parts in dealt),
            tuple(len(range(batch, rows, batches)) for batch in range(batches)),
        )


def window_rows(num_features: int, batch_size: int) -> int:
    """Rows to hold at a time: those of some batches, fewer where rows are long."""
    return max(batch_size, min(WINDOW_ROWS, WINDOW_NUMBERS // max(num_features, 1)))


def _joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    if not parts:
        return np.empty(0, np.int64)
    return np.concatenate(parts)
