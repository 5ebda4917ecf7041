"""`fdgcl train`: from a store to embeddings, by one process or, with torchrun, many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl import workflows
from fdgcl._checks import InputError
from fdgcl.cli import options
from fdgcl.cli.failures import FAILURE, interruption
from fdgcl.cli.options import RUN, option, typed
from fdgcl.cli.settings import chosen_settings, with_settings
from fdgcl.cli.suggestions import command, path_word
from fdgcl.cli.terminal import Terminal
from fdgcl.workflows.embedded import describe_training

if TYPE_CHECKING:
    from fdgcl.workflows.train_store import PlannedTraining, TrainedStore


@with_settings
def train(
    context: typer.Context,
    store: options.StoreFolder,
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
    memory: options.Memory = None,
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
    from fdgcl.workflows.train_store import is_first_process

    first = is_first_process()
    terminal = Terminal(quiet=quiet or not first, json=json and first)
    with _told_by_first(first):
        wanted: dict[str, Any] = {
            "settings": chosen_settings(settings_file, settings),
            "run": run,
            "memory": memory,
        }
        if dry_run:
            _plan(workflows.plan_training(store, output, **wanted), terminal)
            return
        with terminal.bars() as bars:
            found = workflows.train(
                store,
                output,
                **wanted,
                overwrite=overwrite,
                command=typed(context),
                progress=bars,
                on_notice=terminal.notice,
            )
    _show(found, terminal)


@contextmanager
def _told_by_first(first: bool) -> Iterator[None]:
    """Let the first of several processes speak for all."""
    from fdgcl.training import NonFiniteLossError, ProcessGroupError

    try:
        yield
    except (InputError, ProcessGroupError, NonFiniteLossError):
        if first:
            raise
        raise typer.Exit(FAILURE) from None
    except KeyboardInterrupt:
        rest = "; the same command goes on where it stopped"
        raise interruption(rest, told=first) from None


def _plan(plan: PlannedTraining, terminal: Terminal) -> None:
    before = [] if plan.diffusion is None else plan.diffusion.describe()
    for sentence in before:
        terminal.say(f"diffusing  {sentence}")
    for sentence in plan.training.describe():
        terminal.say(f"training   {sentence}")
    terminal.say("dry run: nothing was trained, nothing written")
    terminal.emit(plan.to_dict())
    plan.check()


def _show(found: TrainedStore, terminal: Terminal) -> None:
    made = found.written
    following = command("evaluate", path_word(made.folder), "--labels", "LABELS")
    terminal.say(
        f"embedding  {made.folder}  ({found.nodes:,} nodes x {made.width}, "
        f"{made.parts} part{'s'[: made.parts > 1]})"
    )
    terminal.say(f"run        {found.run}")
    terminal.say(f"training   {describe_training(found.facts)}")
    terminal.say(f"next       {following}")
    told = {"notices": terminal.notices, "next": following}
    terminal.emit({**found.to_dict(), **told})
