"""`fdgcl transform`: a trained model on new nodes or a new graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdgcl import workflows
from fdgcl.cli import options
from fdgcl.cli.tables import with_tables
from fdgcl.cli.terminal import Terminal
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
    memory: options.Memory = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Embed new nodes or another graph with a trained model, without training again.

    The features must be those the model was trained on, by name and in any order: same
    columns, same meaning.

    fdgcl transform runs/edges-20260101-120000 edges2.csv --features x2.parquet
    """
    terminal = Terminal(quiet=quiet, json=json)
    with terminal.bars() as bars:
        found = workflows.transform(
            run,
            graph,
            features=features,
            tables=tables,
            graph_ids=graph_ids,
            graph_column=graph_column,
            data_root=data_root,
            level=level,
            memory=memory,
            output=output,
            overwrite=overwrite,
            progress=bars,
            on_notice=terminal.notice,
        )
    terminal.say(
        f"embedding  {found.embedding}  ({found.rows:,} {found.level}s x {found.dim}, "
        f"{found.seconds:.1f} s)"
    )
    terminal.emit({**found.to_dict(), "notices": terminal.notices})
