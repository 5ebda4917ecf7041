"""`fdgcl report`: a run as one page to look at, and as figures for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdgcl import workflows
from fdgcl.cli import options
from fdgcl.cli.options import DATA, option
from fdgcl.cli.tables import with_tables
from fdgcl.cli.terminal import Terminal
from fdgcl.graphs.files.options import TableOptions


@with_tables("labels")
def report(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="The run folder of `fdgcl embed` or `fdgcl reproduce`.",
            show_default=False,
        ),
    ],
    tables: TableOptions,
    embedding: Annotated[
        Path | None,
        option(
            "--embedding",
            kind=Path,
            panel=DATA,
            text="The embedding, as Parquet.",
            show_default="where the run left it",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        option(
            "--dataset",
            panel=DATA,
            metavar="NAME|FILE.npz",
            text="Take labels, splits and graph from a dataset or a compact file.",
            show_default="what the run was made of",
        ),
    ] = None,
    labels: options.Labels = None,
    data_root: options.DataRoot = None,
    output: Annotated[
        Path | None,
        option(
            "--output",
            "-o",
            kind=Path,
            text="Where the page goes, one HTML file.",
            show_default="report.html in RUN",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        option(
            "--figures",
            kind=Path,
            text="Folder for the figures as PNG and PDF files as well.",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Make one self-contained HTML page of a run.

    It shows the embedding as a map, the course of the training, what the diffusion
    does to each frequency, and the scores where labels are known.

    fdgcl report runs/cora-20260101-120000 -o cora.html
    """
    terminal = Terminal(quiet=quiet, json=json)
    with terminal.bars() as bars:
        made = workflows.report(
            run,
            output=output,
            figures=figures,
            embedding=embedding,
            dataset=dataset,
            labels=labels,
            tables=tables,
            data_root=data_root,
            overwrite=overwrite,
            progress=bars,
            on_notice=terminal.notice,
        )
    terminal.say(f"report     {made.path}  ({made.path.stat().st_size / 1e6:.1f} MB)")
    if figures is not None:
        terminal.say(f"figures    {figures}  ({len(made.figures)} files)")
    terminal.emit(
        {
            "report": str(made.path),
            "run": str(run),
            "title": made.page.title,
            "summary": made.page.summary,
            "sections": [section.title for section in made.page.sections],
            "figures": [str(path) for path in made.figures],
            "notices": terminal.notices,
        }
    )
