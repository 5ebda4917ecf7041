"""Features into the store: a few columns in each file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fdgcl._checks import InputError
from fdgcl._prefetch import prefetch
from fdgcl._progress import Progress
from fdgcl.graphs.importing.budget import Limits
from fdgcl.graphs.importing.featuresource import Features
from fdgcl.graphs.store.arrays import ArrayWriter, is_finished
from fdgcl.graphs.store.store import features_path

STAGE = "copying features"
BLOCK_COLUMNS = 8


@dataclass(frozen=True)
class FeatureBlocks:
    """Copies features; what was copied before an accident stays.

    Attributes:
        features: Where they come from.
        source: The file, for messages.
        nodes: How many rows there must be.
    """

    features: Features
    source: str
    folder: Path
    nodes: int
    limits: Limits
    progress: Progress

    def write(self) -> None:
        """Copy all columns, some blocks of them in each pass over the file.

        Raises:
            InputError: The file was changed meanwhile, or the disk is full.
        """
        for first, last in self._passes():
            self._pass(first, last)

    def _passes(self) -> Iterator[tuple[int, int]]:
        """Features that are copied together: as many blocks as may be at a time."""
        width, limits = self.features.width, self.limits
        first = 0
        while first < width:
            last = first + BLOCK_COLUMNS
            while (
                last < width
                and last + BLOCK_COLUMNS - first <= limits.feature_columns
                and self.features.inputs(slice(first, last + BLOCK_COLUMNS))
                <= limits.feature_inputs
            ):
                last += BLOCK_COLUMNS
            yield first, min(last, width)
            first = last

    def _pass(self, first: int, last: int) -> None:
        with ExitStack() as stack:
            writers: list[tuple[int, ArrayWriter]] = []
            for column in range(first, last, BLOCK_COLUMNS):
                path = features_path(self.folder, column // BLOCK_COLUMNS)
                if not is_finished(path):
                    columns = min(BLOCK_COLUMNS, last - column)
                    writer = ArrayWriter(path, np.float32, columns, resumable=True)
                    writers.append((column - first, stack.enter_context(writer)))
            if writers:
                self._copy(first, last, writers)

    def _copy(
        self, first: int, last: int, writers: list[tuple[int, ArrayWriter]]
    ) -> None:
        row = kept = min(writer.rows for _, writer in writers)
        blocks = self.features.blocks(slice(first, last), self.limits.feature_rows, row)
        for block in prefetch(blocks):
            for place, writer in writers:
                # One that was kept later than others has some of these rows.
                new = block[max(0, writer.rows - row) :]
                writer.append(new[:, place : place + BLOCK_COLUMNS])
            row += len(block)
            if row - kept >= self.limits.keep_rows:
                for _, writer in writers:
                    writer.keep()
                kept = row
            width = self.features.width
            done = self.nodes * first + row * (last - first)
            self.progress(STAGE, done // width, self.nodes)
        if row != self.nodes:
            message = (
                f"{self.source} must have one row for each of {self.nodes:,} nodes, "
                f"got {row:,}: was it changed?"
            )
            raise InputError(message)
