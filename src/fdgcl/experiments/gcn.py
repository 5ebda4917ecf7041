"""Two GCN encoders in place of the two diffusions: the ablation's other encoder.

A view is `Z = act(standardise(A H W2 + H))`, `H = relu(A X W1 + X S)`, with A the
normalised adjacency. Both layers have a skip connection, which is the identity where
sizes agree and a linear map where they do not, as residual networks have it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl.graphs import Graph
from fdgcl.methods.base import Config
from fdgcl.methods.fdgcl import Combination, Encoders, ViewSource, view_weights
from fdgcl.methods.fdgcl.method import FdgclMethod, options_of
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation, prepare
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.fdgcl.training import ViewTraining
from fdgcl.operators.sparse import SparseMatrix
from fdgcl.training import EpochRecord, train


@final
class GraphConvolution(ViewSource):
    """Two layers; a view's weights are W1, S and W2 stacked in one matrix."""

    def __init__(self, prepared: DiffusionPreparation, device: torch.device) -> None:
        settings, x = prepared.settings, prepared.features
        self.num_rows, self.num_features = x.shape
        self._sizes = [self.num_features, self.num_features, settings.dim]
        self._adjacency = prepared.operator.matrix
        self._encode = _product(x, settings.torch_dtype, device)

    @property
    def num_weights(self) -> int:
        """Rows of the stacked weights."""
        return sum(self._sizes)

    def hidden(
        self,
        view: int,  # noqa: ARG002
        weight: Tensor,
        rows: Tensor | None = None,
    ) -> Tensor:
        """See the base class; both views differ in their weights alone."""
        first, skip, second = torch.split(weight, self._sizes)
        state = torch.relu(
            self._adjacency.multiply(self._encode(first)) + self._encode(skip)
        )
        result = self._adjacency.multiply(state @ second) + state
        return result if rows is None else result[rows]

    @torch.no_grad()
    def initialize(self, views: Encoders, scale: float, seed: int) -> None:
        """Draw each matrix of the stack by Glorot's rule for its own sizes."""
        generator = torch.Generator().manual_seed(seed)
        for weight in views.weights:
            for part in torch.split(weight, self._sizes):
                drawn = torch.empty(part.shape)
                torch.nn.init.xavier_uniform_(drawn, scale, generator=generator)
                part.copy_(drawn)


def _product(
    x: NDArray[Any] | csr_array, dtype: torch.dtype, device: torch.device
) -> Callable[[Tensor], Tensor]:
    if isinstance(x, csr_array):
        return SparseMatrix(x).multiply
    dense = torch.tensor(x, dtype=dtype, device=device)
    return dense.matmul


def gcn_embedding(
    graph: Graph, settings: Settings, history: list[EpochRecord] | None = None
) -> NDArray[np.float32]:
    """Train GCN encoders as `FDGCL` trains its own, and embed the graph.

    Args:
        graph: The graph.
        settings: Those of the model; the ones about the diffusion have no effect, but
            for direction, self-loops and normalisation of the adjacency.
        history: Filled with one record an epoch.
    """
    prepared = prepare(graph, settings)
    FdgclMethod().check_training(prepared)
    device = settings.torch_device
    source = GraphConvolution(prepared, device)
    count = len(settings.orders)
    views = Encoders(
        source.num_weights,
        settings.dim,
        activation=settings.activation,
        standardize=settings.standardize,
        count=count,
        combination=Combination(
            view_weights(prepared.beta, count), dtype=settings.torch_dtype
        ),
        seed=settings.seed,
        dtype=settings.torch_dtype,
    ).to(device)
    source.initialize(views, settings.init_scale, settings.seed)
    records = [] if history is None else history
    options = options_of(Config.of("fdgcl", prepared))
    training = ViewTraining(views, source, options)
    train(training, epochs=settings.epochs, on_epoch=records.append)
    views.freeze_statistics(source)
    return np.asarray(views.embed(source).float().cpu().numpy())
