"""The first principal direction of a view, by power iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

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

    Example:
        >>> principal_direction(torch.tensor([[1.0, 5.0], [-1.0, 5.0]])).abs().round()
        tensor([1., 0.])
    """
    means = z.mean(0)
    centred = z - means
    with torch.no_grad():
        variances = centred.square().mean(0)
        # Rounding alone leaves this much variance in constant columns.
        noise = (8 * torch.finfo(z.dtype).eps) ** 2 * means.square().sum()
        total = variances.sum()
        varies = total > noise
        # By their sum, so that the size of the rows does not matter.
        shares = variances / torch.where(varies, total, 1.0)
        column = centred.index_select(1, _widest(shares[None])[0])
        column /= torch.linalg.vector_norm(column).clamp_min(_SMALLEST_NORM)
        starts = _starts(shares, (centred.T @ column).squeeze(1))
        better = (centred @ starts).square().sum(0).argmax(0, keepdim=True)
        # Not by brackets, which would wait for a GPU to say which.
        direction = starts.index_select(1, better).squeeze(1)
        for _ in range(iterations - 1):
            direction = _unit(centred.T @ _unit(centred @ direction))
        # A length cancels in the last normalisation, so it needs no gradient.
        length = torch.linalg.vector_norm(centred @ direction)
        scale = torch.where(length > 0, length, 1.0)
    return _unit(centred.T @ ((centred @ direction) / scale), where=varies)


class Directions(NamedTuple):
    """Principal directions of several views, by as many iterations.

    Attributes:
        units: (views, dim) the directions; zero where rows do not vary.
        before: (views, dim) what the last iteration started from.
        lengths: (views,) of the covariance times `before`; infinite for no direction.

    Example:
        See `principal_directions`, which returns them.

        >>> Directions._fields
        ('units', 'before', 'lengths')
    """

    units: Tensor
    before: Tensor
    lengths: Tensor


def principal_directions(
    covariance: Callable[[Tensor], Tensor], variances: Tensor, iterations: int = 8
) -> Directions:
    """Find what `principal_direction` finds, for several views at once.

    Args:
        covariance: Multiplies columns, (views, dim, any), by each view's covariance,
            of which the trace is about 1: lengths then need little looking after.
        variances: (views, dim) its diagonal.
        iterations: How many, at least 1.

    Example:
        >>> covariance = torch.tensor([[[0.75, 0.0], [0.0, 0.25]]])
        >>> variances = covariance.diagonal(dim1=1, dim2=2)
        >>> principal_directions(lambda columns: covariance @ columns, variances).units
        tensor([[1., 0.]])
    """
    one = torch.zeros_like(variances).scatter_(1, _widest(variances), 1.0)
    starts = _starts(variances, covariance(one[..., None]).squeeze(2))
    better = (starts * covariance(starts)).sum(1, keepdim=True).argmax(2, keepdim=True)
    before = starts.gather(2, better.expand(-1, starts.shape[1], 1))
    for done in range(1, iterations):
        before = covariance(before)
        if done % 2 == 0 or done == iterations - 1:
            before = normalize(before, dim=1, eps=_SMALLEST_NORM)
    after = covariance(before).squeeze(2)
    lengths = torch.linalg.vector_norm(after, dim=1, keepdim=True)
    lengths = torch.where(lengths > _SMALLEST_NORM, lengths, torch.inf)
    return Directions(after / lengths, before.squeeze(2), lengths.squeeze(1))


def _widest(variances: Tensor) -> Tensor:
    """The first column, of each view, that varies about as much as any.

    Standardised columns all vary alike: rounding must not choose among them.
    """
    enough = 0.99 * variances.amax(1, keepdim=True)
    return (variances >= enough).to(torch.uint8).argmax(1, keepdim=True)


def _starts(variances: Tensor, covariances: Tensor) -> Tensor:
    """Give two starts, of which the better is to be taken, as columns.

    The columns' deviations, and the covariances of the column that varies most. The
    first alone fails on opposed columns (t, -t), where it is orthogonal to the
    direction sought; the second where the column that varies most varies alone.
    """
    deviations = variances.clamp_min(0).sqrt()
    starts = torch.stack([deviations, covariances], -1)
    return normalize(starts, dim=-2, eps=_SMALLEST_NORM)


def _unit(vector: Tensor, where: Tensor | None = None) -> Tensor:
    square = vector.square().sum()
    defined = square > _SMALLEST_NORM**2
    if where is not None:
        defined = defined & where
    inverse = torch.where(defined, square, 1.0).rsqrt()
    return vector * torch.where(defined, inverse, 0.0)
