"""Scores of an embedding by nearest neighbours: how well it serves search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import normalize, one_hot

from fdgcl._checks import InputError, check_count
from fdgcl.evaluation.inputs import (
    Floats,
    Ints,
    as_dense,
    as_labels,
    as_values,
    check_splits,
)
from fdgcl.evaluation.results import KNNResult, KNNValueResult
from fdgcl.evaluation.ridge import check_variation, squared_errors, value_scores

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

    Example:
        >>> from fdgcl import block_model, knn
        >>> graph = block_model(60, signal=8.0)
        >>> knn(graph.features, graph.y, graph.splits, ks=[1, 3]).test_mean
        1.0
    """
    choices, unit = _numbers(ks), normalize(as_dense(z, device))
    labels = as_labels(y, len(unit))
    check_splits(splits, labels)
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


def knn_values(
    z: Any,
    values: Any,
    splits: Splits,
    *,
    ks: Sequence[int] = KS,
    device: str | torch.device | None = None,
) -> KNNValueResult:
    """Score an embedding by the mean value of the k nearest training nodes.

    Nearness is the cosine. For each split k is chosen on the validation nodes by R²
    (ties: the smaller k); test nodes are scored once, after that.

    Args:
        z: The embedding, (nodes, dim).
        values: (nodes,) numbers, NaN for unlabelled.
        splits: Training, validation and test nodes.
        ks: Numbers of neighbours to choose from; larger than the training set counts
            as all of it.
        device: Where to compute; by default where `z` is.

    Example:
        >>> from fdgcl import block_model, knn_values
        >>> graph = block_model(60, signal=8.0)
        >>> knn_values(graph.features, graph.y * 9.5, graph.splits).test_mean
        1.0
    """
    choices, unit = _numbers(ks), normalize(as_dense(z, device))
    y = as_values(values, len(unit))
    check_splits(splits, y)
    check_variation(splits, y)
    chosen, scores = [], []
    for split in range(len(splits)):
        parts = (splits.train, splits.val, splits.test)
        train, val, test = (np.flatnonzero(part[split]) for part in parts)
        on_val = _means(unit, train, y[train], val, choices)
        best = int(squared_errors(on_val.T, y[val]).argmin())
        on_test = _means(unit, train, y[train], test, [choices[best]])[0]
        chosen.append(choices[best])
        scores.append([(on_test, y[test]), (on_val[best], y[val])])
    return KNNValueResult(**value_scores(scores), k=tuple(chosen))


def _numbers(ks: Sequence[int]) -> list[int]:
    if not ks:
        message = "ks must name at least one number of neighbours"
        raise InputError(message)
    return sorted({check_count("k", k) for k in ks})


def _predict(
    unit: Tensor, train: Ints, train_labels: Ints, rows: Ints, ks: Sequence[int]
) -> Ints:
    """Return the majority class of each row for each k, (ks, rows)."""
    votes = one_hot(torch.from_numpy(train_labels)).float()
    return _decided(unit, train, votes, rows, ks, lambda sums, _: sums.argmax(1))


def _means(
    unit: Tensor, train: Ints, values: Floats, rows: Ints, ks: Sequence[int]
) -> Floats:
    """Return the mean value of each row's neighbours for each k, (ks, rows)."""
    known = torch.from_numpy(values)
    return _decided(unit, train, known, rows, ks, lambda sums, k: sums / k)


def _decided(
    unit: Tensor,
    train: Ints,
    known: Tensor,
    rows: Ints,
    ks: Sequence[int],
    decide: Callable[[Tensor, int], Tensor],
) -> npt.NDArray[Any]:
    """Decide on each row by a sum over its k nearest, and how many they are."""
    known = known.to(unit.device)
    parts = []
    for nearest in _nearest(unit, train, rows, max(ks)):
        sums, most = known[nearest].cumsum(1), nearest.shape[1]
        counts = [min(k, most) for k in ks]
        decided = [decide(sums[:, count - 1], count) for count in counts]
        parts.append(torch.stack(decided).cpu().numpy())
    return np.concatenate(parts, axis=1)


def _nearest(unit: Tensor, train: Ints, rows: Ints, k: int) -> Iterator[Tensor]:
    """Yield the k nearest training nodes, by their places, of some rows at a time."""
    known = unit[torch.from_numpy(train).to(unit.device)]
    most = min(k, len(train))
    for part in np.array_split(rows, -(-len(rows) * len(train) // _BLOCK_ENTRIES)):
        near = unit[torch.from_numpy(part).to(unit.device)] @ known.T
        yield near.topk(most, dim=1).indices
