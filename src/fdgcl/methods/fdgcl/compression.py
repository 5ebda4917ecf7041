"""Blocks of columns brought to fewer, each by the principal directions of its own.

An embedding is made of blocks: views, and what is kept beside them. Where these have
more columns together than the embedding may have, what varies most remains. Directions
are found block by block; how many of each remain is decided by what they have of the
embedding's variance, all blocks' together, so that columns go where they carry most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from fdgcl.methods.fdgcl.column_shares import ranked_shares
from fdgcl.methods.fdgcl.principal_directions import (
    Fitter,
    Whole,
    new_search,
    searched,
)
from fdgcl.training.process_group import ProcessGroup

#: Goes over all rows of the training graph, some at a time, by blocks of these numbers.
Pass = Callable[[Sequence[int]], Iterable[Sequence[Tensor]]]


@final
class Compression(nn.Module):
    """Blocks of columns, brought to so many in all.

    Where there are more, every block is multiplied, less its mean over the training
    graph, by directions in which it varied most there; for a block that keeps all of
    its columns that is a rotation. A direction counts by the variance that it has in
    the embedding: of a block with rows of mean square norm 1, times its weight. Each
    block has a few columns at least.

    Directions in which a block did not vary at all are zeros: columns that tell nothing
    of the training graph tell nothing of another one. Before anything is fitted all are
    zeros.

    Args:
        widths: Columns of the blocks.
        dim: Columns of the embedding.
        weights: Of the blocks.
        dtype: Of means and directions.

    Example:
        >>> compression = Compression((2, 1), 2, (1.0, 0.5))
        >>> blocks = torch.tensor([[0.0, 0.0], [3.0, 4.0]]), torch.tensor([[1.0], [3]])
        >>> compression.fit(lambda wanted: [[blocks[n] for n in wanted]]).tolist()
        [6.25, 1.0]
        >>> [block.tolist() for block in compression(blocks)]
        [[[-2.5], [2.5]], [[-1.0], [1.0]]]
    """

    def __init__(
        self,
        widths: Sequence[int],
        dim: int,
        weights: Sequence[float],
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self._widths, self._dim = tuple(widths), dim
        self._weights = tuple(weights)
        if self.is_needed:
            for number, width in enumerate(widths):
                mean = torch.zeros(width, dtype=dtype)
                self.register_buffer(f"mean_{number}", mean)
            nothing = [np.zeros(count) for count in searched(widths, dim)]
            self._resize(ranked_shares(nothing, dim))

    @property
    def is_needed(self) -> bool:
        """Whether the blocks have more columns than the embedding may have."""
        return sum(self._widths) > self._dim

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns of the embedding that each block has, by what was fitted last."""
        if not self.is_needed:
            return self._widths
        every = range(len(self._widths))
        return tuple(self._directions(number).shape[1] for number in every)

    def forward(self, blocks: Sequence[Tensor]) -> list[Tensor]:
        """Some rows of all blocks, compressed."""
        if not self.is_needed:
            return list(blocks)
        return [
            (block - self._mean(number)) @ self._directions(number)
            for number, block in enumerate(blocks)
        ]

    @torch.no_grad()
    def fit(self, rows: Pass) -> Tensor:
        """Find means and directions by all rows of the training graph.

        Args:
            rows: Goes over them, as often as is needed.

        Returns:
            The mean square norm of each block's rows once compressed, in float64.
        """
        if not self.is_needed:
            whole = [Whole() for _ in self._widths]
            _look(whole, rows)
            return torch.stack([one.mean_square.cpu() for one in whole])
        counts = searched(self._widths, self._dim)
        found = [new_search(*sizes) for sizes in zip(self._widths, counts, strict=True)]
        _look(found, rows)
        pairs = zip(found, self._weights, strict=True)
        counted = [one.counted(weight) for one, weight in pairs]
        columns = ranked_shares(counted, self._dim)
        self._resize(columns)
        for number, (one, kept) in enumerate(zip(found, columns, strict=True)):
            self._mean(number).copy_(one.mean)
            self._directions(number).copy_(one.directions[:, :kept])
        squares = zip(found, columns, strict=True)
        return torch.stack([one.variances[:kept].sum().cpu() for one, kept in squares])

    def agree(self, group: ProcessGroup) -> None:
        """Take what the first of a group found.

        The others may have found other numbers of columns, by their own rounding.
        """
        if self.is_needed:
            columns = torch.tensor(self.columns)
            group.sum(columns if group.is_first else columns.zero_())
            if not group.is_first:
                self._resize(columns.tolist())
        for found in self.buffers():
            group.sum(found if group.is_first else found.zero_())

    def _resize(self, columns: Sequence[int]) -> None:
        for number, size in enumerate(zip(self._widths, columns, strict=True)):
            zeros = self._mean(number).new_zeros(size)
            self.register_buffer(f"directions_{number}", zeros)

    def _mean(self, number: int) -> Tensor:
        return self.get_buffer(f"mean_{number}")

    def _directions(self, number: int) -> Tensor:
        return self.get_buffer(f"directions_{number}")

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Tensor], prefix: str, *rest: Any
    ) -> None:
        """See the base class: columns are as many as were saved, if they can be.

        Others do not fit those that there are, and are refused for that.
        """
        names = [f"{prefix}directions_{n}" for n in range(len(self._widths))]
        shapes = [state_dict[name].shape for name in names if name in state_dict]
        if self.is_needed and self._are_possible(shapes):
            self._resize([columns for _, columns in shapes])
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _are_possible(self, shapes: Sequence[torch.Size]) -> bool:
        if len(shapes) != len(self._widths):
            return False
        if any(len(shape) != 2 for shape in shapes):
            return False
        rows, columns = zip(*shapes, strict=True)
        each = zip(columns, self._widths, strict=True)
        return (
            rows == self._widths
            and sum(columns) == self._dim
            and all(0 < kept <= width for kept, width in each)
        )


def _look(found: Sequence[Fitter], rows: Pass) -> None:
    """Go over all rows, as often as each block has to."""
    while wanted := [n for n, one in enumerate(found) if one.passes]:
        for blocks in rows(wanted):
            for number, block in zip(wanted, blocks, strict=True):
                found[number].add(block)
        for number in wanted:
            found[number].end_pass()
