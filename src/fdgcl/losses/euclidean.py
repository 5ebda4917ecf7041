"""Euclidean loss: the mean squared distance between the two views of a node."""

from __future__ import annotations

from typing import final

from torch import Tensor

from fdgcl.losses.base import Loss


@final
class Euclidean(Loss):
    """`mean_i |z1_i - z2_i|^2`, the sum over the columns, the mean over the nodes.

    Example:
        >>> import torch
        >>> Euclidean()(torch.zeros(3, 2), torch.ones(3, 2))
        tensor(2.)
    """

    def score(self, z1: Tensor, z2: Tensor) -> Tensor:
        """Return the scalar loss."""
        return (z1 - z2).square().sum(1).mean()
