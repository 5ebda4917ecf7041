"""One reproduction: what can run runs, what was measured is shown and written."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fdgcl._checks import MissingExtraError
from fdgcl._files import write_json
from fdgcl.cli.console import errors, fail, warn
from fdgcl.cli.failures import FAILURE, interruption
from fdgcl.cli.options import GIVEN
from fdgcl.cli.outputs import Ledger
from fdgcl.cli.pages import show_page
from fdgcl.cli.places import without_folders
from fdgcl.cli.talk import Talk
from fdgcl.experiments.measures import TABLES, build_measure
from fdgcl.experiments.pages import build_page
from fdgcl.experiments.presence import absent_datasets, how_to_get
from fdgcl.experiments.runner import REPORT, Result, Run, State, start_afresh

if TYPE_CHECKING:
    from fdgcl.experiments.experiment import Experiment
    from fdgcl.report.page import Page

MINUTE, HOUR = 60, 3600


@dataclass(frozen=True)
class Order:
    """What is to be measured, and where.

    Attributes:
        table: The table's name.
        experiments: Those asked for, in reading order.
        seeds: How many seeds.
        device: `auto`, `cpu` or `cuda`.
        data_root: Folder with the datasets.
        folder: The run folder.
        jobs: Processes at a time; None for as many as fit.
        fresh: Whether to forget what is in the folder.
        command: What the user typed, to go on with.
    """

    table: str
    experiments: Sequence[Experiment]
    seeds: int
    device: str
    data_root: Path | None
    folder: Path
    jobs: int | None
    fresh: bool
    command: str


@dataclass(frozen=True)
class Outputs:
    """Where results go beside the run folder."""

    json: Path | None = None
    figures: Path | None = None


def carry_out(order: Order, outputs: Outputs, talk: Talk) -> None:
    """Measure what is not measured yet, then show and write everything."""
    from fdgcl.model import FDGCL

    device = FDGCL(device=order.device).check().torch_device.type
    absent = absent_datasets((e.dataset for e in order.experiments), order.data_root)
    here = [e for e in order.experiments if e.dataset not in absent]
    if not here:
        fail(_nothing(order, absent))
        raise typer.Exit(FAILURE)
    if order.fresh:
        start_afresh(order.folder)
    run = Run(
        folder=order.folder,
        experiments=here,
        measure=TABLES[order.table].measure,
        seeds=order.seeds,
        device=device,
        data_root=None if order.data_root is None else str(order.data_root.resolve()),
        processes=order.jobs or processes(order.table, device),
    )
    result = _measure(run, order, talk)
    for text in result.warnings:
        warn(text)
    page = build_page(
        build_measure(run.measure),
        order.experiments,
        result.records,
        absent,
        result.failures,
        {"command": without_folders(order.command)},
    )
    show_page(page, talk)
    _write(page, order, outputs, result, absent, talk)
    if result.failures:
        count = len(result.failures)
        fail(f"{count} of {len(run.units)} units failed; see the table above")
        raise typer.Exit(FAILURE)


def typed(context: typer.Context) -> str:
    """The command as typed, less what would forget everything."""
    given = [word for word in context.meta.get(GIVEN, ()) if word != "--fresh"]
    return shlex.join(["fdgcl", *given])


def processes(table: str, device: str) -> int:
    """How many units to do at a time, unless told."""
    from fdgcl.experiments.machine import available_cores

    together = device == "cpu" and not TABLES[table].alone
    return available_cores() if together else 1


def _nothing(order: Order, absent: dict[str, str]) -> str:
    name, reason = next(iter(absent.items()))
    command = how_to_get(name, order.data_root)
    get = f"; get {name}, for one, by `{command}`" if command else ""
    if order.data_root is None:
        reason = (
            "no data root was given: name the folder with the datasets by --data-root, "
            "or set FDGCL_DATA"
        )
    else:
        reason = f"{', '.join(absent)}: {reason}, {order.data_root}"
    return f"nothing of {order.table} can be measured here: {reason}{get}"


def _measure(run: Run, order: Order, talk: Talk) -> Result:
    state = State(0, 0)

    def tell(new: State) -> None:
        nonlocal state
        if new.total and not state.total and new.done < new.total:
            before = f", {new.done} of them there already" if new.done else ""
            talk.notice(
                f"{new.total} units{before}, {run.processes} at a time on "
                f"{run.device}, into {run.folder}"
            )
        state = new
        draw(new)

    try:
        with _bar(shown=not talk.quiet) as draw:
            return run.go(tell)
    except KeyboardInterrupt:
        rest = (
            f"; {state.done} of {state.total} units are done and kept in {run.folder}: "
            f"go on with: {order.command}"
        )
        raise interruption(rest) from None


def _write(
    page: Page,
    order: Order,
    outputs: Outputs,
    result: Result,
    absent: dict[str, str],
    talk: Talk,
) -> None:
    from fdgcl.report.html import write_page

    report, ledger = order.folder / REPORT, Ledger(order.folder)
    try:
        write_page(page, report)
        talk.say(f"\nreport     {report}")
    except MissingExtraError as error:
        warn(str(error))
    talk.say(f"run        {order.folder}")
    if outputs.json is not None:
        write_json(outputs.json, _facts(page, order, result, absent))
        ledger.note([outputs.json])
        talk.say(f"json       {outputs.json}")
    if outputs.figures is not None:
        from fdgcl.report.static import write_figures

        files = write_figures(page, outputs.figures)
        ledger.note(files)
        talk.say(f"figures    {outputs.figures}  ({len(files)} files)")


def _facts(
    page: Page, order: Order, result: Result, absent: dict[str, str]
) -> dict[str, Any]:
    shared = ("settings", "options", "versions")
    return {
        "table": order.table,
        "title": page.title,
        "command": order.command,
        "run": str(order.folder),
        "seeds": order.seeds,
        "facts": page.facts,
        "not_here": absent,
        "failures": result.failures,
        "experiments": [
            {
                "name": one.name,
                "dataset": one.dataset,
                "variant": one.variant,
                "label": one.label,
                "paper": None if one.paper is None else asdict(one.paper),
                "paper_word": one.paper_word,
                "note": one.note,
                "settings": dict(one.settings),
                "options": dict(one.options),
            }
            for one in order.experiments
        ],
        "records": [
            {name: value for name, value in record.items() if name not in shared}
            for record in result.records
        ],
        "sections": [_plain(asdict(section)) for section in page.sections],
    }


def _plain(value: Any) -> Any:
    """As JSON has it: sets and tuples are lists."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(list, value))
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


@contextmanager
def _bar(*, shown: bool) -> Iterator[Callable[[State], None]]:
    """Yield what draws a bar of the units, on a terminal only."""
    console = errors()
    if not (shown and console.is_terminal):
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("measuring", total=None, count="", left="")

        def draw(state: State) -> None:
            progress.update(
                task,
                description=state.latest or "measuring",
                completed=state.done,
                total=state.total,
                count=f"{state.done}/{state.total}",
                left=time_left(state.seconds_left),
            )

        yield draw


def time_left(seconds: float | None) -> str:
    """How long it will take, in words: `about 3 min left`."""
    if seconds is None:
        return ""
    if seconds < MINUTE:
        return "less than a minute left"
    if seconds < HOUR:
        return f"about {seconds / MINUTE:.0f} min left"
    return f"about {seconds / HOUR:.1f} h left"
