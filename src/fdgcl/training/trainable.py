"""What the training loop trains: a model on a graph."""

from __future__ import annotations

import abc
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, Generic, TypeVar

from torch import Tensor, nn
from torch.optim import Optimizer

from fdgcl._checks import InputError
from fdgcl.training.process_group import ProcessGroup, SingleProcess

M = TypeVar("M", bound=nn.Module)


class Trainable(abc.ABC, Generic[M]):
    """A model on a graph: the training loop trains it, and it embeds the nodes.

    All that must survive an interruption is in the model (as parameters or buffers) or
    in the state of the optimiser: a run that goes on from a checkpoint does what it
    would have done. What is random in an epoch depends on the seed and the epoch alone.

    Args:
        model: The model.
        group: Who train together; None for this process alone. Most methods are
            trained by one process.
    """

    def __init__(self, model: M, group: ProcessGroup | None = None) -> None:
        self.model = model
        self.group = group or SingleProcess()

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

    def session(self) -> AbstractContextManager[object]:
        """What all epochs run in, such as a precision of products."""
        return nullcontext()

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

    def release(self) -> None:
        """Give back memory that only training needs."""
        self.__dict__.pop("optimizer", None)
