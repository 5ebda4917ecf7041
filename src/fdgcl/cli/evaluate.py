"""`fdgcl evaluate`: what an embedding is worth for a known set of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdgcl import workflows
from fdgcl.cli import options
from fdgcl.cli.options import DATA, option
from fdgcl.cli.score_tables import evaluation_table
from fdgcl.cli.tables import with_tables
from fdgcl.cli.terminal import Terminal
from fdgcl.graphs.files.options import TableOptions


@with_tables("labels")
def evaluate(
    embedding: Annotated[
        Path,
        typer.Argument(
            metavar="Z.parquet", help="What `fdgcl embed` wrote.", show_default=False
        ),
    ],
    tables: TableOptions,
    dataset: Annotated[
        str | None,
        option(
            "--dataset",
            panel=DATA,
            metavar="NAME|FILE.npz",
            text="Take labels and splits from a dataset or a compact file.",
        ),
    ] = None,
    labels: options.Labels = None,
    level: Annotated[
        str | None,
        option(
            "--level",
            panel=DATA,
            metavar="node|graph",
            text="With --labels: whether they are labels of nodes, scored by a linear "
            "probe, or of graphs, scored by an SVM on folds.",
            show_default="node; with --dataset, what the dataset has",
        ),
    ] = None,
    splits: Annotated[
        str | None,
        option(
            "--splits",
            panel=DATA,
            metavar="dataset|random",
            text="The dataset's own splits, or ten random ones: 10 % of the labelled "
            "nodes to train, 10 % to choose, 80 % to test.",
            show_default="the dataset's, if it has any",
        ),
    ] = None,
    data_root: options.DataRoot = None,
    seed: Annotated[
        int,
        option(
            "--seed", kind=int, panel=DATA, text="Seed of random splits and k-means."
        ),
    ] = 0,
    quiet: options.QuietResult = False,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Score an embedding: linear probe, nearest neighbours, k-means.

    Ids in the embedding are matched to those of the labels. Labels may be classes,
    values (scored by ridge regression) or several at once (one classifier for each).
    Every choice is made on validation nodes; test nodes are scored once. Graphs are
    scored by support vector machines on ten folds, every choice made inside the fold.

    fdgcl evaluate z.parquet --dataset cora

    fdgcl evaluate z.parquet --labels y.csv --label-column age --task regress

    fdgcl evaluate z.parquet --dataset proteins
    """
    terminal = Terminal(quiet=quiet, json=json)
    with terminal.bars() as bars:
        found = workflows.evaluate(
            embedding,
            dataset=dataset,
            labels=labels,
            tables=tables,
            level=level,
            splits=splits,
            data_root=data_root,
            seed=seed,
            progress=bars,
            on_notice=terminal.notice,
        )
    terminal.for_all.show(evaluation_table(found))
    terminal.emit(found.to_dict())
