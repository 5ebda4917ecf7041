"""Nearest neighbours by cosine: what an embedding is worth for search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from fdgcl._checks import InputError, check_count
from fdgcl.evaluation.inputs import Ints, as_labels, as_matrix, check_splits
from fdgcl.evaluation.results import KNNResult

if TYPE_CHECKING:
    from fdgcl.graphs import Splits

KS = (1, 5, 10, 20)
# Similarities held at once: no nodes x nodes matrix ever exists.
_BLOCK_ENTRIES = 2**24


def knn(
    z: Any,
    y: Any,
    splits: Splits,
    *,
    ks: Sequence[int] = KS,
    device: str | torch.device | None = None,
) -> KNNResult:
    """Score an embedding by the majority among the k nearest training nodes.

    Nearness is the cosine. For each split k is chosen on the validation nodes (ties:
    the smaller k); test nodes are scored once, after that. Of classes with as many
    votes the one with the lower code wins.

    Args:
        z: The embedding, (nodes, dim).
        y: Class codes, (nodes,), -1 for unlabelled.
        splits: Training, validation and test nodes.
        ks: Numbers of neighbours to choose from; larger than the training set counts
            as all of it.
        device: Where to compute; by default where `z` is.
    """
    if not ks:
        message = "ks must name at least one number of neighbours"
        raise InputError(message)
    choices = sorted({check_count("k", k) for k in ks})
    matrix = as_matrix(z, device=device)
    dense = matrix if isinstance(matrix, Tensor) else torch.from_numpy(matrix.toarray())
    labels = as_labels(y, dense.shape[0])
    check_splits(splits, labels)
    unit = torch.nn.functional.normalize(dense)
    chosen, val, test = [], [], []
    for split in range(len(splits)):
        train = np.flatnonzero(splits.train[split])
        scored = np.flatnonzero(splits.val[split])
        on_val = _predict(unit, train, labels[train], scored, choices)
        right = (on_val == labels[scored]).mean(axis=1)
        best = int(right.argmax())
        held_out = np.flatnonzero(splits.test[split])
        on_test = _predict(unit, train, labels[train], held_out, [choices[best]])
        chosen.append(choices[best])
        val.append(float(right[best]))
        test.append(float((on_test[0] == labels[held_out]).mean()))
    return KNNResult(
        test=tuple(test), val=tuple(val), classes=int(labels.max()) + 1, k=tuple(chosen)
    )


def _predict(
    unit: Tensor, train: Ints, train_labels: Ints, rows: Ints, ks: Sequence[int]
) -> Ints:
    """Return the majority class of each row for each k, (ks, rows)."""
    known = unit[torch.from_numpy(train).to(unit.device)]
    classes = torch.from_numpy(train_labels).to(unit.device)
    votes = torch.nn.functional.one_hot(classes).float()
    most = min(max(ks), len(train))
    parts = []
    for part in np.array_split(rows, -(-len(rows) * len(train) // _BLOCK_ENTRIES)):
        near = unit[torch.from_numpy(part).to(unit.device)] @ known.T
        nearest = near.topk(most, dim=1).indices
        counts = votes[nearest].cumsum(1)
        decided = [counts[:, min(k, most) - 1].argmax(1) for k in ks]
        parts.append(torch.stack(decided).cpu().numpy())
    return np.concatenate(parts, axis=1)
