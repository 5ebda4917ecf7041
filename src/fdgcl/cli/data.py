"""`fdgcl data`: known datasets, compact files, and stores."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl import workflows
from fdgcl.cli.data_generate import generate
from fdgcl.cli.data_import import import_files
from fdgcl.cli.help import add_command
from fdgcl.cli.options import (
    Debug,
    Features,
    GraphColumn,
    GraphIds,
    Json,
    Labels,
    Overwrite,
)
from fdgcl.cli.tables import with_tables
from fdgcl.cli.terminal import Terminal
from fdgcl.graphs.files.options import TableOptions

if TYPE_CHECKING:
    from rich.table import Table

    from fdgcl.graphs.catalogue import Dataset
    from fdgcl.graphs.datasets import Place

Root = Annotated[
    Path | None,
    typer.Option(
        "--data-root",
        "--root",
        help="Folder with compact files, or with raw files of PyTorch Geometric, OGB "
        "or SNAP. By default the environment variable FDGCL_DATA.",
        show_default=False,
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
PROBLEMS_FOUND = 1
_SIZES = ("nodes", "features", "classes", "edges")
_PLACES = {"compact": "yes", "raw": "raw files", "bundled": "bundled"}

app = typer.Typer(
    help="Known datasets, compact files, and stores for graphs larger than memory.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("list")
def list_datasets(
    root: Root = None,
    as_json: Json = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Show the known datasets, their sizes, and which of them are here."""
    from fdgcl.graphs.catalogue import CATALOGUE
    from fdgcl.graphs.datasets import data_root, locate

    folder = data_root(root)
    places = {name: locate(name, folder) for name in CATALOGUE}
    # What can be had nowhere is of interest only to those who have it.
    shown = [e for e in CATALOGUE.values() if e.loader or places[e.name]]
    terminal = Terminal(json=as_json)
    terminal.emit([_facts(entry, places[entry.name]) for entry in shown])
    table = _size_table("name")
    table.add_column("splits")
    table.add_column("here", no_wrap=True)
    kind = ""
    for entry in shown:
        if entry.kind != kind:
            kind = entry.kind
            table.add_row(f"{kind}:", style="italic")
        place = places[entry.name]
        here = "-" if place is None else _PLACES[place.kind]
        splits = f"{entry.split.count} x {entry.split.name.partition(',')[0]}"
        sizes = map(_words, asdict(entry.sizes).values())
        table.add_row(entry.name, *sizes, splits, here)
    terminal.show(table)
    cora = places["cora"]
    if cora is not None and cora.kind == "bundled":
        terminal.say("cora: the bundled copy has a node order and a split of its own.")
    where = "none; give --data-root or set FDGCL_DATA" if folder is None else folder
    terminal.say(f"data root: {where}")


@app.command()
def info(
    name: Name,
    root: Root = None,
    as_json: Json = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Show what is known about one dataset: sizes, splits, source, licence."""
    from rich.table import Table

    from fdgcl.graphs.datasets import (
        data_root,
        dataset_info,
        load_dataset,
        load_graphs,
        locate,
    )
    from fdgcl.graphs.summaries import summarise, summarise_graphs

    entry = dataset_info(name)
    folder = data_root(root)
    place = locate(entry.name, folder)
    facts = _facts(entry, place)
    # Raw files need another library and take a while, so they are only located.
    if place is not None and place.kind != "raw":
        if entry.graphs > 1:
            facts["measured"] = summarise_graphs(load_graphs(entry.name, folder))
        else:
            facts["measured"] = summarise(load_dataset(entry.name, folder))
    terminal = Terminal(json=as_json)
    terminal.emit(facts)
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in facts.items():
        table.add_row(key.replace("_", " "), _words(value))
    terminal.show(table)


@app.command()
def verify(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder with compact files NAME.npz.", show_default=False),
    ],
    as_json: Json = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Check every known dataset in a folder; exit code 1 when one is not right."""
    from fdgcl.graphs.datasets import verify_folder

    terminal = Terminal(json=as_json)
    with terminal.bars() as bars:
        reports = verify_folder(folder, bars)
    terminal.emit([{**asdict(one), "path": str(one.path)} for one in reports])
    table = _size_table("name", "state")
    table.add_column("sha256")
    for report in reports:
        sizes = [_words(report.summary.get(key)) for key in _SIZES]
        state = "PROBLEM" if report.problem else "ok"
        table.add_row(report.name, state, *sizes, report.sha256[:12])
    terminal.show(table)
    problems = [report for report in reports if report.problem]
    for report in problems:
        terminal.say(f"{report.name}: {report.problem}")
    if problems:
        raise typer.Exit(PROBLEMS_FOUND)


@with_tables("edges", "features", "labels")
def convert(
    graph: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="An edge list, a compact .npz file, or the name of a dataset.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The .npz file.", show_default=False),
    ],
    tables: TableOptions,
    features: Features = None,
    labels: Labels = None,
    graph_ids: GraphIds = None,
    graph_column: GraphColumn = None,
    root: Root = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download a dataset that is not here.")
    ] = False,
    overwrite: Overwrite = False,
    as_json: Json = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Write a graph in the compact format: your own files, or a known dataset."""
    terminal = Terminal(json=as_json)
    with terminal.bars() as bars:
        made = workflows.convert(
            graph,
            output,
            features=features,
            labels=labels,
            tables=tables,
            graph_ids=graph_ids,
            graph_column=graph_column,
            data_root=root,
            download=download,
            overwrite=overwrite,
            progress=bars,
        )
    terminal.emit(made.to_dict())
    for line in made.notices:
        terminal.say(line)
    terminal.say(f"wrote {made.path}: {made.data}")


def _size_table(*first: str) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    for heading in first:
        table.add_column(heading, no_wrap=True)
    for heading in _SIZES:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _facts(entry: Dataset, place: Place | None) -> dict[str, Any]:
    return {
        "name": entry.name,
        **asdict(entry.sizes),
        "graphs": entry.graphs,
        "kind": entry.kind,
        "undirected": entry.undirected,
        "splits": entry.split.name,
        "split_count": entry.split.count,
        "paper": None if entry.paper is None else asdict(entry.paper),
        "source": entry.source,
        "licence": entry.licence,
        "loader": None if entry.loader is None else str(entry.loader),
        "note": entry.note,
        "here": None if place is None else str(place),
    }


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k.replace('_', ' ')} {_words(v)}" for k, v in value.items())
    if isinstance(value, list):
        return "/".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value) if value else "-"


add_command(app, convert)
add_command(app, import_files, "import")
add_command(app, generate)
