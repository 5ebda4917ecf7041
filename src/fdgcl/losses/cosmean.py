"""Cosmean: one minus the mean cosine between the two views of a node."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor

from fdgcl.losses.base import Loss

# The cube of 1 / norm still fits into float32 at this norm, so gradients stay finite.
_SMALLEST_NORM = 1e-12


def row_cosines(z1: Tensor, z2: Tensor) -> Tensor:
    """Return the cosine of each row of `z1` with the same row of `z2`.

    A row without a direction (norm below 1e-12) has cosine 0 and gradient 0.

    Example:
        >>> z = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
        >>> row_cosines(z, z)
        tensor([1., 1., 0.])
    """
    return (z1 * z2).sum(1) * _inverse_norms(z1) * _inverse_norms(z2)


def _inverse_norms(z: Tensor) -> Tensor:
    squares = z.square().sum(1)
    directed = squares > _SMALLEST_NORM**2
    # The inner `where` keeps the infinite slope of rsqrt(0) out of the backward pass.
    inverse = torch.where(directed, squares, 1.0).rsqrt()
    return torch.where(directed, inverse, 0.0)


@final
class Cosmean(Loss):
    """`1 - mean_i cos(z1_i, z2_i)`, in [0, 2]; 0 when all rows point the same way.

    Scale of a row does not matter. Nothing keeps the rows apart: all rows equal is
    a minimum too.

    Example:
        >>> z = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
        >>> Cosmean()(z, 3 * z), Cosmean()(z, -z)
        (tensor(0.), tensor(2.))
    """

    def score(self, z1: Tensor, z2: Tensor) -> Tensor:
        """Return the scalar loss."""
        return 1 - row_cosines(z1, z2).mean()
