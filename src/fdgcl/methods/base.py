"""What a method is: how it takes a graph, what it trains, and how it embeds.

A method is three things, each a class of its own:

- its settings (`fdgcl.methods.settings`);
- its model, a `GraphModel`: weights and whatever else is saved;
- its `Trainable`: the model on a graph, which the one training loop trains, and which
  embeds the graph's nodes.

`Method` ties them together. Everything else (run folder, log, checkpoints, command
line, tuning, tables, reports) knows methods by these alone.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from fdgcl._checks import InputError
from fdgcl.graphs.scaling import COLUMN_SCALINGS, ColumnScale
from fdgcl.methods.settings import MethodSettings

if TYPE_CHECKING:
    from fdgcl.methods.preparation import Preparation

S = TypeVar("S", bound=MethodSettings)
M = TypeVar("M", bound="GraphModel")

#: Called with what is done and what there is to do.
Done = Callable[[int, int], None]


class GraphModel(nn.Module):
    """All that is saved of a trained model.

    Beside its weights it keeps what the training graph's columns were scaled by, so
    that another graph's are scaled alike.

    Args:
        num_features: Columns of the features.
        feature_scaling: What is done to them first.
    """

    def __init__(self, num_features: int, feature_scaling: str = "none") -> None:
        super().__init__()
        scaled = num_features if feature_scaling in COLUMN_SCALINGS else 0
        centred = num_features if feature_scaling == "columns" else 0
        weights = torch.ones(scaled, dtype=torch.float64)
        means = torch.zeros(centred, dtype=torch.float64)
        self.register_buffer("column_weights", weights)
        self.register_buffer("column_means", means, persistent=bool(centred))
        self.column_weights: Tensor
        self.column_means: Tensor

    @property
    def columns(self) -> ColumnScale | None:
        """What the training graph's columns were scaled by, if by anything."""
        if not len(self.column_weights):
            return None
        means = self.column_means.cpu().numpy() if len(self.column_means) else None
        return ColumnScale(self.column_weights.cpu().numpy(), means)

    @torch.no_grad()
    def keep_columns(self, columns: ColumnScale) -> None:
        """Keep what the training graph's columns were scaled by."""
        self.column_weights.copy_(torch.from_numpy(columns.weights))
        if columns.means is not None:
            self.column_means.copy_(torch.from_numpy(columns.means))


class Trainable(abc.ABC, Generic[M]):
    """A model on a graph: what is trained, and what embeds.

    All that must survive an interruption is in the model (as parameters or buffers) or
    in the state of the optimiser: a run that goes on from a checkpoint does what it
    would have done. What is random in an epoch depends on the seed and the epoch alone.

    Args:
        model: The model.
    """

    def __init__(self, model: M) -> None:
        self.model = model

    @cached_property
    def optimizer(self) -> Optimizer:
        """The optimiser of the model's weights, made when training begins."""
        return self.new_optimizer()

    @abc.abstractmethod
    def new_optimizer(self) -> Optimizer:
        """Make the optimiser."""

    @abc.abstractmethod
    def batches(self, epoch: int) -> Generator[Any, None, None]:
        """What the updates of an epoch are made of, in order; epochs count from 1.

        A batch is whatever `gradient` takes, and good until the next is asked for: some
        rows, a pair of augmented graphs, sampled nodes with their negatives.
        """

    @abc.abstractmethod
    def gradient(self, batch: Any) -> Tensor:
        """Leave the gradient of the loss in the weights; return what is logged.

        Returns:
            The loss, then what `training.diagnostics.diagnose` tells of the views:
            alignment, principal cosine, and the effective rank of each.
        """

    def update(self) -> None:
        """Move the weights by the gradient found last.

        Methods with a schedule of learning rates, or with a moving average of the
        weights, do both here.
        """
        self.optimizer.step()

    def finish(self) -> None:
        """Keep in the model what embedding needs of the training graph."""

    def blame(self, batch: Any) -> str:  # noqa: ARG002
        """What to say of the views where the loss is not finite, in brackets."""
        return ""

    @abc.abstractmethod
    def blocks(self) -> Iterator[Tensor]:
        """The embedding of all nodes in order, some rows at a time."""

    def views(self) -> tuple[Tensor, ...]:
        """The views of all nodes, where a method has several of them."""
        message = "this method has no views beside its embedding"
        raise InputError(message)


class Method(abc.ABC, Generic[S, M]):
    """A method by name, with what it needs to be prepared, made and trained.

    Attributes:
        name: What users choose it by.
        title: What it is called, for people.
        settings: Its settings.
        stores: Whether it works on a graph that is larger than memory.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    settings: type[S]
    stores: ClassVar[bool] = False

    @abc.abstractmethod
    def prepare(
        self, data: Any, settings: S, columns: ColumnScale | None = None
    ) -> Preparation[S]:
        """Check a graph against the settings, and plan.

        Args:
            data: A `Graph` or, where the method can, a `Store`.
            settings: Of the method.
            columns: What the training graph's columns were scaled by; None for the
                training graph itself.

        Raises:
            InputError: They do not go together.
        """

    @abc.abstractmethod
    def new_model(self, config: Mapping[str, Any] | Any) -> M:
        """An untrained model for what a run was begun on, on its device.

        Args:
            config: The `Config` of the run: settings, what the features look like, and
                what was decided by the graph. No graph: a model is loaded without one.
        """

    @abc.abstractmethod
    def on_graph(
        self,
        model: M,
        prepared: Preparation[S],
        config: Any,
        *,
        progress: Done | None = None,
    ) -> Trainable[M]:
        """The model on a graph, to be trained or to embed.

        Args:
            model: The model.
            prepared: The graph: that of training, or another one.
            config: Of the run.
            progress: Called while features are made ready, where that takes time.
        """
