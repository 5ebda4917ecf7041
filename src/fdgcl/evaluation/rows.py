"""Sets of rows as linear maps: what a linear classifier multiplies with its weights.

A batch holds one set of rows per problem, padded to one shape; its last column is
constant 1 for the intercept, 0 in padded rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import final

import torch
from scipy import sparse
from torch import Tensor


class Rows(ABC):
    """A batch of row sets, (batch, rows, columns)."""

    @abstractmethod
    def times(self, weights: Tensor) -> Tensor:
        """Multiply (batch, columns, k) weights: (batch, rows, k) scores."""

    @abstractmethod
    def transposed_times(self, scores: Tensor) -> Tensor:
        """Multiply (batch, rows, k) scores from the left: (batch, columns, k)."""

    @abstractmethod
    def keep(self, sets: Tensor) -> Rows:
        """Return some of the sets only, by their indices."""


@final
class DenseRows(Rows):
    """Dense rows, padded with zeros."""

    def __init__(self, values: Tensor) -> None:
        self.values = values

    @classmethod
    def stack(cls, parts: Sequence[Tensor]) -> DenseRows:
        """Pad row sets to one shape and add the column of ones."""
        rows = max(part.shape[0] for part in parts)
        columns = max(part.shape[1] for part in parts) + 1
        values = parts[0].new_zeros(len(parts), rows, columns)
        for value, part in zip(values, parts, strict=True):
            value[: part.shape[0], : part.shape[1]] = part
            value[: part.shape[0], -1] = 1
        return cls(values)

    def times(self, weights: Tensor) -> Tensor:
        """Multiply by weights."""
        return torch.bmm(self.values, weights)

    def transposed_times(self, scores: Tensor) -> Tensor:
        """Multiply scores by the transpose."""
        # Twice as fast on a CPU as the transpose of the large factor.
        return torch.bmm(scores.mT, self.values).mT

    def keep(self, sets: Tensor) -> DenseRows:
        """Return some of the sets only."""
        return DenseRows(self.values[sets])


@final
class SparseRows(Rows):
    """Sparse rows less one dense row, so that centring fills nothing in.

    The products are SciPy's, on the CPU, wherever weights and scores live.
    """

    def __init__(self, parts: Sequence[tuple[sparse.csr_array, Tensor]]) -> None:
        self.parts = parts
        self.rows = max(matrix.shape[0] for matrix, _ in parts)

    def times(self, weights: Tensor) -> Tensor:
        """Multiply by weights."""
        out = weights.new_zeros(len(self.parts), self.rows, weights.shape[2])
        for values, factor, part in zip(out, weights, self.parts, strict=True):
            matrix, shift = part
            slopes, intercept = factor[:-1], factor[-1]
            product = torch.from_numpy(matrix @ slopes.cpu().numpy())
            constant = intercept - shift @ slopes
            values[: len(product)] = product.to(constant.device) + constant
        return out

    def transposed_times(self, scores: Tensor) -> Tensor:
        """Multiply scores by the transpose."""
        columns = self.parts[0][0].shape[1] + 1
        out = scores.new_empty(len(self.parts), columns, scores.shape[2])
        for values, factor, (matrix, shift) in zip(
            out, scores, self.parts, strict=True
        ):
            real = factor[: matrix.shape[0]]
            total = real.sum(0)
            product = torch.from_numpy(matrix.T @ real.cpu().numpy())
            values[:-1] = product.to(total.device) - shift[:, None] * total
            values[-1] = total
        return out

    def keep(self, sets: Tensor) -> SparseRows:
        """Return some of the sets only."""
        return SparseRows([self.parts[i] for i in sets.tolist()])
