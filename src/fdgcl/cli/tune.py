"""`fdgcl tune`: search the settings that validate best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fdgcl import workflows
from fdgcl._checks import InputError, nearest
from fdgcl._settings import from_text
from fdgcl.cli import options
from fdgcl.cli.choice_output import refuse_with_quick, show_chosen
from fdgcl.cli.failures import interruption
from fdgcl.cli.options import FDGCL, METHOD, RUN, option
from fdgcl.cli.settings import known_settings, settings_of_method
from fdgcl.cli.suggestions import after_tuning
from fdgcl.cli.tables import with_tables
from fdgcl.cli.terminal import Terminal
from fdgcl.cli.tune_output import show_tuned
from fdgcl.graphs.files.options import TableOptions
from fdgcl.methods import METHODS
from fdgcl.workflows.choose_settings import QUICK_FILE
from fdgcl.workflows.tune_settings import (
    DEFAULT_SEEDS,
    DEFAULT_SLOWEST,
    DEFAULT_TOP,
    DEFAULT_TRIALS,
    SETTINGS_FILE,
)
from fdgcl.workflows.tuned import changes

if TYPE_CHECKING:
    from fdgcl.tuning.records import Record


@with_tables("edges", "features", "labels")
def tune(
    graph: options.GraphName,
    tables: TableOptions,
    features: options.Features = None,
    labels: options.Labels = None,
    data_root: options.DataRoot = None,
    trials: Annotated[
        int | None,
        option(
            "--trials",
            kind=int,
            panel=RUN,
            text="Stop when the study has this many trials, earlier calls included.",
            show_default=f"{DEFAULT_TRIALS}, unless --minutes is given",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        option(
            "--minutes",
            kind=float,
            panel=RUN,
            text="Stop after so many minutes, the last comparison included.",
            show_default="no limit",
        ),
    ] = None,
    seeds: Annotated[
        int,
        option("--seeds", kind=int, panel=RUN, text="How often each trial trains."),
    ] = DEFAULT_SEEDS,
    top: Annotated[
        int,
        option(
            "--top",
            kind=int,
            panel=RUN,
            text="How many of the best trials are compared again with fresh seeds.",
        ),
    ] = DEFAULT_TOP,
    slowest: Annotated[
        float,
        option(
            "--slowest",
            kind=float,
            panel=RUN,
            text="Stop a trial that takes more than this many times as long as the "
            "starting settings, or than a tenth of --minutes.",
        ),
    ] = DEFAULT_SLOWEST,
    study: Annotated[
        Path | None,
        option(
            "--study",
            kind=Path,
            panel=RUN,
            text="Folder of the study; one that is there is continued.",
            show_default="runs/tune-GRAPH, runs/tune-GRAPH-METHOD",
        ),
    ] = None,
    method: Annotated[
        str,
        option(
            METHOD,
            kind=str,
            panel=RUN,
            text=f"Whose settings to search: {', '.join(METHODS)}.",
        ),
    ] = FDGCL,
    quick: Annotated[
        bool,
        option(
            "--quick",
            panel=RUN,
            text="Try about two dozen settings of one diffusion, once each, in place "
            f"of a search; by default they go to {QUICK_FILE}.",
        ),
    ] = False,
    space: Annotated[
        str | None,
        option(
            "--space",
            panel=RUN,
            metavar="NAME|FILE.toml",
            text="Where to search: default or small (of fdgcl), or a file of your own.",
            show_default="the method's own; of fdgcl, default",
        ),
    ] = None,
    preset: options.Preset = None,
    variant: options.Variant = None,
    settings_file: options.SettingsFile = None,
    fixed: Annotated[
        list[str] | None,
        option(
            "--set",
            panel=RUN,
            metavar="NAME=VALUE",
            text="Fix a setting and leave it out of the search; may be repeated.",
        ),
    ] = None,
    device: options.Device = "auto",
    output: Annotated[
        Path | None,
        option(
            "--output",
            "-o",
            kind=Path,
            text="Where the best settings go, as TOML.",
            show_default=f"{SETTINGS_FILE} in the study",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Search the settings whose embedding a linear probe does best on, on validation.

    Test nodes are erased before the search begins. The same command goes on where an
    earlier one stopped, and may run several times at once.

    fdgcl tune texas --minutes 10 -o best.toml

    fdgcl tune texas --method cca-ssg --minutes 10

    fdgcl tune edges.csv --features x.parquet --labels y.csv --quick -o best.toml
    """
    terminal = Terminal(quiet=quiet, json=json)
    if quick:
        refuse_with_quick(
            trials=trials,
            minutes=minutes,
            seeds=seeds if seeds != DEFAULT_SEEDS else None,
            top=top if top != DEFAULT_TOP else None,
            slowest=slowest if slowest != DEFAULT_SLOWEST else None,
            study=study,
            method=method if method != FDGCL else None,
            space=space,
            preset=preset,
            variant=variant,
            settings=settings_file,
        )
        with terminal.bars() as bars:
            chosen = workflows.choose(
                graph,
                features=features,
                labels=labels,
                tables=tables,
                data_root=data_root,
                fixed=parse_settings(fixed or ()),
                device=device,
                output=output,
                overwrite=overwrite,
                progress=bars,
                on_notice=terminal.notice,
            )
        show_chosen(chosen, after_tuning(chosen), terminal)
        return
    with terminal.bars() as bars:
        outcome = workflows.tune(
            graph,
            features=features,
            labels=labels,
            tables=tables,
            data_root=data_root,
            trials=trials,
            minutes=minutes,
            seeds=seeds,
            top=top,
            slowest=slowest,
            study=study,
            method=method,
            space=space,
            preset=preset,
            variant=variant,
            settings_file=settings_file,
            fixed=parse_settings(fixed or (), method),
            device=device,
            output=output,
            overwrite=overwrite,
            progress=bars,
            on_notice=terminal.notice,
            on_trial=partial(_tell, terminal),
        )
    show_tuned(outcome, after_tuning(outcome), terminal)
    if outcome.found.interrupted:
        rest = "; the same command goes on where it stopped"
        raise interruption(rest)


def parse_settings(texts: Sequence[str], method: str = FDGCL) -> dict[str, Any]:
    """Read NAME=VALUE pairs, values as the options of those names take them.

    Args:
        texts: The pairs.
        method: Name of the method that they are settings of.

    Raises:
        InputError: There is no such method, a pair has no `=`, its name is no setting
            of the method, or its value cannot be read.
    """
    known = dict(known_settings((settings_of_method(method),)))
    known.pop("device")
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        name = name.replace("-", "_")
        if not equals or name not in known:
            hint = nearest(name, known) if equals else ""
            message = (
                f"--set takes NAME=VALUE, NAME a setting of {method}, got "
                f"{text!r}{hint}"
            )
            raise InputError(message)
        found[name] = from_text(known[name], value, f"--set {name}")
    return found


def _tell(
    terminal: Terminal, record: Record, is_best: bool, start: Mapping[str, Any]
) -> None:
    score = "" if record.value is None else f" {100 * record.value:.2f} %,"
    line = f"trial {record.number}:{score} {record.seconds:.1f} s"
    if record.reason:
        line += f", {record.reason}"
    if is_best:
        line += f", the best so far: {changes(record, start)}"
    terminal.tell(line)
