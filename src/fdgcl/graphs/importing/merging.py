"""From sorted runs to the neighbours of each node, some nodes at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fdgcl._checks import InputError
from fdgcl._memory import describe_size
from fdgcl._prefetch import prefetch
from fdgcl._progress import Progress
from fdgcl.graphs.importing.budget import Budget, Limits
from fdgcl.graphs.importing.index import place_type
from fdgcl.graphs.importing.ordering import changes
from fdgcl.graphs.importing.sorted_runs import KEY_BITS, Bins, Keys, Run, Weights
from fdgcl.graphs.store.arrays import ArrayWriter, is_finished
from fdgcl.graphs.store.store import neighbours_path, starts_path, weights_path

STAGE = "merging edges"


@dataclass(frozen=True)
class Part:
    """The neighbours of some nodes that follow each other."""

    first: int
    stop: int
    ends: NDArray[np.int64]
    neighbours: NDArray[Any]
    weights: Weights | None


class _Output:
    """An array that grows by parts, and knows up to which node it has."""

    def __init__(self, path: Path, dtype: DTypeLike, nodes: int, stack: ExitStack):
        self.row, self.notes, self._writer = nodes, {}, None
        if not is_finished(path):
            self._writer = ArrayWriter(path, dtype, resumable=True)
            stack.enter_context(self._writer)
            self.notes = self._writer.notes
            self.row = int(self.notes.get("row", 0))

    def append(self, part: Part, values: NDArray[Any], **notes: int) -> None:
        """Take in a part, unless it is there."""
        if part.first >= self.row:
            assert self._writer is not None
            self._writer.append(values)
            self._writer.keep(row=part.stop, **notes)
            self.row = part.stop


@dataclass(frozen=True)
class Merge:
    """Merges the runs."""

    runs: Sequence[Run]
    folder: Path
    bins: Bins
    weighted: bool
    budget: Budget
    limits: Limits
    progress: Progress

    def write(self) -> None:
        """Write neighbours, weights and starts, from where they were left.

        Raises:
            InputError: A few nodes have more neighbours than memory holds, weights
                add up to infinity, or the disk is full.
        """
        nodes = self.bins.nodes
        with ExitStack() as stack:
            # Opened last, `starts` is finished first: with it, all parts are there.
            outputs = [
                _Output(neighbours_path(self.folder), place_type(nodes), nodes, stack)
            ]
            if self.weighted:
                path = weights_path(self.folder)
                outputs.append(_Output(path, np.float32, nodes, stack))
            starts = _Output(starts_path(self.folder), np.int64, nodes, stack)
            total = int(starts.notes.get("total", 0))
            rows = sorted({output.row for output in (*outputs, starts)})
            for part in prefetch(self._parts(rows)):
                for output, values in zip(
                    outputs, (part.neighbours, part.weights), strict=False
                ):
                    assert values is not None
                    output.append(part, values)
                if part.first >= starts.row:
                    ends = part.ends + total
                    total += len(part.neighbours)
                    if part.first == 0:
                        ends = np.append(0, ends)
                    starts.append(part, ends, total=total)
                self.progress(STAGE, part.stop, nodes)

    def _parts(self, rows: Sequence[int]) -> Generator[Part, None, None]:
        """The parts from the first of `rows` on; each of them starts a part."""
        starts = [run.starts for run in self.runs]
        total = np.sum(starts, axis=0)
        bounds = self._bounds(total, {*map(self.bins.number, rows)})
        keys = [run.keys for run in self.runs]
        weights = [run.weights for run in self.runs] if self.weighted else []
        # One place for all parts: what is kept of them is copied from there.
        most = int(np.diff(total[bounds]).max(initial=0))
        found = np.empty(most, np.uint64)
        beside = np.empty(most if self.weighted else 0, np.float32)
        for low, high in pairwise(bounds):
            places = [(int(own[low]), int(own[high])) for own in starts]
            done = 0
            for number, (start, stop) in enumerate(places):
                into = slice(done, done + stop - start)
                keys[number].read(start, stop, found[into])
                if self.weighted:
                    weights[number].read(start, stop, beside[into])
                done += stop - start
            first, last = self.bins.row(low), self.bins.row(high)
            own = beside[:done] if self.weighted else None
            yield self._part(first, last, found[:done], own)

    def _part(self, first: int, stop: int, keys: Keys, weights: Weights | None) -> Part:
        if weights is None:
            keys.sort()
            keys = keys[changes(keys)]
        else:
            keys, weights = combined(keys, weights)
        rows = np.arange(first + 1, stop + 1, dtype=np.uint64)
        ends = np.searchsorted(keys, rows << KEY_BITS)
        if stop == 2**32:
            # The end of the last node's entries is beyond 64 bits.
            ends[-1] = len(keys)
        # Only the low half of a key is kept, and it need not be copied twice.
        kind = np.dtype(place_type(self.bins.nodes))
        low = keys.astype(np.uint32)
        neighbours = low.view(kind) if kind.itemsize == 4 else low.astype(kind)
        return Part(first, stop, ends, neighbours, weights)

    def _bounds(self, starts: NDArray[np.int64], fixed: set[int]) -> list[int]:
        """The bins at which parts start and, at last, end."""
        sizes = np.diff(starts)
        bounds = [min(fixed)]
        held = 0
        for number in range(bounds[0], self.bins.count):
            size = int(sizes[number])
            if size > self.limits.most_entries:
                raise self._too_many(number, size)
            full = held + size > self.limits.range_entries
            if number > bounds[-1] and (full or number in fixed):
                bounds.append(number)
                held = 0
            held += size
        return [*bounds, self.bins.count] if bounds[-1] < self.bins.count else []

    def _too_many(self, number: int, size: int) -> InputError:
        first, last = self.bins.row(number), self.bins.row(number + 1) - 1
        used = self.budget.memory - self.budget.resident
        needed = self.budget.resident + used * size / self.limits.most_entries
        return InputError(
            f"the nodes {first:,} to {last:,} have {size:,} neighbours together, more "
            f"than memory of {describe_size(self.budget.memory)} can sort: allow at "
            f"least {describe_size(needed * 1.005)}"
        )


def combined(keys: Keys, weights: Weights) -> tuple[Keys, Weights]:
    """Each entry once: weights of one sign added up, then the larger of both sums.

    Sums run in float64 from the least to the largest, so that they do not depend on
    the order of the edges.

    Raises:
        InputError: A sum is beyond float32.
    """
    order = np.argsort(keys)
    keys, weights = keys[order], weights[order]
    new = changes(keys)
    first = np.flatnonzero(new)
    if len(first) == len(keys):
        return keys, np.abs(weights)
    shared = np.flatnonzero(
        np.repeat(
            np.diff(first, append=len(keys)) > 1, np.diff(first, append=len(keys))
        )
    )
    some = weights[shared]
    weights[shared] = some[np.lexsort((np.abs(some), some > 0, keys[shared]))]
    new[1:] |= (weights[1:] > 0) != (weights[:-1] > 0)
    sides = np.flatnonzero(new)
    with np.errstate(over="ignore"):
        sums = np.add.reduceat(np.abs(weights).astype(np.float64), sides)
        sums = sums.astype(np.float32)
    if not np.isfinite(sums).all():
        message = "the weights of repeated edges add up to more than float32 can hold"
        raise InputError(message)
    return keys[first], np.maximum.reduceat(sums, np.searchsorted(sides, first))
