"""What is done to features before anything else, as fitted on the training graph."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl.graphs.reduction import Reduction, fit_reduction
from fdgcl.graphs.rows import Features, RowSource
from fdgcl.graphs.scaling import ColumnScale, fit_scaling, scale_features


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Features are scaled, then reduced: by what was found on the training graph.

    A model keeps it, so that another graph's features are taken alike.

    Attributes:
        scaling: `none`, `row`, `tf-idf` or `columns`.
        scale: What columns are scaled by; None for nothing.
        reduction: What they are reduced by; None for nothing, or as yet unknown.

    Example:
        >>> import numpy as np
        >>> x = np.random.default_rng(0).standard_normal((50, 8))
        >>> found = FeatureMap.scaling_of(x, "columns")
        >>> scaled = found.scaled(x)
        >>> found.reducing(scaled, 3, seed=0).reduced(scaled).shape
        (50, 3)
    """

    scaling: str = "none"
    scale: ColumnScale | None = None
    reduction: Reduction | None = None

    @classmethod
    def scaling_of(cls, features: RowSource, scaling: str) -> FeatureMap:
        """Find what the columns of features are scaled by."""
        return cls(scaling, fit_scaling(features, scaling))

    def reducing(self, scaled: RowSource, dim: int, seed: int) -> FeatureMap:
        """The same, with what scaled features are reduced by, unless it is known."""
        if self.reduction is not None:
            return self
        return replace(self, reduction=fit_reduction(scaled, dim, seed=seed))

    @property
    def width(self) -> int | None:
        """Columns it was fitted on, where that can be told."""
        if self.reduction is not None:
            return len(self.reduction.directions)
        return None if self.scale is None else len(self.scale.weights)

    @property
    def fingerprint(self) -> str:
        """A short hash; empty where nothing was fitted."""
        if self.width is None:
            return ""
        digest = hashlib.blake2b(digest_size=16)
        if self.scale is not None:
            digest.update(self.scale.fingerprint.encode())
        if self.reduction is not None:
            digest.update(self.reduction.directions.tobytes())
        return digest.hexdigest()

    def check(self, found: int) -> None:
        """Refuse another number of features than it was fitted on."""
        if self.width not in (None, found):
            message = (
                f"the model was trained on {self.width:,} features, this graph has "
                f"{found:,}"
            )
            raise InputError(message)

    def scaled(self, features: Features) -> Features:
        """The features scaled."""
        return scale_features(features, self.scaling, self.scale)

    def reduced(self, scaled: Features) -> NDArray[Any] | Features:
        """Scaled features reduced, if they are to be."""
        return scaled if self.reduction is None else self.reduction(scaled)
