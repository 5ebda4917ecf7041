"""What an embedding of nodes is worth: a probe, nearest neighbours, k-means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl.cli.row_labels import Truth
from fdgcl.cli.scores import shown
from fdgcl.cli.talk import Talk

if TYPE_CHECKING:
    from rich.table import Table

    from fdgcl._bars import Bars
    from fdgcl.evaluation.results import ClusterResult, KNNResult, KNNValueResult
    from fdgcl.evaluation.tasks import Result


@dataclass(frozen=True)
class _Scores:
    """What was found; neighbours and clusters only where they make sense."""

    probe: Result
    neighbours: KNNResult | KNNValueResult | None = None
    clusters: ClusterResult | None = None


def show_nodes(
    z: Any, truth: Truth, embedding: Path, seed: int, talk: Talk, progress: Bars
) -> None:
    """Score an embedding of nodes and show the scores.

    Args:
        z: The rows that `truth` names.
        truth: Labels and splits of nodes.
        embedding: The file the rows come from.
        seed: Seed of k-means.
        talk: Where text goes.
        progress: The bars.
    """
    scores = _score(z, truth, seed, progress)
    progress.part("")
    talk.show(_table(scores, truth))
    talk.emit(_summary(scores, truth, embedding, talk))


def _score(z: Any, truth: Truth, seed: int, progress: Bars) -> _Scores:
    from fdgcl.evaluation import cluster, knn, knn_values
    from fdgcl.evaluation.tasks import probe

    assert truth.splits is not None
    targets = truth.targets
    probed = probe(z, targets, truth.splits, progress=partial(progress, "probe"))
    if targets.kind == "multilabel":
        return _Scores(probed)
    with progress.waiting("neighbours"):
        if targets.kind == "values":
            return _Scores(probed, knn_values(z, targets.values, truth.splits))
        neighbours = knn(z, targets.codes, truth.splits)
    with progress.waiting("k-means"):
        clusters = cluster(z, targets.codes, seed=seed)
    return _Scores(probed, neighbours, clusters)


def _table(scores: _Scores, truth: Truth) -> Table:
    from rich.table import Table

    assert truth.splits is not None
    targets, count = truth.targets, len(truth.splits)
    unit = "" if targets.kind == "values" else " in %"
    caption = (
        f"labels of {truth.name}: {targets.num_labelled:,} of {len(targets):,} nodes, "
        f"{targets}; {count} split{'s'[: count > 1]} ({truth.splits.name}), "
        f"mean ± standard deviation{unit}"
    )
    table = Table(caption=caption, caption_justify="left", caption_style="dim")
    table.add_column("")
    table.add_column("test", justify="right")
    table.add_column("validation", justify="right")
    for row in _rows(scores, truth):
        table.add_row(*row)
    return table


def _rows(scores: _Scores, truth: Truth) -> Iterator[tuple[str, ...]]:
    from fdgcl.evaluation.results import KNNValueResult
    from fdgcl.evaluation.tasks import judge_of, measures

    judge = judge_of(truth.targets)
    for one in measures(scores.probe):
        val = "" if one.val is None else shown(one.name, one.val)
        yield f"{judge}, {one.name}", shown(one.name, one.test), val
    near, name = scores.neighbours, "nearest neighbours"
    if isinstance(near, KNNValueResult):
        yield f"{name}, R²", shown("R²", near.test), shown("R²", near.val)
        yield f"{name}, MAE", shown("MAE", near.test_mae), shown("MAE", near.val_mae)
    elif near is not None:
        test, val = (shown("accuracy", part) for part in (near.test, near.val))
        yield f"{name}, accuracy", test, val
    if scores.clusters is not None:
        for measure, found in (
            ("NMI", scores.clusters.nmi),
            ("ARI", scores.clusters.ari),
        ):
            yield f"k-means, {measure} (all labelled nodes)", shown(measure, found), ""


def _summary(
    scores: _Scores, truth: Truth, embedding: Path, talk: Talk
) -> dict[str, object]:
    from fdgcl.evaluation.tasks import task_of

    assert truth.splits is not None
    near, clusters = scores.neighbours, scores.clusters
    return {
        "embedding": str(embedding),
        "labels": truth.name,
        "task": task_of(truth.targets),
        "targets": str(truth.targets),
        "labelled": truth.targets.num_labelled,
        "splits": {"name": truth.splits.name, "count": len(truth.splits)},
        "probe": scores.probe.to_dict(),
        "knn": None if near is None else near.to_dict(),
        "kmeans": None if clusters is None else clusters.to_dict(),
        "notices": talk.notices,
    }
