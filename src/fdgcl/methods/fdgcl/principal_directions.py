"""The directions in which a block of columns varies most, and how much it does.

Rows come some at a time, as often as a block asks for: once for most, several times for
one so wide that a matrix of all its products would not do.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl.methods.fdgcl.column_shares import equal_shares
from fdgcl.methods.fdgcl.statistics import Moments

# Columns up to which all products of a block are summed up: 32 MiB of float64.
WIDEST_EXACT = 2048
# Directions that are looked for in a wider block; more only where the embedding would
# not be filled otherwise. Time and memory grow with them, and the last vary little.
MOST_SEARCHED = 1024
# Directions that a wide block's search carries along beside those wanted, and how often
# it multiplies them by the covariance; one pass more finds the means before.
EXTRA_DIRECTIONS = 16
PRODUCTS = 5
SEED = 20_000_003
# Numbers of a block that are brought to float64 at a time.
PORTION = 2**21
# Rounding of a row's numbers, in units of its last digit, that is no variation.
NOISE_DIGITS = 8
# Matrices in float64 held while a block is looked at: sums, a product, what is solved.
EXACT_MATRICES = 4
SKETCH_MATRICES = 5


def searched(widths: Sequence[int], dim: int) -> tuple[int, ...]:
    """Directions that are looked for in each block: enough, whichever vary most.

    Args:
        widths: Columns of the blocks.
        dim: Columns of the embedding.

    Example:
        >>> searched((1500, 9000), 2048), searched((9000,), 2048)
        ((1500, 1024), (2048,))
    """
    equal = equal_shares(widths, dim)
    return tuple(
        min(width, dim)
        if width <= WIDEST_EXACT
        else min(width, dim, max(MOST_SEARCHED, share))
        for width, share in zip(widths, equal, strict=True)
    )


def fitting_bytes(widths: Sequence[int], dim: int) -> int:
    """Memory that the search for directions takes beside the rows, about.

    Args:
        widths: Columns of the blocks.
        dim: Columns of the embedding.

    Example:
        >>> fitting_bytes((8, 8), 16), fitting_bytes((100, 8), 18)
        (0, 322048)
    """
    if sum(widths) <= dim:
        return 0
    needed = 0
    for width, count in zip(widths, searched(widths, dim), strict=True):
        if width <= WIDEST_EXACT:
            needed += 8 * EXACT_MATRICES * width**2
        else:
            needed += 8 * SKETCH_MATRICES * width * (count + EXTRA_DIRECTIONS)
    # Centred rows of one block at a time, beside the same in float64.
    return needed + (16 * PORTION if needed > 8 * PORTION else 0)


def new_search(width: int, count: int) -> Search:
    """What looks for so many directions of a block."""
    return Exact(count) if width <= WIDEST_EXACT else Sketch(width, count)


class Fitter(abc.ABC):
    """Looks at all rows of a block.

    Attributes:
        passes: How often it still has to.
    """

    passes = 1

    @abc.abstractmethod
    def add(self, block: Tensor) -> None:
        """Take in some rows."""

    def end_pass(self) -> None:
        """Take in that these were all."""
        self.passes -= 1


@final
class Whole(Fitter):
    """A block that stays as it is.

    Attributes:
        mean_square: Of the norms of its rows.
    """

    mean_square: Tensor

    def __init__(self) -> None:
        self._squares, self._count = torch.zeros((), dtype=torch.float64), 0

    def add(self, block: Tensor) -> None:
        """See the base class."""
        self._squares = self._squares.to(block.device)
        self._squares += block.double().square().sum()
        self._count += len(block)

    def end_pass(self) -> None:
        """See the base class."""
        super().end_pass()
        self.mean_square = self._squares / self._count


class Search(Fitter):
    """A block that is compressed.

    Attributes:
        mean: Of its columns.
        directions: (columns, count), orthonormal, or zeros where nothing varies.
        variances: Along these, the largest first.
        total: The variance of all columns, whether found in a direction or not.
    """

    mean: Tensor
    directions: Tensor
    variances: Tensor
    total: Tensor

    def __init__(self, count: int) -> None:
        self._count, self._epsilon = count, 0.0
        self._moments: Moments | None = None

    def counted(self, weight: float) -> NDArray[np.float64]:
        """Variances as they are in an embedding where the block has this weight."""
        total = float(self.total)
        found: NDArray[np.float64] = self.variances.cpu().numpy()
        # Nothing that varies, or nothing that is a number.
        return found * weight**2 / total if total > 0 else np.zeros_like(found)

    def _add_moments(self, block: Tensor, *, products: bool) -> None:
        self._epsilon = torch.finfo(block.dtype).eps
        for part in _portions(block):
            if self._moments is None:
                self._moments = Moments(part, products=products)
            self._moments.add(part)

    def _choose(self, covariance: Tensor, basis: Tensor | None = None) -> None:
        """Keep what varies most, by the covariance of a basis' coordinates."""
        rows = covariance.shape[0] if basis is None else basis.shape[0]
        if not torch.isfinite(covariance).all():
            # Said of the embedding, which is then refused.
            self.directions = covariance.new_full((rows, self._count), torch.nan)
            self.variances = covariance.new_zeros(self._count)
            return
        variances, vectors = torch.linalg.eigh((covariance + covariance.T) / 2)
        variances = variances.flip(0)[: self._count]
        vectors = vectors.flip(1)[:, : self._count]
        directions = vectors if basis is None else basis @ vectors
        tiny = torch.finfo(torch.float64).eps * rows
        least = variances[0] * max(tiny, (NOISE_DIGITS * self._epsilon) ** 2)
        varies = variances > least
        # Either sign would do; this one is the same wherever rounding goes.
        largest = directions.abs().argmax(0, keepdim=True)
        signs = directions.gather(0, largest).sign()
        self.directions = directions * signs * varies
        self.variances = variances * varies


@final
class Exact(Search):
    """By all products of its columns, in one pass."""

    def add(self, block: Tensor) -> None:
        """See the base class."""
        self._add_moments(block, products=True)

    def end_pass(self) -> None:
        """See the base class."""
        super().end_pass()
        assert self._moments is not None
        self.mean = self._moments.mean
        covariance = self._moments.covariance
        self.total = covariance.trace()
        self._choose(covariance)
        self._moments = None


@final
class Sketch(Search):
    """By randomised subspace iteration (Halko, Martinsson and Tropp 2011).

    Directions at random are multiplied by the covariance some times, which turns them
    to those of large variance; the best of their span are the result.
    """

    passes = 1 + PRODUCTS

    def __init__(self, width: int, count: int) -> None:
        super().__init__(count)
        generator = torch.Generator().manual_seed(SEED)
        size = width, min(width, count + EXTRA_DIRECTIONS)
        self._basis = torch.randn(size, generator=generator, dtype=torch.float64)
        self._product = torch.zeros_like(self._basis)
        self._squares = self._basis.new_zeros(())

    def add(self, block: Tensor) -> None:
        """See the base class."""
        if self.passes > PRODUCTS:
            self._add_moments(block, products=False)
            return
        for part in _portions(block):
            centred = part - self.mean
            self._product.addmm_(centred.T, centred @ self._basis)
            if self.passes == PRODUCTS:
                self._squares += centred.square().sum()

    def end_pass(self) -> None:
        """See the base class."""
        super().end_pass()
        assert self._moments is not None
        if self.passes == PRODUCTS:
            self.mean = self._moments.mean
            self._basis = torch.linalg.qr(self._basis.to(self.mean.device))[0]
            self._squares = self._squares.to(self.mean.device)
        elif self.passes and torch.isfinite(self._product).all():
            self._basis = torch.linalg.qr(self._product)[0]
        elif not self.passes:
            product = self._product / self._moments.count
            self.total = self._squares / self._moments.count
            self._choose(self._basis.T @ product, self._basis)
        self._product = torch.zeros_like(self._basis)


def _portions(block: Tensor) -> Iterator[Tensor]:
    """A block's rows in float64, so many at a time that the copies stay small."""
    for part in torch.split(block, max(1, PORTION // block.shape[1])):
        yield part.double()
