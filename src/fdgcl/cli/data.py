"""`fdgcl data`: known datasets, compact files, and stores."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl._bars import bars
from fdgcl._checks import InputError
from fdgcl.cli.console import console, emit, say
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
from fdgcl.cli.outputs import refuse_existing
from fdgcl.cli.source import (
    Reading,
    Source,
    find_source,
    has_many,
    read_data,
    readings,
    refuse_files,
)
from fdgcl.cli.tables import with_tables
from fdgcl.graphs.files.options import TableOptions

if TYPE_CHECKING:
    from rich.table import Table

    from fdgcl.cli.source import Data
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
    if as_json:
        emit([_facts(entry, places[entry.name]) for entry in shown])
        return
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
    console().print(table)
    cora = places["cora"]
    if cora is not None and cora.kind == "bundled":
        say("cora: the bundled copy has a node order and a split of its own.")
    where = "none; give --data-root or set FDGCL_DATA" if folder is None else folder
    say(f"data root: {where}")


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
    if as_json:
        emit(facts)
        return
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in facts.items():
        table.add_row(key.replace("_", " "), _words(value))
    console().print(table)


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

    with bars(shown=not as_json) as progress:
        reports = verify_folder(folder, progress)
    problems = [report for report in reports if report.problem]
    if as_json:
        emit([{**asdict(report), "path": str(report.path)} for report in reports])
    else:
        table = _size_table("name", "state")
        table.add_column("sha256")
        for report in reports:
            sizes = [_words(report.summary.get(key)) for key in _SIZES]
            state = "PROBLEM" if report.problem else "ok"
            table.add_row(report.name, state, *sizes, report.sha256[:12])
        console().print(table)
        for report in problems:
            say(f"{report.name}: {report.problem}")
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
    if output.suffix != ".npz":
        message = f"--output must end in .npz, got {output}"
        raise InputError(message)
    refuse_existing(output, overwrite=overwrite)
    reading = Reading(
        features=tuple(features or ()),
        labels=labels,
        tables=tables,
        data_root=root,
        graph_ids=graph_ids,
        graph_column=graph_column,
    )
    with bars(shown=not as_json) as progress, progress.waiting("read"):
        data, columns = _read(find_source(graph), reading, download=download)
    facts = _write(output, data, columns)
    if as_json:
        emit({"output": str(output), "source": data.source, **facts})
        return
    for line in readings(data):
        say(line)
    say(f"wrote {output}: {data}")


def _write(output: Path, data: Data, columns: Any) -> dict[str, Any]:
    from fdgcl.graphs import Graph, write_compact, write_compact_graphs
    from fdgcl.graphs.summaries import summarise, summarise_graphs

    if isinstance(data, Graph):
        write_compact(output, data)
        return summarise(data)
    write_compact_graphs(output, data, node_attr=columns)
    return summarise_graphs(data)


def _read(source: Source, reading: Reading, *, download: bool) -> tuple[Data, Any]:
    """Return the graph or graphs, and node attributes, which are kept apart."""
    from fdgcl.graphs.compact_graphs import read_attributes
    from fdgcl.graphs.datasets import BUNDLED, load_dataset

    if reading.made:
        message = f"--features must be a file here, got {reading.made}"
        raise InputError(message)
    if source.path is not None:
        reading.check()
        data = read_data(source, reading)
        return data, read_attributes(source.path)
    refuse_files(source, reading)
    if has_many(source, reading):
        return _named_graphs(source.name, reading.data_root, download=download)
    graph = load_dataset(source.name, reading.data_root, download=download)
    if graph.source == BUNDLED and source.name == "cora":
        message = (
            "Planetoid's cora is not here: add --download or --data-root, or convert "
            "the bundled copy by its own name, cora-bundled"
        )
        raise InputError(message)
    return graph, None


def _named_graphs(name: str, root: Path | None, *, download: bool) -> tuple[Data, Any]:
    from fdgcl.graphs import load_graphs
    from fdgcl.graphs.datasets import dataset_info

    entry = dataset_info(name)
    attributes = entry.attributes > 0
    graphs = load_graphs(name, root, attributes=attributes, download=download)
    if not attributes:
        return graphs, None
    x: Any = graphs.graph.features
    labels, columns = x[:, : entry.sizes.features], x[:, entry.sizes.features :]
    return replace(graphs, graph=graphs.graph.with_features(labels)), columns.toarray()


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
