"""Edges into sorted runs, and what is to be said of ids that are no nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fdgcl._checks import InputError
from fdgcl._progress import Progress
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.files.telling import rows_do_not_fit
from fdgcl.graphs.importing.budget import Limits
from fdgcl.graphs.importing.columns import MixedError, only_whole
from fdgcl.graphs.importing.edgefile import EdgeFile
from fdgcl.graphs.importing.featurefile import FeatureFile
from fdgcl.graphs.importing.index import build_index
from fdgcl.graphs.importing.nodes import Nodes, whose_ids
from fdgcl.graphs.importing.sorted_runs import Bins, Runs, Tally, UnknownIdError

_OFFER = "; --missing drop-edges (missing) leaves these edges out"


@dataclass(frozen=True)
class Sorted:
    """What was seen of all edges.

    Attributes:
        edges: How many there are.
        tally: What they are like.
    """

    edges: int
    tally: Tally

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Sorted:
        """What `asdict` gave."""
        return cls(int(saved["edges"]), Tally(**saved["tally"]))


@dataclass(frozen=True)
class Sorting:
    """Sorts the edges by the nodes that there are.

    Attributes:
        edges: The edge list.
        features: The features, if there are any.
        nodes: The nodes.
        folder: The store.
        work: Where runs go.
        direction: Who gathers from whom.
        limits: How much is held at a time.
        progress: Told how far it is.
    """

    edges: EdgeFile
    features: FeatureFile | None
    nodes: Nodes
    folder: Path
    work: Path
    direction: str
    limits: Limits
    progress: Progress

    def run(self) -> Sorted:
        """Sort what is not sorted yet.

        Raises:
            InputError: An edge does not fit, or the disk is full.
        """
        file = self.features
        keyed = file is not None and file.key is not None
        runs = Runs(
            self.edges,
            self._index(),
            self.nodes.ids == "text",
            whose_ids(self.edges, file, self.nodes),
            keyed and self.edges.options.missing == "drop-edges",
            _OFFER if keyed else "",
            self.direction,
            self.work,
            Bins.of(self.nodes.count),
            self.limits,
            self.progress,
        )
        # Rows by order that nobody asked for must fit the ids exactly.
        must_fit = file is not None and not keyed and not file.options.by_order
        try:
            done = runs.write()
        except UnknownIdError:
            if must_fit:
                raise self._rows_do_not_fit() from None
            raise
        tally = sum((run.tally for run in done), Tally())
        text = tally.start_text or tally.end_text
        if must_fit and (text or tally.largest + 1 != self.nodes.count):
            raise self._rows_do_not_fit()
        return Sorted(done[-1].stop, tally)

    def _index(self) -> Any:
        file = self.features
        keyed = file is not None and file.key is not None
        what = file.id_words if file is not None and keyed else str(self.edges.path)
        return build_index(self.folder, self.nodes.count, self.nodes.ids, what)

    def _rows_do_not_fit(self) -> InputError:
        """The refusal, for which the ids of all edges are looked at once more."""
        assert self.features is not None
        return rows_do_not_fit(
            str(self.features.path),
            str(self.edges.path),
            self.nodes.count,
            ends=self._ends(),
            shown=node_ids.examples(self.edges.head_ids),
        )

    def _ends(self) -> tuple[int, int] | None:
        """The smallest and the largest id; None where one is text."""
        typed = self.edges.table.typed
        least, largest = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        for batch in self.edges.batches(self.limits.batch_rows):
            for ids in (batch.start, batch.end):
                try:
                    numbers = only_whole(ids, typed=typed)
                except MixedError:
                    return None
                least = min(least, int(numbers.min()))
                largest = max(largest, int(numbers.max()))
        return least, largest
