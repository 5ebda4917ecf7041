"""Features diffused once, before training, and their statistics."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl.diffusion import PolynomialFilter
from fdgcl.diffusion.polynomial import Progress
from fdgcl.views.features import Features


def diffuse_features(
    features: Features,
    polynomial: PolynomialFilter,
    *,
    dtype: torch.dtype,
    device: torch.device,
    progress: Progress | None = None,
) -> list[Tensor]:
    """Diffuse all features by every order; sparse ones are made dense by blocks."""
    rows, columns = features.shape
    by_column = features.tocsc() if isinstance(features, csr_array) else features
    views = [
        torch.empty((rows, columns), dtype=dtype, device=device)
        for _ in polynomial.coefficients
    ]
    block = polynomial.column_block(columns)
    for start in range(0, columns, block):
        part = by_column[:, start : start + block]
        dense = np.array(part) if isinstance(part, np.ndarray) else part.toarray()
        tensor = torch.from_numpy(dense).to(device=device, dtype=dtype)
        for view, value in zip(views, polynomial.apply(tensor), strict=True):
            view[:, start : start + block] = value
        if progress is not None:
            progress(min(start + block, columns), columns)
    return views


def mean_and_covariance(view: Tensor, rows: int = 65536) -> tuple[Tensor, Tensor]:
    """Mean and covariance of the columns, over all rows."""
    # In float64 and by blocks: the variance is a small difference of large sums.
    mean = view.mean(0, dtype=torch.float64)
    covariance = torch.zeros(
        (view.shape[1],) * 2, dtype=torch.float64, device=view.device
    )
    for part in torch.split(view, rows):
        centred = part.double() - mean
        covariance.addmm_(centred.T, centred)
    return mean.to(view.dtype), (covariance / len(view)).to(view.dtype)
