"""Which probe fits which labels, and what its scores are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from fdgcl.evaluation.inputs import check_splits
from fdgcl.evaluation.multilabel import check_contrast, multilabel_probe
from fdgcl.evaluation.probe import linear_probe
from fdgcl.evaluation.ranking import RARE
from fdgcl.evaluation.results import MultilabelResult, ProbeResult, RidgeResult
from fdgcl.evaluation.ridge import check_variation, ridge_probe
from fdgcl.graphs.splits import random_splits

if TYPE_CHECKING:
    from fdgcl.graphs import Splits
    from fdgcl.graphs.targets import Targets

Result: TypeAlias = ProbeResult | RidgeResult | MultilabelResult


@dataclass(frozen=True)
class Measured:
    """One measure over the splits.

    Attributes:
        name: As tables call it: `accuracy`, `ROC-AUC`, `R²`, `MAE`, `micro F1`.
        test: On test nodes, one per split.
        val: On validation nodes; None where validation did not choose by it.
    """

    name: str
    test: tuple[float, ...]
    val: tuple[float, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return means and numbers, ready for JSON."""
        return {
            "test_mean": fmean(self.test),
            "test_std": pstdev(self.test),
            "test": list(self.test),
        }


def draw_splits(targets: Targets, seed: int = 0) -> Splits:
    """Draw ten random splits, 10 / 10 / 80 % of what has a label.

    Of two classes, one of them below 30 %, each is split on its own, as ROC-AUC needs
    both in every part.
    """
    stratified = False
    if targets.codes is not None and len(targets.names) == 2:
        share = float((targets.codes[targets.labelled] == 1).mean())
        stratified = min(share, 1 - share) < RARE
    return random_splits(
        targets.array, train=0.1, val=0.1, count=10, seed=seed, stratified=stratified
    )


def check_parts(targets: Targets, splits: Splits) -> None:
    """Refuse splits that the probe would refuse, before there is an embedding.

    Raises:
        InputError: A part is empty or has a node without a label, or its labels are
            all the same where the measure needs different ones.
    """
    check_splits(splits, targets.array)
    if targets.values is not None:
        check_variation(splits, targets.values)
    if targets.matrix is not None:
        check_contrast(splits, targets.matrix)


def probe(
    z: Any,
    targets: Targets,
    splits: Splits,
    *,
    device: str | torch.device | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Score an embedding by the probe that fits the labels.

    Classes by `linear_probe`, values by `ridge_probe`, several labels at once by
    `multilabel_probe`; the arguments are theirs.
    """
    how: dict[str, Any] = {"device": device, "progress": progress}
    if targets.kind == "values":
        return ridge_probe(z, targets.values, splits, **how)
    if targets.kind == "multilabel":
        return multilabel_probe(z, targets.matrix, splits, **how)
    return linear_probe(z, targets.codes, splits, **how)


def measures(result: Result) -> tuple[Measured, ...]:
    """Return what was measured, first of all what validation chose by."""
    if isinstance(result, RidgeResult):
        return (
            Measured("R²", result.test, result.val),
            Measured("MAE", result.test_mae, result.val_mae),
        )
    if isinstance(result, MultilabelResult):
        return (
            Measured("ROC-AUC", result.test, result.val),
            Measured("micro F1", result.test_micro_f1),
            Measured("macro F1", result.test_macro_f1),
        )
    accuracy = Measured("accuracy", result.test, result.val)
    if result.test_auc is None:
        return (accuracy,)
    return Measured("ROC-AUC", result.test_auc, result.val_auc), accuracy


def task_of(targets: Targets) -> str:
    """Return the task, as `find_targets` takes it."""
    tasks = {"classes": "classify", "values": "regress", "multilabel": "multilabel"}
    return tasks[targets.kind]


def judge_of(targets: Targets) -> str:
    """Return what is fitted to the embedding, in words."""
    words = {
        "classes": "linear probe",
        "values": "ridge regression",
        "multilabel": "one-vs-rest probe",
    }
    return words[targets.kind]


def task_line(targets: Targets) -> str:
    """Return the task taken and what decides it, in one line."""
    return f"task: {task_of(targets)} ({targets}), scored by {judge_of(targets)}"
