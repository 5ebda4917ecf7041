"""The embedding that a report shows: the run's own, or none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fdgcl._checks import InputError
from fdgcl.embeddings import read_embeddings
from fdgcl.estimators import load_model
from fdgcl.report.run_page import Embedded
from fdgcl.workflows.feedback import Feedback
from fdgcl.workflows.records import Record
from fdgcl.workflows.rows import Level, row_ids
from fdgcl.workflows.run_folders import EMBEDDING

if TYPE_CHECKING:
    from fdgcl.workflows.source import Data

MOST_ROWS = 1_000_000  # of an embedding in parts: more is not read for one page


@dataclass(frozen=True, eq=False)
class Finder:
    """Finds the embedding of a run.

    Attributes:
        folder: Of the run.
        record: What the run noted of itself, if anything.
        data: What it was made of; None where that is not at hand.
        rows: Nodes that the run says it has.
        finished: Whether there is a trained model.
        told: Hears what is not simply the run's own.
    """

    folder: Path
    record: Record | None
    data: Data | None
    rows: int
    finished: bool
    told: Feedback

    def find(self, named: Path | None) -> Embedded | None:
        """The embedding, with a notice where it is not simply the run's own file.

        Args:
            named: The file that the user named, which is taken whatever it is.

        Raises:
            InputError: The file is another one, and cannot be made anew.
        """
        record = self.record
        if named is not None:
            known = record is not None and record.checksum is not None
            if known and record is not None and not record.wrote(named):
                self.told.notice(f"{named} is not as this run wrote its embedding")
            return _read(named)
        places = [self.folder / EMBEDDING, *([record.embedding] if record else [])]
        there = [path for path in places if path.exists()]
        if record is None or record.checksum is None:
            return self._unchecked(there)
        own = next((path for path in there if record.wrote(path)), None)
        if own is not None:
            return self._of_moderate_size(own)
        return self._anew(there, record)

    def _unchecked(self, there: list[Path]) -> Embedded | None:
        if not there:
            self.told.notice(
                "there is no embedding in the run: name its file by `embedding`"
            )
            return None
        self.told.notice(
            f"that {there[0].name} is this run's own was not checked: the run noted no "
            "checksum"
        )
        return self._of_moderate_size(there[0])

    def _of_moderate_size(self, path: Path) -> Embedded | None:
        if path.is_dir() and self.rows > MOST_ROWS:
            self.told.notice(f"the embedding is left out above {MOST_ROWS:,} nodes")
            return None
        return _read(path)

    def _anew(self, there: list[Path], record: Record) -> Embedded | None:
        """The embedding by the run's model, where its file is lost or another's."""
        name = record.embedding.name
        state = (
            f"{name} is not as this run wrote it: it was changed, or replaced by "
            "another run"
            if there
            else f"{name}, which this run wrote, is not there any more"
        )
        if self.data is not None and self.finished:
            level: Level = "graph" if record.level == "graph" else "node"
            model = load_model(self.folder, device="auto")
            z: Any = model.transform(self.data, level=level)
            self.told.notice(f"{state}; the embedding was computed anew by its model")
            return Embedded(row_ids(self.data, level), z)
        if not there:
            self.told.notice(f"{state}: name its file by `embedding`")
            return None
        message = (
            f"{state}, and the graph to compute it anew from is not at hand: name the "
            "right file by `embedding`, or the graph by `dataset`"
        )
        raise InputError(message)


def _read(path: Path) -> Embedded:
    ids, z = read_embeddings(path)
    if not np.isfinite(z).all():
        message = f"{path} has values that are not finite"
        raise InputError(message)
    return Embedded(ids, np.array(z))  # what was read cannot be written to
