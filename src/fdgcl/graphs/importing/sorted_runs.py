"""Edges, sorted so many at a time: each run is a file.

An entry says that a node gathers from another. As a key it is one number, the node in
the high 32 bits and whom it gathers from in the low ones, so that sorting numbers
sorts entries. A weight goes along; it is negative where the edge was turned round, so
that both ways can be told apart when runs are merged.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl._files import write_json
from fdgcl._prefetch import prefetch
from fdgcl._progress import Progress
from fdgcl.graphs.importing.budget import Limits
from fdgcl.graphs.importing.columns import whole
from fdgcl.graphs.importing.edgefile import EdgeBatch, EdgeFile
from fdgcl.graphs.importing.index import NodeIndex, Places
from fdgcl.graphs.importing.ordering import changes
from fdgcl.graphs.store.arrays import ArrayWriter, StoredArray, write_array

Keys = NDArray[np.uint64]
Weights = NDArray[np.float32]

STAGE = "sorting edges"
KEY_BITS = np.uint64(32)
_BIN_BITS = 14
_CHUNK = 1 << 20
_SHOWN = 3


class UnknownIdError(InputError):
    """An edge has an end that is no node."""


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
class Tally:
    """What was seen of edges while they were sorted; of several runs it adds up.

    Attributes:
        dropped: Edges that were left out, because an end is no node.
        largest: The largest place of a node that an edge has.
        start_text: Whether an id where edges start is text, and no whole number.
        end_text: Whether an id where edges end is.
    """

    dropped: int = 0
    largest: int = -1
    start_text: bool = False
    end_text: bool = False

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.dropped + other.dropped,
            max(self.largest, other.largest),
            self.start_text or other.start_text,
            self.end_text or other.end_text,
        )


@dataclass(frozen=True)
class Run:
    """The entries of some rows of the edge list, sorted, in files.

    Attributes:
        folder: Where runs are.
        start: The first row of the edge list.
        stop: The row after the last.
        tally: What was seen of them.
    """

    folder: Path
    start: int
    stop: int
    tally: Tally = Tally()

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
        value = json.loads(note.read_text(encoding="utf-8"))
        stop = int(value.pop("stop"))
        runs.append(Run(folder, row, stop, Tally(**value)))
        row = stop
    return runs


@dataclass(frozen=True)
class Runs:
    """Makes the runs.

    Attributes:
        edges: The edge list.
        index: Finds the nodes.
        text_nodes: Whether their ids are text.
        where: Whose ids they are, for a message.
        drop: Whether edges are left out that have an end which is no node.
        offer: What a user may do where there are such, for a message.
        direction: Who gathers from whom.
    """

    edges: EdgeFile
    index: NodeIndex
    text_nodes: bool
    where: str
    drop: bool
    offer: str
    direction: str
    folder: Path
    bins: Bins
    limits: Limits
    progress: Progress

    def write(self) -> list[Run]:
        """Sort all edges that no run has yet, and return all runs.

        Raises:
            UnknownIdError: An edge has an end that is no node.
            InputError: An edge does not fit, or the disk is full.
        """
        done = finished_runs(self.folder)
        row = done[-1].stop if done else 0
        for run, keys, weights in prefetch(self._filled(row)):
            self._write(run, keys, weights)
            row = run.stop
            self.progress(STAGE, row, max(row, self.edges.rows))
        return finished_runs(self.folder)

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
        tally = Tally()
        for batch in self.edges.batches(rows, skip):
            if used + ways * len(batch) > size:
                own = weights[turn][:used] if weighted else None
                yield Run(self.folder, start, stop, tally), keys[turn][:used], own
                start, used, turn, tally = stop, 0, 1 - turn, Tally()
            places = [self.index.places(ids) for ids in (batch.start, batch.end)]
            tally += self._tally(batch, *places)
            for row, column, values in self._entries(batch, *places):
                into = keys[turn][used : used + len(row)]
                np.left_shift(row.view(np.uint64), KEY_BITS, out=into)
                into |= column.view(np.uint64)
                if values is not None:
                    weights[turn][used : used + len(row)] = values
                used += len(row)
            stop = batch.first + len(batch)
        if stop > start:
            own = weights[turn][:used] if weighted else None
            yield Run(self.folder, start, stop, tally), keys[turn][:used], own

    def _tally(self, batch: EdgeBatch, start: Places, end: Places) -> Tally:
        """What is seen of a batch."""
        lost = 0
        if len(batch) and min(start.min(), end.min()) < 0:
            if not self.drop:
                raise self._unknown(batch, start, end)
            lost = int(np.count_nonzero((start < 0) | (end < 0)))
        texts = [self._is_text(ids, lost) for ids in (batch.start, batch.end)]
        if not self.edges.table.typed:
            # Whole numbers in a text file are such only if all ids are.
            texts = [any(texts)] * 2
        largest = max(int(start.max(initial=-1)), int(end.max(initial=-1)))
        return Tally(lost, largest, *texts)

    def _is_text(self, ids: pa.Array, lost: int) -> bool:
        if pa.types.is_int64(ids.type):
            return False
        if self.edges.table.typed:
            return True
        # What is found among whole numbers is one.
        return bool(self.text_nodes or lost) and whole(ids) is None

    def _entries(
        self, batch: EdgeBatch, start: Places, end: Places
    ) -> Iterator[tuple[Places, Places, Weights | None]]:
        """Who gathers from whom, by how much; loops and weights of zero left out."""
        kept = start != end
        if self.drop:
            kept &= (start >= 0) & (end >= 0)
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
        note = {"stop": run.stop, **asdict(run.tally)}
        write_json(_note_path(self.folder, run.start), note)

    def _unknown(self, batch: EdgeBatch, start: Places, end: Places) -> UnknownIdError:
        rows = np.flatnonzero((start < 0) | (end < 0))
        found: dict[int | str, None] = {}
        for row in rows[: 4 * _SHOWN].tolist():
            for places, ids in ((start, batch.start), (end, batch.end)):
                if places[row] < 0:
                    found[ids[row].as_py()] = None
        shown = ", ".join(map(repr, list(found)[:_SHOWN]))
        more = ", ..." if len(found) > _SHOWN else ""
        return UnknownIdError(
            f"{self.edges.path} names ids that are not among {self.where}, such as "
            f"{shown}{more} (first in row {batch.first + int(rows[0]) + 1:,})"
            f"{self.offer}"
        )


def _note_path(folder: Path, row: int) -> Path:
    return folder / f"run-{row:013}.json"
