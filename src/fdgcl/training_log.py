"""The history of a run as it grows, on disk where there is a run folder."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fdgcl.run_folder import RunFolder
from fdgcl.training.records import EpochRecord, warn_of_collapse
from fdgcl.training.trainable import Trainable

CHECKPOINT_SECONDS = 20.0


class TrainingLog:
    """The history of a run, kept on disk as it grows where there is a folder.

    All of a group read the folder, the first of them writes it.

    Args:
        files: The folder.
        trainable: What is trained.
        checkpoint_seconds: Between two checkpoints, at least; 0 for one every epoch.
        explained: Whether features are the reason where views have few directions, so
            that training is not to blame.
    """

    def __init__(
        self,
        files: RunFolder | None,
        trainable: Trainable[Any],
        *,
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
        explained: bool = False,
    ) -> None:
        self._trainable, self._group = trainable, trainable.group
        self._seconds = checkpoint_seconds
        self._saved = time.perf_counter()
        # Who does not write does not warn.
        self._collapsed = explained or not self._group.is_first
        self.history: list[EpochRecord] = []
        if files is not None:
            self.history = files.read_checkpoint(trainable.model, trainable.optimizer)
        self._files = files if self._group.is_first else None
        if self._files is not None:
            self._files.write_metrics(self.history)

    @contextmanager
    def epoch(self, record: EpochRecord) -> Iterator[None]:
        """Log an epoch; if the block inside is interrupted, save a checkpoint first.

        Between two epochs the state is whole; a checkpoint from any other moment
        would not go on as an uninterrupted run does.
        """
        self.history.append(record)
        self._collapsed = self._collapsed or warn_of_collapse(record)
        if self._files is not None:
            self._files.append_metrics(record)
        try:
            yield
        except KeyboardInterrupt:
            self._save()
            raise
        if time.perf_counter() - self._saved > self._seconds:
            self._save()
        # No one begins an epoch that would be lost with the first of them.
        self._group.barrier()

    def finish(self) -> None:
        """Keep the finished weights, and what embedding needs of the training graph."""
        self._trainable.finish()
        if self._files is not None:
            self._files.write_model(self._trainable.model)
        self._group.barrier()

    def _save(self) -> None:
        if self._files is not None:
            self._files.write_checkpoint(
                self._trainable.model, self._trainable.optimizer, self.history
            )
        self._saved = time.perf_counter()
