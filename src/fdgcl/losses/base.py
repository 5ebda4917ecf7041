"""What every loss is: a scalar from two views of the same nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from fdgcl._checks import InputError


class Loss(nn.Module, ABC):
    """Scores how far two views are from agreeing; lower is better.

    A new loss is one file with one final class that implements `score`.

    Attributes:
        needs_two: Whether a view compared with itself leaves nothing to learn.

    Example:
        >>> import torch
        >>> class Distance(Loss):
        ...     def score(self, z1, z2):
        ...         return (z1 - z2).abs().mean()
        >>> Distance()(torch.zeros(3, 2), torch.ones(3, 2))
        tensor(1.)
    """

    needs_two = True

    def forward(self, z1: Tensor, z2: Tensor) -> Tensor:
        """Return the scalar loss of two views, row i of both being node i.

        Raises:
            InputError: The views are not two float matrices of one shape.
        """
        if z1.ndim != 2 or z1.shape != z2.shape or z1.numel() == 0:
            message = (
                "a loss needs two views of one shape (nodes, dim), neither empty, "
                f"got {tuple(z1.shape)} and {tuple(z2.shape)}"
            )
            raise InputError(message)
        if not z1.is_floating_point() or z1.dtype != z2.dtype:
            message = (
                "a loss needs two views of one float type, "
                f"got {z1.dtype} and {z2.dtype}"
            )
            raise InputError(message)
        return self.score(z1, z2)

    @abstractmethod
    def score(self, z1: Tensor, z2: Tensor) -> Tensor:
        """Return the scalar loss of two views that `forward` has checked."""
