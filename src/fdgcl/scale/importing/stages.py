"""The stages of an import, one after the other; each goes on where it was left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl._files import write_json
from fdgcl._progress import Progress
from fdgcl.scale.arrays import StoredArray, note_path
from fdgcl.scale.importing.budget import Budget, Limits
from fdgcl.scale.importing.edgefile import EdgeFile
from fdgcl.scale.importing.featureblocks import BLOCK_COLUMNS, FeatureBlocks
from fdgcl.scale.importing.featurefile import (
    FeatureFile,
    Features,
    RandomFeatures,
    open_features,
)
from fdgcl.scale.importing.index import build_index, read_texts
from fdgcl.scale.importing.merging import Merge
from fdgcl.scale.importing.nodes import NodeFinder, Nodes, id_column_name, whose_ids
from fdgcl.scale.importing.planning import (
    RANDOM_COLUMNS,
    disk_bytes,
    refuse_full_disk,
)
from fdgcl.scale.importing.request import Request
from fdgcl.scale.importing.runs import Bins, Runs, finished_runs
from fdgcl.scale.memory import give_back
from fdgcl.scale.store import (
    Manifest,
    id_ends_path,
    ids_path,
    neighbours_path,
    weights_path,
    write_manifest,
)

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Import:
    """One import at work.

    Attributes:
        request: What was asked for.
        folder: The store to be.
        budget: The memory allowed.
        progress: Told how far it is.
        limits: How much is held at a time; None to take what the budget allows.
    """

    request: Request
    folder: Path
    budget: Budget
    progress: Progress
    limits: Limits | None = None

    def run(self) -> None:
        """Do all that is left to do.

        Raises:
            InputError: The input does not fit; the message says where.
        """
        nodes = self._finder().find()
        give_back()
        features = self._features(nodes)
        edges = self._edge_file
        _, needed = disk_bytes(
            nodes.count,
            edges.rows,
            features.width,
            self.request.direction,
            weighted=edges.weighted,
        )
        refuse_full_disk(self.folder, needed)
        limits = self.limits or self._limits(nodes, features)
        count = self._sort(nodes, limits)
        give_back()
        self._merge(nodes, limits)
        give_back()
        self._copy(nodes, features, limits)
        give_back()
        self._finish(nodes, features, count)

    @property
    def work(self) -> Path:
        """The folder of what is needed on the way only."""
        return self.folder / "import"

    @cached_property
    def _edge_file(self) -> EdgeFile:
        return self.request.edge_file

    @cached_property
    def _feature_file(self) -> FeatureFile | None:
        path = self.request.features
        return None if path is None else open_features(path, self.request.id_column)

    def _finder(self) -> NodeFinder:
        limits = self.limits or self._limits(None, None)
        return NodeFinder(
            self._edge_file,
            self._feature_file,
            self.folder,
            self.work,
            self.budget,
            limits,
            self.progress,
        )

    def _limits(self, nodes: Nodes | None, features: Features | None) -> Limits:
        indexed = 0 if nodes is None or nodes.ids == "numbers" else nodes.count
        return self.budget.limits(
            indexed,
            features=1 if features is None else features.width,
            one_column=features is None or features.one_column,
            weighted=self._edge_file.weighted,
        )

    def _features(self, nodes: Nodes) -> Features:
        if self._feature_file is None:
            return RandomFeatures(nodes.count, RANDOM_COLUMNS, self.request.seed)
        return self._feature_file.features(nodes.key)

    def _sort(self, nodes: Nodes, limits: Limits) -> int:
        """Sort the edges into runs, and return how many there are."""
        note = self.work / "edges.json"
        if note.is_file():
            return int(json.loads(note.read_text(encoding="utf-8"))["edges"])
        file = self._feature_file
        what = (
            id_column_name(file, nodes.key)
            if file is not None and nodes.key is not None
            else str(self.request.edges)
        )
        runs = Runs(
            self._edge_file,
            build_index(self.folder, nodes.count, nodes.ids, what),
            whose_ids(self._edge_file, file, nodes),
            self.request.direction,
            self.work,
            Bins.of(nodes.count),
            limits,
            self.progress,
        )
        count = runs.write()
        write_json(note, {"edges": count})
        return count

    def _merge(self, nodes: Nodes, limits: Limits) -> None:
        # The index is gone by now, so that what it held can be used.
        if self.limits is None:
            limits = self._limits(replace(nodes, ids="numbers"), None)
        Merge(
            finished_runs(self.work),
            self.folder,
            Bins.of(nodes.count),
            self._edge_file.weighted,
            self.budget,
            limits,
            self.progress,
        ).write()
        if StoredArray.open(neighbours_path(self.folder)).shape[0] == 0:
            message = (
                "a graph needs at least one edge (of a weight above zero) between two "
                f"nodes, but {self.request.edges} has none"
            )
            raise InputError(message)

    def _copy(self, nodes: Nodes, features: Features, limits: Limits) -> None:
        FeatureBlocks(
            features,
            str(self.request.features),
            self.folder,
            nodes.count,
            lambda row: self._id_words(nodes, row),
            limits,
            self.progress,
        ).write()

    def _id_words(self, nodes: Nodes, row: int) -> str:
        if nodes.key is None:
            return ""
        if nodes.ids == "numbers":
            return f" (id {row})"
        ids = StoredArray.open(ids_path(self.folder))
        if nodes.ids == "int64":
            return f" (id {ids.read(row, row + 1)[0]})"
        ends = StoredArray.open(id_ends_path(self.folder))
        return f" (id {read_texts(ids, ends, row, row + 1)[0].as_py()!r})"

    def _finish(self, nodes: Nodes, features: Features, edges: int) -> None:
        weighted = self._edge_file.weighted and not self._drop_ones()
        manifest = Manifest(
            name=self.request.called,
            source=str(self.request.edges),
            nodes=nodes.count,
            entries=StoredArray.open(neighbours_path(self.folder)).shape[0],
            edges=edges,
            direction=self.request.direction,
            weighted=weighted,
            ids=nodes.ids,
            features=features.width,
            block_columns=BLOCK_COLUMNS,
            feature_names=features.names,
            structural="random" if self._feature_file is None else None,
        )
        write_manifest(self.folder, manifest)
        shutil.rmtree(self.work)

    def _drop_ones(self) -> bool:
        """Remove weights that are all one, and say whether they were."""
        path = weights_path(self.folder)
        if not note_path(path).is_file():
            # Removed before an accident: nothing but this takes them away.
            return True
        for _, block in StoredArray.open(path).blocks(_BLOCK):
            if not (block == 1).all():
                return False
        note_path(path).unlink()
        path.unlink()
        return True


@contextmanager
def lean_arrow() -> Iterator[None]:
    """Let Arrow give memory back at once while the block runs."""
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)
