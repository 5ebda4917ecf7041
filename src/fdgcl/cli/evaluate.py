"""`fdgcl evaluate`: what an embedding is worth for a known set of labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fdgcl._checks import InputError, choose
from fdgcl.cli import options
from fdgcl.cli.evaluate_graphs import show_graphs
from fdgcl.cli.level import Level
from fdgcl.cli.options import DATA, option
from fdgcl.cli.progress import bars
from fdgcl.cli.source import Reading
from fdgcl.cli.talk import Talk
from fdgcl.cli.truth import Truth, from_dataset, from_file
from fdgcl.experiments.measures.scores import percent

if TYPE_CHECKING:
    from rich.table import Table

    from fdgcl.cli.progress import Bars
    from fdgcl.evaluation.results import ClusterResult, KNNResult, ProbeResult


def evaluate(
    embedding: Annotated[
        Path,
        typer.Argument(
            metavar="Z.parquet", help="What `fdgcl embed` wrote.", show_default=False
        ),
    ],
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
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
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

    Ids in the embedding are matched to those of the labels. Every choice is made on
    validation nodes; test nodes are scored once. Graphs are scored by support vector
    machines on ten folds, every choice made inside the fold.

    fdgcl evaluate z.parquet --dataset cora

    fdgcl evaluate z.parquet --labels y.csv

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
    Reading(labels=labels).check()

    from fdgcl.embeddings import read_embeddings

    with bars(shown=not (quiet or json)) as progress:
        with progress.waiting("read"):
            ids, z = read_embeddings(embedding)
            if dataset is not None:
                truth = from_dataset(dataset, data_root, ids, embedding)
            else:
                assert labels is not None
                wanted: Level = "graph" if level == "graph" else "node"
                truth = from_file(
                    labels, id_column, label_column, ids, embedding, wanted
                )
        _check_level(truth, level, splits)
        if truth.level == "graph":
            show_graphs(z[truth.rows], truth, embedding, seed, talk, progress)
            return
        if splits == "random" or truth.splits is None:
            if splits == "dataset":
                message = f"{truth.name} has no splits of its own: use --splits random"
                raise InputError(message)
            truth = truth.split_at_random(seed)
        scores = _score(z[truth.rows], truth, seed, progress)
    talk.show(_table(scores, truth, len(ids)))
    talk.emit(_summary(scores, truth, embedding))


def _check_level(truth: Truth, level: str | None, splits: str | None) -> None:
    if level is not None and level != truth.level:
        message = f"--level {level} does not fit: {truth.name} has {truth.level}s"
        raise InputError(message)
    if truth.level == "graph" and splits is not None:
        message = (
            f"--splits {splits} goes with nodes; graphs are scored on folds, dealt by "
            "seed"
        )
        raise InputError(message)


@dataclass(frozen=True)
class _Scores:
    probe: ProbeResult
    neighbours: KNNResult
    clusters: ClusterResult


def _score(z: Any, truth: Truth, seed: int, progress: Bars) -> _Scores:
    from fdgcl.evaluation import cluster, knn, linear_probe

    assert truth.splits is not None
    probe = linear_probe(z, truth.y, truth.splits, progress=partial(progress, "probe"))
    with progress.waiting("neighbours"):
        neighbours = knn(z, truth.y, truth.splits)
    with progress.waiting("k-means"):
        clusters = cluster(z, truth.y, seed=seed)
    return _Scores(probe, neighbours, clusters)


def _table(scores: _Scores, truth: Truth, nodes: int) -> Table:
    from rich.table import Table

    assert truth.splits is not None
    labelled = int((truth.y >= 0).sum())
    count = len(truth.splits)
    caption = (
        f"labels of {truth.name}: {labelled:,} of {nodes:,} nodes, "
        f"{scores.probe.classes} classes; {count} split{'s'[: count > 1]} "
        f"({truth.splits.name}), mean ± standard deviation in %"
    )
    table = Table(caption=caption, caption_justify="left", caption_style="dim")
    table.add_column("")
    table.add_column("test", justify="right")
    table.add_column("validation", justify="right")
    for name, result in (
        ("linear probe, accuracy", scores.probe),
        ("nearest neighbours, accuracy", scores.neighbours),
    ):
        table.add_row(name, percent(result.test), percent(result.val))
    table.add_row("k-means, NMI (all labelled nodes)", percent(scores.clusters.nmi))
    table.add_row("k-means, ARI (all labelled nodes)", percent(scores.clusters.ari))
    return table


def _summary(scores: _Scores, truth: Truth, embedding: Path) -> dict[str, object]:
    assert truth.splits is not None
    return {
        "embedding": str(embedding),
        "labels": truth.name,
        "labelled": int((truth.y >= 0).sum()),
        "splits": {"name": truth.splits.name, "count": len(truth.splits)},
        "probe": scores.probe.to_dict(),
        "knn": scores.neighbours.to_dict(),
        "kmeans": scores.clusters.to_dict(),
    }
