"""BGRL: a network predicts what a slowly following copy makes of another view.

Thakoor, Tallec, Azar, Azabou, Dyer, Munos, Velickovic, Valko: Large-Scale
Representation Learning on Graphs via Bootstrapping, ICLR 2022. With q the prediction
from the online encoder's rows and y the target encoder's rows,

    loss = 2 - mean cos(q(view 1), y(view 2)) - mean cos(q(view 2), y(view 1)).

No negatives. The target starts from weights of its own and follows the online encoder
after every step, ever more slowly. Batch normalisation keeps hardly more than its last
statistics (momentum 0.99 as torch counts it), of either network its own. Weights, loss,
gradients and schedules are those of the authors' PyTorch code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity
from torch.optim import AdamW

from fdgcl._checks import MOST_DIM, check_count, check_fraction
from fdgcl.graphs import Graph
from fdgcl.methods.base import GraphModel
from fdgcl.methods.parts.augmentations import View, check_rate
from fdgcl.methods.parts.graph_convolution import GraphConvolution, Linear, Rows
from fdgcl.methods.parts.moving_average import MovingAverage, cosine_momentum
from fdgcl.methods.parts.propagation import Propagation, gcn
from fdgcl.methods.parts.schedules import warm_up_cosine
from fdgcl.methods.parts.two_views import Drops, Pair, TwoViewTraining
from fdgcl.methods.settings import MethodSettings, setting
from fdgcl.methods.whole_graph import WholeGraphMethod

#: Share of the steps in which the learning rate grows: 1,000 of the authors' 10,000.
WARM_UP = 0.1
NORM_MOMENTUM = 0.99


@dataclass(frozen=True, kw_only=True)
class Settings(MethodSettings):
    """The settings of BGRL.

    The authors have a file of settings for each of five graphs and no others; defaults
    are those for WikiCS, the only one of them that is not of products or of authors.
    """

    layers: int = setting(2, "Graph convolutions of the encoder.")
    hidden: int = setting(512, "Columns between the layers.")
    dim: int = setting(256, "Columns of the embedding.")
    predictor: int = setting(512, "Columns inside the predictor.")
    momentum: float = setting(
        0.99,
        "Share of the target's weights that a step keeps, at first; it grows to 1.",
    )
    drop_edges_1: float = setting(0.2, "Share of edges that the first view loses.")
    drop_edges_2: float = setting(0.3, "Share of edges that the second view loses.")
    drop_features_1: float = setting(
        0.2, "Share of the features' columns that the first view loses."
    )
    drop_features_2: float = setting(
        0.1, "Share of the features' columns that the second view loses."
    )
    lr: float = setting(5e-4, "Learning rate of AdamW after a tenth of the epochs.")
    weight_decay: float = setting(1e-5, "Weight decay of AdamW.")
    epochs: int = setting(
        10_000,
        "Steps, each on the whole graph, by which the schedules of learning rate and "
        "momentum go; 0 leaves the encoder untrained.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("layers", "hidden", "dim", "predictor"):
            self._set(name, check_count(name, getattr(self, name), maximum=MOST_DIM))
        check_fraction("momentum", self.momentum)
        for name in ("drop_edges", "drop_features"):
            for view in ("1", "2"):
                check_rate(f"{name}_{view}", getattr(self, f"{name}_{view}"))


@final
class Layer(nn.Module):
    """A graph convolution, batch normalisation and PReLU."""

    def __init__(
        self, inputs: int, outputs: int, generator: torch.Generator, dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.convolution = GraphConvolution(inputs, outputs, generator, dtype=dtype)
        self.norm = nn.BatchNorm1d(outputs, momentum=NORM_MOMENTUM, dtype=dtype)
        self.activation = nn.PReLU(dtype=dtype)

    def forward(self, x: Rows, propagate: Propagation) -> Tensor:
        """The layer's result."""
        rows: Tensor = self.activation(self.norm(self.convolution(x, propagate)))
        return rows


@final
class Encoder(nn.Module):
    """Layers one after the other."""

    def __init__(
        self, settings: Settings, num_features: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        between = [settings.hidden] * (settings.layers - 1)
        inputs, outputs = [num_features, *between], [*between, settings.dim]
        self.layers = nn.ModuleList(
            Layer(columns, width, generator, settings.torch_dtype)
            for columns, width in zip(inputs, outputs, strict=True)
        )

    def forward(self, view: View) -> Tensor:
        """A row for each node of a view."""
        first, *others = self.layers
        rows: Tensor = first(view.features, view.propagate)
        for layer in others:
            rows = layer(rows, view.propagate)
        return rows


@final
class Predictor(nn.Module):
    """Two layers with PReLU between them."""

    def __init__(self, settings: Settings, generator: torch.Generator) -> None:
        super().__init__()
        dim, inside, dtype = settings.dim, settings.predictor, settings.torch_dtype
        self.first = Linear(dim, inside, generator, dtype=dtype)
        self.activation = nn.PReLU(dtype=dtype)
        self.second = Linear(inside, dim, generator, dtype=dtype)

    def forward(self, rows: Tensor) -> Tensor:
        """What the target is expected to make of another view."""
        predicted: Tensor = self.second(self.activation(self.first(rows)))
        return predicted


@final
class BGRLModel(GraphModel):
    """The online encoder with its predictor, and the target.

    Args:
        settings: Of the method.
        num_features: Columns of the features.
    """

    def __init__(self, settings: Settings, num_features: int) -> None:
        super().__init__(num_features, settings.feature_scaling)
        generator = torch.Generator().manual_seed(settings.seed)
        self.online = Encoder(settings, num_features, generator)
        self.predictor = Predictor(settings, generator)
        self.target = MovingAverage(Encoder(settings, num_features, generator))


@final
class BGRLTraining(TwoViewTraining[Settings, BGRLModel]):
    """BGRL on a graph.

    Args:
        model: Both networks.
        graph: With features.
        settings: Of the method.

    Example:
        >>> from fdgcl import block_model
        >>> graph = block_model(50, 2, num_features=4, seed=0)
        >>> settings = Settings(hidden=8, dim=3, device="cpu")
        >>> training = BGRLTraining(BGRLModel(settings, 4), graph, settings)
        >>> for batch in training.batches(epoch=1):
        ...     values = training.gradient(batch)
        ...     training.update()
        >>> training.finish()
        >>> [tuple(rows.shape) for rows in training.blocks()]
        [(50, 3)]
    """

    optimizer_kind = AdamW

    def __init__(self, model: BGRLModel, graph: Graph, settings: Settings) -> None:
        super().__init__(model, graph, settings, gcn)

    @property
    def drops(self) -> tuple[Drops, Drops]:
        """See the base class."""
        chosen = self.settings
        return (
            (chosen.drop_edges_1, chosen.drop_features_1),
            (chosen.drop_edges_2, chosen.drop_features_2),
        )

    def loss(self, batch: Pair) -> tuple[Tensor, Sequence[Tensor]]:
        """See the base class."""
        model, (one, two) = self.model.train(), batch
        # In the authors' order, by which statistics are kept of the last view.
        rows_1, target_2 = model.online(one), self._target(two)
        rows_2, target_1 = model.online(two), self._target(one)
        value = 2 - (
            cosine_similarity(model.predictor(rows_1), target_2).mean()
            + cosine_similarity(model.predictor(rows_2), target_1).mean()
        )
        return value, (rows_1, rows_2)

    @torch.no_grad()
    def _target(self, view: View) -> Tensor:
        rows: Tensor = self.model.target.network(view)
        return rows

    def update(self) -> None:
        """See the base class: both schedules are those of the step."""
        chosen, target = self.settings, self.model.target
        step, steps = int(target.steps), chosen.epochs
        factor = warm_up_cosine(step, int(WARM_UP * steps), steps)
        for group in self.optimizer.param_groups:
            group["lr"] = chosen.lr * factor
        self.optimizer.step()
        momentum = cosine_momentum(chosen.momentum, step, steps)
        target.follow(self.model.online, momentum)

    def embed(self) -> Tensor:
        """See the base class: the online encoder's rows."""
        rows: Tensor = self.model.eval().online(self.graph.view())
        return rows


@final
class BGRLMethod(WholeGraphMethod[Settings, BGRLModel]):
    """BGRL by name."""

    name = "bgrl"
    title = "BGRL"
    settings = Settings
    model = BGRLModel
    training = BGRLTraining
