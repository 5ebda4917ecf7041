"""`fdgcl reproduce`: the paper's tables and figures, paper beside ours."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl._checks import InputError, check_count, choose
from fdgcl.cli import options
from fdgcl.cli.options import DATA, OUTPUT, RUN, option
from fdgcl.cli.outputs import Ledger, refuse_existing
from fdgcl.cli.run_folders import RUNS, check_writable
from fdgcl.cli.talk import Talk
from fdgcl.experiments.measures import TABLES

if TYPE_CHECKING:
    from fdgcl.experiments.experiment import Experiment

DEVICES = ("auto", "cpu", "cuda")


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
            text="Only these variants: paper is the paper's settings, best is ours; "
            "some tables have others, such as cde-best.",
            show_default="all of the table",
            panel=DATA,
        ),
    ] = None,
    data_root: options.DataRoot = None,
    seeds: Annotated[
        int, option("--seeds", kind=int, text="Seeds, from 0 on.", panel=RUN)
    ] = 10,
    device: Annotated[
        str, option("--device", kind=str, text="auto, cpu or cuda.", panel=RUN)
    ] = "auto",
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
            text="Folder for measurements and report; what is in it is gone on with.",
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
    talk = Talk(quiet=quiet)
    if list_tables:
        if json is not None:
            refuse_existing(json, overwrite=overwrite)
        show_tables(data_root, json, talk)
        return
    if table is None:
        message = f"name a TABLE: {', '.join(TABLES)} (see: fdgcl reproduce --list)"
        raise InputError(message)
    choose("table", table, TABLES)
    check_count("--seeds", seeds)
    if jobs is not None:
        check_count("--jobs", jobs)
    choose("device", device, dict.fromkeys(DEVICES))
    folder = run or RUNS / f"reproduce-{table}"
    for place in (folder, json and json.parent, figures):
        if place is not None:
            check_writable(place)
    ledger = Ledger(folder)
    if json is not None:
        ledger.check(json, overwrite=overwrite)
    if figures is not None:
        ledger.check_figures(figures, overwrite=overwrite)
    _root(data_root)

    from fdgcl.cli.reproduction import Order, Outputs, carry_out, typed
    from fdgcl.experiments.loader import load_experiments

    experiments = load_experiments(table)
    experiments = _only("dataset", dataset, experiments, table)
    experiments = _only("variant", variant, experiments, table)
    order = Order(
        table=table,
        experiments=experiments,
        seeds=seeds,
        device=device,
        data_root=_root(data_root),
        folder=folder,
        jobs=jobs,
        fresh=fresh,
        command=typed(context),
    )
    carry_out(order, Outputs(json=json, figures=figures), talk)


def show_tables(root: Path | None, json: Path | None, talk: Talk) -> None:
    """Show what can be reproduced, and which datasets are here for it."""
    from rich.table import Table

    from fdgcl._files import write_json
    from fdgcl.experiments.loader import table_files
    from fdgcl.experiments.presence import absent_datasets

    folder = _root(root)
    shown = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for heading in ("table", "what it shows", "in the paper", "here", "not here"):
        shown.add_column(heading, no_wrap=heading == "table")
    facts: list[dict[str, Any]] = []
    for name, table in TABLES.items():
        datasets = list(dict.fromkeys(dataset for dataset, _, _ in table_files(name)))
        absent = absent_datasets(datasets, folder)
        here = [dataset for dataset in datasets if dataset not in absent]
        shown.add_row(
            name,
            table.title,
            table.regenerates,
            ", ".join(here) or "-",
            ", ".join(absent) or "-",
        )
        facts.append(
            {
                "table": name,
                "title": table.title,
                "about": table.about,
                "regenerates": table.regenerates,
                "here": here,
                "not_here": absent,
            }
        )
    talk.show(shown)
    where = "none; give --data-root or set FDGCL_DATA" if folder is None else folder
    talk.say(f"data root: {where}")
    if json is not None:
        write_json(json, facts)


def _root(given: Path | None) -> Path | None:
    from fdgcl.graphs.datasets import data_root

    try:
        return data_root(given)
    except InputError as error:
        message = (
            f"{error}; it is the folder that holds the datasets as NAME.npz "
            "(see: fdgcl data list)"
        )
        raise InputError(message) from None


def _only(
    kind: str, text: str | None, experiments: list[Experiment], table: str
) -> list[Experiment]:
    """Keep the experiments of the datasets or variants named, in reading order."""
    if text is None:
        return experiments
    known: Collection[str] = dict.fromkeys(getattr(one, kind) for one in experiments)
    names = [part.strip().lower() for part in text.split(",") if part.strip()]
    if not names:
        message = f"--{kind} names nothing, got {text!r}"
        raise InputError(message)
    for name in names:
        choose(f"{kind} of {table}", name, dict.fromkeys(known))
    return [one for one in experiments if getattr(one, kind) in names]
