"""Train on a store, and embed its nodes, without ever holding all rows."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from fdgcl._checks import InputError
from fdgcl._files import DiskFullError
from fdgcl._memory import describe_size
from fdgcl._notices import notice
from fdgcl._progress import Progress
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl import DiffusedFeatures, Encoders
from fdgcl.methods.fdgcl.batching import batch_lr, batch_rows, check_batch_size
from fdgcl.methods.fdgcl.diffused import DiffusedRows, Diffusion
from fdgcl.methods.fdgcl.diffusing import check_settings
from fdgcl.methods.fdgcl.fitting import (
    beta_notices,
    conclude,
    fit_views,
    new_views,
    start_log,
    tell_epoch,
    warn_of_features,
)
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.shards import SHARD_ROWS, Shards, model_fingerprint
from fdgcl.methods.fdgcl.stored_statistics import load_statistics
from fdgcl.methods.fdgcl.training_plan import plan_training
from fdgcl.methods.fdgcl.windows_on_disk import RowsOnDisk
from fdgcl.run_folder import Config, RunFolder
from fdgcl.training import EpochRecord, NonFiniteLossError, ProcessGroup, SingleProcess


@dataclass(frozen=True)
class Trained:
    """What a training left behind.

    Attributes:
        run: The run folder, which `FDGCL.load` reads.
        embedding: The folder of the embedding's parts.
        parts: How many there are.
        written: How many of them this process wrote.
        width: Columns of the embedding.
        history: One record an epoch.
        resumed: Epochs that an earlier start had done.
        seconds: Spent, by this start.
    """

    run: Path
    embedding: Path
    parts: int
    written: int
    width: int
    history: list[EpochRecord]
    resumed: int
    seconds: float


def train_store(
    store: Store,
    settings: Settings,
    run_folder: Path,
    out_folder: Path,
    *,
    memory: int,
    group: ProcessGroup | None = None,
    here: int | None = None,
    resume: bool = True,
    shard_rows: int = SHARD_ROWS,
    progress: Progress | None = None,
    on_epoch: Callable[[EpochRecord], None] | None = None,
    replace_parts: bool = False,
    on_model: Callable[[str, float], None] | None = None,
) -> Trained:
    """Train on a store's diffused features, and write the embedding of all nodes.

    Every epoch leaves a checkpoint; started again with the same settings and folders,
    it goes on after the last one, and writes only parts that are missing.

    Args:
        store: The graph; its features must be diffused by these settings.
        settings: The model's.
        run_folder: For settings, metrics and weights.
        out_folder: For the embedding's parts.
        memory: Bound on what this machine's processes hold together, in bytes.
        group: Who train together; None for this process alone.
        here: How many of them run on this machine; None for all.
        resume: Go on with a run that is in the folder; otherwise it is refused.
        shard_rows: Rows of each part of the embedding.
        progress: Called with the stages statistics, train and embed.
        on_epoch: Called after each epoch, by all of the group.
        replace_parts: Remove parts of another embedding that would be left over;
            otherwise such a folder is refused.
        on_model: Called by the first of the group with the hash that all parts will
            have, and the seconds so far, before one is written.

    Raises:
        InputError: Settings, store, folders and memory do not fit together.
        DamagedError: The diffused features are not what was written.
        NonFiniteLossError: Training diverged; the last good weights are kept.
    """
    started = time.perf_counter()
    group = group or SingleProcess()
    progress = progress if group.is_first else None
    settings = store_settings(store, settings)
    plan = plan_training(store, settings, memory=memory, members=group.size, here=here)
    plan.check()
    diffusion = Diffusion.of(store, settings)
    findings = diffusion.recipe.findings
    if group.is_first:
        notice(*beta_notices(settings, diffusion.recipe.beta))
        if findings is not None:
            warn_of_features(findings)
    DiffusedRows(diffusion)  # features that are not all there are refused here
    config = _config(store, settings, diffusion)
    files = RunFolder(run_folder)

    def begin() -> None:
        _check_disk(out_folder, plan.disk_bytes)
        files.begin(config, resume=resume and files.config.exists())

    group.by_first(begin)
    # What is trained on is what was written, whenever training begins or goes on.
    begins = not files.is_finished
    statistics = load_statistics(diffusion, group, progress, verify=begins)
    views = new_views(settings, config.num_features, config.decisions["beta"])
    if diffusion.recipe.scale is not None:
        views.keep_columns(diffusion.recipe.scale)
    rows = RowsOnDisk(diffusion, statistics.means, settings.torch_device)
    source = DiffusedFeatures(rows, statistics, rank=group.rank, members=group.size)
    if files.is_finished:
        history = _finished(files, views, settings)
        resumed = len(history)
    else:
        log = start_log(
            views,
            config,
            files,
            group=group,
            checkpoint_seconds=0.0,
            explained=findings is not None and findings.cause is not None,
        )
        history, resumed = log.history, len(log.history)
        after_epoch = _after_epoch(settings.epochs, progress, on_epoch)
        fit_views(views, source, config, log, after_epoch, group)
    if group.is_first:
        conclude(settings, history, findings, time.perf_counter() - started)
    source.release()
    model = model_fingerprint(views, config)
    shards = Shards(out_folder, store, model, shard_rows)

    def settle() -> None:
        shards.check(remove=replace_parts)
        if on_model is not None:
            on_model(model, time.perf_counter() - started)

    group.by_first(settle)
    written = shards.write(views, source, group, progress)
    seconds = time.perf_counter() - started
    parts = len(shards.parts)
    return Trained(
        files.folder, out_folder, parts, written, plan.width, history, resumed, seconds
    )


def store_settings(store: Store, settings: Settings) -> Settings:
    """The settings as they are for a store, whose direction was chosen on import.

    Raises:
        InputError: They ask for what cannot be done out of core.
    """
    check_settings(store, settings)
    check_batch_size(settings, store.manifest.nodes)
    if tuple(settings.readout) != ("mean",):
        message = (
            "a store is one graph, its rows are nodes: readout is for datasets of "
            f"graphs, got {','.join(settings.readout)}"
        )
        raise InputError(message)
    return replace(settings, direction=store.manifest.direction)


def default_run(store: Store, settings: Settings) -> Path:
    """The folder for a run with such settings: the same whenever it is started."""
    values = store_settings(store, settings).to_dict()
    text = json.dumps(values, sort_keys=True)
    key = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return store.folder / "runs" / key


def _config(store: Store, settings: Settings, diffusion: Diffusion) -> Config:
    manifest = store.manifest
    names = manifest.feature_names
    schema = {
        "num_features": manifest.features,
        "feature_names": None if names is None else list(names),
        "structural": manifest.structural,
        "relations": None,
        "adjacency": "",
        "table": manifest.feature_schema,
    }
    graph = {
        "name": manifest.name,
        "source": manifest.source,
        "nodes": manifest.nodes,
        "edges": manifest.edges,
        "fingerprint": store.fingerprint,
    }
    beta = diffusion.recipe.beta if settings.beta is None else settings.beta
    decisions = {
        "beta": beta,
        "batch_size": batch_rows(settings, manifest.nodes),
        "lr": batch_lr(settings, manifest.nodes),
    }
    return Config(settings, schema, graph, decisions)


def _finished(
    files: RunFolder, views: Encoders, settings: Settings
) -> list[EpochRecord]:
    """The history of a finished run, its weights read.

    Raises:
        NonFiniteLossError: It ended before its time.
    """
    history = files.read_metrics()
    if len(history) < settings.epochs:
        message = (
            f"the run in {files.folder} diverged after epoch {len(history)}; its last "
            "good weights are there; train with a smaller lr or step, in another folder"
        )
        raise NonFiniteLossError(message)
    files.read_model(views)
    return history


def _after_epoch(
    epochs: int,
    progress: Progress | None,
    on_epoch: Callable[[EpochRecord], None] | None,
) -> Callable[[EpochRecord], None]:
    def after(record: EpochRecord) -> None:
        tell_epoch(progress, record, epochs)
        if on_epoch is not None:
            on_epoch(record)

    return after


def _check_disk(folder: Path, needed: int) -> None:
    """Refuse a disk that has no room for the embedding, before anything is trained."""
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    written = sum(path.stat().st_size for path in folder.glob("part-*.parquet"))
    free = shutil.disk_usage(there).free
    if free + written < needed:
        message = (
            f"the embedding needs {describe_size(needed)} of disk in {folder}, and "
            f"{describe_size(free)} are free"
        )
        raise DiskFullError(message)
