"""Edges, sorted so many at a time: each run is a file.

An entry says that a node gathers from another. As a key it is one number, the node in
the high 32 bits and whom it gathers from in the low ones, so that sorting numbers
sorts entries. A weight goes along; it is negative where the edge was turned round, so
that both ways can be told apart when runs are merged.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl._files import write_json
from fdgcl._progress import Progress
from fdgcl.scale.ahead import ahead
from fdgcl.scale.arrays import ArrayWriter, StoredArray, write_array
from fdgcl.scale.importing.budget import Limits
from fdgcl.scale.importing.edgefile import EdgeBatch, EdgeFile
from fdgcl.scale.importing.index import NodeIndex
from fdgcl.scale.importing.ordering import changes

Keys = NDArray[np.uint64]
Weights = NDArray[np.float32]


STAGE = "sorting edges"
KEY_BITS = np.uint64(32)
_BIN_BITS = 14
_CHUNK = 1 << 20
_SHOWN = 3


@dataclass(frozen=True)
class Bins:
    """Nodes by their leading bits: parts of a run are found by them.

    Attributes:
        nodes: Number of nodes.
        shift: Bits of a node's number that do not count.
    """

    nodes: int
    shift: int

    @classmethod
    def of(cls, nodes: int) -> Bins:
        """So many that parts are small, so few that all counts fit in memory."""
        return cls(nodes, max(0, (nodes - 1).bit_length() - _BIN_BITS))

    @property
    def count(self) -> int:
        """Number of bins."""
        return ((self.nodes - 1) >> self.shift) + 1

    def counts(self, keys: Keys) -> NDArray[np.int64]:
        """Entries of each bin."""
        bins = (keys >> np.uint64(32 + self.shift)).astype(np.int64)
        return np.bincount(bins, minlength=self.count)

    def row(self, number: int) -> int:
        """The first node of a bin."""
        return min(number << self.shift, self.nodes)

    def number(self, row: int) -> int:
        """The bin that starts at a node."""
        return self.count if row >= self.nodes else row >> self.shift


@dataclass(frozen=True)
class Run:
    """The entries of some rows of the edge list, sorted, in files.

    Attributes:
        folder: Where runs are.
        start: The first row of the edge list.
        stop: The row after the last.
    """

    folder: Path
    start: int
    stop: int

    @property
    def keys(self) -> StoredArray:
        """The entries."""
        return StoredArray.open(self.path("keys"))

    @property
    def weights(self) -> StoredArray:
        """Their weights, if edges have any."""
        return StoredArray.open(self.path("weights"))

    @property
    def starts(self) -> NDArray[np.int64]:
        """(bins + 1,) where the entries of each bin start."""
        array = StoredArray.open(self.path("bins"))
        return array.read(0, array.shape[0])

    def path(self, what: str) -> Path:
        """A file of the run."""
        return self.folder / f"{what}-{self.start:013}.npy"


#: A run to be, its entries in no order, and their weights.
Filled: TypeAlias = tuple[Run, Keys, Weights | None]


def finished_runs(folder: Path) -> list[Run]:
    """The runs that are done, each where the last one ended."""
    runs: list[Run] = []
    row = 0
    while (note := _note_path(folder, row)).is_file():
        stop = int(json.loads(note.read_text(encoding="utf-8"))["stop"])
        runs.append(Run(folder, row, stop))
        row = stop
    return runs


@dataclass(frozen=True)
class Runs:
    """Makes the runs."""

    edges: EdgeFile
    index: NodeIndex
    where: str
    direction: str
    folder: Path
    bins: Bins
    limits: Limits
    progress: Progress

    def write(self) -> int:
        """Sort all edges that no run has yet, and return how many edges there are.

        Raises:
            InputError: An edge does not fit, or the disk is full.
        """
        done = finished_runs(self.folder)
        row = done[-1].stop if done else 0
        for run, keys, weights in ahead(self._filled(row)):
            self._write(run, keys, weights)
            row = run.stop
            self.progress(STAGE, row, max(row, self.edges.rows))
        return row

    def _filled(self, skip: int) -> Generator[Filled, None, None]:
        """Fill two buffers by turns: one is free again once the other was asked for."""
        ways = 2 if self.direction == "symmetric" else 1
        size = max(self.limits.run_entries, ways)
        size = min(size, max(ways * (self.edges.rows + self.limits.batch_rows), ways))
        rows = min(self.limits.batch_rows, size // ways)
        weighted = self.edges.weighted
        keys = [np.empty(size, np.uint64) for _ in range(2)]
        weights = [np.empty(size, np.float32) for _ in range(2 if weighted else 0)]
        start = stop = skip
        used = turn = 0
        for batch in self.edges.batches(rows, skip):
            if used + ways * len(batch) > size:
                own = weights[turn][:used] if weighted else None
                yield Run(self.folder, start, stop), keys[turn][:used], own
                start, used, turn = stop, 0, 1 - turn
            for row, column, values in self._entries(batch):
                into = keys[turn][used : used + len(row)]
                np.left_shift(row.view(np.uint64), KEY_BITS, out=into)
                into |= column.view(np.uint64)
                if values is not None:
                    weights[turn][used : used + len(row)] = values
                used += len(row)
            stop = batch.first + len(batch)
        if stop > start:
            own = weights[turn][:used] if weighted else None
            yield Run(self.folder, start, stop), keys[turn][:used], own

    def _entries(
        self, batch: EdgeBatch
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Weights | None]]:
        """Who gathers from whom, by how much; loops and weights of zero left out."""
        start, end = (self.index.places(ids) for ids in (batch.start, batch.end))
        if len(batch) and min(start.min(), end.min()) < 0:
            raise self._unknown(batch, start, end)
        kept = start != end
        weights = batch.weights
        if weights is not None:
            kept &= weights > 0
            weights = weights[kept]
        start, end = start[kept], end[kept]
        if self.direction != "in":
            yield start, end, weights
        if self.direction != "out":
            yield end, start, None if weights is None else -weights

    def _write(self, run: Run, keys: Keys, weights: Weights | None) -> None:
        """Write a run; without weights, repeated entries once."""
        counts = np.zeros(self.bins.count, np.int64)
        if weights is None:
            keys.sort()
            with ArrayWriter(run.path("keys"), np.uint64) as writer:
                for start in range(0, len(keys), _CHUNK):
                    part = keys[start : start + _CHUNK]
                    new = changes(part)
                    new[0] = start == 0 or keys[start - 1] != part[0]
                    part = part[new]
                    writer.append(part)
                    counts += self.bins.counts(part)
        else:
            order = np.argsort(keys)
            with (
                ArrayWriter(run.path("keys"), np.uint64) as writer,
                ArrayWriter(run.path("weights"), np.float32) as beside,
            ):
                for start in range(0, len(keys), _CHUNK):
                    some = order[start : start + _CHUNK]
                    writer.append(keys[some])
                    beside.append(weights[some])
                    counts += self.bins.counts(keys[some])
        write_array(run.path("bins"), np.append(0, np.cumsum(counts)))
        write_json(_note_path(self.folder, run.start), {"stop": run.stop})

    def _unknown(
        self, batch: EdgeBatch, start: NDArray[np.int64], end: NDArray[np.int64]
    ) -> InputError:
        rows = np.flatnonzero((start < 0) | (end < 0))
        found: dict[int | str, None] = {}
        for row in rows[: 4 * _SHOWN].tolist():
            for places, ids in ((start, batch.start), (end, batch.end)):
                if places[row] < 0:
                    found[ids[row].as_py()] = None
        shown = ", ".join(map(repr, list(found)[:_SHOWN]))
        more = ", ..." if len(found) > _SHOWN else ""
        return InputError(
            f"{self.edges.path} names ids that are not among {self.where}, such as "
            f"{shown}{more} (first in row {batch.first + int(rows[0]) + 1:,})"
        )


def _note_path(folder: Path, row: int) -> Path:
    return folder / f"run-{row:013}.json"
