"""One training: what is told before and after, and its epochs in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl._bars import Bars
from fdgcl._checks import in_words
from fdgcl._interrupts import deferred_interrupt
from fdgcl._notices import LOGGER, notice, warn
from fdgcl._progress import Progress
from fdgcl.methods.preparation import Preparation
from fdgcl.run_folder import RunFolder
from fdgcl.training.loop import train
from fdgcl.training.records import (
    COLLAPSED_COSINE,
    COLLAPSED_RANK,
    EpochRecord,
    NonFiniteLossError,
    TrainingWarning,
)
from fdgcl.training.trainable import Trainable
from fdgcl.training_log import CHECKPOINT_SECONDS, TrainingLog

#: Given an epoch's record, and a function that embeds by the weights of that moment.
OnEpoch = Callable[[EpochRecord, Callable[[], NDArray[np.float32]]], None]


def tell_epoch(progress: Progress | None, record: EpochRecord, epochs: int) -> None:
    """Tell that an epoch of all epochs is done, and its loss where it is shown."""
    if isinstance(progress, Bars):
        progress("train", record.epoch, epochs, f"loss {record.loss:.4f}")
    elif progress is not None:
        progress("train", record.epoch, epochs)


def announce(prepared: Preparation[Any]) -> list[str]:
    """Log and return what was decided for the user, and warn of what means little."""
    for text in prepared.warnings():
        warn(text, TrainingWarning)
    notices = [*prepared.notices, *prepared.describe_decisions()]
    notice(*notices)
    return notices


def conclude(
    prepared: Preparation[Any], history: Sequence[EpochRecord], seconds: float
) -> None:
    """Log how the training ended, and warn if the views are one direction each.

    Args:
        prepared: What was trained on.
        history: One record an epoch.
        seconds: Spent in all.
    """
    if not history:
        LOGGER.info("no epoch was trained, %.1f s", seconds)
        return
    last = history[-1]
    ranks = last.effective_ranks
    LOGGER.info(
        "%d epochs, %.1f s; loss %.4f, effective ranks of the views %s",
        len(history),
        seconds,
        last.loss,
        in_words([f"{rank:.1f}" for rank in ranks]),
    )
    cause = prepared.findings.cause
    centred = getattr(prepared.settings, "standardize", False)
    # Rows that are not centred share a direction anyway, and a collapse was told.
    if cause is None and centred and last.alignment < COLLAPSED_COSINE:
        cause = (
            "the diffused features vary in one direction alone, as do columns that say "
            "the same, or features after too long a diffusion (time)"
        )
    if max(ranks) < COLLAPSED_RANK and cause is not None:
        message = (
            "the embedding has little more than one direction (effective ranks of the "
            f"views {in_words([f'{rank:.2f}' for rank in ranks])}): {cause}"
        )
        warn(message, TrainingWarning)


def run_training(
    trainable: Trainable[Any],
    epochs: int,
    files: RunFolder | None,
    *,
    after_epoch: Callable[[EpochRecord], None],
    on_start: Callable[[list[EpochRecord]], None] = lambda _: None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    explained: bool = False,
) -> list[EpochRecord]:
    """Train what the run folder does not have yet, and keep the finished model there.

    Args:
        trainable: The model on its graph.
        epochs: How many there are to be.
        files: The run folder, if there is one; a checkpoint in it is gone on with.
        after_epoch: Called after each epoch.
        on_start: Called with the history so far, which grows from then on.
        checkpoint_seconds: Between two checkpoints, at least; 0 for one every epoch.
        explained: Whether features are the reason where views have few directions.

    Returns:
        One record an epoch.

    Raises:
        NonFiniteLossError: Training diverged; the last good weights are kept.
    """
    log = TrainingLog(
        files,
        trainable,
        checkpoint_seconds=checkpoint_seconds,
        explained=explained,
    )
    on_start(log.history)
    try:
        _run_epochs(trainable, epochs, log, after_epoch)
    except NonFiniteLossError:
        log.finish()
        raise
    log.finish()
    return log.history


def _run_epochs(
    trainable: Trainable[Any],
    epochs: int,
    log: TrainingLog,
    after_epoch: Callable[[EpochRecord], None],
) -> None:
    # Interrupts wait until an epoch is whole.
    with deferred_interrupt() as interrupt:

        def on_epoch(record: EpochRecord) -> None:
            with log.epoch(record):
                after_epoch(record)
                # All of a group stop after the same epoch, whoever was told first.
                if trainable.group.any(interrupt.requested):
                    raise KeyboardInterrupt

        train(
            trainable,
            epochs=epochs,
            first_epoch=len(log.history) + 1,
            on_epoch=on_epoch,
        )
