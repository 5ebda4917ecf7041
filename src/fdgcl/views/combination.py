"""From two views, and what is kept beside them, to one embedding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import final

import torch
from torch import Tensor, nn

COMBINATIONS = ("sum", "concat")
KEPT = ("features", "local", "global")

Views = tuple[Tensor, Tensor]
Kept = Callable[[str], Tensor]


@final
class Combination(nn.Module):
    """Mixes or concatenates the views, and puts what is kept beside them.

    The loss makes the views agree, and what only one of them knew may be lost on the
    way. Columns that are kept as they were leave it to the reader of the embedding.
    Blocks of columns are brought to rows of mean square norm 1 on the training graph,
    so that a weight means the same for each; the paper's plain mixture is left alone.

    Args:
        beta: Weight of the first view.
        combine: `sum` or `concat`.
        keep: Of `features`, `local` and `global`.
        keep_weight: Weight of each block that is kept.
        dtype: Of the scales.
    """

    def __init__(
        self,
        beta: float,
        combine: str = "sum",
        keep: Sequence[str] = (),
        keep_weight: float = 1.0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.beta = beta
        self.combine = combine
        self.keep = tuple(keep)
        length = math.hypot(beta, 1 - beta)
        both = [(0, beta / length), (1, (1 - beta) / length)]
        self._views = [(view, share) for view, share in both if share > 0]
        count = len(self._views) if combine == "concat" else 1
        weights = [share for _, share in self._views] if combine == "concat" else [1.0]
        self._weights = [*weights, *[keep_weight] * len(self.keep)]
        self.is_plain = combine == "sum" and not self.keep
        self.register_buffer("scales", torch.ones(count + len(self.keep), dtype=dtype))
        self.scales: Tensor

    def width(self, dim: int, num_features: int, relations: int = 1) -> int:
        """Columns of the embedding.

        Args:
            dim: Columns of a view.
            num_features: Columns of the features.
            relations: How many times these stand side by side once diffused.
        """
        views = len(self._views) if self.combine == "concat" else 1
        kept = sum(1 if name == "features" else relations for name in self.keep)
        return views * dim + kept * num_features

    def forward(self, views: Views, kept: Kept) -> Tensor:
        """The embedding of some rows, from their views and what is kept of them."""
        blocks = self._blocks(views, kept)
        if self.is_plain:
            return blocks[0]
        parts = zip(blocks, self.scales, self._weights, strict=True)
        return torch.cat([block * (scale * share) for block, scale, share in parts], 1)

    @torch.no_grad()
    def freeze(self, rows: Iterable[tuple[Views, Kept]]) -> None:
        """Fix the blocks' scales by all rows of the training graph, part by part."""
        if self.is_plain:
            return
        squares = torch.zeros_like(self.scales, dtype=torch.float64)
        count = 0
        for views, kept in rows:
            blocks = self._blocks(views, kept)
            squares += torch.stack([block.double().square().sum() for block in blocks])
            count += len(blocks[0])
        means = squares / count
        self.scales.copy_(torch.where(means > 0, means, 1.0).rsqrt())

    def _blocks(self, views: Views, kept: Kept) -> list[Tensor]:
        if self.combine == "concat":
            blocks = [views[view] for view, _ in self._views]
        else:
            blocks = [self.beta * views[0] + (1 - self.beta) * views[1]]
        return [*blocks, *(kept(name) for name in self.keep)]
