"""Barlow Twins: the cross-correlation of the two views becomes the identity."""

from __future__ import annotations

from typing import final

from torch import Tensor

from fdgcl._checks import check_nonnegative
from fdgcl.losses.base import Loss

_VARIANCE_FLOOR = 1e-8  # a constant column becomes zeros instead of 0 / 0


@final
class BarlowTwins(Loss):
    """`sum_i (1 - C_ii)^2 + redundancy * sum_{i != j} C_ij^2`.

    `C = Z1' Z2 / N` of the columns brought to mean 0, variance 1. The FD-GCL paper
    prints C_ii in the second sum; C_ij, as in Zbontar et al. (2021), is meant.

    Args:
        redundancy: Weight of the off-diagonal sum; the default is Zbontar et al.'s.

    Example:
        >>> import torch
        >>> z = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
        >>> BarlowTwins()(z, z).item() < 1e-12, round(BarlowTwins()(z, -z).item(), 6)
        (True, 8.0)
    """

    needs_two = False

    def __init__(self, redundancy: float = 0.0051) -> None:
        super().__init__()
        self.redundancy = check_nonnegative("redundancy", redundancy)

    def score(self, z1: Tensor, z2: Tensor) -> Tensor:
        """Return the scalar loss."""
        correlation = _standardized(z1).T @ _standardized(z2) / z1.shape[0]
        diagonal = correlation.diagonal()
        # The full sum less the diagonal would lose digits when C is nearly diagonal.
        off_diagonal = correlation - diagonal.diag()
        invariance = (1 - diagonal).square().sum()
        return invariance + self.redundancy * off_diagonal.square().sum()

    def extra_repr(self) -> str:
        """Return the settings for `repr`."""
        return f"redundancy={self.redundancy}"


def _standardized(z: Tensor) -> Tensor:
    centred = z - z.mean(0)
    return centred * (centred.square().mean(0) + _VARIANCE_FLOOR).rsqrt()
