"""FD-GCL on a graph: its encoders, where their features come from, its steps."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import final

import torch
from torch import Tensor
from torch.optim import Optimizer

from fdgcl._checks import in_words
from fdgcl.losses import Loss
from fdgcl.methods.fdgcl.diffused_features import DiffusedFeatures
from fdgcl.methods.fdgcl.encoder import Encoders
from fdgcl.methods.fdgcl.precision import dense_products
from fdgcl.methods.fdgcl.sources import Batch, ViewSource
from fdgcl.methods.fdgcl.steps import Step, new_step
from fdgcl.training.process_group import ProcessGroup
from fdgcl.training.trainable import Trainable

#: The first node, the one after the last, and rows of the embedding.
Block = tuple[int, int, Tensor]


@dataclass(frozen=True)
class TrainingOptions:
    """How views are trained, once it is clear on what.

    Attributes:
        new_loss: Makes the loss, what makes them agree.
        lr: Learning rate of a batch.
        weight_decay: Of Adam.
        batch_size: Rows of a batch; None for all.
        seed: Of the batches.
        pairs: Which views are compared, of `PAIRS`.
        fast: Take the fast steps where there are such.
        precision: Of dense products on CUDA, a key of `PRECISIONS`.
    """

    new_loss: Callable[[], Loss]
    lr: float = 0.01
    weight_decay: float = 0.0
    batch_size: int | None = None
    seed: int = 0
    pairs: str = "all"
    fast: bool = True
    precision: str = "float32"


@final
class ViewTraining(Trainable[Encoders]):
    """The views of a graph, trained to agree.

    Args:
        views: The encoders.
        source: Where their hidden features come from.
        options: How they are trained.
        group: Who train together, each on its rows of the source.
    """

    def __init__(
        self,
        views: Encoders,
        source: ViewSource,
        options: TrainingOptions,
        group: ProcessGroup | None = None,
    ) -> None:
        super().__init__(views, group)
        self.source, self.options = source, options

    def new_optimizer(self) -> Optimizer:
        """See the base class: Adam, its fast form in one pass over the weights."""
        options = self.options
        return new_adam(self.model, options.lr, options.weight_decay, fast=options.fast)

    def batches(self, epoch: int) -> Generator[Batch, None, None]:
        """See the base class."""
        return self.source.batches(self.options.batch_size, self.options.seed, epoch)

    def gradient(self, batch: Batch) -> Tensor:
        """See the base class."""
        return self._step.gradient(self._rows(batch), batch.size)

    def update(self) -> None:
        """See the base class."""
        self._step.update()

    @cached_property
    def _step(self) -> Step:
        options, size = self.options, self.options.batch_size
        return new_step(
            self.model,
            self.source,
            options.new_loss(),
            self.optimizer,
            fast=options.fast,
            captured=size is None or size >= self.source.num_rows,
            pairs=options.pairs,
            precision=options.precision,
            group=self.group,
        )

    def finish(self) -> None:
        """See the base class."""
        self.model.freeze_statistics(self.source)
        self.model.combination.agree(self.group)

    def session(self) -> AbstractContextManager[object]:
        """See the base class."""
        return dense_products(self.options.precision)

    @torch.no_grad()
    def blame(self, batch: Batch) -> str:
        """See the base class."""
        views = self.model(self.source, self._rows(batch))
        squares = [view.norm().double().square() for view in views]
        norms = self.group.sum(torch.stack(squares)).sqrt().tolist()
        shown = in_words([f"{norm:.3g}" for norm in norms])
        return f"norms of the views, by the weights before it: {shown}"

    def blocks(self) -> Iterator[Tensor]:
        """See the base class."""
        return self.model.embed_blocks(self.source)

    def blocks_of(self, start: int, stop: int, rows: int) -> Iterator[Block]:
        """The embedding of some nodes of a store, so many at a time.

        Yields:
            The first node, the one after the last, and their rows.
        """
        assert isinstance(self.source, DiffusedFeatures)
        for first, last in self.source.blocks(start, stop, rows):
            with torch.no_grad():
                block = self.model.combine(self.source)
            yield first, last, block

    def release(self) -> None:
        """See the base class."""
        super().release()
        self.__dict__.pop("_step", None)
        self.source.release()

    def views(self) -> tuple[Tensor, ...]:
        """See the base class."""
        parts = [self.model.each(self.source) for _ in self.source.row_blocks()]
        return tuple(torch.cat(view) for view in zip(*parts, strict=True))

    def _rows(self, batch: Batch) -> Tensor | None:
        rows = batch.rows
        return None if rows is None else rows.to(self.model.mean.device)


def new_adam(
    views: Encoders, lr: float, weight_decay: float, *, fast: bool = True
) -> Optimizer:
    """Adam on the views' weights; its fast form makes one pass over them."""
    weights = list(views.parameters())
    if not fast:
        return torch.optim.Adam(weights, lr=lr, weight_decay=weight_decay)
    on_gpu = weights[0].device.type == "cuda"
    return torch.optim.Adam(
        weights, lr=lr, weight_decay=weight_decay, fused=True, capturable=on_gpu
    )
