"""The probe's validation score alone, for choosing settings without test nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from fdgcl._checks import InputError
from fdgcl.evaluation.inputs import Bools, Ints, as_labels, as_matrix, device_of
from fdgcl.evaluation.normalization import NORMALIZATIONS
from fdgcl.evaluation.probe import WEIGHT_DECAYS
from fdgcl.evaluation.selection import Options, choose_probes

MAX_STEPS = 200  # as `linear_probe` has it


def validation_scores(
    z: Any,
    y: Any,
    train: Any,
    val: Any,
    *,
    device: str | torch.device | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[float, ...]:
    """Return the validation accuracy of a linear probe, one for each split.

    The numbers are those of `linear_probe(..., measure="accuracy").val`, but neither
    test nodes nor their labels are needed. What the probe may choose from is
    its default.

    Args:
        z: The embedding, (nodes, dim): NumPy, torch or SciPy sparse.
        y: Class codes, -1 for unlabelled: (nodes,), or one row per split, (splits,
            nodes), where a label of one split is to be hidden from another.
        train: Training nodes: a mask (nodes,), or (splits, nodes).
        val: Validation nodes, of the same shape.
        device: Where to compute; by default where `z` is.
        progress: Called with steps done and steps in all.

    Raises:
        InputError: Anything that does not fit together, an empty part of a split, or
            an unlabelled node in one.

    Example:
        >>> from fdgcl import block_model
        >>> from fdgcl.evaluation import validation_scores
        >>> graph = block_model(60, signal=8.0)
        >>> splits = graph.splits
        >>> validation_scores(graph.features, graph.y, splits.train, splits.val)
        (1.0, 1.0, 1.0)
    """
    matrix = as_matrix(z, device=device)
    nodes = matrix.shape[0]
    fitted, held = _mask("train", train, nodes), _mask("val", val, nodes)
    if fitted.shape != held.shape:
        message = (
            f"train and val must have as many splits, got {len(fitted)} and {len(held)}"
        )
        raise InputError(message)
    if (fitted & held).any():
        split, node = np.argwhere(fitted & held)[0]
        message = f"node {node} is in train and in val of split {split}"
        raise InputError(message)
    visible = np.where(fitted | held, _labels(y, fitted.shape), -1)
    _check_labelled(visible, fitted | held)
    options = Options(
        weight_decays=WEIGHT_DECAYS,
        normalizations=tuple(NORMALIZATIONS),
        max_steps=MAX_STEPS,
        device=device_of(matrix, device),
        progress=progress,
    )
    choices = choose_probes(matrix, visible, fitted, held, options)
    return tuple(choice.share for choice in choices)


def _mask(part: str, values: Any, nodes: int) -> Bools:
    mask: Bools = np.atleast_2d(np.asarray(values))
    if mask.dtype != np.bool_ or mask.ndim != 2 or mask.shape[1] != nodes:
        message = (
            f"{part} must be a mask of shape ({nodes},) or (splits, {nodes}), got "
            f"{mask.dtype} of shape {np.shape(values)}"
        )
        raise InputError(message)
    empty = np.flatnonzero(~mask.any(axis=1))
    if len(mask) == 0 or len(empty):
        at = f"split {empty[0]} has none" if len(empty) else "there is no split"
        message = f"{part} needs nodes in every split, and {at}"
        raise InputError(message)
    return mask


def _labels(y: Any, shape: tuple[int, ...]) -> Ints:
    labels = np.asarray(y)
    if labels.ndim < 2:
        return np.broadcast_to(as_labels(labels, shape[1]), shape)
    if labels.shape != shape:
        message = (
            f"y must hold one class per node, shape ({shape[1]},) or {shape}, got "
            f"shape {labels.shape}"
        )
        raise InputError(message)
    return np.stack([as_labels(row, shape[1]) for row in labels])


def _check_labelled(visible: Ints, used: Bools) -> None:
    unlabelled = np.argwhere(used & (visible < 0))
    if len(unlabelled):
        split, node = unlabelled[0]
        message = (
            f"node {node} has no label (y is -1) but is in train or val of split "
            f"{split}"
        )
        raise InputError(message)
