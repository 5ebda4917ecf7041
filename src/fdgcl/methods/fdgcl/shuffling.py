"""The order of mini-batches: chunks of rows are shuffled, then the rows within them.

Rows lie in chunks of a few thousand that follow each other. An epoch shuffles the
chunks and goes through them by windows, each of which can be held in memory where all
rows cannot. The rows of a chunk are shuffled too, and those of a window, numbered one
chunk after the other, go to its batches in turn.

Such batches serve training as well as those of one permutation of all rows. A batch
has equally many rows, but for one, of each chunk of its window, and those are chosen at
random: a stratified sample, whose mean of any quantity has the window's mean for its
expectation and, but for the rounding to whole rows, no more variance than that of a
simple random sample. Rows that follow each other are often alike (nodes in the order
they were crawled or made), and a permutation leaves to chance how many of them meet in
a batch. Graphs of up to 131,072 nodes with 128 features are one window. Of several,
each is a random set of some dozens of chunks, another one in each epoch, so that no
rows are kept apart for long.

What a batch consists of depends on the seed, the epoch and the sizes alone: neither on
the processes that share it, nor on the memory, nor on where the rows are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

#: The first row, and the one after the last.
Range = tuple[int, int]

CHUNK_ROWS = 4096
# Of few rows: enough that all members of a group have some.
FEWEST_CHUNKS = 64
# Rows of a window, and the most numbers of one view in it, unless a batch has more.
WINDOW_ROWS = 32 * CHUNK_ROWS
WINDOW_NUMBERS = 2**24


@dataclass(frozen=True)
class Window:
    """The share of one member in the rows that are held at a time.

    Attributes:
        ranges: The rows to hold, one range after the other.
        batches: Of each batch, positions among the rows held.
        sizes: Of each batch, rows of all members.
    """

    ranges: tuple[Range, ...]
    batches: tuple[NDArray[np.int64], ...]
    sizes: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Rows that this member holds."""
        return sum(stop - start for start, stop in self.ranges)


@dataclass(frozen=True)
class Shuffle:
    """Which rows are trained on together, for every epoch and every member.

    Attributes:
        num_rows: All rows.
        batch_size: The most rows of a batch, about.
        window_rows: Rows of a window, about.
        members: Processes that share each batch.
        holds_all: Whether all rows are held all the time: positions are row numbers.

    Example:
        >>> (window,) = Shuffle(6, batch_size=3).windows(seed=0, epoch=1)
        >>> sorted(int(row) for batch in window.batches for row in batch)
        [0, 1, 2, 3, 4, 5]
        >>> window.sizes
        (3, 3)
    """

    num_rows: int
    batch_size: int
    window_rows: int = WINDOW_ROWS
    members: int = 1
    holds_all: bool = False

    @classmethod
    def of(
        cls,
        num_rows: int,
        num_features: int,
        batch_size: int,
        members: int = 1,
        *,
        holds_all: bool = False,
    ) -> Self:
        """The shuffle of features: where rows are long, windows have fewer of them.

        Example:
            >>> Shuffle.of(10**6, num_features=4096, batch_size=1000).window_rows
            4096
        """
        fitting = min(WINDOW_ROWS, WINDOW_NUMBERS // max(num_features, 1))
        window = max(batch_size, fitting)
        return cls(num_rows, batch_size, window, members, holds_all)

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

        Windows have chunks by their batches, so that all batches have about as many
        rows.
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
        key = seed * 1_000_003 + epoch
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
        own = range(rank, len(chunks), self.members)
        ranges = tuple((int(starts[k]), int(stops[k])) for k in own)
        positions, numbers, held = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
        for k, (start, stop) in zip(own, ranges, strict=True):
            generator = np.random.default_rng([key, 1, int(chunks[k])])
            first = start if self.holds_all else held
            positions.append(first + generator.permutation(stop - start))
            numbers.append(np.arange(firsts[k], firsts[k + 1]))
            held += stop - start
        turns = np.concatenate(numbers) % batches
        # Integers of 16 bits are sorted in linear time.
        by_batch = np.argsort(turns.astype(np.min_scalar_type(batches)), kind="stable")
        ends = np.cumsum(np.bincount(turns, minlength=batches))[:-1]
        return Window(
            ((0, self.num_rows),) if self.holds_all else ranges,
            (*np.split(np.concatenate(positions)[by_batch], ends),),
            tuple(len(range(batch, rows, batches)) for batch in range(batches)),
        )

    def share(self, rank: int = 0) -> tuple[Range, ...]:
        """The rows of one member where a batch is all rows, in their order."""
        if self.holds_all:
            return ((0, self.num_rows),)
        step = self.chunk_rows
        starts = range(rank * step, self.num_rows, self.members * step)
        return tuple((start, min(start + step, self.num_rows)) for start in starts)
