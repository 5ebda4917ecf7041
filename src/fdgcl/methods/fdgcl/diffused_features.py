"""Features diffused before training: an epoch never touches the graph."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from typing import Self, final

import torch
from torch import Tensor

from fdgcl.diffusion import PolynomialFilter
from fdgcl.diffusion.polynomial import Progress
from fdgcl.methods.fdgcl.features import Features
from fdgcl.methods.fdgcl.folding import fold
from fdgcl.methods.fdgcl.kept_blocks import AVERAGED
from fdgcl.methods.fdgcl.kept_features import KeptFeatures
from fdgcl.methods.fdgcl.precompute import diffuse_features
from fdgcl.methods.fdgcl.shuffling import Range, Shuffle
from fdgcl.methods.fdgcl.sources import Batch, Factors, ViewSource
from fdgcl.methods.fdgcl.standardization import inverse_root, standardize
from fdgcl.methods.fdgcl.statistics import BLOCK_ROWS, Statistics
from fdgcl.methods.fdgcl.windows import RowsInMemory, RowWindows

#: Of the first and the last order.
VIEW_NAMES = {"local": 0, "global": -1}


def has_few_features(num_features: int, num_rows: int) -> bool:
    """Whether covariances of features cost less than what they spare a step.

    Example:
        >>> has_few_features(64, 1000), has_few_features(1433, 2708)
        (True, False)
    """
    return num_features <= num_rows // 4


@final
class DiffusedFeatures(ViewSource):
    """Diffused features of each order, in memory or in windows read from a store.

    They are held less their means, which standardised views have no use for. Rows are
    given as positions among those that are held, and None stands for all of these.

    With the features' covariances, a column's variance over all rows needs no pass over
    them, and standardisation is folded into the weights. Where many features are in
    memory there are none: variances are those of all rows.

    Args:
        rows: Where they are.
        statistics: Theirs.
        rank: Which of the processes that share each batch this is.
        members: How many they are.

    Example:
        >>> views = [torch.tensor([[1.0], [2.0], [3.0], [6.0]]) for _ in range(2)]
        >>> source = DiffusedFeatures.in_memory(views)
        >>> source.hidden(0, torch.eye(1)).flatten().tolist()
        [1.0, 2.0, 3.0, 6.0]
        >>> sum(batch.size for batch in source.batches(2, seed=0, epoch=1))
        4
    """

    block_rows = 8192

    def __init__(
        self,
        rows: RowWindows,
        statistics: Statistics,
        *,
        rank: int = 0,
        members: int = 1,
    ) -> None:
        self._rows, self._rank, self._members = rows, rank, members
        self.num_rows, self.num_features = rows.num_rows, rows.num_features
        self.can_be_captured = rows.holds_all
        found = statistics.to(rows.device, rows.dtype)
        self._means, self._covariances = found.means, found.covariances
        self._chosen: dict[tuple[int, torch.dtype], Tensor] = {}

    @classmethod
    def in_memory(
        cls,
        views: Sequence[Tensor],
        kept: KeptFeatures | None = None,
    ) -> Self:
        """Features that were diffused already.

        Args:
            views: (nodes, features) for each order; taken over, and centred in place.
            kept: What stands beside the views.
        """
        count, columns = views[0].shape
        statistics = Statistics.of(
            (torch.split(view, BLOCK_ROWS) for view in views),
            covariances=has_few_features(columns, count),
            dtype=views[0].dtype,
        )
        rows = RowsInMemory(views, statistics.means, kept)
        return cls(rows, statistics)

    @classmethod
    def diffuse(
        cls,
        features: Features,
        *filters: PolynomialFilter,
        dtype: torch.dtype,
        device: torch.device,
        kept: KeptFeatures | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Diffuse features by every order of the filters, now; see the function."""
        views = diffuse_features(
            features, *filters, dtype=dtype, device=device, progress=progress
        )
        return cls.in_memory(views, kept or KeptFeatures(features))

    def shuffle(self, batch_size: int) -> Shuffle:
        """The order of batches of such a size."""
        return Shuffle.of(
            self.num_rows,
            self.num_features,
            batch_size,
            self._members,
            holds_all=self._rows.holds_all,
        )

    def batches(
        self, batch_size: int | None, seed: int, epoch: int
    ) -> Generator[Batch, None, None]:
        """See the base class."""
        if batch_size is None or batch_size >= self.num_rows:
            self._rows.hold(self.shuffle(self.num_rows).share(self._rank))
            yield Batch(None, self.num_rows)
            return
        shuffle = self.shuffle(batch_size)
        windows = shuffle.windows(seed, epoch, self._rank)
        parts = ((window, window.ranges) for window in windows)
        for window in self._rows.each(parts, shuffle.largest_window):
            for rows, size in zip(window.batches, window.sizes, strict=True):
                yield Batch(torch.from_numpy(rows), size)

    def blocks(self, start: int, stop: int, rows: int) -> Iterator[Range]:
        """Hold all rows from start to stop, so many at a time, in order."""
        ends = ((first, min(first + rows, stop)) for first in range(start, stop, rows))
        yield from self._rows.each(((end, (end,)) for end in ends), rows)

    def row_blocks(self) -> Iterator[None]:
        """See the base class; a block is good until the next."""
        for _ in self.blocks(0, self.num_rows, self.block_rows):
            yield

    def release(self) -> None:
        """Give back the memory that the next batch or block takes again."""
        self._rows.release()
        self._chosen.clear()

    def kept(self, name: str) -> Tensor:
        """See the base class."""
        if name == "features":
            return self._rows.features()
        if name in AVERAGED:
            return self._rows.averaged(name)
        view = VIEW_NAMES[name]
        return self._rows.reduced(self._rows.held.views[view] + self._means[view])

    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """See the base class."""
        return torch.addmm(self._means[view] @ weight, self._view(view, rows), weight)

    def moments(self, view: int, weight: Tensor) -> tuple[Tensor, Tensor]:
        """See the base class; with covariances, no pass over the rows."""
        return self._means[view] @ weight, self._variance(view, weight)

    def standardized(
        self, view: int, weight: Tensor, rows: Tensor | None = None
    ) -> Tensor:
        """See the base class; with covariances, folded into the one product."""
        features = self._view(view, rows)
        if self._covariances is None and rows is None:
            return standardize(features @ weight)
        return features @ (weight * inverse_root(self._variance(view, weight)))

    def factors(
        self,
        weights: Sequence[Tensor],
        rows: Tensor | None = None,
        *,
        half: bool = False,
    ) -> Factors | None:
        """See the base class."""
        if self._covariances is None:
            return None
        folded = fold(weights, self._covariances)
        views = self._halves if half else self._rows.held.views
        chosen = [self._choose(view, one, rows) for view, one in enumerate(views)]
        return Factors(chosen, folded * self._deviations if half else folded)

    @cached_property
    def _deviations(self) -> Tensor:
        """Of the features, (views, features, 1); constant ones have 1."""
        assert self._covariances is not None
        variances = self._covariances.diagonal(dim1=1, dim2=2)
        return torch.where(variances > 0, variances, 1.0).sqrt()[..., None]

    @property
    def _halves(self) -> Sequence[Tensor]:
        """The features in float16, which has room for them once they vary by 1."""
        held = self._rows.held
        if held.halves is None:
            scaled = zip(held.views, self._deviations.squeeze(2), strict=True)
            held.halves = [(view / by).half() for view, by in scaled]
        return held.halves

    def _variance(self, view: int, weight: Tensor) -> Tensor:
        if self._covariances is not None:
            return ((self._covariances[view] @ weight) * weight).sum(0)
        everything = self._rows.held.views[view]
        assert len(everything) == self.num_rows, "variances are those of all rows"
        return (everything @ weight).square().mean(0)

    def _view(self, view: int, rows: Tensor | None) -> Tensor:
        return self._choose(view, self._rows.held.views[view], rows)

    def _choose(self, view: int, held: Tensor, rows: Tensor | None) -> Tensor:
        if rows is None:
            return held
        # The same memory for every batch: new memory is slow memory.
        # Apart for each view: autograd sees one whole tensor change, not its halves.
        key = view, held.dtype
        space = self._chosen.get(key)
        if space is None or len(space) < len(rows):
            space = self._chosen[key] = held.new_empty(len(rows), self.num_features)
        return torch.index_select(held, 0, rows, out=space[: len(rows)])
