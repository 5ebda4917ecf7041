"""Regularised cosmean, the loss of FD-GCL."""

from __future__ import annotations

from typing import final

from torch import Tensor

from fdgcl._checks import check_count, check_nonnegative
from fdgcl.losses.base import Loss
from fdgcl.losses.cosmean import row_cosines
from fdgcl.losses.principal import principal_direction


@final
class RegularizedCosmean(Loss):
    """`cosmean + eta * |<c1, c2>|`, c1 and c2 the views' principal directions.

    The second term keeps the dominant directions of the two views from becoming one,
    which is how cosmean alone collapses.

    Args:
        eta: Weight of the regulariser, zero or more.
        iterations: Power iterations for each principal direction.

    Example:
        >>> import torch
        >>> z = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0]])
        >>> RegularizedCosmean(eta=0.5)(z, z)  # they vary along one direction
        tensor(0.5000)
    """

    def __init__(self, eta: float = 0.15, iterations: int = 8) -> None:
        super().__init__()
        self.eta = check_nonnegative("eta", eta)
        self.iterations = check_count("iterations", iterations)

    def score(self, z1: Tensor, z2: Tensor) -> Tensor:
        """Return the scalar loss."""
        cosmean = 1 - row_cosines(z1, z2).mean()
        if self.eta == 0:
            return cosmean
        c1 = principal_direction(z1, self.iterations)
        c2 = principal_direction(z2, self.iterations)
        return cosmean + self.eta * (c1 @ c2).abs()

    def extra_repr(self) -> str:
        """Return the settings for `repr`."""
        return f"eta={self.eta}, iterations={self.iterations}"
