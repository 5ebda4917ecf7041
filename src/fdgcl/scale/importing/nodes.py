"""Which nodes there are: those of the features or, without any, of the edges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl._files import write_json
from fdgcl._progress import Progress
from fdgcl.scale.importing.budget import Budget, Limits
from fdgcl.scale.importing.columns import (
    MixedError,
    as_text,
    checked_ids,
    only_whole,
)
from fdgcl.scale.importing.distinct import DistinctNumbers, DistinctTexts
from fdgcl.scale.importing.edgefile import EdgeFile
from fdgcl.scale.importing.featurefile import ArrayFeatures, FeatureFile
from fdgcl.scale.importing.idfiles import NumberWriter, TextWriter, remove_ids
from fdgcl.scale.importing.index import RepeatedIdError, build_index
from fdgcl.scale.importing.tables import estimated_rows
from fdgcl.scale.store import id_ends_path, ids_path

STAGE = "reading ids"
#: A pair of nodes is one number of 64 bits.
_MOST_NODES = 2**32


@dataclass(frozen=True)
class Nodes:
    """What is known of the nodes.

    Attributes:
        count: How many.
        ids: `numbers`, `int64` or `text`, as in a manifest.
        key: The column of the features that holds ids; None without.
    """

    count: int
    ids: str
    key: int | None = None


@dataclass(frozen=True)
class NodeFinder:
    """Finds the nodes, and writes their ids; once found, they are noted."""

    edges: EdgeFile
    features: FeatureFile | None
    folder: Path
    work: Path
    budget: Budget
    limits: Limits
    progress: Progress

    def find(self) -> Nodes:
        """The nodes, as noted or by reading.

        Raises:
            InputError: There are too few, or too many for the memory.
        """
        note = self.work / "nodes.json"
        if note.is_file():
            return Nodes(**json.loads(note.read_text(encoding="utf-8")))
        remove_ids(self.folder)
        nodes = self._of_edges() if self.features is None else self._of_features()
        if not 2 <= nodes.count <= _MOST_NODES:
            message = (
                f"a graph needs at least two nodes, and at most {_MOST_NODES:,}, but "
                f"{self.edges.path} makes one of {nodes.count:,}"
            )
            raise InputError(message)
        if nodes.ids != "text" or self.features is not None:
            self._fits(nodes.count if nodes.ids != "numbers" else 0)
        write_json(note, asdict(nodes))
        return nodes

    def _fits(self, count: int) -> None:
        self.budget.check(count)

    def _of_edges(self) -> Nodes:
        try:
            numbers = self._numbers_of_edges()
        except MixedError:
            return self._texts_of_edges()
        with NumberWriter(self.folder) as writer:
            writer.append(numbers)
        return self._numbers(writer)

    def _numbers_of_edges(self) -> Any:
        found = DistinctNumbers(self.limits.id_bytes)
        typed = self.edges.table.typed
        for batch in self.edges.batches(self.limits.batch_rows):
            found.add(batch, typed=typed)
            self._fits(found.count)
            self._tell(batch.first + len(batch), self.edges.rows)
        return found.finish()

    def _texts_of_edges(self) -> Nodes:
        found = DistinctTexts(self.work, self.limits.id_bytes)
        for batch in self.edges.batches(self.limits.batch_rows):
            found.add(batch)
            self._tell(batch.first + len(batch), self.edges.rows)
        with TextWriter(ids_path(self.folder), id_ends_path(self.folder)) as writer:
            for texts in found.finish():
                writer.append(texts)
                self._fits(writer.rows)
        return Nodes(writer.rows, "text")

    def _of_features(self) -> Nodes:
        file = self.features
        assert file is not None
        if file.table is None:
            return Nodes(ArrayFeatures(file.path).rows, "numbers")
        if file.key is not None:
            return self._keyed(file.key)
        if file.maybe:
            nodes = self._keyed(0)
            if self._are_ids(nodes):
                return nodes
            remove_ids(self.folder)
            return Nodes(nodes.count, "numbers")
        if file.table.num_rows is not None:
            return Nodes(file.table.num_rows, "numbers")
        count = sum(len(ids) for ids in self._column(0))
        return Nodes(count, "numbers")

    def _are_ids(self, nodes: Nodes) -> bool:
        """Whether a column of distinct numbers has all ids of the edges."""
        try:
            index = build_index(self.folder, nodes.count, nodes.ids, "the first column")
        except RepeatedIdError:
            return False
        for batch in self.edges.batches(self.limits.batch_rows):
            for ids in (batch.start, batch.end):
                if index.places(ids).min(initial=0) < 0:
                    return False
        return True

    def _keyed(self, key: int) -> Nodes:
        assert self.features is not None
        assert self.features.table is not None
        typed = self.features.table.typed
        try:
            with NumberWriter(self.folder) as writer:
                for ids in self._ids(key):
                    writer.append(only_whole(ids, typed=typed))
        except MixedError:
            texts = TextWriter(ids_path(self.folder), id_ends_path(self.folder))
            with texts:
                for ids in self._ids(key):
                    texts.append(as_text(ids))
            return Nodes(texts.rows, "text", key)
        return self._numbers(writer, key)

    def _numbers(self, writer: NumberWriter, key: int | None = None) -> Nodes:
        if not writer.is_range:
            return Nodes(writer.rows, "int64", key)
        remove_ids(self.folder)
        return Nodes(writer.rows, "numbers", key)

    def _ids(self, key: int) -> Iterator[pa.Array]:
        assert self.features is not None
        what = id_column_name(self.features, key)
        first = 0
        for column in self._column(key):
            yield checked_ids(column, what, first)
            first += len(column)

    def _column(self, number: int) -> Iterator[pa.Array]:
        assert self.features is not None
        table = self.features.table
        assert table is not None
        total, rows = estimated_rows(table), self.limits.batch_rows
        for batch in table.batches([number], rows=rows, skip=0):
            yield batch.as_is[0]
            self._tell(batch.first + len(batch), total)

    def _tell(self, done: int, total: int) -> None:
        self.progress(STAGE, done, max(done, total))


def id_column_name(file: FeatureFile, key: int) -> str:
    """A column of ids and its file, in words."""
    assert file.table is not None
    return f"the column {file.table.names[key]!r} of {file.path}"


def whose_ids(edges: EdgeFile, file: FeatureFile | None, nodes: Nodes) -> str:
    """What the nodes are taken from, in words."""
    if file is None:
        return f"the ids of {edges.path}"
    if nodes.key is not None:
        return f"the ids of {file.path}"
    return (
        f"the rows 0 to {nodes.count - 1} of {file.path} (it has no column of ids, so "
        "that row i is the node i)"
    )
