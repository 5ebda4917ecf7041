"""How a view's rows spread around the mean of a class, and both views on a map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]


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
