"""What the evaluations return: plain numbers, printable and writable as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class SplitScores:
    """Accuracies in [0, 1], one per split."""

    test: tuple[float, ...]
    val: tuple[float, ...]
    classes: int

    @property
    def test_mean(self) -> float:
        """Mean test accuracy over the splits."""
        return fmean(self.test)

    @property
    def test_std(self) -> float:
        """Standard deviation of the test accuracy over the splits."""
        return pstdev(self.test)

    @property
    def val_mean(self) -> float:
        """Mean validation accuracy over the splits."""
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

    def __str__(self) -> str:
        count = len(self.test)
        spread = f" ± {100 * self.test_std:.1f}" if count > 1 else ""
        return (
            f"test {100 * self.test_mean:.1f}{spread} %, "
            f"validation {100 * self.val_mean:.1f} %, "
            f"{count} split{'s' if count > 1 else ''}"
        )


@dataclass(frozen=True)
class ProbeResult(SplitScores):
    """Scores of a linear probe, and what validation chose for each split."""

    weight_decay: tuple[float, ...]
    normalization: tuple[str, ...]
    step: tuple[int, ...]


@dataclass(frozen=True)
class KNNResult(SplitScores):
    """Scores of the nearest neighbours, and the number of them for each split."""

    k: tuple[int, ...]


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
