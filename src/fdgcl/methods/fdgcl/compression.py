"""Blocks of columns brought to fewer, each by the principal directions of its own.

An embedding is made of blocks: views, and what is kept beside them. Where these have
more columns together than the embedding may have, each has a share of them, and what
varies most in it is what remains. Directions are found block by block, so that a block
that varies little is not lost to another that varies much.

Rows come some at a time, as often as a block asks for: once for most, several times for
one so wide that a matrix of all its products would not do.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import final

import torch
from torch import Tensor, nn

from fdgcl.methods.fdgcl.statistics import Moments

#: Goes over all rows of the training graph, some at a time, by blocks of these numbers.
Pass = Callable[[Sequence[int]], Iterable[Sequence[Tensor]]]

# Columns up to which all products of a block are summed up: 32 MiB of float64.
WIDEST_EXACT = 2048
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


def shares(widths: Sequence[int], dim: int) -> tuple[int, ...]:
    """Columns of the embedding that each block has.

    As many for each; what a narrow block does not need is the others'.

    Args:
        widths: Columns of the blocks.
        dim: Columns of the embedding, at least one for each block.

    Example:
        >>> shares((512, 1433, 1433), 1024), shares((16, 1433, 500), 1024)
        ((341, 341, 342), (16, 508, 500))
        >>> shares((512, 100), 1024)
        (512, 100)
    """
    if sum(widths) <= dim:
        return tuple(widths)
    found = list(widths)
    narrow_first = sorted(range(len(widths)), key=widths.__getitem__)
    for place, block in enumerate(narrow_first):
        found[block] = min(widths[block], dim // (len(widths) - place))
        dim -= found[block]
    return tuple(found)


def fitting_bytes(widths: Sequence[int], chosen: Sequence[int]) -> int:
    """Memory that the search for directions takes beside the rows, about.

    Args:
        widths: Columns of the blocks.
        chosen: Those of each in the embedding.

    Example:
        >>> fitting_bytes((8, 8), (8, 8)), fitting_bytes((100, 8), (10, 8))
        (0, 320000)
    """
    needed = 0
    for width, share in zip(widths, chosen, strict=True):
        if share < width <= WIDEST_EXACT:
            needed += 8 * EXACT_MATRICES * width**2
        elif share < width:
            needed += 8 * SKETCH_MATRICES * width * (share + EXTRA_DIRECTIONS)
    # Centred rows of one block at a time, beside the same in float64.
    return needed + (16 * PORTION if needed > 8 * PORTION else 0)


@final
class Compression(nn.Module):
    """Blocks of columns, each brought to its share of an embedding's columns.

    A block with no more columns than its share stays as it is. Another is multiplied,
    less its mean over the training graph, by the directions in which it varied most
    there. Directions in which it did not vary at all are zeros: columns that tell
    nothing of the training graph tell nothing of another one.

    Args:
        widths: Columns of the blocks.
        chosen: Those of each in the embedding.
        dtype: Of means and directions.

    Example:
        >>> compression = Compression((2,), (1,))
        >>> rows = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
        >>> compression.fit(lambda _: [[rows]]).tolist()
        [6.25]
        >>> compression([rows])[0].tolist()
        [[-2.5], [2.5]]
    """

    def __init__(
        self,
        widths: Sequence[int],
        chosen: Sequence[int],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self._sizes = tuple(zip(widths, chosen, strict=True))
        for block, (width, share) in enumerate(self._sizes):
            if share < width:
                mean = torch.zeros(width, dtype=dtype)
                directions = torch.zeros(width, share, dtype=dtype)
                self.register_buffer(f"mean_{block}", mean)
                self.register_buffer(f"directions_{block}", directions)

    @property
    def is_needed(self) -> bool:
        """Whether there is a block with more columns than its share."""
        return any(share < width for width, share in self._sizes)

    def forward(self, blocks: Sequence[Tensor]) -> list[Tensor]:
        """Some rows of all blocks, compressed."""
        return [self._compressed(number, block) for number, block in enumerate(blocks)]

    @torch.no_grad()
    def fit(self, rows: Pass) -> Tensor:
        """Find means and directions by all rows of the training graph.

        Args:
            rows: Goes over them, as often as is needed.

        Returns:
            The mean square norm of each block's rows once compressed, in float64.
        """
        found = [_fitter(width, share) for width, share in self._sizes]
        while wanted := [n for n, one in enumerate(found) if one.passes]:
            for blocks in rows(wanted):
                for number, block in zip(wanted, blocks, strict=True):
                    found[number].add(block)
            for number in wanted:
                found[number].end_pass()
        for number, one in enumerate(found):
            if isinstance(one, _Search):
                getattr(self, f"mean_{number}").copy_(one.mean)
                getattr(self, f"directions_{number}").copy_(one.directions)
        return torch.stack([one.mean_square.cpu() for one in found])

    def _compressed(self, number: int, block: Tensor) -> Tensor:
        width, share = self._sizes[number]
        if share == width:
            return block
        mean = getattr(self, f"mean_{number}")
        compressed: Tensor = (block - mean) @ getattr(self, f"directions_{number}")
        return compressed


def _fitter(width: int, share: int) -> _Fitter:
    if share == width:
        return _Whole()
    return _Exact(share) if width <= WIDEST_EXACT else _Sketch(width, share)


class _Fitter(abc.ABC):
    """Looks at all rows of a block.

    Attributes:
        passes: How often it still has to.
        mean_square: Of the norms of the rows once compressed, when that is known.
    """

    passes = 1
    mean_square: Tensor

    @abc.abstractmethod
    def add(self, block: Tensor) -> None:
        """Take in some rows."""

    def end_pass(self) -> None:
        """Take in that these were all."""
        self.passes -= 1


@final
class _Whole(_Fitter):
    """A block that stays as it is."""

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


class _Search(_Fitter):
    """A block that is compressed.

    Attributes:
        mean: Of its columns.
        directions: (columns, share), orthonormal, or zeros where nothing varies.
    """

    mean: Tensor
    directions: Tensor

    def __init__(self, share: int) -> None:
        self._share, self._epsilon = share, 0.0
        self._moments: Moments | None = None

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
            self.directions = covariance.new_full((rows, self._share), torch.nan)
            self.mean_square = covariance.new_tensor(torch.nan)
            return
        variances, vectors = torch.linalg.eigh((covariance + covariance.T) / 2)
        variances = variances.flip(0)[: self._share]
        vectors = vectors.flip(1)[:, : self._share]
        directions = vectors if basis is None else basis @ vectors
        tiny = torch.finfo(torch.float64).eps * rows
        least = variances[0] * max(tiny, (NOISE_DIGITS * self._epsilon) ** 2)
        varies = variances > least
        # Either sign would do; this one is the same wherever rounding goes.
        largest = directions.abs().argmax(0, keepdim=True)
        signs = directions.gather(0, largest).sign()
        self.directions = directions * signs * varies
        self.mean_square = (variances * varies).sum()


@final
class _Exact(_Search):
    """By all products of its columns, in one pass."""

    def add(self, block: Tensor) -> None:
        """See the base class."""
        self._add_moments(block, products=True)

    def end_pass(self) -> None:
        """See the base class."""
        super().end_pass()
        assert self._moments is not None
        self.mean = self._moments.mean
        self._choose(self._moments.covariance)
        self._moments = None


@final
class _Sketch(_Search):
    """By randomised subspace iteration (Halko, Martinsson and Tropp 2011).

    Directions at random are multiplied by the covariance some times, which turns them
    to those of large variance; the best of their span are the result.
    """

    passes = 1 + PRODUCTS

    def __init__(self, width: int, share: int) -> None:
        super().__init__(share)
        generator = torch.Generator().manual_seed(SEED)
        size = width, min(width, share + EXTRA_DIRECTIONS)
        self._basis = torch.randn(size, generator=generator, dtype=torch.float64)
        self._product = torch.zeros_like(self._basis)

    def add(self, block: Tensor) -> None:
        """See the base class."""
        if self.passes > PRODUCTS:
            self._add_moments(block, products=False)
            return
        for part in _portions(block):
            centred = part - self.mean
            self._product.addmm_(centred.T, centred @ self._basis)

    def end_pass(self) -> None:
        """See the base class."""
        super().end_pass()
        assert self._moments is not None
        if self.passes == PRODUCTS:
            self.mean = self._moments.mean
            self._basis = torch.linalg.qr(self._basis.to(self.mean.device))[0]
        elif self.passes and torch.isfinite(self._product).all():
            self._basis = torch.linalg.qr(self._product)[0]
        elif not self.passes:
            product = self._product / self._moments.count
            self._choose(self._basis.T @ product, self._basis)
        self._product = torch.zeros_like(self._basis)


def _portions(block: Tensor) -> Iterator[Tensor]:
    """A block's rows in float64, so many at a time that the copies stay small."""
    for part in torch.split(block, max(1, PORTION // block.shape[1])):
        yield part.double()
