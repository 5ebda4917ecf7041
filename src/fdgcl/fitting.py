"""New encoders for settings, and the epochs of one run."""

from __future__ import annotations

from collections.abc import Callable

import torch

from fdgcl._interrupts import deferred_interrupt
from fdgcl.losses import build_loss
from fdgcl.runs import Config, TrainingLog
from fdgcl.settings import Settings
from fdgcl.training import EpochRecord, train
from fdgcl.views import Combination, ViewPair, ViewSource


def new_views(settings: Settings, num_features: int, beta: float) -> ViewPair:
    """Untrained encoders, on their device."""
    combination = Combination(
        beta,
        settings.combine,
        settings.keep,
        settings.keep_weight,
        settings.torch_dtype,
    )
    views = ViewPair(
        num_features,
        settings.dim,
        init_scale=settings.init_scale,
        activation=settings.activation,
        standardize=settings.standardize,
        combination=combination,
        scaled_columns=settings.feature_scaling == "tf-idf",
        seed=settings.seed,
        dtype=settings.torch_dtype,
    )
    return views.to(settings.torch_device)


def new_optimizer(views: ViewPair, config: Config) -> torch.optim.Optimizer:
    """Adam, as the run's settings and decisions say."""
    return torch.optim.Adam(
        views.parameters(),
        lr=config.decisions["lr"],
        weight_decay=config.settings.weight_decay,
    )


def run_epochs(
    views: ViewPair,
    source: ViewSource,
    config: Config,
    optimizer: torch.optim.Optimizer,
    log: TrainingLog,
    after_epoch: Callable[[EpochRecord], None],
) -> None:
    """Train the epochs the log does not have yet; interrupts wait between them."""
    settings = config.settings
    with deferred_interrupt() as interrupt:

        def on_epoch(record: EpochRecord) -> None:
            with log.epoch(record):
                after_epoch(record)
                interrupt.raise_if_requested()

        train(
            views,
            source,
            build_loss(settings.loss, settings.eta),
            optimizer,
            epochs=settings.epochs,
            first_epoch=len(log.history) + 1,
            batch_size=config.decisions["batch_size"],
            seed=settings.seed,
            on_epoch=on_epoch,
        )
