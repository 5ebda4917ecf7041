"""CCA-SSG: two augmented views made alike, their columns decorrelated.

Zhang, Wu, Yan, Wipf, Yu: From Canonical Correlation Analysis to Self-supervised Graph
Neural Networks, NeurIPS 2021. Both views are drawn with the same rates and go through
one encoder; each column z of the result is brought to mean 0 and variance 1, and

    loss = -tr(Z1' Z2 / n) + c (|I - Z1' Z1 / n|^2 + |I - Z2' Z2 / n|^2).

No negatives, no second network. The embedding is the encoder's plain result on the
whole graph. Weights, loss and gradients are those of the authors' code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor, nn

from fdgcl._checks import MOST_DIM, check_count, check_nonnegative, choose
from fdgcl.graphs import Graph
from fdgcl.methods.base import GraphModel
from fdgcl.methods.fdgcl.standardization import standardize
from fdgcl.methods.parts.augmentations import View, check_rate
from fdgcl.methods.parts.graph_convolution import GraphConvolutions, Linear, Rows
from fdgcl.methods.parts.propagation import graphconv
from fdgcl.methods.parts.two_views import Drops, Pair, TwoViewTraining
from fdgcl.methods.settings import MethodSettings, setting
from fdgcl.methods.whole_graph import WholeGraphMethod

ENCODERS = ("gcn", "mlp")


@dataclass(frozen=True, kw_only=True)
class Settings(MethodSettings):
    """The settings of CCA-SSG; defaults are those of the authors' script."""

    encoder: str = setting(
        "gcn",
        "`gcn` (graph convolutions) or `mlp` (two layers with batch normalisation "
        "between, which leave the edges aside).",
    )
    layers: int = setting(2, "Graph convolutions of encoder `gcn`.")
    hidden: int = setting(512, "Columns between the layers.")
    dim: int = setting(512, "Columns of the embedding.")
    decorrelation: float = setting(
        1e-3, "Weight of the decorrelation of columns: the paper's lambda."
    )
    drop_edges: float = setting(0.2, "Share of edges that a view loses.")
    drop_features: float = setting(
        0.2, "Share of the features' columns that a view loses."
    )
    lr: float = setting(1e-3, "Learning rate of Adam.")
    weight_decay: float = setting(0.0, "Weight decay of Adam.")
    epochs: int = setting(
        100, "Steps, each on the whole graph; 0 leaves the encoder untrained."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        choose("encoder", self.encoder, dict.fromkeys(ENCODERS))
        for name in ("layers", "hidden", "dim"):
            self._set(name, check_count(name, getattr(self, name), maximum=MOST_DIM))
        check_nonnegative("decorrelation", self.decorrelation)
        check_rate("drop_edges", self.drop_edges)
        check_rate("drop_features", self.drop_features)


@final
class MLP(nn.Module):
    """Two layers, batch normalisation and ReLU between them; edges are not used."""

    def __init__(
        self,
        inputs: int,
        hidden: int,
        outputs: int,
        generator: torch.Generator,
        dtype: torch.dtype,
    ) -> None:
        super().__init__()
        self.first = Linear(inputs, hidden, generator, dtype=dtype)
        self.norm = nn.BatchNorm1d(hidden, dtype=dtype)
        self.second = Linear(hidden, outputs, generator, dtype=dtype)

    def forward(self, x: Rows) -> Tensor:
        """The result for features."""
        hidden: Tensor = self.second(torch.relu(self.norm(self.first(x))))
        return hidden

    @torch.no_grad()
    def keep_statistics(self, x: Rows) -> None:
        """Normalise by the statistics of these features from now on.

        The authors embed by them, never by those that were averaged in training.
        """
        hidden = self.first(x)
        self.norm.running_mean.copy_(hidden.mean(0))  # type: ignore[union-attr]
        self.norm.running_var.copy_(hidden.var(0, unbiased=False))  # type: ignore[union-attr]


@final
class CCASSGModel(GraphModel):
    """The encoder.

    Args:
        settings: Of the method.
        num_features: Columns of the features.
    """

    def __init__(self, settings: Settings, num_features: int) -> None:
        super().__init__(num_features, settings.feature_scaling)
        generator = torch.Generator().manual_seed(settings.seed)
        hidden, dim, dtype = settings.hidden, settings.dim, settings.torch_dtype
        self.encoder: MLP | GraphConvolutions
        if settings.encoder == "mlp":
            self.encoder = MLP(num_features, hidden, dim, generator, dtype)
        else:
            widths = [num_features, *[hidden] * (settings.layers - 1), dim]
            self.encoder = GraphConvolutions(widths, generator, dtype)

    def forward(self, view: View) -> Tensor:
        """A row for each node of a view."""
        rows: Tensor
        if isinstance(self.encoder, MLP):
            rows = self.encoder(view.features)
        else:
            rows = self.encoder(view.features, view.propagate)
        return rows


@final
class CCASSGTraining(TwoViewTraining[Settings, CCASSGModel]):
    """CCA-SSG on a graph.

    Args:
        model: The encoder.
        graph: With features.
        settings: Of the method.

    Example:
        >>> from fdgcl import block_model
        >>> graph = block_model(50, 2, num_features=4, seed=0)
        >>> settings = Settings(hidden=8, dim=3, device="cpu")
        >>> training = CCASSGTraining(CCASSGModel(settings, 4), graph, settings)
        >>> for batch in training.batches(epoch=1):
        ...     values = training.gradient(batch)
        ...     training.update()
        >>> training.finish()
        >>> [tuple(rows.shape) for rows in training.blocks()]
        [(50, 3)]
    """

    def __init__(self, model: CCASSGModel, graph: Graph, settings: Settings) -> None:
        super().__init__(model, graph, settings, graphconv)

    @property
    def drops(self) -> tuple[Drops, Drops]:
        """See the base class: both views lose as much."""
        both = self.settings.drop_edges, self.settings.drop_features
        return both, both

    def loss(self, batch: Pair) -> tuple[Tensor, Sequence[Tensor]]:
        """See the base class."""
        self.model.train()
        first, second = (_standardized(self.model(view)) for view in batch)
        return loss(first, second, self.settings.decorrelation), (first, second)

    def finish(self) -> None:
        """See the base class."""
        if isinstance(self.model.encoder, MLP):
            self.model.encoder.keep_statistics(self.graph.view().features)

    def embed(self) -> Tensor:
        """See the base class."""
        # Every node has one loop then: none of those that may be among the edges.
        rows: Tensor = self.model.eval()(self.graph.view(~self.graph.edges.is_loop))
        return rows


@final
class CCASSGMethod(WholeGraphMethod[Settings, CCASSGModel]):
    """CCA-SSG by name."""

    name = "cca-ssg"
    title = "CCA-SSG"
    settings = Settings
    model = CCASSGModel
    training = CCASSGTraining


def loss(first: Tensor, second: Tensor, decorrelation: float) -> Tensor:
    """The loss of two standardised views.

    Args:
        first: (nodes, dim).
        second: The other.
        decorrelation: Weight of the decorrelation of their columns.

    Example:
        >>> z = torch.tensor([[1.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
        >>> float(loss(z, z, 0.5)), float(loss(z, z[:, [0, 0]], 0.5))
        (-2.0, 0.0)
    """
    alike = (first * second).sum() / len(first)
    return decorrelation * (_correlated(first) + _correlated(second)) - alike


def _correlated(view: Tensor) -> Tensor:
    """How far the columns' correlations are from those of columns without any."""
    identity = torch.eye(view.shape[1], dtype=view.dtype, device=view.device)
    return (identity - view.T @ view / len(view)).square().sum()


def _standardized(rows: Tensor) -> Tensor:
    """Columns of mean 0 and of variance 1 as statisticians estimate it, by n - 1."""
    return standardize(rows) * math.sqrt(1 - 1 / len(rows))
