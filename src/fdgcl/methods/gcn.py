"""GCN encoders in place of the diffusions: the ablation's other encoder.

A view is `Z = act(standardise(A H W2 + H))`, `H = relu(A X W1 + X S)`, with A the
normalised adjacency and weights of its own. Both layers have a skip connection, over
the first a linear map, as residual networks have it where sizes differ. Losses, pairs,
and how the views become the embedding are FD-GCL's.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast, final, get_args

import torch
from torch import Tensor, nn

from fdgcl._checks import (
    MOST_DIM,
    InputError,
    check_count,
    check_flag,
    check_fraction,
    check_nonnegative,
    check_positive,
    choose,
)
from fdgcl.graphs import Graph
from fdgcl.graphs.directions import Direction, Normalization
from fdgcl.losses import Loss, build_loss
from fdgcl.methods.base import GraphModel
from fdgcl.methods.fdgcl.activations import ACTIVATIONS
from fdgcl.methods.fdgcl.combination import view_weights
from fdgcl.methods.fdgcl.features import FeatureMatrix
from fdgcl.methods.fdgcl.pairs import PAIRS, pairs_of
from fdgcl.methods.fdgcl.shuffling import Shuffle
from fdgcl.methods.fdgcl.standardization import inverse_root, standardize
from fdgcl.methods.parts.augmentations import MaskedFeatures
from fdgcl.methods.parts.graph_convolution import GraphConvolution
from fdgcl.methods.settings import MethodSettings, setting
from fdgcl.methods.whole_graph import WholeGraphMethod, WholeGraphTraining
from fdgcl.operators.in_memory import InMemoryOperator, build_operator

MOST_VIEWS = 64


@dataclass(frozen=True, kw_only=True)
class Settings(MethodSettings):
    """The settings of the GCN encoders.

    Defaults are FD-GCL's, but for activation and initial weights: the ablation's.
    """

    encoders: int = setting(2, "How many encoders, and views, there are.")
    self_loops: float = setting(1.0, "Weight of each node's self-loop.")
    normalization: str = setting(
        "symmetric", "Of the adjacency: `symmetric`, `row` or `column`."
    )
    dim: int = setting(512, "Columns of each view, and of the embedding.")
    init_scale: float = setting(1.0, "Factor on the initial weights.")
    activation: str = setting(
        "relu", "Of the views: `relu`, `elu`, `gelu`, `tanh` or `linear`."
    )
    standardize: bool = setting(
        True,
        "Bring every column to mean 0 and variance 1 over all nodes before the "
        "activation.",
    )
    loss: str = setting(
        "regularized-cosmean",
        "`regularized-cosmean`, `cosmean`, `euclidean`, `barlow-twins`, `vicreg`, or "
        "the import path of one of yours: `package.module:Class`.",
    )
    loss_options: Mapping[str, Any] | None = setting(
        None, 'The loss\'s own options, such as `{"variance": 10}`.', option=False
    )
    pairs: str = setting(
        "all", "Which views the loss compares: `all` pairs, or `consecutive` ones."
    )
    beta: float | Sequence[float] | None = setting(
        None,
        "Weight of the first view in the embedding, of which the others share the "
        "rest, or weights of all.",
        metavar="B[,B]",
        shown="all alike",
    )
    eta: float = setting(0.1, "Weight of the regulariser of `regularized-cosmean`.")
    batch_size: int | None = setting(
        None,
        "Rows of a mini-batch of the loss; encoders run on the whole graph for each.",
        shown="all rows",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        encoders = check_count("encoders", self.encoders, maximum=MOST_VIEWS)
        self._set("encoders", encoders)
        self._set("dim", check_count("dim", self.dim, maximum=MOST_DIM))
        if self.batch_size is not None:
            self._set("batch_size", check_count("batch_size", self.batch_size, 2))
        check_nonnegative("self_loops", self.self_loops)
        check_nonnegative("eta", self.eta)
        check_positive("init_scale", self.init_scale)
        check_flag("standardize", self.standardize)
        choose("normalization", self.normalization, _names(Normalization))
        choose("activation", self.activation, ACTIVATIONS)
        choose("pairs", self.pairs, dict.fromkeys(PAIRS))
        self._check_beta()
        if ":" not in self.loss:
            self._check_single(self.new_loss())

    def _check_beta(self) -> None:
        if isinstance(self.beta, Sequence):
            weights = tuple(check_fraction("beta", weight) for weight in self.beta)
            if len(weights) != self.encoders or not sum(weights):
                message = (
                    "beta must be the weight of the first view, or weights of all "
                    f"{self.encoders} views, not all of them 0, got {self.beta!r}"
                )
                raise InputError(message)
            self._set("beta", weights)
        elif self.beta is not None:
            check_fraction("beta", self.beta)

    def _check_single(self, loss: Loss) -> None:
        """Refuse to train a view by a loss that only compares it with others."""
        if self.encoders == 1 and self.epochs and loss.needs_two:
            message = (
                f"loss {self.loss!r} compares two views or more, and encoders is 1: "
                "give more, choose loss 'barlow-twins' or 'vicreg', or epochs 0"
            )
            raise InputError(message)

    def new_loss(self) -> Loss:
        """The loss itself."""
        return build_loss(self.loss, self.eta, self.loss_options)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each view in the embedding."""
        beta = 1 / self.encoders if self.beta is None else self.beta
        return view_weights(beta, self.encoders)


@final
class Encoder(nn.Module):
    """Two graph convolutions with skip connections, of one view.

    Args:
        num_features: Columns of the features.
        settings: Of the method.
        generator: Where initial weights are drawn from.
    """

    def __init__(
        self, num_features: int, settings: Settings, generator: torch.Generator
    ) -> None:
        super().__init__()

        def layer(inputs: int) -> GraphConvolution:
            return GraphConvolution(
                inputs,
                settings.dim,
                generator,
                scale=settings.init_scale,
                bias=False,
                dtype=settings.torch_dtype,
            )

        self.first = layer(num_features)
        self.skip = layer(num_features)
        self.second = layer(settings.dim)

    def forward(self, x: MaskedFeatures, adjacency: InMemoryOperator) -> Tensor:
        """`A H W2 + H` of all nodes."""
        hidden = torch.relu(self.first(x, adjacency.multiply) + self.skip(x))
        result: Tensor = self.second(hidden, adjacency.multiply) + hidden
        return result


@final
class GCNModel(GraphModel):
    """The encoders, and the training graph's statistics of their columns.

    Args:
        settings: Of the method.
        num_features: Columns of the features.
    """

    def __init__(self, settings: Settings, num_features: int) -> None:
        super().__init__(num_features, settings.feature_scaling)
        generator = torch.Generator().manual_seed(settings.seed)
        self.encoders = nn.ModuleList(
            Encoder(num_features, settings, generator) for _ in range(settings.encoders)
        )
        shape, dtype = (settings.encoders, settings.dim), settings.torch_dtype
        self.register_buffer("mean", torch.zeros(shape, dtype=dtype))
        self.register_buffer("scale", torch.ones(shape, dtype=dtype))
        self.mean: Tensor
        self.scale: Tensor


@final
class GCNTraining(WholeGraphTraining[Settings, GCNModel]):
    """GCN encoders on a graph.

    Args:
        model: The encoders.
        graph: With features.
        settings: Of the method.

    Example:
        >>> from fdgcl import block_model
        >>> graph = block_model(50, 2, num_features=4, seed=0)
        >>> settings = Settings(dim=3, device="cpu")
        >>> training = GCNTraining(GCNModel(settings, 4), graph, settings)
        >>> for batch in training.batches(epoch=1):
        ...     values = training.gradient(batch)
        ...     training.update()
        >>> training.finish()
        >>> [tuple(rows.shape) for rows in training.blocks()]
        [(50, 3)]
    """

    def __init__(self, model: GCNModel, graph: Graph, settings: Settings) -> None:
        super().__init__(model, graph, settings)
        self.pairs = pairs_of(settings.encoders, settings.pairs)
        self._activation = ACTIVATIONS[settings.activation]
        self._num_nodes = graph.num_nodes
        self._features = MaskedFeatures(FeatureMatrix(graph.features))
        self._adjacency = build_operator(
            graph.adjacency,
            direction=cast(Direction, settings.direction or "symmetric"),
            self_loops=settings.self_loops,
            normalization=cast(Normalization, settings.normalization),
            device=settings.torch_device,
        )

    @cached_property
    def _loss(self) -> Loss:
        return self.settings.new_loss()

    def batches(self, epoch: int) -> Generator[Tensor | None, None, None]:
        """See the base class: rows for the loss, None for all of them."""
        chosen = self.settings
        size, nodes = chosen.batch_size, self._num_nodes
        if size is None or size >= nodes:
            yield None
            return
        shuffle = Shuffle.of(nodes, chosen.dim, size, holds_all=True)
        for window in shuffle.windows(chosen.seed, epoch):
            for rows in window.batches:
                yield torch.from_numpy(rows)

    def loss(self, batch: Tensor | None) -> tuple[Tensor, Sequence[Tensor]]:
        """See the base class."""
        views = []
        for hidden in self._hidden():
            ready = standardize(hidden) if self.settings.standardize else hidden
            rows = ready if batch is None else ready[batch.to(ready.device)]
            views.append(self._activation(rows))
        losses = [self._loss(views[i], views[j]) for i, j in self.pairs]
        return torch.stack(losses).mean(), views

    @torch.no_grad()
    def finish(self) -> None:
        """See the base class: means and deviations of the columns."""
        if self.settings.standardize:
            for view, hidden in enumerate(self._hidden()):
                self.model.mean[view] = hidden.mean(0)
                self.model.scale[view] = inverse_root(hidden.var(0, unbiased=False))

    def embed(self) -> Tensor:
        """See the base class: the views, each by its weight."""
        weighted = zip(self.settings.weights, self._each(), strict=True)
        first, *others = (weight * view for weight, view in weighted)
        return sum(others, first)

    def views(self) -> tuple[Tensor, ...]:
        """See the base class."""
        return tuple(self._each())

    def _hidden(self) -> Iterator[Tensor]:
        for encoder in self.model.encoders:
            yield encoder(self._features, self._adjacency)

    @torch.no_grad()
    def _each(self) -> list[Tensor]:
        """The views by the statistics that were kept."""
        moments = zip(self._hidden(), self.model.mean, self.model.scale, strict=True)
        return [
            self._activation((hidden - mean) * scale) for hidden, mean, scale in moments
        ]


@final
class GCNMethod(WholeGraphMethod[Settings, GCNModel]):
    """The GCN encoders by name."""

    name = "gcn"
    title = "GCN encoders"
    has_views = True
    settings = Settings
    model = GCNModel
    training = GCNTraining


def _names(literal: Any) -> dict[str, None]:
    return dict.fromkeys(get_args(literal))
