"""Several labels at once on a frozen embedding: one classifier for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from fdgcl._checks import InputError, check_count
from fdgcl.evaluation.inputs import (
    Bools,
    Floats,
    Ints,
    as_label_matrix,
    as_matrix,
    check_splits,
    device_of,
)
from fdgcl.evaluation.normalization import NORMALIZATIONS
from fdgcl.evaluation.probe import WEIGHT_DECAYS
from fdgcl.evaluation.ranking import roc_auc
from fdgcl.evaluation.results import MultilabelResult
from fdgcl.evaluation.selection import Options, choose_probes

if TYPE_CHECKING:
    from fdgcl.graphs import Splits

_TOGETHER = 2**26  # class codes of labels, splits and nodes that are held at once


def multilabel_probe(
    z: Any,
    matrix: Any,
    splits: Splits,
    *,
    max_steps: int = 200,
    device: str | torch.device | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MultilabelResult:
    """Score an embedding by one logistic regression for each label, against the rest.

    Each is fitted as by `linear_probe`. Validation nodes choose its weight decay,
    normalisation and stopping step by ROC-AUC, and then the threshold of its
    prediction by F1. Where all or none of the validation nodes have a label, accuracy
    decides instead, at a threshold of one half; a label that no training node has is
    never predicted. The test nodes are scored once, after that.

    Args:
        z: The embedding, (nodes, dim): NumPy, torch or SciPy sparse.
        matrix: (nodes, labels) 1 where a label applies, 0 where not; rows of -1 are
            unlabelled.
        splits: Training, validation and test nodes.
        max_steps: Where the longest path ends.
        device: Where to compute; by default where `z` is.
        progress: Called with steps done and steps in all.

    Raises:
        InputError: Anything that does not fit together, an empty part of a split, an
            unlabelled node in one, or no label that some validation or test nodes
            have and some not.

    Example:
        >>> import numpy as np
        >>> from fdgcl import block_model, multilabel_probe
        >>> graph = block_model(60, signal=8.0)
        >>> labels = np.stack([graph.y, 1 - graph.y], axis=1)
        >>> multilabel_probe(graph.features, labels, graph.splits).test_mean
        1.0
    """
    rows = as_matrix(z, device=device)
    labels = as_label_matrix(matrix, rows.shape[0])
    check_splits(splits, labels)
    check_contrast(splits, labels)
    steps = check_count("max_steps", max_steps)
    count = labels.shape[1]
    margins = np.empty((len(splits), labels.shape[0], count), np.float32)
    used = splits.train | splits.val
    at_once = max(1, _TOGETHER // used.size)
    for start in range(0, count, at_once):
        part = labels[:, start : start + at_once].T.astype(np.int64)
        options = Options(
            weight_decays=WEIGHT_DECAYS,
            normalizations=tuple(NORMALIZATIONS),
            max_steps=steps,
            device=device_of(rows, device),
            progress=_share(progress, start, len(part), count),
            ranked=True,
        )
        # From here to the score nothing sees a test label.
        visible = np.where(used, part[:, None], -1).reshape(-1, used.shape[1])
        repeated = (len(part), 1)
        tiled = np.tile(splits.train, repeated), np.tile(splits.val, repeated)
        choices = choose_probes(rows, visible, *tiled, options, num_classes=2)
        for number, choice in enumerate(choices):
            label, split = divmod(number, len(splits))
            assert choice.margins is not None
            margins[split, :, start + label] = choice.margins
    found = [
        _score(one, labels, *masks)
        for one, *masks in zip(
            margins, splits.train, splits.val, splits.test, strict=True
        )
    ]
    test, val, micro, macro, scored = zip(*found, strict=True)
    return MultilabelResult(
        test=test,
        val=val,
        test_micro_f1=micro,
        test_macro_f1=macro,
        labels=count,
        scored=scored,
    )


def _score(
    margins: Floats, labels: Ints, train: Bools, val: Bools, test: Bools
) -> tuple[float, float, float, float, int]:
    thresholds = [
        best_threshold(column[val], truth[val]) if truth[train].any() else 0.0
        for column, truth in zip(margins.T, labels.T, strict=True)
    ]
    areas = mean_auc(margins[test], labels[test])
    micro, macro = f1_scores(margins[test] > np.array(thresholds), labels[test])
    return areas[0], mean_auc(margins[val], labels[val])[0], micro, macro, areas[1]


def mean_auc(scores: Floats, labels: Ints) -> tuple[float, int]:
    """Return the mean ROC-AUC over the labels that have one, and how many do."""
    areas = [
        roc_auc(column, truth)
        for column, truth in zip(scores.T, labels.T, strict=True)
        if 0 < truth.sum() < len(truth)
    ]
    return (float(np.mean(areas)) if areas else float("nan")), len(areas)


def f1_scores(predicted: Bools, labels: Ints) -> tuple[float, float]:
    """Return F1 over all pairs of row and label, and its mean over the labels.

    A label that no row has, and that is predicted for none, counts 0.

    Args:
        predicted: (rows, labels) whether a label is said to apply.
        labels: (rows, labels) 1 where it does, 0 where not.
    """
    truth = labels == 1
    hits = (predicted & truth).sum(axis=0)
    called = predicted.sum(axis=0) + truth.sum(axis=0)
    each = 2 * hits / np.maximum(called, 1)
    micro = 2 * hits.sum() / max(int(called.sum()), 1)
    return float(micro), float(each.mean())


def best_threshold(scores: Floats, truth: Ints) -> float:
    """Return the threshold above which F1 is highest; of equal ones the largest.

    It lies halfway between two scores. Where all or none are positive it is 0.

    Args:
        scores: (n,) numbers, larger for what is more likely positive.
        truth: (n,) 1 for positives, 0 for negatives.
    """
    positives = int(truth.sum())
    if positives in (0, len(truth)):
        return 0.0
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order].astype(np.float64)
    hits = np.cumsum(truth[order])
    # A threshold cannot come between equal scores.
    ends = np.flatnonzero(np.append(np.diff(ranked) != 0, True))
    f1 = 2 * hits[ends] / (ends + 1 + positives)
    end = int(ends[int(f1.argmax())])
    if end + 1 == len(ranked):
        return float(np.nextafter(ranked[end], -np.inf))
    return float((ranked[end] + ranked[end + 1]) / 2)


def check_contrast(splits: Splits, labels: npt.NDArray[Any]) -> None:
    """Refuse validation or test nodes that no label divides.

    Raises:
        InputError: All of the nodes, or none, have each label.
    """
    for part in ("val", "test"):
        for split, mask in enumerate(getattr(splits, part)):
            share = labels[mask].mean(axis=0)
            if not ((share > 0) & (share < 1)).any():
                message = (
                    f"the {part} part of split {split} has no label that some of its "
                    "nodes have and some have not"
                )
                raise InputError(message)


def _share(
    progress: Callable[[int, int], None] | None, start: int, part: int, count: int
) -> Callable[[int, int], None] | None:
    """Report a part of the labels as a part of the whole."""
    if progress is None:
        return None
    report = progress

    def report_part(done: int, total: int) -> None:
        each = total // part
        report(start * each + done, count * each)

    return report_part
