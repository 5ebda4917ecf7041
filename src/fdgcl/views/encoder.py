"""An encoder is a linear map, one order of diffusion, standardisation, activation."""

from __future__ import annotations

import math
from typing import final

import torch
from torch import Tensor, nn

from fdgcl._checks import choose
from fdgcl.views.activations import ACTIVATIONS
from fdgcl.views.sources import ViewSource, inverse_root


@final
class ViewPair(nn.Module):
    """Two encoders of the same features, alike but for their order and weights.

    Args:
        num_features: Columns of X.
        dim: Columns of each view.
        init_scale: Factor on the initial weights.
        activation: Name of the activation.
        standardize: Bring every hidden column to mean 0 and variance 1, over all
            nodes, before the activation. Without it the cosine losses soon move all
            rows onto one direction.
        beta: Weight of the first view in the embedding.
        seed: Of the initial weights.
        dtype: Of the weights.
    """

    def __init__(
        self,
        num_features: int,
        dim: int,
        *,
        init_scale: float = 1.0,
        activation: str = "relu",
        standardize: bool = True,
        beta: float = 0.5,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.weights = nn.ParameterList(
            _glorot(num_features, dim, init_scale, generator, dtype) for _ in range(2)
        )
        self.standardize = standardize
        self.beta = beta
        self._activation = choose("activation", activation, ACTIVATIONS)
        self.register_buffer("mean", torch.zeros(2, dim, dtype=dtype))
        self.register_buffer("scale", torch.ones(2, dim, dtype=dtype))
        self.mean: Tensor
        self.scale: Tensor

    def forward(
        self, source: ViewSource, rows: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Both views of the given rows (all by default), as training sees them."""
        return self._view(0, source, rows), self._view(1, source, rows)

    def _view(self, view: int, source: ViewSource, rows: Tensor | None) -> Tensor:
        weight = self.weights[view]
        encode = source.standardized if self.standardize else source.hidden
        return self._activation(encode(view, weight, rows))

    @torch.no_grad()
    def freeze_statistics(self, source: ViewSource) -> None:
        """Keep the training graph's column statistics for embedding other graphs."""
        if not self.standardize:
            return
        for view, weight in enumerate(self.weights):
            mean, variance = source.moments(view, weight)
            self.mean[view] = mean
            self.scale[view] = inverse_root(variance)

    @torch.no_grad()
    def embed(self, source: ViewSource, block: int | None = None) -> Tensor:
        """The embedding `beta * Z1 + (1 - beta) * Z2`, with the frozen statistics."""
        if block is None or block >= source.num_rows:
            return self._embed_rows(source, None)
        device = self.mean.device
        rows = torch.split(torch.arange(source.num_rows, device=device), block)
        return torch.cat([self._embed_rows(source, part) for part in rows])

    def _embed_rows(self, source: ViewSource, rows: Tensor | None) -> Tensor:
        shares = (self.beta, 1 - self.beta)
        total = torch.zeros((), dtype=self.mean.dtype, device=self.mean.device)
        for view, (weight, share) in enumerate(zip(self.weights, shares, strict=True)):
            hidden = source.hidden(view, weight, rows)
            hidden.sub_(self.mean[view]).mul_(self.scale[view])
            total = total + self._activation(hidden) * share
        return total


def _glorot(
    rows: int,
    columns: int,
    scale: float,
    generator: torch.Generator,
    dtype: torch.dtype,
) -> nn.Parameter:
    bound = scale * math.sqrt(6 / (rows + columns))
    # Drawn in float32 for every dtype, so that both precisions start alike.
    values = torch.empty(rows, columns).uniform_(-bound, bound, generator=generator)
    return nn.Parameter(values.to(dtype))
