"""The first principal direction of a view, by power iterations."""

from __future__ import annotations

import torch
from torch import Tensor

# The cube of 1 / norm still fits into float32 at this norm, so gradients stay finite.
_SMALLEST_NORM = 1e-12


def principal_direction(z: Tensor, iterations: int = 8) -> Tensor:
    """Return the unit vector along which the rows of `z` vary most; its sign is free.

    Power iterations on the covariance, which is never formed: each costs two
    products of the centred `z` with a vector. Only the last one carries a gradient.

    Args:
        z: Rows to analyse, (nodes, dim).
        iterations: How many, at least 1. The error in angle shrinks per iteration by
            the ratio of the second variance to the first.

    Returns:
        The direction, (dim,). Rows that do not vary have none: the zero vector, with
        gradient zero.
    """
    means = z.mean(0)
    centred = z - means
    with torch.no_grad():
        variances = centred.square().mean(0)
        # Rounding alone leaves this much variance in constant columns.
        noise = (8 * torch.finfo(z.dtype).eps) ** 2 * means.square().sum()
        varies = variances.sum() > noise
        direction = _start(centred, variances)
        for _ in range(iterations - 1):
            direction = _unit(centred.T @ _unit(centred @ direction))
        # A length cancels in the last normalisation, so it needs no gradient.
        length = torch.linalg.vector_norm(centred @ direction)
        scale = torch.where(length > 0, length, 1.0)
    return _unit(centred.T @ ((centred @ direction) / scale), where=varies)


def _start(centred: Tensor, variances: Tensor) -> Tensor:
    """Choose the better of two starts: column deviations, and the longest row.

    The first alone fails on opposed columns (t, -t), where it is orthogonal to the
    direction sought.
    """
    longest = centred[centred.square().sum(1).argmax()]
    starts = torch.stack([_unit(variances.sqrt()), _unit(longest)], dim=1)
    better = (centred @ starts).square().sum(0).argmax()
    return starts[:, better]


def _unit(vector: Tensor, where: Tensor | None = None) -> Tensor:
    square = vector.square().sum()
    defined = square > _SMALLEST_NORM**2
    if where is not None:
        defined = defined & where
    inverse = torch.where(defined, square, 1.0).rsqrt()
    return vector * torch.where(defined, inverse, 0.0)
