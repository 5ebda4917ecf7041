"""Wide features reduced to fewer columns by their principal directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl.graphs.moments import ColumnMoments
from fdgcl.graphs.rows import NUMBERS, Features, RowSource, row_blocks

# Columns up to which the whole covariance is made.
EXACT = 1024
# Directions that are followed beside those wanted, and products with the covariance:
# what separates the last one wanted from the next grows with both.
OVERSAMPLING = 32
POWER = 3
# Of so many rows, spread over all, directions are as good as of more.
SAMPLE_ROWS = 2**18
# Of the largest variance: what is less is left over by rounding.
LEAST = 1e-10


@dataclass(frozen=True, eq=False)
class Reduction:
    """What wide features are multiplied by.

    Attributes:
        directions: (columns, reduced columns) float32.
        held: Share of the training features' variance that is left; None where that
            is not known any more.
    """

    directions: NDArray[np.float32]
    held: float | None = None

    def __call__(self, rows: Features) -> NDArray[Any]:
        """Some rows reduced, of their own dtype; they are dense."""
        weights = self.directions.astype(rows.dtype, copy=False)
        if isinstance(rows, csr_array):
            return np.asarray(rows @ weights)
        # By torch: its products are threaded as this process is told, NumPy's are not.
        product: NDArray[Any] = (_tensor(rows) @ torch.from_numpy(weights)).numpy()
        return product


def fit_reduction(features: RowSource, dim: int, *, seed: int) -> Reduction | None:
    """The first principal directions of features; None where no more are wanted.

    Means are taken out to find the directions, and not of the features: what is sparse
    or empty stays so, and the mean diffuses by degree, which tells of a node. Where
    rows vary in fewer directions than are wanted, those are shared out among all
    columns: how many columns there are follows from the sizes alone.

    Args:
        features: Dense or sparse, in memory or in a store.
        dim: Columns that are wanted; 0 for as many as there are.
        seed: Of the start of the iteration, and of the mixture of the directions.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).standard_normal((50, 8))
    >>> found = fit_reduction(x, 3, seed=0)
    >>> found.directions.shape, found(x).shape, fit_reduction(x, 8, seed=0)
    ((8, 3), (50, 3), None)
    """
    rows, columns = features.shape
    if not 0 < dim < columns:
        return None
    generator = np.random.default_rng(seed)
    width = columns if columns <= EXACT else _followed(columns, dim)
    covariance = _Covariance(features, width, max(1, rows // SAMPLE_ROWS))
    basis = None
    if columns > EXACT:
        # The way there is in float32, in half the time; the last step is not.
        start = generator.standard_normal((columns, width), dtype=np.float32)
        basis = torch.linalg.qr(torch.from_numpy(start)).Q
        for _ in range(POWER):
            basis = torch.linalg.qr(covariance.times(basis)).Q
        basis = torch.linalg.qr(basis.double()).Q
    variances, vectors = torch.linalg.eigh(covariance.within(basis))
    variances, vectors = variances[-dim:], vectors[:, -dim:]
    chosen = vectors[:, variances > LEAST * variances[-1]]
    if basis is not None:
        chosen = basis @ chosen
    # Mixed by a random orthogonal matrix: Adam takes each coordinate by itself, and
    # none should be privileged, as the first direction would be. The polar factor of
    # random numbers seen along the directions is one, and it gives the same whichever
    # basis of their space was found: neither signs nor the order of equal variances
    # matter, which rounding decides.
    numbers = torch.from_numpy(generator.standard_normal((columns, dim)))
    left, _, right = torch.linalg.svd(chosen.T @ numbers, full_matrices=False)
    directions = (chosen @ (left @ right)).numpy().astype(np.float32)
    total = covariance.total
    return Reduction(directions, float(variances.sum()) / total if total else 1.0)


def reduction_bytes(columns: int, dim: int) -> int:
    """Memory that finding the directions takes, the features aside.

    Example:
        >>> reduction_bytes(2000, 100) < reduction_bytes(4000, 100)
        True
    """
    width = columns if columns <= EXACT else _followed(columns, dim)
    matrices = 4 * columns * width + 4 * width**2 + 3 * columns * dim
    # A block of rows as it is read, put together, widened and multiplied.
    return 8 * (matrices + 4 * NUMBERS)


def reduction_products(rows: int, columns: int, dim: int) -> float:
    """Products of two numbers that it takes to reduce features, and to find out how.

    Example:
        >>> reduction_products(10, 5, 2)
        350.0
    """
    seen = min(rows, SAMPLE_ROWS)
    fitted = float(seen) * columns**2
    if columns > EXACT:
        width = _followed(columns, dim)
        fitted = float(seen) * width * ((2 * POWER + 1) * columns + width)
    return fitted + float(rows) * columns * dim


def _followed(columns: int, dim: int) -> int:
    return min(columns, dim + OVERSAMPLING)


class _Covariance:
    """The covariance of features' columns, known by its products.

    Args:
        features: Dense or sparse.
        width: Columns of what it is multiplied by.
        every: Which blocks of rows to look at: the first of so many, and so on.
    """

    def __init__(self, features: RowSource, width: int, every: int) -> None:
        self._features, self._width, self._every = features, width, every
        moments = ColumnMoments(features.shape[1])
        for rows in self._blocks():
            moments.add(rows)
        self._means, self._count = moments.means, moments.rows
        self.total = float(moments.variances.sum())

    def times(self, basis: Tensor) -> Tensor:
        """Its product with a matrix."""
        found = torch.zeros_like(basis)
        for rows in self._blocks():
            if isinstance(rows, csr_array):
                mixed = self._mixed(rows, basis).numpy()
                means = self._means.astype(mixed.dtype)
                found += torch.from_numpy(np.asarray(rows.T @ mixed))
                found -= torch.from_numpy(np.outer(means, mixed.sum(axis=0)))
            else:
                centred = self._centred(rows).to(basis)
                found += centred.T @ (centred @ basis)
        return found / self._count

    def within(self, basis: Tensor | None) -> Tensor:
        """What it is in a basis; all of it without one."""
        width = len(self._means) if basis is None else basis.shape[1]
        found = torch.zeros(width, width, dtype=torch.float64)
        for rows in self._blocks():
            mixed = self._centred(rows) if basis is None else self._mixed(rows, basis)
            found += mixed.T @ mixed
        return found / self._count

    def _blocks(self) -> Any:
        numbers = NUMBERS
        if isinstance(self._features, csr_array):
            # Products of them are dense, and each block's is as long as all columns
            # are many: no more blocks than memory asks for.
            stored = max(1, -(-self._features.nnz // self._features.shape[0]))
            numbers = max(1, NUMBERS * stored // self._width)
        for _, rows in row_blocks(self._features, numbers=numbers, every=self._every):
            yield rows

    def _mixed(self, rows: Features, basis: Tensor) -> Tensor:
        if isinstance(rows, csr_array):
            known = basis.numpy()
            mixed = rows.astype(known.dtype) @ known
            return torch.from_numpy(mixed - self._means.astype(known.dtype) @ known)
        return self._centred(rows).to(basis) @ basis

    def _centred(self, rows: Features) -> Tensor:
        dense = rows.toarray() if isinstance(rows, csr_array) else rows
        return torch.from_numpy(dense - self._means)


def _tensor(rows: NDArray[Any]) -> Tensor:
    # A graph's own arrays are read-only, of which torch would warn.
    return torch.from_numpy(rows if rows.flags.writeable else rows.copy())
