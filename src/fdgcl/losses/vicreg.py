"""VICReg: variance, invariance and covariance terms."""

from __future__ import annotations

from typing import final

from torch import Tensor

from fdgcl._checks import check_nonnegative
from fdgcl.losses.base import Loss

_VARIANCE_FLOOR = 1e-4  # Bardes et al.'s; the root has a finite slope at variance 0


@final
class VICReg(Loss):
    """`invariance * L_inv + variance * L_var + covariance * L_cov`.

    `L_inv` is the mean squared distance of the rows; `L_var` the mean over columns of
    `max(0, 1 - std)`, added over both views; `L_cov` the squared off-diagonal
    covariances of both views over the number of columns. Moments divide by N, as in
    the FD-GCL paper; weights and target deviation are those of Bardes et al. (2022).

    Args:
        invariance: Weight of the distance between the views.
        variance: Weight of the hinge on the columns' standard deviations.
        covariance: Weight of the off-diagonal covariances.

    Example:
        >>> import torch
        >>> round(VICReg(variance=1)(torch.zeros(4, 2), torch.zeros(4, 2)).item(), 6)
        1.98
    """

    needs_two = False

    def __init__(
        self, invariance: float = 25.0, variance: float = 25.0, covariance: float = 1.0
    ) -> None:
        super().__init__()
        self.invariance = check_nonnegative("invariance", invariance)
        self.variance = check_nonnegative("variance", variance)
        self.covariance = check_nonnegative("covariance", covariance)

    def score(self, z1: Tensor, z2: Tensor) -> Tensor:
        """Return the scalar loss."""
        centred = (z1 - z1.mean(0), z2 - z2.mean(0))
        distance = (z1 - z2).square().sum(1).mean()
        hinge = _hinge(centred[0]) + _hinge(centred[1])
        redundancy = _redundancy(centred[0]) + _redundancy(centred[1])
        return (
            self.invariance * distance
            + self.variance * hinge
            + self.covariance * redundancy
        )

    def extra_repr(self) -> str:
        """Return the settings for `repr`."""
        return f"{self.invariance}, {self.variance}, {self.covariance}"


def _hinge(centred: Tensor) -> Tensor:
    deviations = (centred.square().mean(0) + _VARIANCE_FLOOR).sqrt()
    return (1 - deviations).relu().mean()


def _redundancy(centred: Tensor) -> Tensor:
    covariance = centred.T @ centred / centred.shape[0]
    off_diagonal = covariance - covariance.diagonal().diag()
    return off_diagonal.square().sum() / centred.shape[1]
