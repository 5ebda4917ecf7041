"""Features as they came, dense or sparse, and their product with a weight matrix."""

from __future__ import annotations

from typing import Any, TypeAlias, final

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl.operators.sparse import SparseMatrix

Features: TypeAlias = NDArray[Any] | csr_array


@final
class FeatureMatrix:
    """X, ready for products `X W` with gradient with respect to W."""

    def __init__(self, features: Features) -> None:
        self._features = features
        self._sparse = (
            SparseMatrix(features) if isinstance(features, csr_array) else None
        )
        self._dense = None if self._sparse else torch.from_numpy(np.array(features))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of X."""
        rows, columns = self._features.shape
        return int(rows), int(columns)

    def times(self, weight: Tensor) -> Tensor:
        """`X @ weight`, on the weight's device and in its dtype."""
        if self._sparse is not None:
            return self._sparse.multiply(weight)
        assert self._dense is not None
        self._dense = self._dense.to(weight)
        return self._dense @ weight


def dense(features: Features) -> Tensor:
    """Features as a dense tensor of its own."""
    if isinstance(features, csr_array):
        return torch.from_numpy(features.toarray())
    return torch.from_numpy(np.array(features))
