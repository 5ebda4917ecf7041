"""Rows of diffused features, of which a window is held in memory at a time."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, final

import torch
from torch import Tensor

from fdgcl.methods.fdgcl.features import dense
from fdgcl.methods.fdgcl.kept_features import KeptFeatures
from fdgcl.methods.fdgcl.shuffling import Range

Item = TypeVar("Item")


@dataclass(eq=False)
class Held:
    """Some rows in memory.

    Attributes:
        views: (rows, features) of each order, less their means over all rows.
        ranges: Where the rows come from, one range after the other.
        halves: The views in float16, scaled, once they are asked for.
    """

    views: Sequence[Tensor]
    ranges: Sequence[Range]
    halves: Sequence[Tensor] | None = None


class RowWindows(abc.ABC):
    """Where the rows of diffused features are, and those that are held now.

    Attributes:
        num_rows: Of each view.
        num_features: Columns of each view.
        dtype: Of the rows.
        device: Where they are when they are held.
        holds_all: Whether all rows are in memory all the time.
    """

    num_rows: int
    num_features: int
    dtype: torch.dtype
    device: torch.device
    holds_all: bool

    @property
    @abc.abstractmethod
    def held(self) -> Held:
        """The rows that are held."""

    @abc.abstractmethod
    def hold(self, ranges: Sequence[Range]) -> None:
        """Hold some rows until others are asked for."""

    @abc.abstractmethod
    def each(
        self, items: Iterable[tuple[Item, Sequence[Range]]], most: int
    ) -> Iterator[Item]:
        """Hold the rows of each item in turn.

        Args:
            items: Anything, with the rows to hold while it is used.
            most: Of the rows of any of them.
        """

    @abc.abstractmethod
    def features(self) -> Tensor:
        """The rows that are held of the features that stand beside the views."""

    @abc.abstractmethod
    def reduced(self, diffused: Tensor) -> Tensor:
        """Diffused rows of all columns, as of those that stand beside the views."""

    @abc.abstractmethod
    def averaged(self, name: str) -> Tensor:
        """The rows that are held of a mean over neighbours, which no encoder reads.

        Args:
            name: Of the block.
        """

    @abc.abstractmethod
    def release(self) -> None:
        """Give back the memory of what need not be held."""


@final
class RowsInMemory(RowWindows):
    """Rows that are in memory as a whole: one window, which is always held.

    Args:
        views: (rows, features) of each order; taken over, and centred in place.
        means: (orders, features), in the views' dtype and on their device.
        kept: What stands beside the views.

    Example:
        >>> rows = RowsInMemory([torch.tensor([[1.0], [3.0]])], torch.tensor([[2.0]]))
        >>> rows.held.views[0].tolist()
        [[-1.0], [1.0]]
    """

    holds_all = True

    def __init__(
        self,
        views: Sequence[Tensor],
        means: Tensor,
        kept: KeptFeatures | None = None,
    ) -> None:
        self.num_rows, self.num_features = views[0].shape
        self.dtype, self.device = views[0].dtype, views[0].device
        centred = [view.sub_(mean) for view, mean in zip(views, means, strict=True)]
        self._all = self._held = Held(centred, ((0, self.num_rows),))
        self._kept = kept

    @property
    def held(self) -> Held:
        """See the base class."""
        return self._held

    def hold(self, ranges: Sequence[Range]) -> None:
        """See the base class."""
        ((start, stop),) = ranges
        if stop - start == self.num_rows:
            self._held = self._all
            return
        self._held = Held([view[start:stop] for view in self._all.views], ranges)

    def each(
        self,
        items: Iterable[tuple[Item, Sequence[Range]]],
        most: int,  # noqa: ARG002
    ) -> Iterator[Item]:
        """See the base class; no row is copied."""
        try:
            for item, ranges in items:
                self.hold(ranges)
                yield item
        finally:
            self._held = self._all

    def features(self) -> Tensor:
        """See the base class."""
        assert self._kept is not None
        ((start, stop),) = self._held.ranges
        return dense(self._kept.features[start:stop])

    def reduced(self, diffused: Tensor) -> Tensor:
        """See the base class."""
        return diffused if self._kept is None else self._kept.reduced(diffused)

    def averaged(self, name: str) -> Tensor:
        """See the base class."""
        assert self._kept is not None
        ((start, stop),) = self._held.ranges
        return self._kept.averages[name][start:stop]

    def release(self) -> None:
        """See the base class."""
        self._all.halves = None
