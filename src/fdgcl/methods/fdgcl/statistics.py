"""Means and covariances of diffused features, exact to rounding, from one pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from fdgcl.operators.sparse import products_are_exact

# Products of so many centred rows are exact enough in float32; sums of all are not.
BLOCK_ROWS = 8192


@dataclass(frozen=True, eq=False)
class Statistics:
    """What training needs to know of all rows at once.

    Attributes:
        means: (orders, features) of the columns.
        covariances: (orders, features, features); None where they were not wanted.

    Example:
        >>> found = Statistics.of([torch.tensor([[1.0], [3.0]]).split(1)])
        >>> found.means.tolist(), found.covariances.tolist()
        ([[2.0]], [[[1.0]]])
    """

    means: Tensor
    covariances: Tensor | None

    @classmethod
    def of(
        cls,
        views: Iterable[Iterable[Tensor]],
        *,
        covariances: bool = True,
        dtype: torch.dtype = torch.float64,
    ) -> Self:
        """Go through the rows of each order once.

        Args:
            views: Of each order, blocks of its rows; a block is done with when the
                next one is asked for.
            covariances: Whether they are wanted; means alone cost far less.
            dtype: Of the result.
        """
        means, found = [], []
        for blocks in views:
            moments = Moments.of(blocks, products=covariances)
            means.append(moments.mean.to(dtype))
            if covariances:
                found.append(moments.covariance.to(dtype))
        return cls(torch.stack(means), torch.stack(found) if covariances else None)

    def to(self, device: torch.device, dtype: torch.dtype) -> Self:
        """The same elsewhere, or in another type."""
        covariances = self.covariances
        return type(self)(
            self.means.to(device, dtype),
            None if covariances is None else covariances.to(device, dtype),
        )


class Moments:
    """Mean and centred products of all rows added so far.

    Each block of rows is centred by its own mean, multiplied in its own type, and the
    sums of blocks are in float64; the distances between the blocks' means are then
    accounted for (Chan, Golub and LeVeque 1979). Variances are never small differences
    of large sums, and rows in the order of a column such as a time lose nothing.

    Args:
        first: The first block, or any like it; it is not added.
        products: Whether products are wanted beside means.

    Attributes:
        count: Rows added so far.
        mean: Of the columns, in float64.

    Example:
        >>> rows = torch.tensor([[1.0], [3.0]])
        >>> found = Moments(rows, products=True)
        >>> found.add(rows)
        >>> found.mean.tolist(), found.covariance.tolist()
        ([2.0], [[1.0]])
    """

    def __init__(self, first: Tensor, *, products: bool) -> None:
        columns, double = first.shape[1], torch.float64
        exact = products_are_exact(first.device)
        self._work = first.dtype if exact else double
        self._space = first.new_empty(0, columns, dtype=self._work)
        self.count = 0
        self.mean = first.new_zeros(columns, dtype=double)
        self._has_products = products
        size = columns if products else 0
        self._products = first.new_zeros(size, size, dtype=double)

    @classmethod
    def of(cls, blocks: Iterable[Tensor], *, products: bool) -> Moments:
        """Those of all blocks, of which there must be one at least."""
        found: Moments | None = None
        for rows in blocks:
            found = found or cls(rows, products=products)
            found.add(rows)
        assert found is not None
        return found

    @property
    def covariance(self) -> Tensor:
        """Mean products of centred columns."""
        return self._products / self.count

    def add(self, rows: Tensor) -> None:
        """Take in a block of rows."""
        count = len(rows)
        if len(self._space) < count:
            self._space = rows.new_empty(rows.shape, dtype=self._work)
        centre = rows.mean(0).to(self._work)
        centred = torch.sub(rows, centre, out=self._space[:count])
        # What rounding left of the mean.
        rest = centred.sum(0).double() / count
        step = centre.double() + rest - self.mean
        whole = self.count + count
        if self._has_products:
            self._products += centred.T @ centred
            self._products.addr_(rest, rest, alpha=-count)
            self._products.addr_(step, step, alpha=self.count * count / whole)
        self.mean += step * (count / whole)
        self.count = whole
