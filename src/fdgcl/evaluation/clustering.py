"""Clusters of an embedding by k-means, and how well they agree with labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from fdgcl._checks import InputError, check_count
from fdgcl.evaluation.inputs import as_dense, as_labels
from fdgcl.evaluation.results import ClusterResult


def cluster(
    z: Any,
    y: Any = None,
    *,
    num_clusters: int | None = None,
    seed: int = 0,
    repeats: int = 10,
) -> ClusterResult:
    """Cluster the rows of unit length by k-means, and compare with labels if given.

    Args:
        z: The embedding, (nodes, dim).
        y: Class codes, (nodes,), -1 for unlabelled; they are looked at after
            clustering only.
        num_clusters: Number of clusters; by default the number of classes.
        seed: Seed of the first repetition; the next one has the next seed.
        repeats: How often to cluster. The assignment returned is the tightest one.

    Example:
        >>> from fdgcl import block_model, cluster
        >>> graph = block_model(60, signal=8.0)
        >>> cluster(graph.features, num_clusters=2).num_clusters
        2
        >>> round(cluster(graph.features, graph.y, repeats=2).nmi[0], 3)
        1.0
    """
    rows = torch.nn.functional.normalize(as_dense(z)).cpu().numpy()
    labels = None if y is None else as_labels(y, len(rows))
    if num_clusters is None:
        if labels is None:
            message = "cluster needs num_clusters, or labels y to count classes in"
            raise InputError(message)
        num_clusters = len(np.unique(labels[labels >= 0]))
    count = check_count("num_clusters", num_clusters)
    if count > len(rows):
        message = f"num_clusters must not exceed the {len(rows)} rows, got {count}"
        raise InputError(message)
    runs = [
        KMeans(count, n_init=1, random_state=seed + i).fit(rows)
        for i in range(check_count("repeats", repeats))
    ]
    tightest = min(runs, key=lambda run: float(run.inertia_))
    nmi, ari = [], []
    if labels is not None:
        known = labels >= 0
        for run in runs:
            pair = labels[known], run.labels_[known]
            nmi.append(float(normalized_mutual_info_score(*pair)))
            ari.append(float(adjusted_rand_score(*pair)))
    return ClusterResult(
        assignments=tightest.labels_.astype(np.int64),
        num_clusters=count,
        nmi=tuple(nmi),
        ari=tuple(ari),
    )
