"""How a view's rows spread: over dimensions, and around the mean of a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Components:
    """The principal components of a view.

    Attributes:
        shares: Shares of the variance that the first components explain, descending.
        effective: How many components share the variance: `(sum s)^2 / sum s^2`.
    """

    shares: tuple[float, ...]
    effective: float


def principal_components(
    z: Rows, count: int = 30, device: torch.device | str = "cpu"
) -> Components:
    """Principal components of the centred rows; a view that does not vary has none."""
    rows = torch.from_numpy(np.array(z)).to(device)
    rows = rows - rows.mean(0)
    wide = rows.shape[1] > len(rows)
    gram = rows @ rows.T if wide else rows.T @ rows
    matrix = gram.double().cpu().numpy()
    total = float(np.trace(matrix))
    if total == 0:
        return Components((), 0.0)
    matrix /= total
    kept = min(count, len(matrix))
    if kept > len(matrix) // 2:
        values = np.linalg.eigvalsh(matrix)[::-1][:kept]
    else:
        start = np.random.default_rng(0).standard_normal(len(matrix))
        values = np.sort(eigsh(matrix, k=kept, v0=start, return_eigenvectors=False))
        values = values[::-1]
    shares = tuple(float(value) for value in values.clip(0))
    return Components(shares, float(1 / np.square(matrix).sum()))


def core_ratio(points: NDArray[np.floating]) -> float:
    """The 90 % quantile of the distances from the mean, over the median.

    Large where most points form a core and some lie far out, small where they keep
    an even distance. Points that are all alike have 1.
    """
    distances = np.linalg.norm(points - points.mean(axis=0), axis=1)
    middle, far = np.quantile(distances, [0.5, 0.9])
    return float(far / middle) if middle > 0 else 1.0


def joint_map(
    first: Rows, second: Rows, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both views of the same nodes on one t-SNE map, their means moved to one place."""
    from sklearn.manifold import TSNE

    together = np.concatenate([view - view.mean(axis=0) for view in (first, second)])
    perplexity = min(30.0, (len(together) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, init="pca", random_state=seed)
    points = np.asarray(tsne.fit_transform(together), dtype=np.float64)
    return points[: len(first)], points[len(first) :]
