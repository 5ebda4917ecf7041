"""`fdgcl diffuse`: the features of a store, diffused by slices of columns."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from fdgcl._checks import InputError, check_count
from fdgcl.cli import options
from fdgcl.cli.bounds import Memory, StoreFolder, allowed_bytes
from fdgcl.cli.options import DIFFUSION, RUN, option
from fdgcl.cli.settings import SETTINGS, chosen_settings, with_settings
from fdgcl.cli.suggestions import free_path, option_words, path_word
from fdgcl.cli.terminal import Terminal


def _with_diffusion_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option per setting that diffused features depend on."""
    wrapper: Any = with_settings(command)
    others = {one.name for one in SETTINGS if one.panel != DIFFUSION} - {"dtype"}
    others.add("gradient")  # nothing is trained here
    known = inspect.signature(wrapper)
    kept = [p for p in known.parameters.values() if p.name not in others]
    wrapper.__signature__ = known.replace(parameters=kept)
    wrapper.__annotations__ = {p.name: p.annotation for p in kept}
    kept_command: Callable[..., None] = wrapper
    return kept_command


@_with_diffusion_settings
def diffuse(
    store: StoreFolder,
    memory: Memory = None,
    settings_file: options.SettingsFile = None,
    workers: Annotated[
        int | None,
        option(
            "--workers",
            kind=int,
            panel=RUN,
            text="Slices at the same time, each in a process of its own.",
            show_default="1; with --dask ADDRESS, all",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        option(
            "--threads",
            kind=int,
            panel=RUN,
            text="Threads of each slice.",
            show_default="the cores, shared among workers",
        ),
    ] = None,
    dask: Annotated[
        str | None,
        option(
            "--dask",
            kind=str,
            panel=RUN,
            metavar="ADDRESS|local",
            text="Run slices on the workers of this Dask scheduler, or of one started "
            "here for the time.",
        ),
    ] = None,
    only: Annotated[
        list[int] | None,
        option(
            "--only",
            kind=int,
            panel=RUN,
            text="Do this slice alone, after --prepare; from 0, may be repeated.",
        ),
    ] = None,
    prepare: Annotated[
        bool,
        option(
            "--prepare",
            panel=RUN,
            text="Only look at the graph, write down the slices, and say how many.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        option(
            "--dry-run",
            panel=RUN,
            text="Only say what it takes, and whether the solver is stable.",
        ),
    ] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
    **settings: Any,
) -> None:
    """Diffuse the features of a store, which may be larger than memory.

    What is done is not done again: after an interruption, run the same command.

    fdgcl diffuse G --memory 6GB
    """
    from fdgcl.cli.diffuse_job import DiffuseJob
    from fdgcl.graphs.store.store import Store
    from fdgcl.methods.fdgcl.diffusing import check_settings
    from fdgcl.model import FDGCL

    if prepare and only:
        message = "--prepare comes before --only: give one of them"
        raise InputError(message)
    opened = Store.open(store)
    chosen = chosen_settings(settings_file, settings)
    model = FDGCL(**chosen).check()
    check_settings(opened, model)
    job = DiffuseJob(
        opened,
        model,
        allowed_bytes(memory),
        _executor(dask, workers, threads),
        Terminal(quiet=quiet, json=json),
        following=_following(store, memory, settings_file, settings),
    )
    if dry_run:
        job.plan_only()
    elif prepare:
        job.prepare()
    else:
        job.run(only)


def _executor(dask: str | None, workers: int | None, threads: int | None) -> Any:
    from fdgcl.executors import Dask, InProcess, Processes

    for name, value in (("--workers", workers), ("--threads", threads)):
        if value is not None:
            check_count(name, value)
    if dask is not None:
        return Dask(None if dask == "local" else dask, workers, threads)
    if workers is None or workers == 1:
        return InProcess(threads)
    return Processes(workers, threads)


def _following(
    store: Path, memory: str | None, file: Path | None, settings: dict[str, Any]
) -> list[str]:
    """The command that trains on what was diffused: it needs the same settings."""
    words = ["fdgcl", "train", path_word(store), "-o", str(free_path(Path("Z")))]
    words += option_words("--memory", memory)
    words += option_words("--settings", file)
    for name, value in settings.items():
        if value is not None:
            text = f"{value:.15g}" if isinstance(value, float) else str(value)
            words += option_words(f"--{name.replace('_', '-')}", text)
    return words
