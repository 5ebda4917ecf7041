"""The scores of an embedding: of its nodes, or of its graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from fdgcl.workflows.feedback import Feedback
from fdgcl.workflows.labels import RowLabels

if TYPE_CHECKING:
    import numpy.typing as npt

    from fdgcl._bars import Bars
    from fdgcl.evaluation.results import KNNResult, KNNValueResult


@dataclass(frozen=True)
class Line:
    """What one measure gave.

    Attributes:
        name: The judge and the measure.
        measure: The measure: `accuracy`, `ROC-AUC`, `R²`, `NMI`, ...
        test: On test nodes, one for each split.
        val: On validation nodes; None where validation did not choose by it.
    """

    name: str
    measure: str
    test: tuple[float, ...]
    val: tuple[float, ...] | None = None

    @property
    def mean(self) -> float:
        """The mean on test nodes."""
        return fmean(self.test)


@dataclass(frozen=True)
class Evaluation:
    """What an embedding is worth for a known set of labels.

    Attributes:
        embedding: What it is called: its file.
        labels: The labels, and the splits of nodes.
        lines: What each measure gave.
        caption: Whose labels, how many, which splits.
        results: What each judge found, ready for JSON.
        notices: What was taken for what.
    """

    embedding: str
    labels: RowLabels
    lines: tuple[Line, ...]
    caption: str
    results: Mapping[str, Any]
    notices: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        z: npt.NDArray[Any],
        name: str,
        labels: RowLabels,
        seed: int,
        told: Feedback,
    ) -> Evaluation:
        """Score an embedding.

        Args:
            z: The rows.
            name: What the embedding is called.
            labels: Of the rows; with splits, where they are nodes.
            seed: Of k-means.
            told: Hears of the progress.
        """
        score = _nodes if labels.level == "node" else _graphs
        lines, caption, results = score(z, labels, seed, told.bars)
        told.bars.part("")
        notices = tuple(told.notices)
        return cls(name, labels, tuple(lines), caption, results, notices)

    def to_dict(self) -> dict[str, Any]:
        """Return names and numbers, ready for JSON."""
        from fdgcl.evaluation.tasks import task_of

        targets, splits = self.labels.targets, self.labels.splits
        head = {"embedding": self.embedding, "labels": self.labels.name}
        if splits is None:
            labelled = {"labelled": targets.num_labelled, "level": "graph"}
            return {**head, **labelled, **self.results}
        return {
            **head,
            "task": task_of(targets),
            "targets": str(targets),
            "labelled": targets.num_labelled,
            "splits": {"name": splits.name, "count": len(splits)},
            **self.results,
            "notices": list(self.notices),
        }


def _nodes(
    z: Any, labels: RowLabels, seed: int, bars: Bars
) -> tuple[list[Line], str, dict[str, Any]]:
    from fdgcl.evaluation import cluster, knn, knn_values
    from fdgcl.evaluation.tasks import judge_of, measures, probe

    targets, splits = labels.targets, labels.splits
    assert splits is not None
    probed = probe(z, targets, splits, progress=partial(bars, "probe"))
    judge = judge_of(targets)
    lines = [
        Line(f"{judge}, {one.name}", one.name, one.test, one.val)
        for one in measures(probed)
    ]
    near: KNNResult | KNNValueResult | None = None
    clusters = None
    if targets.kind != "multilabel":
        with bars.waiting("neighbours"):
            near = (
                knn_values(z, targets.values, splits)
                if targets.kind == "values"
                else knn(z, targets.codes, splits)
            )
        lines += _neighbours(near)
    if targets.kind == "classes":
        with bars.waiting("k-means"):
            clusters = cluster(z, targets.codes, seed=seed)
        lines += _clusters(clusters, "nodes")
    unit, count = "" if targets.kind == "values" else " in %", len(splits)
    caption = (
        f"labels of {labels.name}: {targets.num_labelled:,} of {len(targets):,} nodes, "
        f"{targets}; {count} split{'s'[: count > 1]} ({splits.name}), "
        f"mean ± standard deviation{unit}"
    )
    return (
        lines,
        caption,
        {
            "probe": probed.to_dict(),
            "knn": None if near is None else near.to_dict(),
            "kmeans": None if clusters is None else clusters.to_dict(),
        },
    )


def _neighbours(near: KNNResult | KNNValueResult) -> Iterator[Line]:
    from fdgcl.evaluation.results import KNNValueResult

    name = "nearest neighbours"
    if isinstance(near, KNNValueResult):
        yield Line(f"{name}, R²", "R²", near.test, near.val)
        yield Line(f"{name}, MAE", "MAE", near.test_mae, near.val_mae)
    else:
        yield Line(f"{name}, accuracy", "accuracy", near.test, near.val)


def _clusters(clusters: Any, units: str) -> Iterator[Line]:
    for measure, found in (("NMI", clusters.nmi), ("ARI", clusters.ari)):
        yield Line(f"k-means, {measure} (all labelled {units})", measure, found)


def _graphs(
    z: Any, labels: RowLabels, seed: int, bars: Bars
) -> tuple[list[Line], str, dict[str, Any]]:
    from fdgcl.evaluation import cluster, graph_svm

    targets, lines, machines = labels.targets, [], {}
    for kernel in ("rbf", "linear"):
        bars.part(f"{kernel} kernel")
        found = machines[kernel] = graph_svm(
            z, targets.codes, kernel=kernel, progress=partial(bars, "folds")
        )
        test, val = (
            tuple(fmean(row) for row in part) for part in (found.test, found.val)
        )
        name = f"support vector machine, {kernel} kernel, accuracy"
        lines.append(Line(name, "accuracy", test, val))
    with bars.waiting("k-means"):
        clusters = cluster(z, targets.codes, seed=seed)
    first = machines["rbf"]
    caption = (
        f"labels of {labels.name}: {targets.num_labelled:,} of {len(targets):,} "
        f"graphs, {first.classes} classes; mean ± standard deviation over "
        f"{len(first.test)} repeats of {len(first.test[0])} folds, in %"
    )
    lines += _clusters(clusters, "graphs")
    svm = {kernel: found.to_dict() for kernel, found in machines.items()}
    return lines, caption, {"svm": svm, "kmeans": clusters.to_dict()}
