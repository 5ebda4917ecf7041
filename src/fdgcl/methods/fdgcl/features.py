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
    def num_rows(self) -> int:
        """Rows of X."""
        return int(self._features.shape[0])

    def times(self, weight: Tensor) -> Tensor:
        """`X @ weight`, on the weight's device and in its dtype."""
        if self._sparse is not None:
            return self._sparse.multiply(weight)
        assert self._dense is not None
        self._dense = self._dense.to(weight)
        return self._dense @ weight

    def rows(self, rows: Tensor | None) -> Tensor:
        """Some rows, or all of them, as a dense tensor."""
        return dense_rows(self._features, rows)


def dense_rows(features: Features, rows: Tensor | None) -> Tensor:
    """Some rows of features, or all of them, as a dense tensor."""
    part = features if rows is None else features[rows.cpu().numpy()]
    return torch.from_numpy(
        np.array(part) if isinstance(part, np.ndarray) else part.toarray()
    )
