"""Rows of an embedding as a linear map: what a classifier multiplies its weights with.

Weights are (k, columns), scores (k, rows); the last column of weights is the intercept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import final

import torch
from scipy import sparse
from torch import Tensor


class Rows(ABC):
    """A matrix (rows, columns), with a column of ones for the intercept at the end."""

    @abstractmethod
    def scores(self, weights: Tensor) -> Tensor:
        """Multiply (k, columns) weights with the transpose: (k, rows)."""

    @abstractmethod
    def pull_back(self, scores: Tensor) -> Tensor:
        """Multiply (k, rows) scores with the rows: (k, columns)."""


@final
class DenseRows(Rows):
    """Rows held as they are."""

    def __init__(self, values: Tensor) -> None:
        self.values = torch.cat([values, values.new_ones(len(values), 1)], dim=1)

    def scores(self, weights: Tensor) -> Tensor:
        """Return the scores of weights."""
        return weights @ self.values.T

    def pull_back(self, scores: Tensor) -> Tensor:
        """Return the weights' share of scores."""
        return scores @ self.values


@final
class SparseRows(Rows):
    """Sparse rows less one dense row, so that centring fills nothing in.

    The products are SciPy's, on the CPU, wherever weights and scores live.
    """

    def __init__(self, matrix: sparse.csr_array, shift: Tensor) -> None:
        self.matrix, self.shift = matrix, shift

    def scores(self, weights: Tensor) -> Tensor:
        """Return the scores of weights."""
        slopes, intercept = weights[:, :-1], weights[:, -1]
        product = torch.from_numpy(self.matrix @ slopes.T.cpu().numpy())
        return product.T.to(weights.device) + (intercept - slopes @ self.shift)[:, None]

    def pull_back(self, scores: Tensor) -> Tensor:
        """Return the weights' share of scores."""
        total = scores.sum(1, keepdim=True)
        product = torch.from_numpy(self.matrix.T @ scores.T.cpu().numpy())
        slopes = product.T.to(scores.device) - total * self.shift
        return torch.cat([slopes, total], dim=1)


@final
class Batch:
    """Many classifiers on several views of the same rows.

    Classifiers on one view share its products: one wide product reads the rows once.

    Args:
        views: The rows under each normalisation, of one shape.
        counts: How many classifiers each view has; those of the first come first.
    """

    def __init__(self, views: Sequence[Rows], counts: Sequence[int]) -> None:
        self.views, self.counts = views, counts

    def scores(self, weights: Tensor) -> Tensor:
        """Multiply (classifiers, k, columns) weights: (classifiers, k, rows)."""
        return self._products(weights, [view.scores for view in self.views])

    def pull_back(self, scores: Tensor) -> Tensor:
        """Multiply (classifiers, k, rows) scores: (classifiers, k, columns)."""
        return self._products(scores, [view.pull_back for view in self.views])

    def keep(self, classifiers: Tensor) -> Batch:
        """Return some of the classifiers only, by their ascending indices."""
        owners = torch.repeat_interleave(torch.tensor(self.counts))
        counts = owners[classifiers.cpu()].bincount(minlength=len(self.views)).tolist()
        kept = [i for i, count in enumerate(counts) if count]
        return Batch([self.views[i] for i in kept], [counts[i] for i in kept])

    def _products(
        self, values: Tensor, maps: Sequence[Callable[[Tensor], Tensor]]
    ) -> Tensor:
        parts = torch.split_with_sizes(values, list(self.counts))
        done = [
            product(part.flatten(0, 1)).view(*part.shape[:2], -1)
            for product, part in zip(maps, parts, strict=True)
        ]
        return done[0] if len(done) == 1 else torch.cat(done)
