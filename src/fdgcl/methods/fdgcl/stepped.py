"""Views whose dynamics has to be stepped, inside every epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from torch import Tensor

from fdgcl.diffusion import Dynamics, Gradient, Schedule, diffuse_stepped
from fdgcl.methods.fdgcl.features import FeatureMatrix, Features
from fdgcl.methods.fdgcl.kept_features import KeptFeatures
from fdgcl.methods.fdgcl.sources import ViewSource
from fdgcl.operators.in_memory import InMemoryOperator


@final
class Stepped(ViewSource):
    """Encoded features, stepped to the final time by each view's own dynamics.

    Args:
        features: X.
        operator: The graph.
        dynamics: One for each view; training changes their parameters.
        orders: One for each view.
        schedule: The time axis.
        gradient: How gradients are found.
        kept: What stands beside the views; the features themselves if not given.
    """

    def __init__(
        self,
        features: Features,
        operator: InMemoryOperator,
        dynamics: Sequence[Dynamics],
        orders: Sequence[float],
        schedule: Schedule,
        gradient: Gradient,
        kept: KeptFeatures | None = None,
    ) -> None:
        self._matrix = FeatureMatrix(features)
        self._kept = kept or KeptFeatures(features)
        self._operator, self._dynamics = operator, dynamics
        self._orders, self._schedule, self._gradient = orders, schedule, gradient
        self.num_rows, self.num_features = self._matrix.shape

    def kept(self, name: str) -> Tensor:
        """See the base class."""
        if name == "features":
            return self._kept.dense()
        if name in self._kept.averages:
            return self._kept.averages[name]
        return super().kept(name)

    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """See the base class; chosen rows cost as much as all of them."""
        diffused = diffuse_stepped(
            self._dynamics[view],
            self._operator,
            self._matrix.times(weight),
            self._orders[view],
            self._schedule,
            self._gradient,
        )
        return diffused if rows is None else diffused[rows]
