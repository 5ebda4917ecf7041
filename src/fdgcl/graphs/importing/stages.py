"""The stages of an import, one after the other; each goes on where it was left."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from fdgcl._checks import InputError
from fdgcl._files import write_json
from fdgcl._memory import give_back
from fdgcl._progress import Progress
from fdgcl.graphs.files.telling import compared_as_written
from fdgcl.graphs.importing.budget import Budget, Limits
from fdgcl.graphs.importing.edgefile import EdgeFile
from fdgcl.graphs.importing.featureblocks import BLOCK_COLUMNS, FeatureBlocks
from fdgcl.graphs.importing.featurefile import FeatureFile
from fdgcl.graphs.importing.featurefit import Fitted, Room
from fdgcl.graphs.importing.featuresource import (
    Features,
    RandomFeatures,
    StructuralFeatures,
)
from fdgcl.graphs.importing.merging import Merge
from fdgcl.graphs.importing.nodes import NodeFinder, Nodes
from fdgcl.graphs.importing.planning import disk_bytes, refuse_full_disk
from fdgcl.graphs.importing.request import Request
from fdgcl.graphs.importing.sorted_runs import Bins, finished_runs
from fdgcl.graphs.importing.sorting import Sorted, Sorting
from fdgcl.graphs.store.arrays import StoredArray, note_path
from fdgcl.graphs.store.store import (
    Manifest,
    Store,
    neighbours_path,
    weights_path,
    write_manifest,
)
from fdgcl.graphs.structural import COLUMNS

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

    def open(self) -> None:
        """Look into the files, so that one that is no table leaves nothing behind.

        Raises:
            InputError: A file is of another kind, or it is not clear which of its
                columns are what.
        """
        _ = self._edge_file.weighted
        if self._feature_file is not None:
            self._feature_file.open()
            self.budget.check_fit(self._feature_file.fit.cost())
        give_back()

    def run(self) -> None:
        """Do all that is left to do.

        Raises:
            InputError: The input does not fit; the message says where.
        """
        fitted = self._fit()
        give_back()
        nodes = self._finder(fitted).find()
        give_back()
        features = self._features(nodes, fitted)
        edges = self._edge_file
        parts = disk_bytes(
            nodes.count,
            edges.rows,
            features.width,
            self.request.direction,
            weighted=edges.weighted,
        )
        refuse_full_disk(self.folder, sum(parts))
        limits = self.limits or self._limits(nodes, features)
        found = self._sort(nodes, limits)
        give_back()
        self._merge(nodes, limits)
        give_back()
        self._copy(nodes, features, limits)
        give_back()
        self._finish(nodes, features, fitted, found)

    @property
    def work(self) -> Path:
        """The folder of what is needed on the way only."""
        return self.folder / "import"

    @property
    def _edge_file(self) -> EdgeFile:
        return self.request.edge_file

    @cached_property
    def _feature_file(self) -> FeatureFile | None:
        file, noted = self.request.feature_file, self._noted
        if file is None or noted is None:
            return file
        return replace(file, decided=(noted["key"],))

    @property
    def _note(self) -> Path:
        """What was found of the features."""
        return self.work / "features.json"

    @cached_property
    def _noted(self) -> dict[str, Any] | None:
        if not self._note.is_file():
            return None
        value: dict[str, Any] = json.loads(self._note.read_text(encoding="utf-8"))
        return value

    def _fit(self) -> Fitted | None:
        """Find out what becomes of the columns of features, or what was found."""
        file = self._feature_file
        if file is None:
            return None
        if self._noted is not None:
            return Fitted.from_dict(self._noted["fitted"], str(self._note))
        room = Room(self.budget.work)
        if self.limits is not None:
            rows, columns = self.limits.feature_rows, self.limits.feature_inputs
            room = Room(self.budget.work, rows, columns)
        fitted = file.fit.run(room, self.progress)
        write_json(self._note, {"key": file.key, "fitted": fitted.to_dict()})
        return fitted

    def _finder(self, fitted: Fitted | None) -> NodeFinder:
        limits = self.limits or self._limits(None, None)
        return NodeFinder(
            self._edge_file,
            self._feature_file,
            0 if fitted is None else fitted.rows,
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
            widest=1 if features is None else features.widest,
            weighted=self._edge_file.weighted,
        )

    def _features(self, nodes: Nodes, fitted: Fitted | None) -> Features:
        kind, seed = self.request.structural, self.request.seed
        if kind is None:
            assert self._feature_file is not None
            assert fitted is not None
            return self._feature_file.features(fitted)
        self.budget.check_made(kind, nodes.count)
        if kind == "random":
            return RandomFeatures(nodes.count, COLUMNS, seed)
        return StructuralFeatures(lambda: self._graph(nodes), nodes.count, kind, seed)

    def _graph(self, nodes: Nodes) -> Store:
        """The store as far as it is there once the edges are merged."""
        manifest = Manifest(
            name=self.request.called,
            source=str(self.request.edges),
            nodes=nodes.count,
            entries=StoredArray.open(neighbours_path(self.folder)).shape[0],
            edges=self._edge_file.rows,
            direction=self.request.direction,
            weighted=self._edge_file.weighted,
            ids=nodes.ids,
            features=0,
            block_columns=BLOCK_COLUMNS,
            structural=self.request.structural,
        )
        return Store(self.folder, manifest)

    def _sort(self, nodes: Nodes, limits: Limits) -> Sorted:
        """Sort the edges into runs."""
        note = self.work / "edges.json"
        if note.is_file():
            return Sorted.from_dict(json.loads(note.read_text(encoding="utf-8")))
        found = Sorting(
            self._edge_file,
            self._feature_file,
            nodes,
            self.folder,
            self.work,
            self.request.direction,
            limits,
            self.progress,
        ).run()
        write_json(note, asdict(found))
        return found

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
            limits,
            self.progress,
        ).write()

    def _finish(
        self, nodes: Nodes, features: Features, fitted: Fitted | None, found: Sorted
    ) -> None:
        manifest = replace(
            self._graph(nodes).manifest,
            edges=found.edges,
            weighted=self._edge_file.weighted and not self._drop_ones(),
            features=features.width,
            feature_names=features.names,
            feature_schema=None if fitted is None else fitted.schema.to_dict(),
            reading=tuple(self._reading(nodes, fitted, found)),
        )
        write_manifest(self.folder, manifest)
        shutil.rmtree(self.work)

    def _reading(
        self, nodes: Nodes, fitted: Fitted | None, found: Sorted
    ) -> Iterator[str]:
        """What was taken for what, in the words of `read_graph`."""
        yield from self._edge_file.reading
        file = self._feature_file
        if file is None or fitted is None:
            return
        yield from file.reading(fitted)
        if file.key is None:
            return
        seen = found.tally
        if not seen.start_text == seen.end_text == (nodes.ids == "text"):
            yield compared_as_written(str(self.request.edges), str(file.path))
        if seen.dropped:
            yield (
                f"{seen.dropped:,} edges of {self.request.edges} name ids without "
                "features: these edges are left out"
            )

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
