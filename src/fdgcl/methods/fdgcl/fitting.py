"""New encoders for settings, and the epochs of one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from fdgcl._bars import Bars
from fdgcl._checks import InputError, in_words
from fdgcl._interrupts import deferred_interrupt
from fdgcl._memory import describe_size, total_bytes
from fdgcl._notices import LOGGER, notice, warn
from fdgcl._progress import Progress
from fdgcl.graphs.diagnosis import FeatureFindings
from fdgcl.graphs.scaling import COLUMN_SCALINGS
from fdgcl.methods.fdgcl import Combination, Encoders, ViewSource, view_weights
from fdgcl.methods.fdgcl.plan import FittingPlan
from fdgcl.methods.fdgcl.preparation import UNINFORMATIVE_BETA, Preparation
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.run_folder import CHECKPOINT_SECONDS, Config, RunFolder, TrainingLog
from fdgcl.training import (
    COLLAPSED_COSINE,
    COLLAPSED_RANK,
    EpochRecord,
    NonFiniteLossError,
    ProcessGroup,
    SingleProcess,
    TrainingWarning,
    new_optimizer,
    train,
)

#: Given an epoch's record, and a function that embeds by the weights of that moment.
OnEpoch = Callable[[EpochRecord, Callable[[], NDArray[np.float32]]], None]


def of_stage(
    progress: Progress | None, stage: str
) -> Callable[[int, int], None] | None:
    """Progress within one stage."""
    return None if progress is None else partial(progress, stage)


def tell_epoch(progress: Progress | None, record: EpochRecord, epochs: int) -> None:
    """Tell that an epoch of all epochs is done, and its loss where it is shown."""
    if isinstance(progress, Bars):
        progress("train", record.epoch, epochs, f"loss {record.loss:.4f}")
    elif progress is not None:
        progress("train", record.epoch, epochs)


def announce(prepared: Preparation) -> list[str]:
    """Log and return what was decided for the user, and warn of what means little."""
    warn_of_features(prepared.findings)
    notices = [*prepared.notices, *beta_notices(prepared.settings, prepared.beta)]
    notice(*notices)
    _warn_of_amplification(prepared)
    return notices


def warn_of_features(findings: FeatureFindings) -> None:
    """Warn of features of which the embedding would mean little."""
    if findings.warning is not None:
        warn(findings.warning, TrainingWarning)


def conclude(
    settings: Settings,
    history: Sequence[EpochRecord],
    findings: FeatureFindings | None,
    seconds: float,
) -> None:
    """Log how the training ended, and warn if the views are one direction each.

    Args:
        settings: The model's.
        history: One record an epoch.
        findings: What the features told before; None where that is not known.
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
    cause = None if findings is None else findings.cause
    # Rows that are not centred share a direction anyway, and a collapse was told.
    if cause is None and settings.standardize and last.alignment < COLLAPSED_COSINE:
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


def beta_notices(settings: Settings, beta: float | Sequence[float]) -> list[str]:
    """What the views' weights tell, where the graph decided them."""
    alone = len(settings.orders) == 1
    if settings.beta is not None or beta != UNINFORMATIVE_BETA or alone:
        return []
    return [
        "the features of linked nodes tell nothing of each other: the embedding is the "
        "local view alone (beta 1)"
    ]


def _warn_of_amplification(prepared: Preparation) -> None:
    """Warn of a high-pass filter on a graph whose linked nodes look alike."""
    amplifies = prepared.stability is not None and prepared.stability.amplifies
    if amplifies and prepared.is_homophilic:
        message = (
            "the diffusion amplifies high frequencies on a graph whose linked nodes "
            f"look alike ({'; '.join(prepared.describe_stability())}); if that is not "
            "what you want, choose a smaller step or solver='exact'"
        )
        warn(message, TrainingWarning)


def new_views(
    settings: Settings,
    num_features: int,
    beta: float | Sequence[float],
    relations: int = 1,
) -> Encoders:
    """Untrained encoders, on their device.

    Args:
        settings: The model's.
        num_features: Columns of the features.
        beta: Weight of the first view, or weights of all.
        relations: How many times these stand side by side once diffused.
    """
    count = len(settings.orders)
    combination = Combination(
        view_weights(beta, count),
        settings.combine,
        settings.keep,
        settings.keep_weight,
        settings.torch_dtype,
    )
    dynamics = () if settings.is_fixed_linear else range(count)
    views = Encoders(
        num_features,
        settings.dim,
        count=count,
        init_scale=settings.init_scale,
        activation=settings.activation,
        standardize=settings.standardize,
        combination=combination,
        scaled_columns=settings.feature_scaling in COLUMN_SCALINGS,
        centred_columns=settings.feature_scaling == "columns",
        dynamics=[settings.new_dynamics(settings.dim, view) for view in dynamics],
        relations=relations,
        seed=settings.seed,
        dtype=settings.torch_dtype,
    )
    return views.to(settings.torch_device)


def check_memory(plan: FittingPlan, device: torch.device) -> None:
    """Refuse what memory cannot hold, before any of it is taken.

    Raises:
        InputError: The plan takes more than all memory that there is.
    """
    on_gpu = device.type == "cuda"
    total = total_bytes()
    if on_gpu:
        total = torch.cuda.get_device_properties(device).total_memory
    if plan.peak_bytes > total:
        where = "the GPU" if on_gpu else "this machine"
        message = (
            f"training with dim {plan.workload.dim:,} takes about "
            f"{describe_size(plan.peak_bytes)} of memory, and {where} has "
            f"{describe_size(total)}: choose a smaller dim or batch_size"
        )
        raise InputError(message)


def views_for(config: Config) -> Encoders:
    """Untrained encoders for what a run was begun on."""
    return new_views(
        config.settings,
        config.num_features,
        config.decisions["beta"],
        config.num_relations,
    )


def start_log(
    views: Encoders,
    config: Config,
    files: RunFolder | None,
    *,
    group: ProcessGroup | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    explained: bool = False,
) -> TrainingLog:
    """The log of a run, with Adam as settings and decisions say; it may go on."""
    settings = config.settings
    optimizer = new_optimizer(
        views, config.decisions["lr"], settings.weight_decay, fast=settings.fast
    )
    return TrainingLog(
        files,
        views,
        optimizer,
        group=group,
        checkpoint_seconds=checkpoint_seconds,
        explained=explained,
    )


def fit_views(
    views: Encoders,
    source: ViewSource,
    config: Config,
    log: TrainingLog,
    after_epoch: Callable[[EpochRecord], None],
    group: ProcessGroup | None = None,
) -> None:
    """Train what the log does not have yet, and keep the weights and statistics.

    Raises:
        NonFiniteLossError: Training diverged; the last good weights are kept.
    """
    try:
        _run_epochs(views, source, config, log, after_epoch, group)
    except NonFiniteLossError:
        log.finish(source)
        raise
    log.finish(source)


def _run_epochs(
    views: Encoders,
    source: ViewSource,
    config: Config,
    log: TrainingLog,
    after_epoch: Callable[[EpochRecord], None],
    group: ProcessGroup | None,
) -> None:
    settings = config.settings
    together = group or SingleProcess()
    # Interrupts wait until an epoch is whole.
    with deferred_interrupt() as interrupt:

        def on_epoch(record: EpochRecord) -> None:
            with log.epoch(record):
                after_epoch(record)
                # All of a group stop after the same epoch, whoever was told first.
                if together.any(interrupt.requested):
                    raise KeyboardInterrupt

        train(
            views,
            source,
            settings.new_loss(),
            log.optimizer,
            epochs=settings.epochs,
            first_epoch=len(log.history) + 1,
            batch_size=config.decisions["batch_size"],
            seed=settings.seed,
            pairs=settings.pairs,
            fast=settings.fast,
            precision=settings.precision,
            group=group,
            on_epoch=on_epoch,
        )
