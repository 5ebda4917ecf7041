"""`fdgcl report`: a run as one page to look at, and as figures for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fdgcl._checks import InputError
from fdgcl.cli import options
from fdgcl.cli.options import DATA, option
from fdgcl.cli.outputs import Ledger
from fdgcl.cli.report_run import Given, gather
from fdgcl.cli.run_folders import check_writable
from fdgcl.cli.source import Reading
from fdgcl.cli.tables import with_tables
from fdgcl.cli.talk import Talk
from fdgcl.graphs.files.options import TableOptions

if TYPE_CHECKING:
    from fdgcl._bars import Bars
    from fdgcl.report.page import Page

PAGE = "report.html"
RECORDS = "records.jsonl"  # what tells a run of `fdgcl reproduce`


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
    talk = Talk(quiet=quiet, json=json)
    given = Given(embedding, dataset, labels, tables, data_root)
    target = output or run / PAGE
    _check(run, given, target, figures)
    ledger = Ledger(run)
    ledger.check(target, overwrite=overwrite)
    if figures is not None:
        ledger.check_figures(figures, overwrite=overwrite)

    from fdgcl.report.html import write_page
    from fdgcl.report.static import need_matplotlib, write_figures

    if figures is not None:
        need_matplotlib()
    with talk.bars() as bars:
        page = _page(run, given, talk, bars)
        with bars.waiting("drawing"):
            write_page(page, target)
            written = write_figures(page, figures) if figures is not None else []
            ledger.note([target, *written])
    talk.say(f"report     {target}  ({target.stat().st_size / 1e6:.1f} MB)")
    if figures is not None:
        talk.say(f"figures    {figures}  ({len(written)} files)")
    talk.emit(
        {
            "report": str(target),
            "run": str(run),
            "title": page.title,
            "summary": page.summary,
            "sections": [section.title for section in page.sections],
            "figures": [str(path) for path in written],
            "notices": talk.notices,
        }
    )


def _check(run: Path, given: Given, target: Path, figures: Path | None) -> None:
    """Refuse what cannot be, before any work."""
    if not run.is_dir():
        message = f"RUN must be a run folder; {run} is not a folder"
        raise InputError(message)
    if given.dataset is not None and given.labels is not None:
        message = "the labels come either from --dataset or from --labels, not both"
        raise InputError(message)
    Reading(labels=given.labels).check()
    if target.suffix.lower() not in (".html", ".htm"):
        message = f"the report is HTML and its name must end so, got {target}"
        raise InputError(message)
    if target.is_dir():
        message = f"cannot write {target}: it is a folder"
        raise InputError(message)
    check_writable(target.parent)
    if figures is not None:
        check_writable(figures)
        if figures.exists() and not figures.is_dir():
            message = f"--figures must be a folder, {figures} is a file"
            raise InputError(message)


def _page(run: Path, given: Given, talk: Talk, bars: Bars) -> Page:
    if (run / RECORDS).is_file():
        return _reproduced(run, given)
    from fdgcl.report.run_page import run_page

    found = gather(run, given, talk, bars)
    with bars.waiting("composing"):
        return run_page(found)


def _reproduced(run: Path, given: Given) -> Page:
    from fdgcl.experiments import page_of_run

    if given != Given(data_root=given.data_root):
        message = (
            f"{run} is a run of fdgcl reproduce: it takes no embedding and no labels"
        )
        raise InputError(message)
    return page_of_run(run)
