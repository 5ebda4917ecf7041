"""Measuring a table or figure of the paper again; it stops and goes on at any time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fdgcl._checks import InputError, check_count, choose
from fdgcl.experiments.measures import TABLES
from fdgcl.workflows.feedback import (
    Feedback,
    Interrupted,
    OnNotice,
    ProgressArgument,
    feedback,
)
from fdgcl.workflows.outputs import Ledger
from fdgcl.workflows.places import without_folders
from fdgcl.workflows.reading import as_path
from fdgcl.workflows.run_folders import RUNS, check_writable

if TYPE_CHECKING:
    from fdgcl.experiments.experiment import Experiment
    from fdgcl.experiments.runner import Result, Run, State
    from fdgcl.workflows.reproduced import Reproduced

    #: Called with how far the run is, before the first unit and after each.
    OnState: TypeAlias = Callable[[State], None]

CALLED = "fdgcl.workflows.reproduce"
DEVICES = ("auto", "cpu", "cuda")


class NothingHereError(RuntimeError):
    """None of the datasets asked for is here; the text says how to get one."""


@dataclass(frozen=True)
class TableHere:
    """A table or figure that can be reproduced.

    Attributes:
        table: Its name.
        title: For people.
        about: What it shows.
        regenerates: The paper's table or figure.
        here: Its datasets that are here.
        not_here: Why the others are not, by name.
    """

    table: str
    title: str
    about: str
    regenerates: str
    here: list[str]
    not_here: dict[str, str]


def list_tables(data_root: str | Path | None = None) -> list[TableHere]:
    """What can be reproduced, and which datasets are here for it.

    Example:
        >>> from fdgcl.workflows import list_tables
        >>> [one.table for one in list_tables()][:2]
        ['homophilic', 'heterophilic']
    """
    from fdgcl.experiments.discovery import find_datasets
    from fdgcl.experiments.loader import table_files

    root, found = find_root(data_root), []
    for name, table in TABLES.items():
        named = (dataset for dataset, _, _ in table_files(name))
        here, absent = find_datasets(named, root)
        about = (table.title, table.about, table.regenerates)
        found.append(TableHere(name, *about, here, absent))
    return found


def reproduce(
    table: str,
    *,
    dataset: str | Sequence[str] | None = None,
    variant: str | Sequence[str] | None = None,
    data_root: str | Path | None = None,
    seeds: int = 10,
    splits: int | None = None,
    device: str = "auto",
    jobs: int | None = None,
    run: str | Path | None = None,
    fresh: bool = False,
    json: str | Path | None = None,
    figures: str | Path | None = None,
    overwrite: bool = False,
    command: str = CALLED,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
    on_state: OnState | None = None,
) -> Reproduced:
    """Measure a table or figure of the paper again; what is measured is kept.

    Args:
        table: Its name, one of `list_tables()`.
        dataset: Only these datasets; in a text, between commas.
        variant: Only these variants: `paper`, `best`, and others of some tables. The
            rows without training of `defaults` are always measured.
        data_root: The folder of datasets.
        seeds: How many, from 0 on.
        splits: How many of each dataset's splits, from the first; None for all. Of
            `defaults` and `losses` alone.
        device: `auto`, `cpu` or `cuda`.
        jobs: Processes at a time; None for as many as cores, and 1 on cuda and for
            cost.
        run: Folder for measurements and report, which the same call goes on with; None
            for `runs/reproduce-TABLE`.
        fresh: Forget what is measured in it.
        json: A file for the result as JSON.
        figures: A folder for the figures as PNG and PDF.
        overwrite: Replace files that are there and are not this run's.
        command: What the report says that it was made by.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice as soon as it is known.
        on_state: Called with how far the run is, before the first unit and after each.

    Raises:
        InputError: There is no such table, or what was named does not fit it.
        NothingHereError: None of its datasets is here.
        Interrupted: Ctrl-C; units that are done are kept in the run folder.

    Example:
        >>> import tempfile
        >>> from fdgcl.workflows import reproduce
        >>> nothing = tempfile.mkdtemp()  # a folder that holds no dataset
        >>> try:
        ...     reproduce("heterophilic", dataset="texas", data_root=nothing)
        ... except RuntimeError as error:
        ...     print(str(error).partition(":")[0])
        nothing of heterophilic can be measured here
    """
    choose("table", table, TABLES)
    check_count("`seeds`", seeds)
    if jobs is not None:
        check_count("`jobs`", jobs)
    choose("device", device, dict.fromkeys(DEVICES))
    folder = as_path(run) or RUNS / f"reproduce-{table}"
    target, drawn = as_path(json), as_path(figures)
    for place in (folder, target and target.parent, drawn):
        if place is not None:
            check_writable(place)
    ledger = Ledger(folder)
    if target is not None:
        ledger.check(target, overwrite=overwrite)
    if drawn is not None:
        ledger.check_figures(drawn, overwrite=overwrite)
    root = find_root(data_root)

    from fdgcl.experiments.runner import Run, start_afresh
    from fdgcl.workflows.models import new_model

    asked, absent = _asked(table, dataset, variant, splits, root)
    here = [one for one in asked if one.dataset not in absent]
    kind = new_model({"device": device}).check().torch_device.type
    if not here:
        raise NothingHereError(_nothing(table, root, absent))
    if fresh:
        start_afresh(folder)
    work = Run(
        folder=folder,
        experiments=here,
        measure=TABLES[table].measure,
        seeds=seeds,
        device=kind,
        data_root=None if root is None else str(root.resolve()),
        processes=jobs or processes(table, kind),
    )
    with feedback(progress, on_notice) as told:
        result = _measure(work, told, on_state)
        made = _composed(table, asked, absent, work, result, command)
        return made.written(target, drawn, ledger, told.notices)


def processes(table: str, device: str) -> int:
    """How many units to do at a time, unless told."""
    from fdgcl.executors.base import cores

    together = device == "cpu" and not TABLES[table].alone
    return cores() if together else 1


def find_root(given: str | Path | None) -> Path | None:
    """The folder of datasets: given, or of the environment; None without any.

    Raises:
        InputError: It is not there.
    """
    from fdgcl.graphs.datasets import data_root

    try:
        return data_root(given)
    except InputError as error:
        message = (
            f"{error}; it is the folder that holds the datasets as NAME.npz "
            "(see: fdgcl data list)"
        )
        raise InputError(message) from None


def _asked(
    table: str,
    dataset: str | Sequence[str] | None,
    variant: str | Sequence[str] | None,
    splits: int | None,
    root: Path | None,
) -> tuple[list[Experiment], dict[str, str]]:
    """The experiments asked for, and why some of their datasets are not here."""
    from fdgcl.experiments.discovery import find_datasets, of_datasets
    from fdgcl.experiments.experiment import with_splits
    from fdgcl.experiments.loader import load_experiments

    asked = load_experiments(table)
    if splits is not None:
        asked = with_splits(asked, check_count("`splits`", splits))
    found, absent = find_datasets((one.dataset for one in asked), root)
    asked = of_datasets(asked, [*found, *absent])
    if asked:
        asked = _only("dataset", dataset, asked, table)
        asked = _only("variant", variant, asked, table)
    names = {one.dataset for one in asked}
    return asked, {name: why for name, why in absent.items() if name in names}


def _only(
    kind: str,
    wanted: str | Sequence[str] | None,
    experiments: list[Experiment],
    table: str,
) -> list[Experiment]:
    """Keep the experiments of the datasets or variants named, in reading order."""
    if wanted is None:
        return experiments
    parts = wanted.split(",") if isinstance(wanted, str) else wanted
    known = dict.fromkeys(getattr(one, kind).lower() for one in experiments)
    names = [part.strip().lower() for part in parts if part.strip()]
    if not names:
        message = f"`{kind}` names nothing, got {wanted!r}"
        raise InputError(message)
    for name in names:
        choose(f"{kind} of {table}", name, known)
    return [
        one
        for one in experiments
        if getattr(one, kind).lower() in names
        or (kind == "variant" and one.options.get("always"))
    ]


def _nothing(table: str, root: Path | None, absent: dict[str, str]) -> str:
    from fdgcl.experiments.presence import how_to_get

    name = next(iter(absent), "")
    command = how_to_get(name, root)
    get = f"; get {name}, for one, by `{command}`" if command else ""
    if root is None:
        reason = (
            "no data root was given: name the folder with the datasets by "
            "`data_root`, or set FDGCL_DATA"
        )
    elif absent:
        names: dict[str, list[str]] = {}
        for name, why in absent.items():
            names.setdefault(why, []).append(name)
        listed = (f"{', '.join(same)}: {why}" for why, same in names.items())
        reason = f"{'; '.join(listed)}, {root}"
    else:
        reason = f"there is no NAME.npz in {root}"
    return f"nothing of {table} can be measured here: {reason}{get}"


def _measure(run: Run, told: Feedback, on_state: OnState | None) -> Result:
    done = total = 0

    def tell(state: State) -> None:
        nonlocal done, total
        if state.total and not total and state.done < state.total:
            before = f", {state.done} of them there already" if state.done else ""
            told.notice(
                f"{state.total} units{before}, {run.processes} at a time on "
                f"{run.device}, into {run.folder}"
            )
        done, total = state.done, state.total
        told.bars("measuring", done, total, state.latest)
        if on_state is not None:
            on_state(state)

    try:
        return run.go(tell)
    except KeyboardInterrupt:
        raise Interrupted(run.folder, done=done, total=total) from None


def _composed(
    table: str,
    experiments: Sequence[Experiment],
    absent: dict[str, str],
    run: Run,
    result: Result,
    command: str,
) -> Reproduced:
    from fdgcl.experiments.measures import build_measure
    from fdgcl.experiments.pages import build_page
    from fdgcl.workflows.reproduced import Reproduced

    facts: dict[str, Any] = {"command": without_folders(command)}
    page = build_page(
        build_measure(run.measure),
        experiments,
        result.records,
        absent,
        result.failures,
        facts,
    )
    return Reproduced(
        table=table,
        page=page,
        run=run.folder,
        seeds=run.seeds,
        units=len(run.units),
        experiments=tuple(experiments),
        records=tuple(result.records),
        failures=tuple(result.failures),
        absent=absent,
        warnings=tuple(result.warnings),
        command=command,
    )
