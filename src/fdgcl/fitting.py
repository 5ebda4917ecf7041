"""New encoders for settings, and the epochs of one run."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fdgcl._interrupts import deferred_interrupt
from fdgcl._progress import Progress
from fdgcl.losses import build_loss
from fdgcl.preparation import UNINFORMATIVE_BETA, Preparation
from fdgcl.runs import CHECKPOINT_SECONDS, Config, RunFolder, TrainingLog
from fdgcl.settings import Settings
from fdgcl.training import (
    EpochRecord,
    NonFiniteLossError,
    Team,
    TrainingWarning,
    new_optimizer,
    train,
)
from fdgcl.views import Combination, ViewPair, ViewSource

#: Given an epoch's record, and a function that embeds by the weights of that moment.
OnEpoch = Callable[[EpochRecord, Callable[[], NDArray[np.float32]]], None]


def of_stage(
    progress: Progress | None, stage: str
) -> Callable[[int, int], None] | None:
    """Progress within one stage."""
    return None if progress is None else partial(progress, stage)


def notices_of(prepared: Preparation) -> list[str]:
    """What was decided for the user."""
    return [*prepared.notices, *beta_notices(prepared.settings, prepared.beta)]


def beta_notices(settings: Settings, beta: float) -> list[str]:
    """What the views' weights tell, where the graph decided them."""
    if settings.beta is not None or beta != UNINFORMATIVE_BETA:
        return []
    return [
        "the features of linked nodes tell nothing of each other: the embedding is the "
        "local view alone (beta 1)"
    ]


def warn_of_amplification(prepared: Preparation) -> None:
    """Warn of a high-pass filter on a graph whose linked nodes look alike."""
    amplifies = prepared.stability is not None and prepared.stability.amplifies
    if amplifies and prepared.persistence.is_homophilic:
        message = (
            "the diffusion amplifies high frequencies on a graph whose linked nodes "
            f"look alike ({'; '.join(prepared.describe_stability())}); if that is not "
            "what you want, choose a smaller step or solver='exact'"
        )
        warnings.warn(message, TrainingWarning, stacklevel=4)


def new_views(settings: Settings, num_features: int, beta: float) -> ViewPair:
    """Untrained encoders, on their device."""
    combination = Combination(
        beta,
        settings.combine,
        settings.keep,
        settings.keep_weight,
        settings.torch_dtype,
    )
    dynamics = () if settings.is_fixed_linear else range(len(settings.orders))
    views = ViewPair(
        num_features,
        settings.dim,
        init_scale=settings.init_scale,
        activation=settings.activation,
        standardize=settings.standardize,
        combination=combination,
        scaled_columns=settings.feature_scaling == "tf-idf",
        dynamics=[settings.new_dynamics(settings.dim, view) for view in dynamics],
        seed=settings.seed,
        dtype=settings.torch_dtype,
    )
    return views.to(settings.torch_device)


def start_log(
    views: ViewPair,
    config: Config,
    files: RunFolder | None,
    *,
    team: Team | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> TrainingLog:
    """The log of a run, with Adam as settings and decisions say; it may go on."""
    settings = config.settings
    optimizer = new_optimizer(
        views, config.decisions["lr"], settings.weight_decay, fast=settings.fast
    )
    return TrainingLog(
        files, views, optimizer, team=team, checkpoint_seconds=checkpoint_seconds
    )


def fit_views(
    views: ViewPair,
    source: ViewSource,
    config: Config,
    log: TrainingLog,
    after_epoch: Callable[[EpochRecord], None],
    team: Team | None = None,
) -> None:
    """Train what the log does not have yet, and keep the weights and statistics.

    Raises:
        NonFiniteLossError: Training diverged; the last good weights are kept.
    """
    try:
        _run_epochs(views, source, config, log, after_epoch, team)
    except NonFiniteLossError:
        log.finish(source)
        raise
    log.finish(source)


def _run_epochs(
    views: ViewPair,
    source: ViewSource,
    config: Config,
    log: TrainingLog,
    after_epoch: Callable[[EpochRecord], None],
    team: Team | None,
) -> None:
    settings = config.settings
    # Interrupts wait until an epoch is whole.
    with deferred_interrupt() as interrupt:

        def on_epoch(record: EpochRecord) -> None:
            with log.epoch(record):
                after_epoch(record)
                interrupt.raise_if_requested()

        train(
            views,
            source,
            build_loss(settings.loss, settings.eta),
            log.optimizer,
            epochs=settings.epochs,
            first_epoch=len(log.history) + 1,
            batch_size=config.decisions["batch_size"],
            seed=settings.seed,
            fast=settings.fast,
            precision=settings.precision,
            team=team,
            on_epoch=on_epoch,
        )
