"""What methods share that hold the whole graph: how they are made, trained and embed.

Such a method is its settings, its model, and what is its own in training: the batches,
the loss of one, and the embedding.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor
from torch.optim import Adam, Optimizer

from fdgcl._progress import Progress
from fdgcl.graphs import Graph
from fdgcl.methods.base import Config, GraphModel, Method
from fdgcl.methods.preparation import Preparation
from fdgcl.methods.settings import MethodSettings
from fdgcl.training.diagnostics import diagnose
from fdgcl.training.trainable import Trainable

S = TypeVar("S", bound=MethodSettings)
M = TypeVar("M", bound=GraphModel)


class WholeGraphMethod(Method[S, M]):
    """A method that holds all of the graph: its model and its training are two classes.

    Attributes:
        model: Made of the settings and the number of features.
        training: Made of the model, the graph and the settings.
    """

    model: ClassVar[type[Any]]
    training: ClassVar[type[Any]]

    def new_model(self, config: Config) -> M:
        """See the base class."""
        made: M = self.model(config.settings, config.num_features)
        return made.to(config.settings.torch_device)

    def on_graph(
        self,
        model: M,
        prepared: Preparation[S],
        config: Config,  # noqa: ARG002
        *,
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Trainable[M]:
        """See the base class."""
        bound: Trainable[M] = self.training(model, prepared.graph, prepared.settings)
        return bound


class WholeGraphTraining(Trainable[M], Generic[S, M]):
    """A model on a graph that is in memory, trained by the gradient of one loss.

    Args:
        model: The model.
        graph: With features.
        settings: Of the method.

    Attributes:
        settings: Of the method.
        optimizer_kind: Adam, or one that is made as Adam is.
        pairs: Which views are compared, for the diagnostics.
    """

    optimizer_kind: ClassVar[type[Adam]] = Adam
    pairs: Sequence[tuple[int, int]] = ((0, 1),)

    def __init__(self, model: M, graph: Graph, settings: S) -> None:
        super().__init__(model)
        assert graph.features is not None
        self.settings = settings

    @abc.abstractmethod
    def loss(self, batch: Any) -> tuple[Tensor, Sequence[Tensor]]:
        """The loss of a batch, and the views that diagnostics look at."""

    @abc.abstractmethod
    def embed(self) -> Tensor:
        """The embedding of all nodes; nothing is kept for gradients meanwhile."""

    def new_optimizer(self) -> Optimizer:
        """See the base class; weights that only follow others are left out."""
        trained = [one for one in self.model.parameters() if one.requires_grad]
        lr, decay = self.settings.lr, self.settings.weight_decay
        return self.optimizer_kind(trained, lr, weight_decay=decay, fused=True)

    def gradient(self, batch: Any) -> Tensor:
        """See the base class."""
        value, views = self.loss(batch)
        found = diagnose([view.detach() for view in views], self.pairs)
        self.model.zero_grad()
        torch.autograd.backward(value)
        return torch.cat([value.detach()[None].to(found), found])

    def blocks(self) -> Iterator[Tensor]:
        """See the base class: all nodes at once."""
        with torch.no_grad():
            rows = self.embed()
        yield rows
