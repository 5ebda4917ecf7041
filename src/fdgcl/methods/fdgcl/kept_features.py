"""The features that stand beside the views, and that means are taken of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from fdgcl.methods.fdgcl.features import Features, dense


@dataclass(frozen=True, eq=False)
class KeptFeatures:
    """Features as they are kept; of fewer columns than views are made of, perhaps.

    Attributes:
        features: (nodes, columns).
        averages: Means of them over neighbours, by block.
        directions: What the columns that views are made of are multiplied by to be
            these; None where they are the same.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> kept = KeptFeatures(np.ones((2, 1)), directions=torch.tensor([[1.0], [2]]))
        >>> kept.reduced(torch.tensor([[1.0, 1.0]])).tolist()
        [[3.0]]
    """

    features: Features
    averages: Mapping[str, Tensor] = field(default_factory=dict)
    directions: Tensor | None = None

    def dense(self) -> Tensor:
        """The features as a tensor of its own."""
        return dense(self.features)

    def reduced(self, diffused: Tensor) -> Tensor:
        """Rows of all columns diffused, as of the columns that are kept.

        Diffusion multiplies from the left, the directions from the right: whichever is
        first. Columns stand side by side once for each edge type.
        """
        return as_kept(diffused, self.directions)


def as_kept(rows: Tensor, directions: Tensor | None) -> Tensor:
    """Rows of all columns, once for each edge type, times the directions, if any.

    Example:
        >>> as_kept(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.ones(2, 1)).tolist()
        [[3.0, 7.0]]
    """
    if directions is None:
        return rows
    directions = directions.to(rows)
    of_types = torch.split(rows, len(directions), dim=1)
    return torch.cat([one @ directions for one in of_types], dim=1)
