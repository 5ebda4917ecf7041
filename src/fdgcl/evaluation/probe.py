"""The linear probe: multinomial logistic regression on a frozen embedding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch

from fdgcl._checks import InputError, check_count, check_nonnegative, choose
from fdgcl.evaluation.inputs import (
    Ints,
    as_labels,
    as_matrix,
    check_splits,
    device_of,
)
from fdgcl.evaluation.normalization import NORMALIZATIONS
from fdgcl.evaluation.ranking import has_both, is_ranked, roc_auc
from fdgcl.evaluation.results import ProbeResult
from fdgcl.evaluation.selection import Choice, Options, choose_probes

if TYPE_CHECKING:
    from fdgcl.graphs import Splits

WEIGHT_DECAYS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


def linear_probe(
    z: Any,
    y: Any,
    splits: Splits,
    *,
    weight_decays: Sequence[float] = WEIGHT_DECAYS,
    normalizations: Sequence[str] = tuple(NORMALIZATIONS),
    max_steps: int = 200,
    measure: Literal["auto", "accuracy", "roc_auc"] = "auto",
    device: str | torch.device | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ProbeResult:
    """Score an embedding by a linear classifier on top of it.

    For each split, logistic regression is fitted to the training nodes. Validation
    nodes choose weight decay, normalisation and stopping step; the test nodes are
    scored once, after that. Nothing is random: the fit is convex and starts at zero.

    Of two classes, one below 30 % of the training and validation labels, the choice is
    made by ROC-AUC, which is reported beside the accuracy.

    Args:
        z: The embedding, (nodes, dim): NumPy, torch or SciPy sparse.
        y: Class codes, (nodes,), -1 for unlabelled.
        splits: Training, validation and test nodes.
        weight_decays: L2 penalties to choose from, on the mean loss of an embedding
            with rows of mean square norm 1.
        normalizations: Of `global`, `row` and `column`, those to choose from.
        max_steps: Where the longest path ends.
        measure: What to choose by, if not as said above; ROC-AUC needs two classes,
            both of them in every part of every split.
        device: Where to compute; by default where `z` is.
        progress: Called with steps done and steps in all.

    Raises:
        InputError: Anything that does not fit together, an empty part of a split, an
            unlabelled node in one, or labels of one class alone.

    Example:
        >>> from fdgcl import block_model, linear_probe
        >>> graph = block_model(60, signal=8.0)
        >>> result = linear_probe(graph.features, graph.y, graph.splits)
        >>> result.test_mean, result.val_mean
        (1.0, 1.0)
    """
    matrix = as_matrix(z, device=device)
    labels = as_labels(y, matrix.shape[0])
    check_splits(splits, labels)
    _refuse_one_class(labels)
    # From here to the score nothing sees a test label, or which nodes are for testing.
    visible = np.where(splits.train | splits.val, labels, -1)
    options = Options(
        weight_decays=_decays(weight_decays),
        normalizations=_normalizations(normalizations),
        max_steps=check_count("max_steps", max_steps),
        device=device_of(matrix, device),
        progress=progress,
        ranked=_is_ranked(measure, visible, labels, splits),
    )
    choices = choose_probes(matrix, visible, splits.train, splits.val, options)
    return _score(choices, labels, splits)


def _score(choices: Sequence[Choice], labels: Ints, splits: Splits) -> ProbeResult:
    test = [
        float((choice.predictions == labels)[mask].mean())
        for choice, mask in zip(choices, splits.test, strict=True)
    ]
    val = [choice.share for choice in choices]
    areas = [
        roc_auc(choice.margins[mask], labels[mask])
        for choice, mask in zip(choices, splits.test, strict=True)
        if choice.margins is not None
    ]
    val_auc = tuple(val) if areas else None
    if areas:
        val = [
            float((choice.predictions == labels)[mask].mean())
            for choice, mask in zip(choices, splits.val, strict=True)
        ]
    return ProbeResult(
        test=tuple(test),
        val=tuple(val),
        test_auc=tuple(areas) if areas else None,
        val_auc=val_auc,
        classes=int(labels.max()) + 1,
        weight_decay=tuple(choice.weight_decay for choice in choices),
        normalization=tuple(choice.normalization for choice in choices),
        step=tuple(choice.step for choice in choices),
    )


def _refuse_one_class(labels: Ints) -> None:
    found = np.unique(labels[labels >= 0])
    if len(found) == 1:
        message = (
            f"all labels are of one class, {found[0]}: a score would say nothing, as "
            "every guess is right"
        )
        raise InputError(message)


def _is_ranked(measure: str, visible: Ints, labels: Ints, splits: Splits) -> bool:
    choose("measure", measure, dict.fromkeys(("auto", "accuracy", "roc_auc")))
    if measure == "accuracy":
        return False
    parts = (splits.train, splits.val, splits.test)
    possible = labels.max() == 1 and has_both(labels, *parts)
    if measure == "auto":
        return possible and is_ranked(visible, splits.train, splits.val)
    if not possible:
        message = (
            "measure 'roc_auc' needs two classes, 0 and 1, both of them among the "
            "training, validation and test nodes of every split"
        )
        raise InputError(message)
    return True


def _decays(values: Sequence[float]) -> tuple[float, ...]:
    if not values:
        message = "weight_decays is empty; give at least one"
        raise InputError(message)
    return tuple(check_nonnegative("weight_decays", value) for value in values)


def _normalizations(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not names:
        message = (
            f"normalizations must be a list of some of {', '.join(NORMALIZATIONS)}, "
            f"got {names!r}"
        )
        raise InputError(message)
    for name in names:
        choose("normalization", name, NORMALIZATIONS)
    return tuple(names)
