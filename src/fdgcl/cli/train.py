"""`fdgcl train`: from a store to embeddings, by one process or, with torchrun, many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fdgcl.cli import options
from fdgcl.cli.bounds import Memory, StoreFolder
from fdgcl.cli.options import RUN, option, typed
from fdgcl.cli.settings import with_settings
from fdgcl.cli.terminal import Terminal


@with_settings
def train(
    context: typer.Context,
    store: StoreFolder,
    output: Annotated[
        Path,
        option(
            "--output",
            "-o",
            kind=Path,
            text="Folder for the embedding, as Parquet files of up to 262,144 nodes.",
            show_default=False,
        ),
    ],
    run: Annotated[
        Path | None,
        option(
            "--run",
            "--run-folder",  # torchrun takes --run for one of its own options
            kind=Path,
            text="Folder for model, settings and training log; an unfinished run in it "
            "goes on. Under torchrun write --run-folder.",
            show_default="STORE/runs/KEY, by the settings",
            panel=RUN,
        ),
    ] = None,
    memory: Memory = None,
    settings_file: options.SettingsFile = None,
    dry_run: Annotated[
        bool,
        option(
            "--dry-run",
            text="Only say what it takes: memory, disk and time.",
            panel=RUN,
        ),
    ] = False,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
    **settings: Any,
) -> None:
    """Train on a store, which may be larger than memory, and embed all its nodes.

    Features that are not diffused by these settings yet are diffused first. What is
    done is not done again: after an interruption, run the same command.

    fdgcl train G -o Z --memory 6GB

    torchrun --nproc-per-node 2 -m fdgcl train G -o Z --memory 6GB
    """
    from fdgcl.cli.train_job import TrainJob

    job = TrainJob.of(
        store,
        output,
        run,
        memory,
        settings_file,
        settings,
        Terminal(quiet=quiet, json=json),
        overwrite=overwrite,
        dry_run=dry_run,
        command=typed(context),
    )
    if dry_run:
        job.plan()
    else:
        job.run()
