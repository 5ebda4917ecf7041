"""What a report says of labels: the groups that colour its map, and a score."""

from __future__ import annotations

from functools import partial
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from fdgcl.report.accuracy import Score
from fdgcl.report.embedding_map import Groups, fifths
from fdgcl.workflows.labels import RowLabels

if TYPE_CHECKING:
    from fdgcl._bars import Bars

_NAME = "this embedding"


def groups_of(labels: RowLabels, name: str) -> Groups | None:
    """The labels as groups of a map; None where a node has several.

    Args:
        labels: The labels.
        name: Where they come from, as the page says it.
    """
    targets = labels.targets
    if targets.kind == "multilabel":
        return None
    if targets.values is not None:
        return fifths(targets.values, f"fifth of the labels of {name}")
    assert targets.codes is not None
    return Groups(targets.codes, targets.names, f"label, of {name}")


def score_labels(z: Any, labels: RowLabels, bars: Bars) -> tuple[Score, str]:
    """Score an embedding: nodes by the probe that fits, graphs by an SVM on folds.

    Returns:
        The score, and what it was measured on.

    Raises:
        InputError: The labels do not suffice.
    """
    labels.targets.refuse_trivial(labels.name)
    return (_graphs if labels.level == "graph" else _nodes)(z, labels, bars)


def _graphs(z: Any, labels: RowLabels, bars: Bars) -> tuple[Score, str]:
    from fdgcl.evaluation import graph_svm

    labels.targets.need_classes(labels.name)
    folds = graph_svm(z, labels.targets.codes, progress=partial(bars, "folds"))
    caption = (
        f"Labels of {labels.name}; {len(folds.test)} repeats of "
        f"{len(folds.test[0])} folds. Every choice is made inside the fold."
    )
    return Score(_NAME, folds.mean, folds.std, folds.val_mean), caption


def _nodes(z: Any, labels: RowLabels, bars: Bars) -> tuple[Score, str]:
    from fdgcl.evaluation.tasks import measures, probe

    splits = labels.with_splits().splits
    assert splits is not None
    result = probe(z, labels.targets, splits, progress=partial(bars, "probe"))
    first, count = measures(result)[0], len(splits)
    caption = (
        f"Labels of {labels.name}; {count} split{'s'[: count > 1]} ({splits.name}). "
        "Every choice is made on validation nodes."
    )
    assert first.val is not None
    spread = pstdev(first.test) if count > 1 else None
    return Score(
        _NAME, fmean(first.test), spread, fmean(first.val), first.name
    ), caption
