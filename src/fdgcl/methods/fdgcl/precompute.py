"""Features diffused once, before training."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl.diffusion import PolynomialFilter
from fdgcl.diffusion.polynomial import Progress
from fdgcl.methods.fdgcl.features import Features
from fdgcl.operators.sparse import new_tensor


def diffuse_features(
    features: Features,
    *filters: PolynomialFilter,
    dtype: torch.dtype,
    device: torch.device,
    progress: Progress | None = None,
) -> list[Tensor]:
    """Diffuse all features by every order; sparse ones are made dense by blocks.

    Args:
        features: (nodes, features).
        filters: The graph's, or one for each of its edge types.
        dtype: Of the result.
        device: Where it is to be.
        progress: Called with (columns done, columns).

    Returns:
        For each order, what the filters give side by side.
    """
    rows, columns = features.shape
    by_column = features.tocsc() if isinstance(features, csr_array) else features

    def load(wanted: slice) -> Tensor:
        part = by_column[:, wanted]
        return _tensor(part if isinstance(part, np.ndarray) else part.toarray())

    width = columns * len(filters)
    views = [new_tensor(rows, width, dtype, device) for _ in filters[0].coefficients]
    for start, polynomial in zip(range(0, width, columns), filters, strict=True):
        parts = [view[:, start : start + columns] for view in views]
        polynomial.fill(parts, load, progress=_after(progress, start, width))
    return views


def _after(progress: Progress | None, before: int, total: int) -> Progress | None:
    return progress and (lambda done, _: progress(before + done, total))


def _tensor(values: NDArray[Any]) -> Tensor:
    with warnings.catch_warnings():
        # A graph's own arrays are read-only. Nothing here writes to them.
        warnings.simplefilter("ignore", UserWarning)
        return torch.from_numpy(values)
