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
from fdgcl.graphs.ids import from_column
from fdgcl.graphs.importing.budget import Budget, Limits
from fdgcl.graphs.importing.columns import MixedError, as_text, only_whole
from fdgcl.graphs.importing.distinct import DistinctNumbers, DistinctTexts
from fdgcl.graphs.importing.edgefile import EdgeFile
from fdgcl.graphs.importing.featurefile import FeatureFile
from fdgcl.graphs.importing.idfiles import NumberWriter, TextWriter, remove_ids
from fdgcl.graphs.store.store import id_ends_path, ids_path

STAGE = "reading ids"
#: A pair of nodes is one number of 64 bits.
_MOST_NODES = 2**32


@dataclass(frozen=True)
class Nodes:
    """What is known of the nodes.

    Attributes:
        count: How many.
        ids: `numbers`, `int64` or `text`, as in a manifest.
    """

    count: int
    ids: str


@dataclass(frozen=True)
class NodeFinder:
    """Finds the nodes, and writes their ids; once found, they are noted.

    Attributes:
        edges: The edges.
        features: The features, if there are any.
        rows: How many rows they have.
    """

    edges: EdgeFile
    features: FeatureFile | None
    rows: int
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
            self.budget.check(nodes.count if nodes.ids != "numbers" else 0)
        write_json(note, asdict(nodes))
        return nodes

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
            self.budget.check(found.count)
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
                self.budget.check(writer.rows)
        return Nodes(writer.rows, "text")

    def _of_features(self) -> Nodes:
        assert self.features is not None
        if self.features.key is None:
            return Nodes(self.rows, "numbers")
        return self._keyed(self.features.key)

    def _keyed(self, key: int) -> Nodes:
        assert self.features is not None
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
            return Nodes(texts.rows, "text")
        return self._numbers(writer)

    def _numbers(self, writer: NumberWriter) -> Nodes:
        if not writer.is_range:
            return Nodes(writer.rows, "int64")
        remove_ids(self.folder)
        return Nodes(writer.rows, "numbers")

    def _ids(self, key: int) -> Iterator[pa.Array]:
        file = self.features
        assert file is not None
        what, allow_null = file.id_words, file.options.allow_null_ids
        rows = self.limits.batch_rows
        for batch in file.table.batches([key], rows=rows, skip=0):
            yield from_column(
                batch.as_is[0], what, allow_null=allow_null, first=batch.first
            )
            self._tell(batch.first + len(batch), file.rows)

    def _tell(self, done: int, total: int) -> None:
        self.progress(STAGE, done, max(done, total))


def whose_ids(edges: EdgeFile, file: FeatureFile | None, nodes: Nodes) -> str:
    """What the nodes are taken from, in words."""
    if file is None:
        return f"the ids of {edges.path}"
    if file.key is not None:
        return f"the ids of {file.path}"
    return f"the rows 0 to {nodes.count - 1} of {file.path}, taken by order"
