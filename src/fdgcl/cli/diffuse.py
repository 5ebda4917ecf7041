"""`fdgcl diffuse`: the features of a store, diffused by slices of columns."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fdgcl import workflows
from fdgcl._checks import InputError, check_count
from fdgcl._settings import about
from fdgcl.cli import options
from fdgcl.cli.failures import interruption
from fdgcl.cli.options import DIFFUSION, RUN, option
from fdgcl.cli.settings import chosen_settings, known_settings, with_settings
from fdgcl.cli.suggestions import free_path, option_words, path_word
from fdgcl.cli.terminal import Terminal

if TYPE_CHECKING:
    from fdgcl.workflows.diffuse_store import Diffused, PlannedDiffusion


#: Settings that diffused features do not depend on.
_OTHERS = {
    *(name for name, one in known_settings().items() if about(one).panel != DIFFUSION),
    "gradient",  # nothing is trained here
} - {"dtype", "seed"}


@partial(with_settings, left_out=_OTHERS)
def diffuse(
    store: options.StoreFolder,
    memory: options.Memory = None,
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
    if prepare and only:
        message = "--prepare comes before --only: give one of them"
        raise InputError(message)
    terminal = Terminal(quiet=quiet, json=json)
    wanted: dict[str, Any] = {
        "settings": chosen_settings(settings_file, settings),
        "memory": memory,
        "executor": _executor(dask, workers, threads),
    }
    if dry_run:
        _plan(workflows.plan_diffusing(store, **wanted), terminal)
        return
    if prepare:
        with terminal.bars() as bars:
            found = workflows.prepare_slices(store, **wanted, progress=bars)
        _show_prepared(found, terminal)
        return
    try:
        with terminal.bars() as bars:
            found = workflows.diffuse(
                store, **wanted, only=only, progress=bars, on_notice=terminal.notice
            )
    except KeyboardInterrupt:
        rest = "; what is done is kept: the same command goes on"
        raise interruption(rest) from None
    _show(found, _following(store, memory, settings_file, settings), terminal)


def _plan(found: PlannedDiffusion, terminal: Terminal) -> None:
    for sentence in (*found.plan.describe(), *found.stability.describe()):
        terminal.say(sentence)
    if found.slices is not None:
        terminal.say(f"{found.slices_done} of {found.slices} slices are done")
    else:
        terminal.notice(
            "stability is by the largest frequency that any graph has, 2; after "
            "--prepare, by this graph's own"
        )
    terminal.say("dry run: nothing was diffused, nothing written")
    terminal.emit({**found.to_dict(), "notices": terminal.notices})


def _show_prepared(found: Diffused, terminal: Terminal) -> None:
    count = found.slices
    terminal.say(f"prepared  {found.folder}")
    terminal.say(f"slices    {count} (--only 0 to --only {count - 1})")
    terminal.emit(
        {
            "store": str(found.store),
            "diffused": str(found.folder),
            "slices": count,
            "missing": list(found.missing),
            "notices": terminal.notices,
        }
    )


def _show(found: Diffused, words: list[str], terminal: Terminal) -> None:
    following = None if found.missing else shlex.join(words)
    left = f", {len(found.missing)} left" if found.missing else ""
    terminal.say(f"diffused  {found.folder}")
    terminal.say(
        f"slices    {found.ran} of {found.slices}{left}, {found.seconds:.1f} s"
    )
    if following is not None:
        terminal.say(f"next      {following}")
    terminal.emit(
        {
            "store": str(found.store),
            "diffused": str(found.folder),
            "slices": found.slices,
            "ran": found.ran,
            "missing": list(found.missing),
            "seconds": round(found.seconds, 3),
            "settings": dict(found.settings),
            "notices": terminal.notices,
            "next": following,
        }
    )


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
