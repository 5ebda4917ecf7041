"""What the evaluations return: plain numbers, printable and writable as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Scored:
    """What was measured on each split.

    Attributes:
        test: The measure on test nodes, one per split.
        val: The same on validation nodes.
    """

    test: tuple[float, ...]
    val: tuple[float, ...]

    @property
    def test_mean(self) -> float:
        """Mean on test nodes over the splits."""
        return fmean(self.test)

    @property
    def test_std(self) -> float:
        """Standard deviation on test nodes over the splits."""
        return pstdev(self.test)

    @property
    def val_mean(self) -> float:
        """Mean on validation nodes over the splits."""
        return fmean(self.val)

    def to_dict(self) -> dict[str, Any]:
        """Return fields and means, ready for JSON."""
        means = {
            "test_mean": self.test_mean,
            "test_std": self.test_std,
            "val_mean": self.val_mean,
        }
        lists = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }
        return means | lists


@dataclass(frozen=True)
class SplitScores(Scored):
    """Accuracies in [0, 1], one per split."""

    classes: int

    def __str__(self) -> str:
        test, val = _percent(self.test), _percent(self.val, spread=False)
        return f"test {test}, validation {val}, {_splits(self)}"


@dataclass(frozen=True)
class ProbeResult(SplitScores):
    """Scores of a linear probe, and what validation chose for each split.

    Attributes:
        test_auc: ROC-AUC on test nodes, one per split, where two classes are so
            unequal that validation chose by it; else None.
        val_auc: The same on validation nodes.

    Example:
        >>> from fdgcl import block_model, linear_probe
        >>> graph = block_model(60, signal=8.0)
        >>> result = linear_probe(graph.features, graph.y, graph.splits)
        >>> result.classes, len(result.test), len(result.weight_decay)
        (2, 3, 3)
        >>> print(result)
        test 100.0 ± 0.0 %, validation 100.0 %, 3 splits
    """

    weight_decay: tuple[float, ...]
    normalization: tuple[str, ...]
    step: tuple[int, ...]
    test_auc: tuple[float, ...] | None = None
    val_auc: tuple[float, ...] | None = None

    def __str__(self) -> str:
        if self.test_auc is None or self.val_auc is None:
            return super().__str__()
        test, val = _percent(self.test_auc), _percent(self.val_auc, spread=False)
        accuracy = _percent(self.test, spread=False)
        return (
            f"test ROC-AUC {test} (accuracy {accuracy}), validation ROC-AUC {val}, "
            f"{_splits(self)}"
        )


@dataclass(frozen=True)
class KNNResult(SplitScores):
    """Scores of the nearest neighbours, and the number of them for each split.

    Example:
        >>> from fdgcl import block_model, knn
        >>> graph = block_model(60, signal=8.0)
        >>> result = knn(graph.features, graph.y, graph.splits, ks=[1, 3])
        >>> result.test, result.k
        ((1.0, 1.0, 1.0), (1, 1, 1))
    """

    k: tuple[int, ...]


@dataclass(frozen=True)
class ValueScores(Scored):
    """R² and mean absolute errors of predicted values, one per split.

    Attributes:
        test: R², 1 for a perfect prediction, 0 for one as good as the mean.
        val: The same on validation nodes.
        test_mae: Mean absolute error, in the unit of the values.
        val_mae: The same on validation nodes.
    """

    test_mae: tuple[float, ...]
    val_mae: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return fields and means, ready for JSON."""
        means = {
            "test_mae_mean": fmean(self.test_mae),
            "test_mae_std": pstdev(self.test_mae),
        }
        return means | super().to_dict()

    def __str__(self) -> str:
        spread = f" ± {self.test_std:.3f}" if len(self.test) > 1 else ""
        return (
            f"test R² {self.test_mean:.3f}{spread}, MAE {fmean(self.test_mae):.4g}, "
            f"validation R² {self.val_mean:.3f}, {_splits(self)}"
        )


@dataclass(frozen=True)
class RidgeResult(ValueScores):
    """Scores of ridge regression, and the penalty chosen for each split.

    Example:
        >>> from fdgcl import block_model, ridge_probe
        >>> graph = block_model(500)
        >>> price = graph.features @ range(16)
        >>> result = ridge_probe(graph.features, price, graph.splits)
        >>> len(result.test), len(result.penalty), result.test_mean > 0.99
        (3, 3, True)
    """

    penalty: tuple[float, ...]


@dataclass(frozen=True)
class KNNValueResult(ValueScores):
    """Scores of the mean of neighbours, and the number of them for each split.

    Example:
        >>> from fdgcl import block_model, knn_values
        >>> graph = block_model(60, signal=8.0)
        >>> result = knn_values(graph.features, graph.y * 9.5, graph.splits, ks=[1, 2])
        >>> result.test, result.test_mae, result.k
        ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1, 1, 1))
    """

    k: tuple[int, ...]


@dataclass(frozen=True)
class MultilabelResult(Scored):
    """Scores of one classifier for each label, one per split.

    Attributes:
        test: ROC-AUC, mean over the labels that have it.
        val: The same on validation nodes.
        test_micro_f1: F1 over all pairs of node and label together.
        test_macro_f1: F1 of each label, mean over all.
        labels: Number of labels.
        scored: How many of them the mean ROC-AUC on test nodes is taken over.

    Example:
        >>> import numpy as np
        >>> from fdgcl import block_model, multilabel_probe
        >>> graph = block_model(60, signal=8.0)
        >>> labels = np.stack([graph.y, 1 - graph.y], axis=1)
        >>> result = multilabel_probe(graph.features, labels, graph.splits)
        >>> result.labels, result.scored
        (2, (2, 2, 2))
    """

    test_micro_f1: tuple[float, ...]
    test_macro_f1: tuple[float, ...]
    labels: int
    scored: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return fields and means, ready for JSON."""
        means = {
            "test_micro_f1_mean": fmean(self.test_micro_f1),
            "test_micro_f1_std": pstdev(self.test_micro_f1),
            "test_macro_f1_mean": fmean(self.test_macro_f1),
            "test_macro_f1_std": pstdev(self.test_macro_f1),
        }
        return means | super().to_dict()

    def __str__(self) -> str:
        return (
            f"test ROC-AUC {_percent(self.test)}, "
            f"micro F1 {_percent(self.test_micro_f1)}, "
            f"macro F1 {_percent(self.test_macro_f1)}, {_splits(self)}"
        )


def _percent(values: Sequence[float], *, spread: bool = True) -> str:
    deviation = ""
    if spread and len(values) > 1:
        deviation = f" ± {100 * pstdev(values):.1f}"
    return f"{100 * fmean(values):.1f}{deviation} %"


def _splits(scores: Scored) -> str:
    count = len(scores.test)
    return f"{count} split{'s' if count > 1 else ''}"


@dataclass(frozen=True)
class FoldScores:
    """Scores of a support vector machine: one row per seed, one entry per fold.

    Attributes:
        test: Accuracies in [0, 1] on the fold held out.
        val: Mean accuracy of what was chosen, in the cross-validation within the rest.
        cost: The cost C chosen for each fold.
        normalization: The normalisation chosen for each fold.
        kernel: The kernel.
        classes: Number of classes.

    Example:
        >>> from fdgcl import block_model, graph_svm
        >>> graph = block_model(40, signal=8.0)
        >>> scores = graph_svm(graph.features, graph.y, folds=2, seeds=2)
        >>> scores.mean, scores.classes
        (1.0, 2)
        >>> print(scores)
        test 100.0 ± 0.0 %, validation 100.0 %, 2 seeds of 2 folds
    """

    test: tuple[tuple[float, ...], ...]
    val: tuple[tuple[float, ...], ...]
    cost: tuple[tuple[float, ...], ...]
    normalization: tuple[tuple[str, ...], ...]
    kernel: str
    classes: int

    @property
    def mean(self) -> float:
        """Mean test accuracy over folds and seeds."""
        return fmean(fmean(row) for row in self.test)

    @property
    def std(self) -> float:
        """Standard deviation over the seeds of the mean over the folds."""
        return pstdev(fmean(row) for row in self.test)

    @property
    def val_mean(self) -> float:
        """Mean validation accuracy over folds and seeds."""
        return fmean(fmean(row) for row in self.val)

    def to_dict(self) -> dict[str, Any]:
        """Return fields and means, ready for JSON."""
        tables = ("test", "val", "cost", "normalization")
        return {
            "test_mean": self.mean,
            "test_std": self.std,
            "val_mean": self.val_mean,
            **{key: [list(row) for row in getattr(self, key)] for key in tables},
            "kernel": self.kernel,
            "classes": self.classes,
        }

    def __str__(self) -> str:
        seeds, folds = len(self.test), len(self.test[0])
        spread = f" ± {100 * self.std:.1f}" if seeds > 1 else ""
        return (
            f"test {100 * self.mean:.1f}{spread} %, "
            f"validation {100 * self.val_mean:.1f} %, "
            f"{seeds} seed{'s' if seeds > 1 else ''} of {folds} folds"
        )


@dataclass(frozen=True, eq=False)
class ClusterResult:
    """Clusters, and their agreement with the labels in each repetition.

    Attributes:
        assignments: Cluster of each node, of the tightest repetition.
        num_clusters: Number of clusters.
        nmi: Normalised mutual information, one per repetition; empty without labels.
        ari: Adjusted Rand index, likewise.

    Example:
        >>> from fdgcl import block_model, cluster
        >>> graph = block_model(60, signal=8.0)
        >>> result = cluster(graph.features, graph.y, repeats=2)
        >>> result.assignments.shape
        (60,)
        >>> print(result)
        2 clusters, NMI 100.0 %, ARI 100.0 %
    """

    assignments: npt.NDArray[np.int64]
    num_clusters: int
    nmi: tuple[float, ...]
    ari: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, ready for JSON; the assignments are left out."""
        return {
            "num_clusters": self.num_clusters,
            "nmi_mean": fmean(self.nmi) if self.nmi else None,
            "ari_mean": fmean(self.ari) if self.ari else None,
            "nmi": list(self.nmi),
            "ari": list(self.ari),
        }

    def __str__(self) -> str:
        if not self.nmi:
            return f"{self.num_clusters} clusters"
        return (
            f"{self.num_clusters} clusters, NMI {100 * fmean(self.nmi):.1f} %, "
            f"ARI {100 * fmean(self.ari):.1f} %"
        )
