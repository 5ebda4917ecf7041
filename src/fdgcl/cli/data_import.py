"""`fdgcl data import`: a graph larger than memory, from its files to a store."""

from __future__ import annotations

import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl.cli import options
from fdgcl.cli.bounds import Memory, allowed_bytes
from fdgcl.cli.options import DATA, RUN, option
from fdgcl.cli.talk import Talk

if TYPE_CHECKING:
    from fdgcl.scale.importing import Request
    from fdgcl.scale.store import Store


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
    features: Annotated[
        Path | None,
        option(
            "--features",
            kind=Path,
            panel=DATA,
            metavar="FILE",
            text="Node features: Parquet, text or .npy.",
            show_default="32 random numbers",
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
    source_column: options.SourceColumn = None,
    target_column: options.TargetColumn = None,
    weight_column: options.WeightColumn = None,
    id_column: options.IdColumn = None,
    header: options.Header = None,
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
        int, option("--seed", kind=int, panel=RUN, text="Seed of random features.")
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
    from fdgcl.scale.importing import Request

    request = Request(
        edges,
        features,
        source=source_column,
        target=target_column,
        weight=weight_column,
        id_column=id_column,
        header="auto" if header is None else header,
        direction=direction,
        name=name,
        seed=seed,
    )
    talk = Talk(quiet=quiet, json=json)
    allowed = allowed_bytes(memory)
    if dry_run:
        _plan(request, allowed, talk)
    else:
        _run(request, store, allowed, talk)


def _plan(request: Request, memory: int, talk: Talk) -> None:
    from fdgcl.scale.cost import describe_seconds, import_seconds
    from fdgcl.scale.importing import plan_import
    from fdgcl.scale.memory import describe_size

    plan = plan_import(request, memory)
    seconds = import_seconds(plan.edges, plan.nodes, plan.features)
    talk.emit({**asdict(plan), "seconds": round(seconds, 1)})
    nodes = f"{plan.nodes:,} nodes"
    if request.features is None:
        nodes = f"perhaps {nodes} (the edges will tell)"
    elif not plan.nodes_known:
        nodes = f"about {nodes}"
    talk.say(f"{nodes}, about {plan.edges:,} edges, {plan.features:,} features")
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
    from fdgcl.scale.importing import run_request
    from fdgcl.scale.memory import describe_size

    start = time.perf_counter()
    with talk.bars() as bars:
        store = run_request(request, folder, memory, bars)
    facts = _facts(store, time.perf_counter() - start)
    talk.emit(facts)
    made = " (random: there were none)" if store.manifest.structural else ""
    talk.say(
        f"{store.manifest.name}: {facts['nodes']:,} nodes, {facts['edges']:,} edges "
        f"read, {facts['entries']:,} neighbours stored, {facts['features']:,} features"
        f"{made}"
    )
    talk.say(
        f"wrote {folder}: {describe_size(facts['bytes'])} in {facts['seconds']:.1f} s"
    )
    following = ["fdgcl", "train", str(folder), "-o", f"{folder}-embedding"]
    talk.say(f"next: {shlex.join(following)}")


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
        "bytes": sum(array.nbytes for array in store.arrays()),
        "seconds": round(seconds, 2),
        "fingerprint": store.fingerprint,
    }
