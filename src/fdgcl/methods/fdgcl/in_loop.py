"""Features diffused after the linear map, inside every epoch."""

from __future__ import annotations

from functools import cached_property
from typing import final

import torch
from torch import Tensor

from fdgcl.diffusion import PolynomialFilter, filter_with_gradient
from fdgcl.methods.fdgcl.diffused_features import DiffusedFeatures
from fdgcl.methods.fdgcl.features import FeatureMatrix, Features
from fdgcl.methods.fdgcl.kept_features import KeptFeatures
from fdgcl.methods.fdgcl.sources import ViewSource


@final
class InLoop(ViewSource):
    """Features diffused after the linear map, in every epoch and all rows at once.

    Args:
        features: (nodes, features).
        filters: The graph's, or one for each of its edge types.
        kept: What stands beside the views; the features themselves if not given.
        dtype: Of what is diffused beside the views.
        device: Where that is to be.
    """

    def __init__(
        self,
        features: Features,
        *filters: PolynomialFilter,
        kept: KeptFeatures | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | None = None,
    ) -> None:
        self._features, self._filters = features, filters
        self._dtype, self._device = dtype, device or torch.device("cpu")
        self._kept = kept or KeptFeatures(features)
        orders = range(len(filters[0].coefficients))
        self._of_order = [[one.row(order) for one in filters] for order in orders]
        self._matrix = FeatureMatrix(features)
        self.num_rows, columns = self._matrix.shape
        self.num_features = columns * len(filters)

    def kept(self, name: str) -> Tensor:
        """See the base class."""
        if name == "features":
            return self._kept.dense()
        if name in self._kept.averages:
            return self._kept.averages[name]
        return self._diffused.kept(name)

    @cached_property
    def _diffused(self) -> DiffusedFeatures:
        return DiffusedFeatures.diffuse(
            self._kept.features,
            *self._filters,
            dtype=self._dtype,
            device=self._device,
        )

    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """See the base class; chosen rows cost as much as all of them."""
        # Features side by side times a weight are the sum of each block's product.
        parts = torch.split(weight, self._features.shape[1])
        first, *others = (
            filter_with_gradient(polynomial, self._matrix.times(part))
            for polynomial, part in zip(self._of_order[view], parts, strict=True)
        )
        diffused = sum(others, first)
        return diffused if rows is None else diffused[rows]
