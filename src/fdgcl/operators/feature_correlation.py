"""Do a node's features tell of its neighbours' features? Asked without labels.

Write features as signal plus independent noise, and let a step along the edges keep
the fraction g of the signal (near 1: linked nodes are alike; near -1: they are
opposites; near 0: the edges say nothing). Noise is independent from node to node, so
over walks that end elsewhere it cancels, and what is left of `x' N x` is g times the
signal's share of the energy, and of `x' N^2 x` it is g^2 times that share. Their ratio
is |g|, however weak the signal is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

# A mean over d^2 nodes two steps away cuts noise to 1/d^2 of its energy and a signal
# to g^4 of its own; at the mean degrees of real graphs they break even near here.
WORTHWHILE_RATIO = 0.27
SIGNIFICANCE = 3.0
MIXTURES = 64
SHUFFLES = 10
POWER = 3


@dataclass(frozen=True)
class FeatureCorrelation:
    """How features persist along the edges.

    Attributes:
        one_hop: `x' N x / x' x` over one step, N the normalised adjacency without
            self-loops.
        two_hop: The same over two steps that do not return.
        noise: Standard deviation of `two_hop` when nodes are shuffled.
    """

    one_hop: float
    two_hop: float
    noise: float

    @property
    def ratio(self) -> float:
        """An estimate of |g|: what a step keeps of the signal."""
        return self.two_hop / abs(self.one_hop) if self.one_hop else 0.0

    @property
    def is_informative(self) -> bool:
        """Whether averaging over the neighbourhood can help."""
        significant = self.two_hop > SIGNIFICANCE * self.noise
        return significant and self.two_hop > WORTHWHILE_RATIO * abs(self.one_hop)

    @property
    def is_homophilic(self) -> bool:
        """Whether linked nodes are alike."""
        return self.is_informative and self.one_hop > 0


def feature_correlation(
    features: NDArray[Any] | csr_array,
    adjacency: csr_array,
    seed: int = 0,
    *,
    without: int | None = None,
) -> FeatureCorrelation:
    """Measure how features persist along edges, taken both ways.

    Args:
        features: (nodes x features); mixtures of their columns are used.
        adjacency: The graph's weights.
        seed: Of the mixtures and the shuffles.
        without: A column to leave out: one that outweighs all others would be all
            that the mixtures show.
    """
    generator = np.random.default_rng(seed)
    steps = _normalised(adjacency)
    mixtures = _mixtures(features, generator, without)
    returning = np.asarray(steps.multiply(steps).sum(axis=1)).ravel()
    one_hop, two_hop = _correlations(mixtures, steps, returning)
    shuffled = [
        _correlations(generator.permutation(mixtures), steps, returning)[1]
        for _ in range(SHUFFLES)
    ]
    return FeatureCorrelation(
        one_hop, two_hop, float(np.sqrt(np.mean(np.square(shuffled))))
    )


def _mixtures(
    features: NDArray[Any] | csr_array,
    generator: np.random.Generator,
    without: int | None,
) -> NDArray[np.float64]:
    """Random mixtures of the centred features, mostly of those that vary together.

    A signal stands out from noise by its variance: power iterations on the covariance
    raise its share of the energy, and with it the power of the test.
    """
    mean = np.asarray(features.mean(axis=0)).ravel()
    mixing = generator.standard_normal((features.shape[1], MIXTURES))
    left_out = [] if without is None else [without]
    mixing[left_out] = 0
    for _ in range(POWER):
        mixed = np.asarray(features @ mixing) - mean @ mixing
        mixing = np.asarray(features.T @ mixed) - np.outer(mean, mixed.sum(axis=0))
        mixing[left_out] = 0
        mixing /= np.linalg.norm(mixing, axis=0).clip(min=np.finfo(float).tiny)
    return np.asarray(features @ mixing) - mean @ mixing


def _normalised(adjacency: csr_array) -> csr_array:
    weights = csr_array(adjacency.maximum(adjacency.T), dtype=np.float64)
    weights.setdiag(0)
    degree = np.asarray(weights.sum(axis=1)).ravel()
    root = np.sqrt(np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0))
    return csr_array(weights.multiply(root[:, None]).multiply(root[None, :]))


def _correlations(
    x: NDArray[np.float64], steps: csr_array, returning: NDArray[np.float64]
) -> tuple[float, float]:
    energy = float(np.vdot(x, x))
    if energy == 0:
        return 0.0, 0.0
    moved = steps @ x
    back = float((returning * (x * x).sum(axis=1)).sum())
    return float(np.vdot(x, moved)) / energy, (
        float(np.vdot(moved, moved)) - back
    ) / energy
