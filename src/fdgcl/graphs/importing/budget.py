"""How the memory allowed is shared out between the parts of an import."""

from __future__ import annotations

from dataclasses import dataclass

from fdgcl.graphs.importing.fitcost import PAGE_BYTES, FitCost
from fdgcl.graphs.importing.index import BYTES_PER_NODE
from fdgcl.graphs.structural import structural_bytes
from fdgcl.planning import check_memory

#: Batches on their way from the file, decoders, and what the allocators keep.
OVERHEAD_BYTES = 144 * 10**6
#: Enough to sort a million edges at a time, so that runs stay few.
_LEAST_WORK_BYTES = 64 * 10**6
# More at a time is no faster: reading, sorting and writing would overlap less.
_MOST_ENTRIES = 1 << 23
# Two buffers of keys, one being filled while the other is sorted and written.
_RUN_BYTES = 18
_RUN_BYTES_WEIGHTED = 36
# Keys as read, sorted where they are, then what is kept of them; and the last ones.
_RANGE_BYTES = 26
_RANGE_BYTES_WEIGHTED = 104
# A batch as the file has it, while it is encoded, and as the blocks are written.
_FEATURE_BYTES = 40
_BATCH_ROWS = 1 << 17
_KEEP_BYTES = 1 << 28
# Every eight columns are a file: no more of them than a process may have open.
_MOST_COLUMNS = 4096


@dataclass(frozen=True)
class Limits:
    """How much is held at a time; the result does not depend on it.

    Attributes:
        batch_rows: Rows of edges and ids read at a time.
        run_entries: Entries that are sorted at a time.
        range_entries: Entries that are merged at a time, where nodes have few.
        most_entries: Entries that can be merged at a time.
        id_bytes: Bytes of ids collected before repeated ones are dropped.
        feature_rows: Rows of features read at a time.
        feature_columns: Features that are written at a time.
        feature_inputs: Columns of the file that are read at a time.
        keep_rows: Rows of features after which a later run can go on.
    """

    batch_rows: int
    run_entries: int
    range_entries: int
    most_entries: int
    id_bytes: int
    feature_rows: int
    feature_columns: int
    feature_inputs: int
    keep_rows: int


@dataclass(frozen=True)
class Budget:
    """The memory allowed, and what is in use before anything is read."""

    memory: int
    resident: int

    def least(self, nodes: int) -> int:
        """The memory without which a graph cannot be imported."""
        fixed = self.resident + OVERHEAD_BYTES + _LEAST_WORK_BYTES
        return fixed + BYTES_PER_NODE * nodes

    def check(self, nodes: int = 0) -> None:
        """Refuse an amount of memory that will not do.

        Raises:
            InputError: It is too little; the message says what is enough.
        """
        purpose = f"for {nodes:,} nodes" if nodes else ""
        check_memory(self.memory, self.least(nodes), purpose)

    def peak(self, indexed: int, entries: int, *, weighted: bool) -> int:
        """The memory that sorting and merging will hold, at most.

        Args:
            indexed: Nodes that are found by an index in memory.
            entries: Entries to be sorted.
            weighted: Whether edges have weights.
        """
        limits = self.limits(indexed, weighted=weighted)
        run, merge = _entry_bytes(weighted)
        sorting = BYTES_PER_NODE * indexed + run * min(entries, limits.run_entries)
        merging = merge * min(entries, limits.range_entries)
        work = max(sorting, merging, _LEAST_WORK_BYTES)
        return min(self.memory, self.resident + OVERHEAD_BYTES + work)

    def least_made(self, kind: str, nodes: int) -> int:
        """The memory without which features cannot be made from the edges."""
        fixed = self.resident + OVERHEAD_BYTES + _LEAST_WORK_BYTES
        return fixed + (0 if kind == "random" else structural_bytes(kind, nodes))

    def check_made(self, kind: str, nodes: int) -> None:
        """Refuse an amount of memory that will not do to make features.

        Raises:
            InputError: It is too little; the message says what is enough.
        """
        purpose = f"to make {kind!r} features for {nodes:,} nodes ('random' takes none)"
        check_memory(self.memory, self.least_made(kind, nodes), purpose)

    @property
    def work(self) -> int:
        """What is left for the work itself, as long as no index is needed."""
        return max(self.memory - self.resident - OVERHEAD_BYTES, _LEAST_WORK_BYTES)

    def least_fit(self, cost: FitCost) -> int:
        """The memory without which features cannot be looked at."""
        return self.resident + OVERHEAD_BYTES + cost.least

    def check_fit(self, cost: FitCost) -> None:
        """Refuse an amount of memory that will not do to look at features.

        Raises:
            InputError: It is too little; the message says what is enough.
        """
        purpose = f"to look at {cost.width:,} columns of features"
        check_memory(self.memory, self.least_fit(cost), purpose)

    def limits(
        self, indexed: int, *, features: int = 1, widest: int = 1, weighted: bool
    ) -> Limits:
        """Share out what is left.

        Args:
            indexed: Nodes that are found by an index in memory.
            features: Number of features.
            widest: Features that one column of their file makes, at most.
            weighted: Whether edges have weights.
        """
        work = max(self.work - BYTES_PER_NODE * indexed, _LEAST_WORK_BYTES)
        run, merge = _entry_bytes(weighted)
        columns = min(max(features, 1), _MOST_COLUMNS)
        # Of the columns at both ends, features are made that are not wanted.
        made = min(max(features, 1), columns + 2 * (widest - 1))
        rows = min(work, 2**29) // 2 // (_FEATURE_BYTES * made)
        return Limits(
            batch_rows=_BATCH_ROWS,
            run_entries=min(work // run, _MOST_ENTRIES),
            range_entries=min(work // merge, _MOST_ENTRIES),
            most_entries=work // merge,
            id_bytes=work // 6,
            feature_rows=max(1, min(rows, 1 << 16)),
            feature_columns=-(-columns // 8) * 8,
            feature_inputs=max(8, work // 2 // PAGE_BYTES),
            keep_rows=max(1, _KEEP_BYTES // (4 * columns)),
        )


def _entry_bytes(weighted: bool) -> tuple[int, int]:
    """Bytes of an entry while it is sorted, and while it is merged."""
    if weighted:
        return _RUN_BYTES_WEIGHTED, _RANGE_BYTES_WEIGHTED
    return _RUN_BYTES, _RANGE_BYTES
