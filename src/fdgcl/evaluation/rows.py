"""Rows of an embedding as a linear map: what a classifier multiplies its weights with.

A last column of ones stands for the intercept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import final

import torch
from scipy import sparse
from torch import Tensor


class Rows(ABC):
    """A matrix (rows, columns), the intercept's column included."""

    @abstractmethod
    def times(self, weights: Tensor) -> Tensor:
        """Multiply (columns, k) weights: (rows, k) scores."""

    @abstractmethod
    def transposed_times(self, scores: Tensor) -> Tensor:
        """Multiply (rows, k) scores by the transpose: (columns, k)."""


@final
class DenseRows(Rows):
    """Rows held as they are."""

    def __init__(self, values: Tensor) -> None:
        self.values = values

    def times(self, weights: Tensor) -> Tensor:
        """Multiply by weights."""
        return torch.addmm(weights[-1], self.values, weights[:-1])

    def transposed_times(self, scores: Tensor) -> Tensor:
        """Multiply scores by the transpose."""
        # Faster on a CPU than the transpose of the large factor.
        slopes = (scores.T @ self.values).T
        return torch.cat([slopes, scores.sum(0, keepdim=True)])


@final
class SparseRows(Rows):
    """Sparse rows less one dense row, so that centring fills nothing in.

    The products are SciPy's, on the CPU, wherever weights and scores live.
    """

    def __init__(self, matrix: sparse.csr_array, shift: Tensor) -> None:
        self.matrix, self.shift = matrix, shift

    def times(self, weights: Tensor) -> Tensor:
        """Multiply by weights."""
        slopes, intercept = weights[:-1], weights[-1]
        product = torch.from_numpy(self.matrix @ slopes.cpu().numpy())
        return product.to(weights.device) + (intercept - self.shift @ slopes)

    def transposed_times(self, scores: Tensor) -> Tensor:
        """Multiply scores by the transpose."""
        total = scores.sum(0, keepdim=True)
        product = torch.from_numpy(self.matrix.T @ scores.cpu().numpy())
        slopes = product.to(scores.device) - self.shift[:, None] * total
        return torch.cat([slopes, total])


@final
class Batch:
    """Several classifiers on each of several views of the same rows.

    Classifiers on one view share its products: one wide product reads the rows once.

    Args:
        views: The rows under each normalisation, of one shape.
        counts: How many classifiers each view has; those of the first come first.
    """

    def __init__(self, views: Sequence[Rows], counts: list[int]) -> None:
        self.views, self.counts = views, counts

    def times(self, weights: Tensor) -> Tensor:
        """Multiply (classifiers, columns, k): (classifiers, rows, k)."""
        return self._apply(weights, [view.times for view in self.views])

    def transposed_times(self, scores: Tensor) -> Tensor:
        """Multiply (classifiers, rows, k): (classifiers, columns, k)."""
        return self._apply(scores, [view.transposed_times for view in self.views])

    def keep(self, classifiers: Tensor) -> Batch:
        """Return some of the classifiers only, by their ascending indices."""
        owners = torch.repeat_interleave(torch.tensor(self.counts))
        counts = owners[classifiers.cpu()].bincount(minlength=len(self.views)).tolist()
        kept = [i for i, count in enumerate(counts) if count]
        return Batch([self.views[i] for i in kept], [counts[i] for i in kept])

    def _apply(
        self, factors: Tensor, products: Sequence[Callable[[Tensor], Tensor]]
    ) -> Tensor:
        parts = []
        for product, part in zip(products, factors.split(self.counts), strict=True):
            wide = product(part.transpose(0, 1).flatten(1))
            parts.append(wide.view(-1, *part.shape[::2]).transpose(0, 1))
        return torch.cat(parts)
