"""`fdgcl transform`: a trained model on new nodes or a new graph."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from fdgcl._checks import InputError
from fdgcl.cli import options
from fdgcl.cli.level import find_level, row_ids
from fdgcl.cli.outputs import refuse_existing
from fdgcl.cli.run_folders import check_output
from fdgcl.cli.source import (
    Reading,
    find_source,
    read_data,
    readings,
    refuse_files,
    summary,
)
from fdgcl.cli.tables import with_tables
from fdgcl.cli.talk import Talk
from fdgcl.graphs.files.options import TableOptions


@with_tables("edges", "features")
def transform(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="The run folder of `fdgcl embed`.",
            show_default=False,
        ),
    ],
    graph: options.GraphName,
    tables: TableOptions,
    features: options.Features = None,
    graph_ids: options.GraphIds = None,
    graph_column: options.GraphColumn = None,
    data_root: options.DataRoot = None,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    level: options.Level = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Embed new nodes or another graph with a trained model, without training again.

    The features must be those the model was trained on, by name and in any order: same
    columns, same meaning.

    fdgcl transform runs/edges-20260101-120000 edges2.csv --features x2.parquet
    """
    talk = Talk(quiet=quiet, json=json)
    source = find_source(graph)
    reading = Reading(
        features=tuple(features or ()),
        tables=tables,
        data_root=data_root,
        graph_ids=graph_ids,
        graph_column=graph_column,
    )
    reading.check()
    refuse_files(source, reading)
    chosen = find_level(source, reading, level)
    if not run.is_dir():
        message = f"RUN must be the run folder of an embedding; {run} is not a folder"
        raise InputError(message)
    target = output or run / f"z-{source.name}.parquet"
    check_output(target)
    refuse_existing(target, overwrite=overwrite)

    from fdgcl.embeddings import write_embeddings
    from fdgcl.model import FDGCL

    model = FDGCL.load(run)
    start = time.perf_counter()
    with talk.bars() as bars:
        with bars.waiting("read"):
            data = read_data(source, reading, model.feature_schema_)
        talk.notice(summary(data), *readings(data))
        embedding = model.transform(data, level=chosen, progress=bars)
    talk.notice(*model.notices_)
    write_embeddings(target, row_ids(data, chosen), embedding)
    seconds = time.perf_counter() - start
    count, dim = embedding.shape
    talk.say(f"embedding  {target}  ({count:,} {chosen}s x {dim}, {seconds:.1f} s)")
    talk.emit(
        {
            "embedding": str(target),
            "run": str(run),
            f"{chosen}s": count,
            "dim": dim,
            "seconds": round(seconds, 3),
            "notices": talk.notices,
        }
    )
