"""Seconds and memory of training, by each of the ways to diffuse."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import torch

from fdgcl._checks import choose
from fdgcl.benchmark.clock import now
from fdgcl.benchmark.memory import peak_memory
from fdgcl.methods.fdgcl import DiffusedFeatures, InLoop, Stepped, ViewSource
from fdgcl.methods.fdgcl.method import new_views
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation
from fdgcl.methods.fdgcl.training import TrainingOptions, ViewTraining
from fdgcl.training import EpochRecord, train

# The solver in the training loop, our polynomial in the loop, and diffusion before it.
WAYS = ("stepping", "polynomial", "precomputed")


@dataclass(frozen=True)
class Run:
    """What one way to train took.

    Attributes:
        precompute_seconds: Before the first epoch.
        epoch_seconds: Of an epoch, the median.
        peak_bytes: The most memory that it added to what was there.
        loss: Of the last epoch: the same for all ways, but for rounding.
    """

    precompute_seconds: float
    epoch_seconds: float
    peak_bytes: int
    loss: float


def time_training(
    prepared: DiffusionPreparation, way: str, *, epochs: int, warmup: int = 0
) -> Run:
    """Train one way, all rows at once, and say what it took.

    Args:
        prepared: Graph and settings.
        way: Of `WAYS`.
        epochs: Epochs to time.
        warmup: Epochs before them that are not timed.
    """
    choose("way", way, dict.fromkeys(WAYS))
    settings = prepared.settings
    place = settings.torch_device
    # The transposed graph belongs to no way: every backward pass in a loop needs it.
    assert prepared.operator.matrix.transposed.nnz
    views = new_views(
        settings,
        prepared.graph.num_features,
        prepared.beta,
        kept=prepared.kept,
        reduced_views=prepared.decisions()["reduced_views"],
    )
    options = TrainingOptions(
        settings.new_loss,
        settings.lr,
        settings.weight_decay,
        fast=settings.fast,
        precision=settings.precision,
    )
    losses: list[float] = []
    ends: list[float] = []

    def note(record: EpochRecord) -> None:
        losses.append(record.loss)
        ends.append(now(place))

    with peak_memory(place) as peak:
        start = now(place)
        source = _source(prepared, way, place)
        ends.append(now(place))
        once = ends[0] - start
        training = ViewTraining(views, source, options)
        train(training, epochs=warmup + epochs, on_epoch=note)
    # The median: what else the machine did for a moment does not count.
    seconds = median(b - a for a, b in pairwise(ends[warmup:]))
    return Run(0.0 if way == "stepping" else once, seconds, peak[0], losses[-1])


def _source(
    prepared: DiffusionPreparation, way: str, place: torch.device
) -> ViewSource:
    features, kept = prepared.view_features, prepared.kept_features(place)
    if way == "stepping":
        # Autograd goes back through every step, as in the paper's own solver.
        settings = prepared.settings
        pair = [prepared.dynamics] * len(settings.orders)
        return Stepped(
            features,
            prepared.operator,
            pair,
            settings.orders,
            settings.schedule,
            "autograd",
            kept,
        )
    if way == "polynomial":
        return InLoop(features, *prepared.filters, kept=kept)
    return DiffusedFeatures.diffuse(
        features,
        *prepared.filters,
        kept=kept,
        dtype=prepared.settings.torch_dtype,
        device=place,
    )


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other process here is timing: two would slow each other down."""
    path = Path(tempfile.gettempdir()) / f"fdgcl-timing-{os.getuid()}.lock"
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
