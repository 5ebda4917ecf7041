"""From the views, and what is kept beside them, to one embedding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import final

import torch
from torch import Tensor, nn

COMBINATIONS = ("sum", "concat")

Views = Sequence[Tensor]
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

    Args:
        weights: Of each view.
        combine: `sum` or `concat`.
        keep: Names of the blocks that are kept.
        keep_weight: Weight of all of these, or of each.
        dtype: Of the scales.
    """

    def __init__(
        self,
        weights: Sequence[float],
        combine: str = "sum",
        keep: Sequence[str] = (),
        keep_weight: float | Sequence[float] = 1.0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.weights = tuple(weights)
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
        parts = zip(blocks, self.scales, self._shares, strict=True)
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
            blocks = [_mixed(views, self.weights)]
        return [*blocks, *(kept(name) for name in self.keep)]


def _mixed(views: Views, weights: Sequence[float]) -> Tensor:
    first, *others = zip(views, weights, strict=True)
    mixed = first[0] * first[1]
    for view, weight in others:
        mixed = mixed + view * weight
    return mixed
