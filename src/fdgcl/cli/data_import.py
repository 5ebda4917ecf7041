"""`fdgcl data import`: a graph larger than memory, from its files to a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl import workflows
from fdgcl.cli import options
from fdgcl.cli.options import DATA, RUN, option
from fdgcl.cli.suggestions import command, free_path, option_words, path_word
from fdgcl.cli.tables import with_tables
from fdgcl.cli.terminal import Terminal
from fdgcl.graphs.files.options import TableOptions

if TYPE_CHECKING:
    from fdgcl.workflows.import_tables import Imported


@with_tables("edges", "features")
def import_files(
    edges: Annotated[
        Path,
        typer.Argument(
            metavar="EDGES",
            help="An edge list, Parquet or text (CSV, TSV, also gzipped).",
            show_default=False,
        ),
    ],
    store: Annotated[
        Path,
        option(
            "--store",
            kind=Path,
            metavar="FOLDER",
            text="Where the store goes: a new folder, or one begun before.",
            show_default=False,
        ),
    ],
    tables: TableOptions,
    features: Annotated[
        list[str] | None,
        option(
            "--features",
            panel=DATA,
            metavar="FILE|KIND",
            text="Node features: Parquet, text or .npy; or spectral, degree or random "
            "ones, made from the edges.",
            show_default="32 spectral ones, made from the edges",
        ),
    ] = None,
    memory: options.Memory = None,
    direction: Annotated[
        str,
        option(
            "--direction",
            kind=str,
            panel=DATA,
            metavar="symmetric|out|in",
            text="Whom a node gathers from: both sides, those it points to, or those "
            "that point to it.",
        ),
    ] = "symmetric",
    name: Annotated[
        str | None,
        option(
            "--name",
            kind=str,
            panel=DATA,
            text="Short name of the graph.",
            show_default="that of EDGES",
        ),
    ] = None,
    seed: Annotated[
        int,
        option("--seed", kind=int, panel=RUN, text="Seed of features that are made."),
    ] = 0,
    dry_run: Annotated[
        bool,
        option("--dry-run", panel=RUN, text="Only say what it would take."),
    ] = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Bring a graph larger than memory into a store: a folder that is read by parts.

    Killed or out of disk, the same command goes on where it stopped.

    fdgcl data import edges.parquet --features x.parquet --store G --memory 6GB
    """
    terminal = Terminal(quiet=quiet, json=json)
    wanted: dict[str, Any] = {
        "features": features,
        "tables": tables,
        "memory": memory,
        "direction": direction,
        "name": name,
        "seed": seed,
    }
    if dry_run:
        plan = workflows.plan_import(edges, **wanted)
        terminal.emit(plan.to_dict())
        for sentence in plan.describe():
            terminal.say(sentence)
        return
    with terminal.bars() as bars:
        found = workflows.import_table(edges, store, **wanted, progress=bars)
    _show(found, terminal)


def _show(found: Imported, terminal: Terminal) -> None:
    from fdgcl._memory import describe_size

    facts, manifest = found.to_dict(), found.store.manifest
    folder = found.store.folder
    terminal.emit(facts)
    for text in found.notices:
        terminal.notice(text)
    kind = manifest.structural
    made = "" if kind is None else f" ({kind}: there were none)"
    terminal.say(
        f"{manifest.name}: {manifest.nodes:,} nodes, {manifest.edges:,} edges read, "
        f"{manifest.entries:,} neighbours stored, {manifest.features:,} features{made}"
    )
    terminal.say(
        f"wrote {folder}: {describe_size(facts['bytes'])} in {facts['seconds']:.1f} s"
    )
    target = free_path(folder.with_name(f"{folder.name}-embedding"))
    words = [path_word(folder), *option_words("-o", target)]
    terminal.say(f"next: {command('train', *words)}")
