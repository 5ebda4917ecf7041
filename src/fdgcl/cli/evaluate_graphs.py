"""What an embedding of graphs is worth: support vector machines, k-means."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from fdgcl.cli.row_labels import Truth
from fdgcl.cli.talk import Talk
from fdgcl.experiments.measures.scores import percent

if TYPE_CHECKING:
    from rich.table import Table

    from fdgcl._bars import Bars
    from fdgcl.evaluation.results import ClusterResult, FoldScores


def show_graphs(
    z: Any, truth: Truth, embedding: Path, seed: int, talk: Talk, progress: Bars
) -> None:
    """Score an embedding of graphs and show the scores.

    Args:
        z: The rows that `truth` names.
        truth: Labels of graphs.
        embedding: The file the rows come from.
        seed: Seed of k-means.
        talk: Where text goes.
        progress: The bars.
    """
    from fdgcl.evaluation import cluster, graph_svm

    machines = {}
    for kernel in ("rbf", "linear"):
        progress.part(f"{kernel} kernel")
        machines[kernel] = graph_svm(
            z, truth.targets.codes, kernel=kernel, progress=partial(progress, "folds")
        )
    with progress.waiting("k-means"):
        clusters = cluster(z, truth.targets.codes, seed=seed)
    talk.show(_table(machines, clusters, truth))
    talk.emit(
        {
            "embedding": str(embedding),
            "labels": truth.name,
            "labelled": truth.targets.num_labelled,
            "level": "graph",
            "svm": {kernel: found.to_dict() for kernel, found in machines.items()},
            "kmeans": clusters.to_dict(),
        }
    )


def _table(
    machines: dict[str, FoldScores], clusters: ClusterResult, truth: Truth
) -> Table:
    from rich.table import Table

    first = machines["rbf"]
    labelled = truth.targets.num_labelled
    caption = (
        f"labels of {truth.name}: {labelled:,} of {len(truth.targets):,} graphs, "
        f"{first.classes} classes; mean ± standard deviation over {len(first.test)} "
        f"dealings of {len(first.test[0])} folds, in %"
    )
    table = Table(caption=caption, caption_justify="left", caption_style="dim")
    table.add_column("")
    table.add_column("test", justify="right")
    table.add_column("validation", justify="right")
    for kernel, found in machines.items():
        test, val = ([fmean(row) for row in part] for part in (found.test, found.val))
        name = f"support vector machine, {kernel} kernel, accuracy"
        table.add_row(name, percent(test), percent(val))
    table.add_row("k-means, NMI (all labelled graphs)", percent(clusters.nmi))
    table.add_row("k-means, ARI (all labelled graphs)", percent(clusters.ari))
    return table
