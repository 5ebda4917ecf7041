"""An encoder is a linear map, one order of diffusion, standardisation, activation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import cast, final

import torch
from torch import Tensor, nn

from fdgcl.diffusion import Dynamics
from fdgcl.methods.base import GraphModel
from fdgcl.methods.fdgcl.activations import build_activation
from fdgcl.methods.fdgcl.combination import Combination, Kept, View, Views
from fdgcl.methods.fdgcl.embedding_parts import Parts
from fdgcl.methods.fdgcl.sources import ViewSource
from fdgcl.methods.fdgcl.standardization import inverse_root


@final
class Encoders(GraphModel):
    """Encoders of the same features, alike but for their order and weights.

    Args:
        num_features: Columns of X.
        dim: Columns of each view.
        count: How many encoders, and views, there are.
        init_scale: Factor on the initial weights.
        activation: Name or import path of the activation.
        standardize: Bring every hidden column to mean 0 and variance 1, over all
            nodes, before the activation. Without it the cosine losses soon move all
            rows onto one direction.
        combination: How the views become the embedding; alike if not given.
        feature_scaling: How the features are scaled first.
        reduced: Columns that they are reduced to after that, if they are.
        columns: Columns of the features that views are made of; all if not given.
        dynamics: Each view's dynamics, where training changes them.
        relations: How many times those columns stand side by side once diffused.
        seed: Of the initial weights.
        dtype: Of the weights.
    """

    def __init__(
        self,
        num_features: int,
        dim: int,
        *,
        count: int = 2,
        init_scale: float = 1.0,
        activation: str = "relu",
        standardize: bool = True,
        combination: Combination | None = None,
        feature_scaling: str = "none",
        reduced: int | None = None,
        columns: int | None = None,
        dynamics: Sequence[Dynamics] = (),
        relations: int = 1,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__(num_features, feature_scaling, reduced)
        columns = columns or num_features
        generator = torch.Generator().manual_seed(seed)
        self.weights = nn.ParameterList(
            _glorot(columns * relations, dim, init_scale, generator, dtype)
            for _ in range(count)
        )
        self._dynamics = nn.ModuleList(dynamics)
        self.standardize = standardize
        self.combination = combination or Combination(
            [1 / count] * count, Parts((dim,), dim), dtype=dtype
        )
        self.activation = activation
        self._activation = build_activation(activation)
        self.register_buffer("mean", torch.zeros(count, dim, dtype=dtype))
        self.register_buffer("scale", torch.ones(count, dim, dtype=dtype))
        self.mean: Tensor
        self.scale: Tensor

    @property
    def dynamics(self) -> list[Dynamics]:
        """Each view's dynamics, where training changes them; otherwise none."""
        return [cast(Dynamics, module) for module in self._dynamics]

    def forward(self, source: ViewSource, rows: Tensor | None = None) -> Views:
        """The views of the given rows (all by default), as training sees them."""
        return [self._activation(view) for view in self.before_activation(source, rows)]

    def before_activation(
        self, source: ViewSource, rows: Tensor | None = None
    ) -> Views:
        """The views as they are before the activation."""
        encode = source.standardized if self.standardize else source.hidden
        return [encode(view, weight, rows) for view, weight in enumerate(self.weights)]

    @torch.no_grad()
    def freeze_statistics(self, source: ViewSource) -> None:
        """Keep the training graph's statistics for embedding other graphs."""
        if self.standardize:
            for view, weight in enumerate(self.weights):
                mean, variance = source.moments(view, weight)
                self.mean[view] = mean
                self.scale[view] = inverse_root(variance)
        self.combination.freeze(partial(self._parts, source))

    @torch.no_grad()
    def embed(self, source: ViewSource) -> Tensor:
        """The embedding of all rows, with the frozen statistics."""
        parts = [*self.embed_blocks(source)]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def embed_blocks(self, source: ViewSource) -> Iterator[Tensor]:
        """The same, some rows at a time."""
        for _ in source.row_blocks():
            yield self.combine(source)

    @torch.no_grad()
    def combine(self, source: ViewSource) -> Tensor:
        """The embedding of all rows that the source holds, with frozen statistics."""
        kept = partial(self._kept, source)
        embedding: Tensor = self.combination(self.each(source), kept)
        return embedding

    @torch.no_grad()
    def each(self, source: ViewSource) -> Views:
        """The views of all rows that the source holds, with frozen statistics."""
        return [self._frozen(source, view) for view in range(len(self.weights))]

    def _parts(self, source: ViewSource) -> Iterator[tuple[View, Kept]]:
        for _ in source.row_blocks():
            yield partial(self._frozen, source), partial(self._kept, source)

    def _kept(self, source: ViewSource, name: str) -> Tensor:
        return source.kept(name).to(self.mean)

    def _frozen(self, source: ViewSource, view: int) -> Tensor:
        hidden = source.hidden(view, self.weights[view])
        hidden.sub_(self.mean[view]).mul_(self.scale[view])
        return self._activation(hidden)


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
