"""Diffused features read from a store while they are trained on."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar, final

import numpy as np
import torch
from torch import Tensor

from fdgcl.methods.fdgcl import ViewSource
from fdgcl.methods.fdgcl.diffused import DiffusedRows, Diffusion
from fdgcl.methods.fdgcl.folding import fold
from fdgcl.methods.fdgcl.shuffling import Shuffle, window_rows
from fdgcl.methods.fdgcl.sources import VIEW_NAMES, Batch, Factors
from fdgcl.methods.fdgcl.standardization import inverse_root
from fdgcl.methods.fdgcl.statistics import Statistics
from fdgcl.training import ProcessGroup, SingleProcess

#: First row, and the one after the last.
Range = tuple[int, int]
Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class _Held:
    """Some rows in memory.

    Attributes:
        views: (rows, features) of each order, less their means over all rows.
        ranges: Where the rows come from, one after the other.
    """

    views: Sequence[Tensor]
    ranges: Sequence[Range]


@final
class Streamed(ViewSource):
    """Rows of a store's diffused features, of which some are held at a time.

    `rows` are positions among those held, and None stands for all of them. While a
    batch or block is used, the next ones are read by one thread.

    Args:
        diffusion: The features, all slices done.
        statistics: Theirs.
        device: Where to compute.
        group: Who share the rows of each batch.
        window: Rows that all of them hold together; None for what suits a batch.

    Raises:
        InputError: Some slices are not done.
    """

    block_rows = 8192

    def __init__(
        self,
        diffusion: Diffusion,
        statistics: Statistics,
        *,
        device: torch.device | None = None,
        group: ProcessGroup | None = None,
        window: int | None = None,
    ) -> None:
        self._rows = DiffusedRows(diffusion)
        self._features = diffusion.features
        self._device = device or torch.device("cpu")
        self._group, self._window = group or SingleProcess(), window
        self.num_rows, self.num_features = self._rows.num_rows, self._rows.num_features
        self._kind = torch.from_numpy(np.empty(0, self._rows.dtype)).dtype
        self._means = statistics.means.to(self._device, self._kind)
        self._offsets = statistics.means.to(self._kind).numpy()
        self._covariances = statistics.covariances.to(self._device, self._kind)
        self._space: Tensor | None = None
        self._chosen: dict[int, Tensor] = {}
        self._held: _Held | None = None

    def shuffle(self, batch_size: int) -> Shuffle:
        """How rows are dealt to batches of such a size."""
        window = self._window or window_rows(self.num_features, batch_size)
        return Shuffle(self.num_rows, batch_size, window, self._group.size)

    def batches(
        self, batch_size: int | None, seed: int, epoch: int
    ) -> Generator[Batch, None, None]:
        """See the base class."""
        if batch_size is None or batch_size >= self.num_rows:
            self._hold_all()
            yield Batch(None, self.num_rows)
            return
        shuffle = self.shuffle(batch_size)
        windows = shuffle.windows(seed, epoch, self._group.rank)
        parts = ((window, window.ranges) for window in windows)
        for window in self._one_by_one(parts, shuffle.largest_window):
            for rows, size in zip(window.batches, window.sizes, strict=True):
                yield Batch(torch.from_numpy(rows), size)

    def blocks(self, start: int, stop: int, rows: int) -> Iterator[Range]:
        """Hold all rows from start to stop, so many at a time, in order."""
        ends = ((first, min(first + rows, stop)) for first in range(start, stop, rows))
        yield from self._one_by_one(((end, (end,)) for end in ends), rows)

    def row_blocks(self, device: torch.device) -> Iterator[Tensor | None]:  # noqa: ARG002
        """See the base class; a block is good until the next."""
        for _ in self.blocks(0, self.num_rows, self.block_rows):
            yield None

    def release(self) -> None:
        """Give back the memory of what is held."""
        self._held = self._space = None
        self._chosen.clear()

    def kept(self, name: str, rows: Tensor | None = None) -> Tensor:
        """See the base class."""
        if name != "features":
            view = VIEW_NAMES[name]
            return self._view(view, rows) + self._means[view]
        found = torch.from_numpy(self._held_features())
        return found if rows is None else found[rows.cpu()]

    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """See the base class."""
        return torch.addmm(self._means[view] @ weight, self._view(view, rows), weight)

    def moments(self, view: int, weight: Tensor) -> tuple[Tensor, Tensor]:
        """See the base class; no pass over the rows."""
        variance = ((self._covariances[view] @ weight) * weight).sum(0)
        return self._means[view] @ weight, variance

    def standardized(
        self, view: int, weight: Tensor, rows: Tensor | None = None
    ) -> Tensor:
        """See the base class; folded into the one product."""
        _, variance = self.moments(view, weight)
        return self._view(view, rows) @ (weight * inverse_root(variance))

    def factors(
        self,
        weights: Sequence[Tensor],
        rows: Tensor | None = None,
        *,
        half: bool = False,
    ) -> Factors:
        """See the base class."""
        folded = fold(weights, self._covariances)
        views = [self._view(view, rows) for view in range(len(self._means))]
        if not half:
            return Factors(views, folded)
        # float16 has room for features that vary by 1.
        variances = self._covariances.diagonal(dim1=1, dim2=2)
        by = torch.where(variances > 0, variances, 1.0).sqrt()
        halves = [(view / one).half() for view, one in zip(views, by, strict=True)]
        return Factors(halves, folded * by[..., None])

    def _view(self, view: int, rows: Tensor | None) -> Tensor:
        assert self._held is not None, "no rows are held: they come with a batch"
        held = self._held.views[view]
        if rows is None:
            return held
        # The same memory for every batch: new memory is slow memory.
        # Apart for each view: autograd sees one whole tensor change, not its halves.
        space = self._chosen.get(view)
        if space is None or len(space) < len(rows):
            space = self._chosen[view] = held.new_empty(len(rows), self.num_features)
        return torch.index_select(held, 0, rows, out=space[: len(rows)])

    def _held_features(self) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        assert self._held is not None
        parts = [self._features.read(*ends) for ends in self._held.ranges]
        return np.concatenate(parts)

    def _hold_all(self) -> None:
        """Hold this member's share of all rows, and keep it for the next epoch."""
        step = Shuffle(self.num_rows, self.num_rows).chunk_rows
        starts = range(self._group.rank * step, self.num_rows, self._group.size * step)
        ranges = [(start, min(start + step, self.num_rows)) for start in starts]
        if self._held is None or self._held.ranges != ranges:
            self.release()
            count = sum(stop - start for start, stop in ranges)
            self._held = self._read(ranges, self._new_space(1, count)[0])

    def _one_by_one(
        self, items: Iterable[tuple[Item, Sequence[Range]]], capacity: int
    ) -> Iterator[Item]:
        """Hold the rows of each item in turn, while those of the next are read."""
        pending = iter(items)
        first = next(pending, None)
        if first is None:
            return
        spaces = self._new_space(2, capacity)
        with ThreadPoolExecutor(1) as reader:
            item, ranges = first
            future = reader.submit(self._read, ranges, spaces[0])
            turn = 0
            while True:
                held = future.result()
                following = next(pending, None)
                turn = 1 - turn
                if following is not None:
                    future = reader.submit(self._read, following[1], spaces[turn])
                self._held = held
                yield item
                if following is None:
                    return
                item = following[0]

    def _new_space(self, count: int, rows: int) -> Tensor:
        """Room for so many windows, the same as long as it is enough."""
        shape = (count, len(self._means), rows, self.num_features)
        size = int(np.prod(shape))
        if self._space is None or self._space.numel() < size:
            self.release()
            self._space = torch.empty(size, dtype=self._kind)
        return self._space[:size].view(shape)

    def _read(self, ranges: Sequence[Range], space: Tensor) -> _Held:
        count = sum(stop - start for start, stop in ranges)
        # By NumPy: torch would wake up threads that training has a use for.
        room = space[:, :count].numpy()
        done = 0
        for start, stop in ranges:
            for view in range(len(self._means)):
                part = room[view, done : done + stop - start]
                self._rows.read(view, start, stop, part)
                np.subtract(part, self._offsets[view], out=part)
            done += stop - start
        return _Held([*space[:, :count].to(self._device)], ranges)
