"""From the views, and what is kept beside them, to one embedding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, final

import torch
from torch import Tensor, nn

from fdgcl.methods.fdgcl.compression import Compression

if TYPE_CHECKING:
    from fdgcl.methods.fdgcl.embedding_parts import Parts
    from fdgcl.training.process_group import ProcessGroup

COMBINATIONS = ("sum", "concat")

Views = Sequence[Tensor]
View = Callable[[int], Tensor]
Kept = Callable[[str], Tensor]


def view_weights(beta: float | Sequence[float], count: int) -> tuple[float, ...]:
    """Return the weight of each view in the embedding; they add up to 1.

    Args:
        beta: The weight of the first view, of which the others share the rest; or the
            weights of all.
        count: How many views there are.

    Example:
        >>> view_weights(0.5, 3), view_weights((1, 3), 2)
        ((0.5, 0.25, 0.25), (0.25, 0.75))
    """
    if isinstance(beta, Sequence):
        total = sum(beta)
        return tuple(weight / total for weight in beta)
    if count == 1:
        return (1.0,)
    return (beta, *[(1 - beta) / (count - 1)] * (count - 1))


@final
class Combination(nn.Module):
    """Mixes or concatenates the views, and puts what is kept beside them.

    The loss makes the views agree, and what only one of them knew may be lost on the
    way. Columns that are kept as they were leave it to the reader of the embedding.
    Blocks of columns are brought to rows of mean square norm 1 on the training graph,
    so that a weight means the same for each; the paper's plain mixture is left alone.
    Where blocks are compressed, that comes first, and columns go where they then carry
    most.

    Args:
        weights: Of each view.
        parts: Columns of the blocks: the views with a weight, or their sum, and then
            those kept; and of the embedding.
        combine: `sum` or `concat`.
        keep: Names of the blocks that are kept.
        keep_weight: Weight of all of these, or of each.
        dtype: Of the scales.
    """

    def __init__(
        self,
        weights: Sequence[float],
        parts: Parts,
        combine: str = "sum",
        keep: Sequence[str] = (),
        keep_weight: float | Sequence[float] = 1.0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.weights, self.parts = tuple(weights), parts
        self.combine = combine
        self.keep = tuple(keep)
        length = math.hypot(*self.weights)
        each = [(view, weight / length) for view, weight in enumerate(self.weights)]
        self._views = [(view, share) for view, share in each if share > 0]
        shares = [share for _, share in self._views] if combine == "concat" else [1.0]
        count = len(shares)
        if not isinstance(keep_weight, Sequence):
            keep_weight = [keep_weight] * len(self.keep)
        self._shares = [*shares, *keep_weight]
        self.is_plain = combine == "sum" and not self.keep
        self.register_buffer("scales", torch.ones(count + len(self.keep), dtype=dtype))
        self.scales: Tensor
        self.compression = Compression(parts.widths, parts.dim, self._shares, dtype)

    def forward(self, views: Views, kept: Kept) -> Tensor:
        """The embedding of some rows, from their views and what is kept of them."""
        every = range(len(self._shares))
        blocks = [self._block(number, views.__getitem__, kept) for number in every]
        if self.compression.is_needed:
            blocks = self.compression(blocks)
        if self.is_plain:
            return blocks[0]
        parts = zip(blocks, self.scales, self._shares, strict=True)
        return torch.cat([block * (scale * share) for block, scale, share in parts], 1)

    @torch.no_grad()
    def freeze(self, rows: Callable[[], Iterable[tuple[View, Kept]]]) -> None:
        """Fix the blocks' directions and scales by all rows of the training graph.

        Args:
            rows: Goes over them, some at a time; each view of these and each block
                that is kept is made when it is asked for.
        """
        if self.is_plain and not self.compression.is_needed:
            return

        def blocks(wanted: Sequence[int]) -> Iterator[list[Tensor]]:
            for view, kept in rows():
                yield [self._block(number, view, kept) for number in wanted]

        means = self.compression.fit(blocks)
        if not self.is_plain:
            self.scales.copy_(torch.where(means > 0, means, 1.0).rsqrt())

    def agree(self, group: ProcessGroup) -> None:
        """Take what the first of a group found: all must embed alike, to the bit."""
        if group.size > 1:
            group.sum(self.scales if group.is_first else self.scales.zero_())
            self.compression.agree(group)

    def _block(self, number: int, view: View, kept: Kept) -> Tensor:
        first_kept = len(self._shares) - len(self.keep)
        if number >= first_kept:
            return kept(self.keep[number - first_kept])
        if self.combine == "concat":
            return view(self._views[number][0])
        return _mixed([view(one) for one in range(len(self.weights))], self.weights)


def _mixed(views: Views, weights: Sequence[float]) -> Tensor:
    first, *others = zip(views, weights, strict=True)
    mixed = first[0] * first[1]
    for view, weight in others:
        mixed = mixed + view * weight
    return mixed
