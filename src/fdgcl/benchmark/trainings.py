"""One whole training of ours, and one with the solver in the loop, both watched."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from fdgcl.benchmark.clock import Marks, Parts, now
from fdgcl.benchmark.memory import give_back_free_memory, peak_memory
from fdgcl.benchmark.solver_in_loop import SolverInLoop, train_in_loop
from fdgcl.fitting import run_training
from fdgcl.graphs import Graph
from fdgcl.methods.base import Config
from fdgcl.methods.fdgcl import Encoders, ViewSource
from fdgcl.methods.fdgcl.method import new_views, options_of
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation, prepare
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.training import TrainingOptions, ViewTraining, new_adam
from fdgcl.training import TrainingWarning


@dataclass(frozen=True, eq=False)
class Training:
    """A training that was watched, from the loaded graph to the last epoch.

    Attributes:
        parts: Seconds of each part of the work before the first epoch.
        epochs: Seconds of each epoch.
        total_seconds: From the graph to trained encoders.
        peak_bytes: The most memory that all of it added; 0 where it was not measured.
        losses: Of each epoch.
        untrained: The embedding before the first epoch, where it was asked for.
        embedding: The one after the last, likewise.
    """

    parts: dict[str, float]
    epochs: list[float]
    total_seconds: float
    peak_bytes: int
    losses: list[float]
    untrained: NDArray[np.float32] | None = None
    embedding: NDArray[np.float32] | None = None


def train_ours(
    graph: Graph,
    settings: Settings,
    epochs: int,
    *,
    embed: bool = False,
    watch_memory: bool = False,
) -> Training:
    """Diffuse once, then train as `FDGCL.fit` does, on all rows at once.

    Args:
        graph: The graph, with features.
        settings: The model's, with strategy `precompute`.
        epochs: How many.
        embed: Whether to keep embeddings; making them is no part of any epoch.
        watch_memory: Whether to look at the memory, which costs time.
    """
    device = settings.torch_device
    with _watched(device, watch_memory) as peak, warnings.catch_warnings():
        # Whether the views collapse does not concern the time.
        warnings.simplefilter("ignore", TrainingWarning)
        watch = _Watch(device)
        prepared = prepare(graph, settings)
        watch.parts.end("operator")
        assert all(one.products for one in prepared.filters)
        watch.parts.end("spectrum")
        source = prepared.source(device)
        watch.parts.end("diffusion")
        views = _new_views(prepared)
        training = ViewTraining(views, source, _options(prepared))
        untrained = _embedding(views, source) if embed else None
        watch.marks.mark()
        run_training(
            training, epochs, None, after_epoch=lambda one: watch.epoch(one.loss)
        )
        total = watch.seconds()
    trained = _embedding(views, source) if embed else None
    return watch.training(total, peak[0], untrained, trained)


def train_theirs(
    graph: Graph,
    settings: Settings,
    epochs: int,
    *,
    embed: bool = False,
    watch_memory: bool = False,
) -> Training:
    """Train with the solver in the loop; the arguments are those of `train_ours`."""
    device = settings.torch_device
    with _watched(device, watch_memory) as peak:
        watch = _Watch(device)
        prepared = prepare(graph, settings)
        source = SolverInLoop(prepared)
        watch.parts.end("operator")
        views = _new_views(prepared)
        untrained = _embedding(views, source) if embed else None
        watch.marks.mark()
        train_in_loop(
            views,
            source,
            settings.new_loss(),
            new_adam(views, prepared.lr, settings.weight_decay, fast=False),
            epochs=epochs,
            on_epoch=watch.epoch,
        )
        total = watch.seconds()
    trained = _embedding(views, source) if embed else None
    return watch.training(total, peak[0], untrained, trained)


class _Watch:
    """What is noted while a training runs."""

    def __init__(self, device: torch.device) -> None:
        self._device, self._started = device, now(device)
        self.parts, self.marks = Parts(device), Marks(device)
        self.losses: list[float] = []

    def epoch(self, loss: float) -> None:
        """Note that an epoch has ended."""
        self.marks.mark()
        self.losses.append(loss)

    def seconds(self) -> float:
        """Seconds since the beginning."""
        return now(self._device) - self._started

    def training(
        self,
        total_seconds: float,
        peak_bytes: int,
        untrained: NDArray[np.float32] | None,
        embedding: NDArray[np.float32] | None,
    ) -> Training:
        """All of it."""
        return Training(
            self.parts.seconds,
            self.marks.intervals(),
            total_seconds,
            peak_bytes,
            self.losses,
            untrained,
            embedding,
        )


@contextmanager
def _watched(device: torch.device, wanted: bool) -> Iterator[list[int]]:
    """The peak of the block in a list of one entry; 0 where it is not asked for."""
    if not wanted:
        yield [0]
        return
    give_back_free_memory()
    with peak_memory(device) as peak:
        yield peak


def _options(prepared: DiffusionPreparation) -> TrainingOptions:
    return options_of(Config.of("fdgcl", prepared))


def _new_views(prepared: DiffusionPreparation) -> Encoders:
    features, kept = prepared.graph.num_features, prepared.kept
    return new_views(prepared.settings, features, prepared.beta, kept=kept)


def _embedding(views: Encoders, source: ViewSource) -> NDArray[np.float32]:
    views.freeze_statistics(source)
    return np.asarray(views.embed(source).float().cpu().numpy())
