"""From ids to the places of their nodes, in a known amount of memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.importing.columns import as_text, matching_numbers
from fdgcl.graphs.importing.hashing import TextHash
from fdgcl.graphs.schema.hashing import mixed
from fdgcl.graphs.store.arrays import StoredArray
from fdgcl.graphs.store.store import id_ends_path, ids_path

Places = NDArray[np.int64]

#: What making an index takes, at most.
BYTES_PER_NODE = 24
# A table of all numbers between the least and the largest, while few are missing.
_DENSE_UP_TO = 3
_BLOCK = 1 << 18


class NodeIndex(ABC):
    """Finds the places of nodes by their ids."""

    @abstractmethod
    def places(self, ids: pa.Array) -> Places:
        """Where each id (int64 or string) stands among the nodes; -1 if it does not.

        Ids of different types match when they are written alike: 7 and "7".
        """


@dataclass(frozen=True)
class RangeIndex(NodeIndex):
    """The ids 0, 1, 2, ... are the places themselves."""

    nodes: int

    def places(self, ids: pa.Array) -> Places:
        """See `NodeIndex`."""
        numbers, alike = matching_numbers(ids)
        known = (numbers >= 0) & (numbers < self.nodes)
        if pa.types.is_int64(ids.type) and known.all():
            return numbers
        return np.where(known & alike, numbers, -1)


@dataclass(frozen=True, eq=False)
class DenseIndex(NodeIndex):
    """A table of all whole numbers from the least id to the largest."""

    least: int
    table: NDArray[Any]

    def places(self, ids: pa.Array) -> Places:
        """See `NodeIndex`."""
        numbers, alike = matching_numbers(ids)
        last = self.least + len(self.table) - 1
        known = alike & (numbers >= self.least) & (numbers <= last)
        found = self.table[np.where(known, numbers, self.least) - self.least]
        return np.where(known, found, -1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class HashedIndex(NodeIndex):
    """Hashes in order, found by their first bits.

    A text that is no node's is taken for one with a chance of (nodes / 2 ** 64).

    Attributes:
        keys: The nodes' hashes, sorted.
        order: The node of each.
        first: Where the hashes with given leading bits start.
        shift: How many bits are not leading.
        texts: The hash of texts; None where ids are numbers.
    """

    keys: NDArray[np.uint64]
    order: NDArray[Any]
    first: NDArray[np.int64]
    shift: np.uint64
    texts: TextHash | None

    def places(self, ids: pa.Array) -> Places:
        """See `NodeIndex`."""
        if self.texts is not None:
            return self._find(self.texts(as_text(ids)))
        numbers, alike = matching_numbers(ids)
        return np.where(alike, self._find(mixed(numbers)), -1)

    def _find(self, wanted: NDArray[np.uint64]) -> Places:
        leading = (wanted >> self.shift).astype(np.int64)
        place, end = self.first[leading], self.first[leading + 1]
        found = np.full(len(wanted), -1, np.int64)
        open_ = np.flatnonzero(place < end)
        while len(open_):
            here = place[open_]
            hit = self.keys[here] == wanted[open_]
            found[open_[hit]] = self.order[here[hit]]
            open_ = open_[~hit]
            place[open_] += 1
            open_ = open_[place[open_] < end[open_]]
        return found


def build_index(folder: Path, nodes: int, kind: str, what: str) -> NodeIndex:
    """Make the index of a store's ids.

    Args:
        folder: The store.
        nodes: Number of nodes.
        kind: Of ids: `numbers`, `int64` or `text`.
        what: Names file and column of the ids, for a message.

    Raises:
        InputError: An id stands there twice.
    """
    if kind == "numbers":
        return RangeIndex(nodes)
    stored = StoredArray.open(ids_path(folder))
    if kind == "text":
        ends = StoredArray.open(id_ends_path(folder))
        return _index_texts(stored, ends, what)
    values = stored.read(0, nodes)
    least, largest = int(values.min()), int(values.max())
    if largest - least < _DENSE_UP_TO * nodes:
        table = np.full(largest - least + 1, -1, place_type(nodes))
        for start in range(0, nodes, _BLOCK):
            part = values[start : start + _BLOCK]
            table[part - least] = np.arange(start, start + len(part))
        if np.count_nonzero(table >= 0) == nodes:
            return DenseIndex(least, table)
    else:
        keys = values.view(np.uint64)
        for start in range(0, nodes, _BLOCK):
            keys[start : start + _BLOCK] = mixed(values[start : start + _BLOCK])
        index = _hashed(keys, None)
        if not len(_twins(index.keys)):
            return index
    found, counts = np.unique(stored.read(0, nodes), return_counts=True)
    often = found[counts > 1].tolist()
    raise _repeated(what, often)


def _index_texts(data: StoredArray, ends: StoredArray, what: str) -> NodeIndex:
    nodes = ends.shape[0] - 1
    seed = 0
    while True:
        hashing = TextHash(seed)
        keys = np.empty(nodes, np.uint64)
        for start in range(0, nodes, _BLOCK):
            stop = min(start + _BLOCK, nodes)
            keys[start:stop] = hashing(read_texts(data, ends, start, stop))
        index = _hashed(keys, hashing)
        twins = _twins(index.keys)
        if not len(twins):
            return index

        def text(place: int, order: NDArray[Any] = index.order) -> str:
            node = int(order[place])
            return str(read_texts(data, ends, node, node + 1)[0].as_py())

        same = _same_texts(twins, text)
        if same:
            raise _repeated(what, same)
        # Two different texts met: another function will part them.
        seed += 1


def _same_texts(twins: NDArray[np.int64], text: Callable[[int], str]) -> list[str]:
    """The texts that stand twice, of places where a hash equals the next."""
    same: dict[str, None] = {}
    for place in twins.tolist():
        found = text(place)
        if found == text(place + 1):
            same[found] = None
    return list(same)


def read_texts(data: StoredArray, ends: StoredArray, start: int, stop: int) -> pa.Array:
    """Some texts of a store, as large strings."""
    bounds = ends.read(start, stop + 1)
    stored = data.read(int(bounds[0]), int(bounds[-1]))
    buffers = [None, pa.py_buffer(bounds - bounds[0]), pa.py_buffer(stored)]
    return pa.Array.from_buffers(pa.large_string(), stop - start, buffers)


def _hashed(keys: NDArray[np.uint64], texts: TextHash | None) -> HashedIndex:
    """Sort hashes where they are, and note whose they are."""
    order = np.argsort(keys).astype(place_type(len(keys)))
    keys.sort()
    bits = max(1, len(keys).bit_length() - 2)
    shift = np.uint64(64 - bits)
    leading = np.arange(1 << bits, dtype=np.uint64) << shift
    first = np.append(np.searchsorted(keys, leading), len(keys))
    return HashedIndex(keys, order, first, shift, texts)


def _twins(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.flatnonzero(keys[1:] == keys[:-1])


def place_type(nodes: int) -> type[np.int32] | type[np.int64]:
    """The smallest type that numbers so many nodes."""
    return np.int32 if nodes < 2**31 else np.int64


def _repeated(what: str, often: list[int] | list[str]) -> InputError:
    shown = node_ids.examples(pa.array(often))
    return InputError(f"{what} repeats {len(often):,} ids, such as {shown}")
