"""Do a node's features tell of its neighbours' features, where both are on disk?

As `graphs.correlations`, with fewer mixtures and shuffles: on a graph that is worth a
store, the sums run over millions of nodes.
"""

from __future__ import annotations

import threading

import numpy as np
import torch
from torch import Tensor

from fdgcl.graphs.store.features import StoredFeatures
from fdgcl.operators.feature_correlation import POWER, FeatureCorrelation
from fdgcl.operators.stored import StoredOperator

MIXTURES = 8
SHUFFLES = 2


def stored_correlation(
    features: StoredFeatures,
    threads: int,
    seed: int = 0,
    *,
    without: int | None = None,
) -> FeatureCorrelation | None:
    """Measure how features persist along the edges of a store.

    Args:
        features: As they are diffused, and their graph.
        threads: To use.
        seed: Of the mixtures and the shuffles.
        without: A column to leave out.

    Returns:
        The measure; None for a directed store, whose edges are known one way only.
    """
    store = features.store
    operator = StoredOperator(store, 0.0, "symmetric", threads)
    if not operator.has_real_spectrum:
        return None
    generator = np.random.default_rng(seed)
    root = operator.scale.sqrt()
    returning = _returning(operator)
    mixtures = _mixtures(features, generator, without)
    scaled = mixtures * root[:, None]
    one_hop, two_hop = _correlations(operator, scaled, root, returning)
    shuffled = []
    for _ in range(SHUFFLES):
        order = torch.from_numpy(generator.permutation(store.manifest.nodes))
        torch.index_select(mixtures, 0, order, out=scaled)
        del order
        scaled.mul_(root[:, None])
        shuffled.append(_correlations(operator, scaled, root, returning)[1])
    return FeatureCorrelation(
        one_hop, two_hop, float(np.sqrt(np.mean(np.square(shuffled))))
    )


def _returning(operator: StoredOperator) -> Tensor:
    """`sum_j N_ij^2`: the share of two steps that leads back."""
    scale = operator.scale
    found = torch.empty_like(scale)

    def on_block(start: int, stop: int, product: Tensor) -> None:
        torch.mul(product, scale[start:stop], out=found[start:stop])

    operator.weights.each_block(scale, on_block, squared=True)
    return found


def _mixtures(
    features: StoredFeatures, generator: np.random.Generator, without: int | None
) -> Tensor:
    """Random mixtures of the centred features, mostly of those that vary together."""
    manifest = features.store.manifest
    nodes, columns = manifest.nodes, manifest.features
    total, second = np.zeros(columns), np.zeros((columns, columns))
    for _, rows in features.ranges():
        total += rows.sum(axis=0, dtype=np.float64)
        part = torch.from_numpy(rows)
        # By torch: its products are threaded as this process is told, NumPy's are not.
        second += (part.T @ part).numpy()
    mean = total / nodes
    covariance = second / nodes - np.outer(mean, mean)
    mixing = generator.standard_normal((columns, MIXTURES))
    if without is not None:
        covariance[without] = covariance[:, without] = 0
    for _ in range(POWER):
        mixing = covariance @ mixing
        mixing /= np.linalg.norm(mixing, axis=0).clip(min=np.finfo(float).tiny)
    weights = torch.from_numpy(mixing).float()
    offset = torch.from_numpy(mean @ mixing).float()
    mixtures = torch.empty(nodes, MIXTURES)
    for start, rows in features.ranges():
        into = mixtures[start : start + len(rows)]
        torch.addmm(offset, torch.from_numpy(rows), weights, beta=-1, out=into)
    return mixtures


def _correlations(
    operator: StoredOperator, scaled: Tensor, root: Tensor, returning: Tensor
) -> tuple[float, float]:
    """`x' N x` and `x' N^2 x` less what returns, both over `x' x`, of `x = s / r`."""
    sums, lock = torch.zeros(4, dtype=torch.float64), threading.Lock()

    def on_block(start: int, stop: int, product: Tensor) -> None:
        rows = scaled[start:stop] / root[start:stop, None]
        moved = product.mul_(root[start:stop, None])
        squares = rows.square().sum(1)
        parts = [squares, (rows * moved).sum(1), moved.square().sum(1)]
        parts.append(squares * returning[start:stop])
        found = torch.stack([part.sum(dtype=torch.float64) for part in parts])
        with lock:
            sums.add_(found)

    operator.weights.each_block(scaled, on_block)
    energy, one, two, back = sums.tolist()
    return (one / energy, (two - back) / energy) if energy else (0.0, 0.0)
