"""The area under the ROC curve, exact, ties counted as one half."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl.evaluation.inputs import Bools, Ints

RARE = 0.3  # share of the rarer of two classes below which accuracy says little


def roc_auc(scores: Any, y: Any) -> float:
    """Return the chance that a positive scores above a negative, ties half.

    This is the rank statistic of Mann and Whitney over all pairs, computed in whole
    numbers by one sort.

    Args:
        scores: (n,) numbers, larger for what is more likely positive.
        y: (n,) 1 or True for positives, 0 or False for negatives.

    Raises:
        InputError: The lengths differ, a score is NaN, or there are no two classes.

    Example:
        >>> from fdgcl import roc_auc
        >>> roc_auc([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1])
        0.875
    """
    values, labels = np.asarray(scores), np.asarray(y)
    if values.ndim != 1 or values.shape != labels.shape:
        message = (
            "roc_auc takes one score per label, (n,) each, got shapes "
            f"{values.shape} and {labels.shape}"
        )
        raise InputError(message)
    if np.isnan(values).any():
        message = f"scores must be numbers, got NaN in row {np.isnan(values).argmax()}"
        raise InputError(message)
    positive, negative = labels == 1, labels == 0
    if not (positive | negative).all() or not positive.any() or not negative.any():
        message = (
            "roc_auc needs labels of 0 and of 1, and no others, got "
            f"{', '.join(map(str, np.unique(labels)[:5]))}"
        )
        raise InputError(message)
    below, above = (
        np.searchsorted(np.sort(values[negative]), values[positive], side)
        for side in ("left", "right")
    )
    halves = int(below.sum()) + int(above.sum())
    return halves / (2 * int(positive.sum()) * int(negative.sum()))


def halves_in_order(margins: Tensor, labels: Tensor) -> Tensor:
    """Count the pairs that are in order, in halves: a tie counts one, others two.

    Args:
        margins: (sets, decays, rows) scores of the class 1 less those of the class 0.
        labels: (sets, rows) 0 and 1; other rows do not count.
    """
    positive, negative = (labels == 1)[:, None], (labels == 0)[:, None]
    rivals = torch.where(negative, margins, torch.inf).sort(-1).values.contiguous()
    halves = torch.searchsorted(rivals, margins)
    halves += torch.searchsorted(rivals, margins, right=True)
    return (halves * positive).sum(-1)


def is_ranked(visible: Ints, train: Bools, val: Bools) -> bool:
    """Whether two classes are so unequal that ROC-AUC is the measure to choose by.

    The rarer one has less than 30 % of the training and validation labels, and both
    occur in each of these parts, in every split.

    Args:
        visible: Class codes, (splits, nodes), -1 where they are not to be seen.
        train: Training nodes, (splits, nodes).
        val: Validation nodes, (splits, nodes).
    """
    if visible.max() != 1 or not has_both(visible, train, val):
        return False
    share = float((visible == 1).sum() / (visible >= 0).sum())
    return min(share, 1 - share) < RARE


def has_both(labels: Ints, *parts: Bools) -> bool:
    """Whether the classes 0 and 1 both occur in each part, in every split."""
    return all(
        bool(((labels == code) & part).any(axis=1).all())
        for part in parts
        for code in (0, 1)
    )
