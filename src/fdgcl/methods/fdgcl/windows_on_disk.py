"""Rows of a store's diffused features, read while others are trained on."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import final

import numpy as np
import torch
from torch import Tensor

from fdgcl._prefetch import prefetch
from fdgcl.methods.fdgcl.diffused import DiffusedRows, Diffusion
from fdgcl.methods.fdgcl.kept_features import as_kept
from fdgcl.methods.fdgcl.recipe import AVERAGE
from fdgcl.methods.fdgcl.shuffling import Range
from fdgcl.methods.fdgcl.windows import Held, Item, RowWindows


@final
class RowsOnDisk(RowWindows):
    """Rows on disk. While those of a window are used, the next are read by a thread.

    Args:
        diffusion: The features, all slices done.
        means: (orders, features), of all rows.
        device: Where the rows are to be used.

    Raises:
        InputError: Some slices are not done.
    """

    holds_all = False

    def __init__(
        self, diffusion: Diffusion, means: Tensor, device: torch.device | None = None
    ) -> None:
        self._rows, self._features = DiffusedRows(diffusion), diffusion.features
        found = diffusion.kept_reduction
        self._directions = None if found is None else torch.from_numpy(found.directions)
        self.num_rows, self.num_features = self._rows.num_rows, self._rows.num_features
        self.dtype = torch.from_numpy(np.empty(0, self._rows.dtype)).dtype
        self._means = means.to(self.dtype).cpu().numpy()
        self.device = device or torch.device("cpu")
        self._space: Tensor | None = None
        self._held: Held | None = None

    @property
    def held(self) -> Held:
        """See the base class."""
        assert self._held is not None, "no rows are held: they come with a batch"
        return self._held

    def hold(self, ranges: Sequence[Range]) -> None:
        """See the base class; they are read once for any number of epochs."""
        if self._held is None or self._held.ranges != ranges:
            self.release()
            count = sum(stop - start for start, stop in ranges)
            self._held = self._read(ranges, self._new_space(1, count)[0])

    def each(
        self, items: Iterable[tuple[Item, Sequence[Range]]], most: int
    ) -> Iterator[Item]:
        """See the base class."""
        with closing(prefetch(self._each_read(items, most))) as windows:
            for item, held in windows:
                self._held = held
                yield item

    def features(self) -> Tensor:
        """See the base class."""
        parts = [self._features.read(*ends) for ends in self.held.ranges]
        return self.reduced(torch.from_numpy(np.concatenate(parts)))

    def averaged(self, name: str) -> Tensor:  # noqa: ARG002
        """See the base class; a store's edges go one way, and have one mean."""
        count = sum(stop - start for start, stop in self.held.ranges)
        found = np.empty((count, self.num_features), self._rows.dtype)
        done = 0
        for start, stop in self.held.ranges:
            self._rows.read(AVERAGE, start, stop, found[done : done + stop - start])
            done += stop - start
        return self.reduced(torch.from_numpy(found))

    def reduced(self, diffused: Tensor) -> Tensor:
        """See the base class; diffused or not, rows are multiplied alike."""
        return as_kept(diffused, self._directions)

    def release(self) -> None:
        """See the base class."""
        self._held = self._space = None

    def _each_read(
        self, items: Iterable[tuple[Item, Sequence[Range]]], most: int
    ) -> Generator[tuple[Item, Held], None, None]:
        spaces = self._new_space(2, most)
        for turn, (item, ranges) in enumerate(items):
            # The other space is in use.
            yield item, self._read(ranges, spaces[turn % 2])

    def _new_space(self, count: int, rows: int) -> Tensor:
        """Room for so many windows, the same as long as it is enough."""
        shape = (count, len(self._means), rows, self.num_features)
        size = int(np.prod(shape))
        if self._space is None or self._space.numel() < size:
            self.release()
            self._space = torch.empty(size, dtype=self.dtype)
        return self._space[:size].view(shape)

    def _read(self, ranges: Sequence[Range], space: Tensor) -> Held:
        count = sum(stop - start for start, stop in ranges)
        # By NumPy: torch would wake up threads that training has a use for.
        room = space[:, :count].numpy()
        done = 0
        for start, stop in ranges:
            for view, means in enumerate(self._means):
                part = room[view, done : done + stop - start]
                self._rows.read(view, start, stop, part)
                np.subtract(part, means, out=part)
            done += stop - start
        return Held([*space[:, :count].to(self.device)], ranges)
