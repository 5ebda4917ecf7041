"""`fdgcl data import`: a graph larger than memory, from its files to a store."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl.cli import options
from fdgcl.cli.bounds import Memory, allowed_bytes
from fdgcl.cli.options import DATA, RUN, option
from fdgcl.cli.suggestions import command, free_path, option_words, path_word
from fdgcl.cli.tables import with_tables
from fdgcl.cli.talk import Talk
from fdgcl.graphs.files.options import TableOptions

if TYPE_CHECKING:
    from fdgcl.graphs.importing import Request
    from fdgcl.graphs.store.store import Store


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
    memory: Memory = None,
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
    from fdgcl.graphs.importing import Request, kind_to_make, one_table

    request = Request(
        edges,
        one_table(features),
        tables,
        direction=direction,
        name=name,
        seed=seed,
        made=kind_to_make(features),
    )
    talk = Talk(quiet=quiet, json=json)
    allowed = allowed_bytes(memory)
    if dry_run:
        _plan(request, allowed, talk)
    else:
        _run(request, store, allowed, talk)


def _plan(request: Request, memory: int, talk: Talk) -> None:
    from fdgcl._memory import describe_size
    from fdgcl.graphs.importing import plan_import
    from fdgcl.planning.cost import describe_seconds, import_seconds

    plan = plan_import(request, memory)
    seconds = import_seconds(plan.edges, plan.nodes, plan.features)
    talk.emit({**asdict(plan), "seconds": round(seconds, 1)})
    nodes = f"{plan.nodes:,} nodes"
    if request.features is None:
        nodes = f"perhaps {nodes} (the edges will tell)"
    elif not plan.nodes_known:
        nodes = f"about {nodes}"
    width = "" if plan.features_known else "about "
    talk.say(f"{nodes}, about {plan.edges:,} edges, {width}{plan.features:,} features")
    talk.say(
        f"memory: {describe_size(plan.peak_memory)} at the peak (allowed: "
        f"{describe_size(plan.memory)}; the least that would do: "
        f"{describe_size(plan.least_memory)})"
    )
    talk.say(
        f"disk: about {describe_size(plan.store_bytes)}, and "
        f"{describe_size(plan.disk_bytes - plan.store_bytes)} more on the way"
    )
    talk.say(f"time: about {describe_seconds(seconds)} on two cores")


def _run(request: Request, folder: Path, memory: int, talk: Talk) -> None:
    from fdgcl._memory import describe_size
    from fdgcl.graphs.importing import run_request

    start = time.perf_counter()
    with talk.bars() as bars:
        store = run_request(request, folder, memory, bars)
    facts = _facts(store, time.perf_counter() - start)
    talk.emit(facts)
    talk.notice(*store.manifest.reading)
    kind = store.manifest.structural
    made = "" if kind is None else f" ({kind}: there were none)"
    talk.say(
        f"{store.manifest.name}: {facts['nodes']:,} nodes, {facts['edges']:,} edges "
        f"read, {facts['entries']:,} neighbours stored, {facts['features']:,} features"
        f"{made}"
    )
    talk.say(
        f"wrote {folder}: {describe_size(facts['bytes'])} in {facts['seconds']:.1f} s"
    )
    target = free_path(folder.with_name(f"{folder.name}-embedding"))
    words = [path_word(folder), *option_words("-o", target)]
    talk.say(f"next: {command('train', *words)}")


def _facts(store: Store, seconds: float) -> dict[str, Any]:
    manifest = store.manifest
    return {
        "store": str(store.folder),
        "name": manifest.name,
        "nodes": manifest.nodes,
        "edges": manifest.edges,
        "entries": manifest.entries,
        "direction": manifest.direction,
        "weighted": manifest.weighted,
        "ids": manifest.ids,
        "features": manifest.features,
        "structural": manifest.structural,
        "feature_schema": manifest.feature_schema,
        "reading": list(manifest.reading),
        "bytes": sum(array.nbytes for array in store.arrays()),
        "seconds": round(seconds, 2),
        "fingerprint": store.fingerprint,
    }
