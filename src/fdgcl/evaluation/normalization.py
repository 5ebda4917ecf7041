"""Normalisations of an embedding before a linear probe.

Each ends with columns of mean 0 and rows of mean square norm 1. The shift changes
nothing, because the probe's intercept is free; the scale makes one grid of weight
decays fit every embedding. Statistics are taken over all nodes, labelled or not: the
setting is transductive, and no label is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl.evaluation.inputs import Ints, Matrix
from fdgcl.evaluation.rows import DenseRows, Rows, SparseRows

_CHUNK_ENTRIES = 2**24


@dataclass(frozen=True)
class Normalized:
    """`(row_scales * z - means) * column_scales`, worked out for the rows asked for."""

    matrix: Matrix
    row_scales: Tensor
    means: Tensor
    column_scales: Tensor

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    def dense_rows(self, index: Ints) -> Tensor:
        """Return some rows as a dense tensor."""
        rows = self._scaled(index)
        if not isinstance(rows, Tensor):
            rows = torch.from_numpy(rows.toarray()).to(self.means.device)
        return rows.sub_(self.means).mul_(self.column_scales)

    def rows(self, index: Ints) -> Rows:
        """Return some rows, kept sparse if the embedding is."""
        if isinstance(self.matrix, Tensor):
            return DenseRows(self.dense_rows(index))
        scales = sparse.diags_array(self.column_scales.cpu().numpy())
        shift = self.means * self.column_scales
        return SparseRows(sparse.csr_array(self._scaled(index) @ scales), shift)

    def scores(self, weights: Tensor) -> Tensor:
        """Multiply all rows by (dim, k) weights."""
        slopes = self.column_scales[:, None] * weights
        if isinstance(self.matrix, Tensor):
            # Centring before the product keeps the digits that large means would take.
            parts = zip(_chunks(self.matrix), self._chunked_scales(), strict=True)
            return torch.cat([(c * scale - self.means) @ slopes for c, scale in parts])
        product = torch.from_numpy(self.matrix @ slopes.cpu().numpy())
        shift = self.means @ slopes
        return self.row_scales[:, None] * product.to(shift.device) - shift

    def _chunked_scales(self) -> Iterator[Tensor]:
        return _chunks(self.row_scales[:, None], self.matrix)

    def _scaled(self, index: Ints) -> Matrix:
        if isinstance(self.matrix, Tensor):
            at = torch.from_numpy(index).to(self.matrix.device)
            return self.matrix[at] * self.row_scales[at, None]
        scales = sparse.diags_array(self.row_scales.cpu().numpy()[index])
        return sparse.csr_array(scales @ self.matrix[index])


def normalize_globally(z: Matrix, device: torch.device) -> Normalized:
    """Scale the embedding as a whole."""
    ones = _ones(z, 0, device)
    return _finish(z, ones, _ones(z, 1, device), _moments(z, ones))


def normalize_rows(z: Matrix, device: torch.device) -> Normalized:
    """Bring every row to length 1; rows of zeros stay zeros."""
    lengths = torch.cat([chunk.square().sum(1) for chunk in _chunks(z)]).sqrt()
    scales = _inverse(lengths).to(device)
    return _finish(z, scales, _ones(z, 1, device), _moments(z, scales))


def normalize_columns(
    z: Matrix, device: torch.device, dtype: torch.dtype | None = None
) -> Normalized:
    """Bring every column to mean 0, variance 1; constant columns become zeros.

    Args:
        z: The embedding.
        device: Where to compute.
        dtype: What to compute in, if not in the precision of the embedding.
    """
    ones = _ones(z, 0, device, dtype)
    means, variances = _moments(z, ones)
    # Rounding alone leaves this much deviation in a constant column.
    noise = 8 * torch.finfo(_precision(z)).eps * means.abs()
    deviations = variances.sqrt()
    deviations = torch.where(deviations > noise, deviations, 0.0)
    return _finish(z, ones, _inverse(deviations), (means, variances))


NORMALIZATIONS: dict[str, Callable[[Matrix, torch.device], Normalized]] = {
    "global": normalize_globally,
    "row": normalize_rows,
    "column": normalize_columns,
}


def _finish(
    z: Matrix,
    row_scales: Tensor,
    column_scales: Tensor,
    moments: tuple[Tensor, Tensor],
) -> Normalized:
    means, variances = moments
    size = (variances * column_scales.square()).sum().sqrt()
    if not bool(torch.isfinite(size)):
        message = f"z holds numbers too large to square in {size.dtype}; scale it down"
        raise InputError(message)
    return Normalized(z, row_scales, means, column_scales * _inverse(size))


def _moments(z: Matrix, row_scales: Tensor) -> tuple[Tensor, Tensor]:
    """Return means and variances of the columns of the scaled rows, in two passes."""
    scales = row_scales[:, None]
    means = squares = torch.zeros((), dtype=row_scales.dtype, device=scales.device)
    for chunk, scale in zip(_chunks(z), _chunks(scales, z), strict=True):
        means = means + (chunk.to(scale.device) * scale).sum(0)
    means = means / z.shape[0]
    for chunk, scale in zip(_chunks(z), _chunks(scales, z), strict=True):
        squares = squares + (chunk.to(scale.device) * scale - means).square().sum(0)
    return means, squares / z.shape[0]


def _chunks(z: Matrix, like: Matrix | None = None) -> Iterator[Tensor]:
    """Yield dense blocks of rows, as many as `like` (by default `z`) needs."""
    height = max(1, _CHUNK_ENTRIES // (z if like is None else like).shape[1])
    for start in range(0, z.shape[0], height):
        chunk = z[start : start + height]
        yield chunk if isinstance(chunk, Tensor) else torch.from_numpy(chunk.toarray())


def _ones(
    z: Matrix, axis: int, device: torch.device, dtype: torch.dtype | None = None
) -> Tensor:
    return torch.ones(z.shape[axis], dtype=dtype or _precision(z), device=device)


def _precision(z: Matrix) -> torch.dtype:
    double = z.dtype in (torch.float64, np.dtype(np.float64))
    return torch.float64 if double else torch.float32


def _inverse(values: Tensor) -> Tensor:
    return torch.where(values > 0, 1 / torch.where(values > 0, values, 1.0), 0.0)
