"""Random mixtures of features' columns, in which a signal stands out from noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl.graphs.moments import ColumnMoments
from fdgcl.graphs.rows import RowSource, row_blocks
from fdgcl.graphs.scaling import ColumnScale

# Power iterations on the covariance.
POWER = 3
# Of so many rows, spread over all, the covariance shows which columns vary together.
SAMPLE_ROWS = 2**17
SAMPLE_NUMBERS = 2**19


@dataclass(frozen=True, eq=False)
class Mixing:
    """Weights of centred columns in some mixtures of them.

    Attributes:
        centring: Subtracts the means, and leaves columns out.
        weights: (columns, mixtures).
    """

    centring: ColumnScale
    weights: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        features: RowSource,
        count: int,
        generator: np.random.Generator,
        without: int | None,
    ) -> Mixing:
        """Random mixtures, mostly of columns that vary together.

        A signal stands out from noise by its variance: power iterations on the
        covariance raise its share of the energy, and with it the power of the test.
        """
        rows, columns = features.shape
        every = max(1, rows // SAMPLE_ROWS)
        moments = ColumnMoments(columns)
        for _, block in row_blocks(features, numbers=SAMPLE_NUMBERS, every=every):
            moments.add(block)
        # Of a column that is the same for all, only rounding would be left.
        used = moments.variances > 0
        if without is not None:
            used[without] = False
        centring = ColumnScale(used.astype(np.float64), moments.means)
        weights = generator.standard_normal((columns, count)) * used[:, None]
        for _ in range(POWER):
            found = np.zeros_like(weights)
            mixing = cls(centring, weights)
            for _, block in row_blocks(features, numbers=SAMPLE_NUMBERS, every=every):
                found += mixing.covariance_times(block)
            lengths = np.linalg.norm(found, axis=0)
            weights = found / lengths.clip(min=np.finfo(float).tiny)
        return cls(centring, weights)

    def covariance_times(self, rows: Any) -> NDArray[Any]:
        """What some rows add to the product of the covariance and the weights."""
        if isinstance(rows, csr_array):
            mixed = self.mix(rows).numpy()
            found = rows.T @ mixed - np.outer(self._means, mixed.sum(axis=0))
            return np.asarray(found * self.centring.weights[:, None])
        centred = self._centred(rows)
        product: NDArray[Any] = (centred.T @ (centred @ self._weights(centred))).numpy()
        return product

    def mix(self, rows: Any) -> Tensor:
        """The mixtures of some rows; sparse ones are not made dense for it."""
        if isinstance(rows, csr_array):
            return torch.from_numpy(rows @ self.weights - self._means @ self.weights)
        centred = self._centred(rows)
        return centred @ self._weights(centred)

    def mixtures(self, features: RowSource) -> Tensor:
        """(nodes, mixtures) float32, of mean 0."""
        nodes, count = features.shape[0], self.weights.shape[1]
        found = torch.empty(nodes, count)
        total = torch.zeros(count, dtype=torch.float64)
        for start, rows in row_blocks(features):
            mixed = self.mix(rows)
            total += mixed.sum(0, dtype=torch.float64)
            found[start : start + len(mixed)] = mixed
        # The columns' means are those of a sample where there are many rows.
        return found.sub_((total / nodes).float())

    @property
    def _means(self) -> NDArray[np.float64]:
        assert self.centring.means is not None
        return self.centring.means

    def _centred(self, rows: NDArray[Any]) -> Tensor:
        # By torch: its products are threaded as this process is told, NumPy's are not.
        return torch.from_numpy(self.centring(rows))

    def _weights(self, like: Tensor) -> Tensor:
        return torch.from_numpy(self.weights).to(like)
