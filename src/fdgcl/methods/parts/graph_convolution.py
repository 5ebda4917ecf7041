"""Linear maps and graph convolutions, their weights stored (outputs, inputs)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, final

import torch
from torch import Tensor, nn
from torch.nn import functional


class Rows(Protocol):
    """What can be multiplied by weights: a tensor, or features with masked columns."""

    def __matmul__(self, weight: Tensor, /) -> Tensor:
        """The product with (columns, outputs)."""


class Linear(nn.Module):
    """`X W' + b`, started as torch starts it: all uniform within `inputs ** -0.5`.

    Initial weights are drawn in float32 for every dtype, so that both start alike.

    Args:
        inputs: Columns of X.
        outputs: Columns of the result.
        generator: Where initial weights are drawn from.
        scale: Factor on them.
        bias: Whether there is a b.
        dtype: Of the weights.

    Example:
        >>> layer = Linear(3, 2, torch.Generator().manual_seed(0))
        >>> tuple(layer.weight.shape), tuple(layer(torch.ones(5, 3)).shape)
        ((2, 3), (5, 2))
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        generator: torch.Generator,
        *,
        scale: float = 1.0,
        bias: bool = True,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        of_weight, of_bias = self._bounds(inputs, outputs)
        weight = _uniform((inputs, outputs), scale * of_weight, generator)
        self.weight = nn.Parameter(weight.T.to(dtype).contiguous())
        self.bias: nn.Parameter | None = None
        if bias:
            self.bias = nn.Parameter(_uniform((outputs,), of_bias, generator).to(dtype))

    def forward(
        self, x: Rows, propagate: Callable[[Tensor], Tensor] | None = None
    ) -> Tensor:
        """The layer's result; what is propagated is propagated before the bias."""
        product = x @ self.weight.T
        if propagate is not None:
            product = propagate(product)
        return product if self.bias is None else product + self.bias

    def _bounds(self, inputs: int, outputs: int) -> tuple[float, float]:  # noqa: ARG002
        """Of the initial weight and of the initial bias."""
        return inputs**-0.5, inputs**-0.5


@final
class GraphConvolution(Linear):
    """`P X W' + b`, started by Glorot's rule, b at 0.

    Example:
        >>> layer = GraphConvolution(3, 2, torch.Generator().manual_seed(0))
        >>> x = torch.ones(5, 3)
        >>> torch.equal(layer(x, lambda rows: 2 * rows), 2 * layer(x))
        True
    """

    def _bounds(self, inputs: int, outputs: int) -> tuple[float, float]:
        return math.sqrt(6 / (inputs + outputs)), 0.0


@final
class GraphConvolutions(nn.Module):
    """Graph convolutions one after the other, ReLU between them.

    Args:
        widths: Columns of the features, then of each layer's result.
        generator: Where initial weights are drawn from.
        dtype: Of the weights.

    Example:
        >>> layers = GraphConvolutions([3, 8, 2], torch.Generator().manual_seed(0))
        >>> tuple(layers(torch.ones(5, 3), lambda rows: rows).shape)
        (5, 2)
    """

    def __init__(
        self,
        widths: Sequence[int],
        generator: torch.Generator,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            GraphConvolution(inputs, outputs, generator, dtype=dtype)
            for inputs, outputs in pairwise(widths)
        )

    def forward(self, x: Rows, propagate: Callable[[Tensor], Tensor]) -> Tensor:
        """The last layer's result."""
        first, *others = self.layers
        hidden: Tensor = first(x, propagate)
        for layer in others:
            hidden = layer(functional.relu(hidden), propagate)
        return hidden


def _uniform(
    shape: tuple[int, ...], bound: float, generator: torch.Generator
) -> Tensor:
    return torch.empty(shape).uniform_(-bound, bound, generator=generator)
