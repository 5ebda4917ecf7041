"""`fdgcl evaluate`: what an embedding is worth for a known set of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fdgcl._bars import bars
from fdgcl._checks import InputError, choose
from fdgcl.cli import options
from fdgcl.cli.evaluate_graphs import show_graphs
from fdgcl.cli.evaluate_nodes import show_nodes
from fdgcl.cli.level import Level
from fdgcl.cli.options import DATA, option
from fdgcl.cli.row_labels import Truth, from_dataset, from_file
from fdgcl.cli.source import Reading
from fdgcl.cli.tables import with_tables
from fdgcl.cli.talk import Talk
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
    quiet: Annotated[
        bool, option("--quiet", "-q", text="Show the result only.")
    ] = False,
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
    talk = Talk(json=json)
    if (dataset is None) == (labels is None):
        message = "say where the labels are: either --dataset NAME or --labels FILE"
        raise InputError(message)
    if splits is not None:
        choose("kind of splits", splits, dict.fromkeys(("dataset", "random")))
    if level is not None:
        choose("level", level, dict.fromkeys(("node", "graph")))
    reading = Reading(labels=labels, tables=tables)
    reading.check()

    from fdgcl.embeddings import read_embeddings

    with bars(shown=not (quiet or json)) as progress:
        with progress.waiting("read"):
            ids, z = read_embeddings(embedding)
            if dataset is not None:
                truth = from_dataset(dataset, data_root, ids, embedding, tables.task)
            else:
                wanted: Level = "graph" if level == "graph" else "node"
                truth = from_file(reading, ids, embedding, wanted)
        _check_level(truth, level, splits)
        truth.targets.refuse_trivial(truth.name)
        if truth.level == "node":
            truth = _split(truth, splits, seed)
        _tell(truth, talk, quiet=quiet)
        show = show_nodes if truth.level == "node" else show_graphs
        show(z[truth.rows], truth, embedding, seed, talk, progress)


def _split(truth: Truth, splits: str | None, seed: int) -> Truth:
    if truth.splits is not None and splits != "random":
        return truth
    if splits == "dataset":
        message = f"{truth.name} has no splits of its own: use --splits random"
        raise InputError(message)
    return truth.split_at_random(seed)


def _tell(truth: Truth, talk: Talk, *, quiet: bool) -> None:
    """Tell what was taken; graphs have classes, and no other task."""
    from fdgcl.evaluation.tasks import task_line

    graphs = truth.level == "graph"
    lines = [*truth.lines, *([] if graphs else [task_line(truth.targets)])]
    if quiet:
        talk.notices += lines
    else:
        talk.notice(*lines)


def _check_level(truth: Truth, level: str | None, splits: str | None) -> None:
    if level is not None and level != truth.level:
        message = f"--level {level} does not fit: {truth.name} has {truth.level}s"
        raise InputError(message)
    if truth.level == "graph":
        truth.targets.need_classes(truth.name)
    if truth.level == "graph" and splits is not None:
        message = (
            f"--splits {splits} goes with nodes; graphs are scored on folds, dealt by "
            "seed"
        )
        raise InputError(message)
