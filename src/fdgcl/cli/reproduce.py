"""`fdgcl reproduce`: the paper's tables and figures, paper beside ours."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fdgcl import workflows
from fdgcl._checks import InputError
from fdgcl.cli import options
from fdgcl.cli.failures import FAILURE, interruption
from fdgcl.cli.options import DATA, OUTPUT, RUN, option, typed
from fdgcl.cli.pages import show_page
from fdgcl.cli.reproduce_bar import progress_bar
from fdgcl.cli.terminal import Terminal, fail, warn
from fdgcl.experiments.measures import TABLES
from fdgcl.workflows.feedback import Interrupted
from fdgcl.workflows.outputs import refuse_existing

if TYPE_CHECKING:
    from fdgcl.workflows.reproduced import Reproduced


def reproduce(
    context: typer.Context,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help=f"One of {', '.join(TABLES)}.",
            show_default=False,
        ),
    ] = None,
    list_tables: Annotated[
        bool,
        option("--list", text="Show the tables and which of their datasets are here."),
    ] = False,
    dataset: Annotated[
        str | None,
        option(
            "--dataset",
            metavar="A,B",
            text="Only these datasets.",
            show_default="all of the table",
            panel=DATA,
        ),
    ] = None,
    variant: Annotated[
        str | None,
        option(
            "--variant",
            metavar="V,W",
            text="Only these: paper is the paper's settings, best is ours; some "
            "tables have others, such as cde-best.",
            show_default="all of the table",
            panel=DATA,
        ),
    ] = None,
    data_root: options.DataRoot = None,
    seeds: Annotated[
        int, option("--seeds", kind=int, text="Seeds, from 0 on.", panel=RUN)
    ] = 10,
    splits: Annotated[
        int | None,
        option(
            "--splits",
            kind=int,
            text="Only the first splits (of defaults, losses).",
            show_default="all",
            panel=RUN,
        ),
    ] = None,
    device: options.Device = "auto",
    jobs: Annotated[
        int | None,
        option(
            "--jobs",
            kind=int,
            text="Processes at a time.",
            show_default="as many as cores; 1 on cuda and for cost",
            panel=RUN,
        ),
    ] = None,
    run: Annotated[
        Path | None,
        option(
            "--run",
            kind=Path,
            text="Folder of measurements and report to go on with.",
            show_default="runs/reproduce-TABLE",
            panel=RUN,
        ),
    ] = None,
    fresh: Annotated[
        bool,
        option("--fresh", text="Forget what is measured in --run.", panel=RUN),
    ] = False,
    json: Annotated[
        Path | None,
        option("--json", kind=Path, text="Write the result as JSON.", panel=OUTPUT),
    ] = None,
    figures: Annotated[
        Path | None,
        option(
            "--figures",
            kind=Path,
            text="Folder for the figures as PNG and PDF.",
            panel=OUTPUT,
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Measure a table or figure of the paper again; stop and go on at any time.

    fdgcl reproduce heterophilic --dataset texas,cornell --seeds 3 --data-root data
    """
    terminal = Terminal(quiet=quiet)
    if list_tables:
        if json is not None:
            refuse_existing(json, overwrite=overwrite)
        _list(data_root, json, terminal)
        return
    if table is None:
        message = f"name a TABLE: {', '.join(TABLES)} (see: fdgcl reproduce --list)"
        raise InputError(message)
    line = typed(context, flags=("--fresh",))
    try:
        with progress_bar(shown=not quiet) as draw:
            found = workflows.reproduce(
                table,
                dataset=dataset,
                variant=variant,
                data_root=data_root,
                seeds=seeds,
                splits=splits,
                device=device,
                jobs=jobs,
                run=run,
                fresh=fresh,
                json=json,
                figures=figures,
                overwrite=overwrite,
                command=line,
                progress=False,
                on_notice=terminal.notice,
                on_state=draw,
            )
    except Interrupted as stopped:
        rest = (
            f"; {stopped.done} of {stopped.total} units are done and kept in "
            f"{stopped.run}: go on with: {line}"
        )
        raise interruption(rest) from None
    _show(found, json, figures, terminal)


def _show(
    found: Reproduced, json: Path | None, figures: Path | None, terminal: Terminal
) -> None:
    for text in found.warnings:
        warn(text)
    show_page(found.page, terminal)
    terminal.say()
    if found.report is not None:
        terminal.say(f"report     {found.report}")
    terminal.say(f"run        {found.run}")
    if json is not None:
        terminal.say(f"json       {json}")
    if figures is not None:
        terminal.say(f"figures    {figures}  ({len(found.figures)} files)")
    if found.failures:
        count = len(found.failures)
        fail(f"{count} of {found.units} units failed; see the table above")
        raise typer.Exit(FAILURE)


def _list(root: Path | None, json: Path | None, terminal: Terminal) -> None:
    """Show what can be reproduced, and which datasets are here for it."""
    from rich.table import Table

    from fdgcl._files import write_json
    from fdgcl.workflows.reproduce_table import find_root

    found = workflows.list_tables(root)
    shown = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for heading in ("table", "what it shows", "in the paper", "here", "not here"):
        shown.add_column(heading, no_wrap=heading == "table")
    for one in found:
        here, absent = ", ".join(one.here) or "-", ", ".join(one.not_here) or "-"
        shown.add_row(one.table, one.title, one.regenerates or "-", here, absent)
    terminal.show(shown)
    folder = find_root(root)
    where = "none; give --data-root or set FDGCL_DATA" if folder is None else folder
    terminal.say(f"data root: {where}")
    if json is not None:
        write_json(json, [asdict(one) for one in found])
