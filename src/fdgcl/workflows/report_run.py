"""A run as one page to look at, and as figures for a paper."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fdgcl._checks import InputError
from fdgcl.workflows.feedback import Feedback, OnNotice, ProgressArgument, feedback
from fdgcl.workflows.outputs import Ledger
from fdgcl.workflows.reading import as_path, new_reading
from fdgcl.workflows.run_folders import check_writable

if TYPE_CHECKING:
    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.report.page import Page
    from fdgcl.workflows.report_findings import Given
    from fdgcl.workflows.source import InMemory

PAGE = "report.html"
RECORDS = "records.jsonl"  # what tells a run of a table of the paper


@dataclass(frozen=True)
class Report:
    """The report of a run.

    Attributes:
        path: The page.
        run: What it is of.
        page: What is on it: sections of texts, tables and figures.
        figures: Files of single figures.
        notices: What was assumed or could not be shown.
    """

    path: Path
    run: Path
    page: Page = field(repr=False)
    figures: tuple[Path, ...] = ()
    notices: tuple[str, ...] = ()


def report(
    run_folder: str | Path,
    *,
    output: str | Path | None = None,
    figures: str | Path | None = None,
    embedding: str | Path | None = None,
    dataset: str | InMemory | None = None,
    labels: str | Path | None = None,
    tables: TableOptions | None = None,
    data_root: str | Path | None = None,
    overwrite: bool = False,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
) -> Report:
    """Make one self-contained HTML page of a run.

    It shows the embedding as a map, the course of the training, what the diffusion
    does to each frequency, and the scores where labels are known.

    Args:
        run_folder: What `embed` or `reproduce` left behind.
        output: The page; None for `report.html` in the run folder.
        figures: A folder for the figures as PNG and PDF files as well.
        embedding: The file of the embedding, where it is not where the run left it.
        dataset: Labels, splits and graph: a dataset by name, a compact file, or the
            graph itself.
        labels: A file of labels instead.
        tables: How that file is understood.
        data_root: The folder of datasets.
        overwrite: Replace files that are there and are not this run's.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice as soon as it is known.

    Raises:
        InputError: There is no run, or what was named does not belong to it.

    Example:
        >>> import fdgcl, tempfile
        >>> from fdgcl.workflows import embed, report
        >>> folder = tempfile.mkdtemp()
        >>> graph, small = fdgcl.load_dataset("cora-bundled"), {"epochs": 2, "dim": 16}
        >>> run = embed(graph, run=f"{folder}/run", settings=small).run
        >>> made = report(run, dataset=graph)
        >>> made.path.name, made.page.sections[1].title
        ('report.html', 'Accuracy')
    """
    from fdgcl.workflows.report_findings import Given

    run = Path(run_folder)
    target = run / PAGE if output is None else Path(output)
    folder = as_path(figures)
    _check(run, dataset, labels, target, folder)
    reading = new_reading(labels=labels, tables=tables, data_root=data_root)
    reading.check()
    given = Given(
        as_path(embedding),
        dataset,
        reading.labels,
        reading.tables,
        reading.data_root,
    )
    ledger = Ledger(run)
    ledger.check(target, overwrite=overwrite)
    if folder is not None:
        ledger.check_figures(folder, overwrite=overwrite)

    from fdgcl.report.html import write_page
    from fdgcl.report.static import need_matplotlib, write_figures

    if folder is not None:
        need_matplotlib()
    with feedback(progress, on_notice) as told:
        page = _page(run, given, told)
        with told.bars.waiting("drawing"):
            write_page(page, target)
            written = write_figures(page, folder) if folder is not None else []
            ledger.note([target, *written])
    return Report(target, run, page, tuple(written), tuple(told.notices))


def _check(
    run: Path,
    dataset: str | InMemory | None,
    labels: str | Path | None,
    target: Path,
    figures: Path | None,
) -> None:
    """Refuse what cannot be, before any work."""
    if not run.is_dir():
        message = f"`run_folder` must be a run folder; {run} is not a folder"
        raise InputError(message)
    if dataset is not None and labels is not None:
        message = "the labels come either from `dataset` or from `labels`, not both"
        raise InputError(message)
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
            message = f"`figures` must be a folder, {figures} is a file"
            raise InputError(message)


def _page(run: Path, given: Given, told: Feedback) -> Page:
    if (run / RECORDS).is_file():
        return _reproduced(run, given)
    from fdgcl.report.run_page import run_page
    from fdgcl.workflows.report_findings import gather

    found = gather(run, given, told)
    with told.bars.waiting("composing"):
        return run_page(found)


def _reproduced(run: Path, given: Given) -> Page:
    from fdgcl.experiments.pages import page_of_file
    from fdgcl.workflows.report_findings import Given

    if given != Given(data_root=given.data_root):
        message = (
            f"{run} is a run of fdgcl reproduce: it takes no embedding and no labels"
        )
        raise InputError(message)
    return page_of_file(run / RECORDS)
