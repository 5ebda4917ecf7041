"""The one training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any, Self

import torch
from torch import Tensor

from fdgcl._checks import in_words
from fdgcl._notices import FdgclWarning, warn
from fdgcl.losses import Loss
from fdgcl.methods.fdgcl import Encoders, ViewSource
from fdgcl.training.process_group import ProcessGroup, SingleProcess
from fdgcl.training.steps import dense_products, new_step

COLLAPSED_RANK = 1.5
COLLAPSED_COSINE = 0.98
_RANK = "effective_rank_"


class TrainingWarning(FdgclWarning):
    """Something about a run that its user should know."""


class NonFiniteLossError(RuntimeError):
    """The loss left the finite numbers; the last good weights are kept."""


@dataclass(frozen=True)
class EpochRecord:
    """What is known of one epoch, measured before its update.

    Attributes:
        epoch: From 1.
        loss: The loss, mean over the batches.
        alignment: Mean cosine between two views of a node, over the pairs compared.
        principal_cosine: |cosine| of two views' first principal directions, likewise.
        effective_ranks: Of each view, the participation ratio of its directions.
        seconds: Wall-clock time of the epoch.
    """

    epoch: int
    loss: float
    alignment: float
    principal_cosine: float
    effective_ranks: tuple[float, ...]
    seconds: float

    def to_dict(self) -> dict[str, float]:
        """As plain numbers for JSON: of the first view, `effective_rank_1`."""
        values = asdict(self)
        seconds, ranks = values.pop("seconds"), values.pop("effective_ranks")
        return {**values, **named_ranks(ranks), "seconds": seconds}

    @classmethod
    def from_dict(cls, values: Mapping[str, float]) -> Self:
        """Read what `to_dict` gave.

        Raises:
            TypeError: Something is missing, or unknown.
        """
        others = {k: v for k, v in values.items() if not k.startswith(_RANK)}
        ranks = tuple(values[f"{_RANK}{n}"] for n in count_ranks(values))
        return cls(**others, effective_ranks=ranks)  # type: ignore[arg-type]


def named_ranks(ranks: Sequence[float]) -> dict[str, float]:
    """The effective ranks of views by their names: `effective_rank_1`, ..."""
    return {f"{_RANK}{number}": rank for number, rank in enumerate(ranks, start=1)}


def count_ranks(values: Mapping[str, Any]) -> range:
    """The numbers of the views whose effective ranks are there, from 1."""
    count = 0
    while f"{_RANK}{count + 1}" in values:
        count += 1
    return range(1, count + 1)


def new_optimizer(
    views: Encoders, lr: float, weight_decay: float, *, fast: bool = True
) -> torch.optim.Optimizer:
    """Adam on the views' weights; its fast form makes one pass over them."""
    weights = list(views.parameters())
    if not fast:
        return torch.optim.Adam(weights, lr=lr, weight_decay=weight_decay)
    on_gpu = weights[0].device.type == "cuda"
    return torch.optim.Adam(
        weights, lr=lr, weight_decay=weight_decay, fused=True, capturable=on_gpu
    )


def train(
    views: Encoders,
    source: ViewSource,
    loss: Loss,
    optimizer: torch.optim.Optimizer,
    *,
    epochs: int,
    first_epoch: int = 1,
    batch_size: int | None = None,
    seed: int = 0,
    pairs: str = "all",
    fast: bool = True,
    precision: str = "float32",
    group: ProcessGroup | None = None,
    on_epoch: Callable[[EpochRecord], None],
) -> None:
    """Train the views to agree, calling `on_epoch` after each update.

    The order of the batches depends on the seed and the epoch alone, so a run that
    starts again at `first_epoch` goes on exactly as it would have.

    Args:
        views: The encoders.
        source: Where their hidden features come from.
        loss: What makes them agree.
        optimizer: Of their weights.
        epochs: The last epoch.
        first_epoch: The first.
        batch_size: Rows of a batch; None for all.
        seed: Of the batches.
        pairs: Which views are compared, of `PAIRS`.
        fast: Take the fast steps where there are such.
        precision: Of dense products on CUDA, a key of `settings.PRECISIONS`.
        group: Who train together, each on its rows of the source.
        on_epoch: Called after each epoch.

    Raises:
        NonFiniteLossError: The loss is not finite; the weights are put back to the
            last ones whose loss was.
    """
    group = group or SingleProcess()
    whole = batch_size is None or batch_size >= source.num_rows
    step = new_step(
        views,
        source,
        loss,
        optimizer,
        fast=fast,
        captured=whole,
        pairs=pairs,
        precision=precision,
        group=group,
    )
    weights = list(views.parameters())
    good: list[Tensor] = []
    with dense_products(precision):
        for epoch in range(first_epoch, epochs + 1):
            started = time.perf_counter()
            losses: list[float] = []
            watched: tuple[float, ...] = ()
            with closing(source.batches(batch_size, seed, epoch)) as batches:
                for batch in batches:
                    rows = batch.rows
                    rows = None if rows is None else rows.to(views.mean.device)
                    # Waits for the device.
                    value, *seen = step.gradient(rows, batch.size).tolist()
                    if not math.isfinite(value):
                        _copy(good, weights)
                        blame = _blame(epoch, views, source, rows, group)
                        raise NonFiniteLossError(blame)
                    good = good or [torch.empty_like(weight) for weight in weights]
                    _copy(weights, good)
                    losses.append(value)
                    watched = watched or (*seen,)
                    step.update()
            seconds = time.perf_counter() - started
            mean = sum(losses) / len(losses)
            alignment, cosine, *ranks = watched
            record = EpochRecord(epoch, mean, alignment, cosine, (*ranks,), seconds)
            on_epoch(record)


def warn_of_collapse(record: EpochRecord) -> bool:
    """Warn, and return whether it did, when the views have become one direction."""
    rank = min(record.effective_ranks)
    if rank >= COLLAPSED_RANK or record.alignment < COLLAPSED_COSINE:
        return False
    message = (
        f"the views have collapsed by epoch {record.epoch}: effective rank {rank:.2f}, "
        f"cosine between the views {record.alignment:.3f}; try standardize=True, fewer "
        "epochs, a smaller lr, a larger eta, or loss='barlow-twins' or 'vicreg'"
    )
    warn(message, TrainingWarning)
    return True


@torch.no_grad()
def _copy(values: Sequence[Tensor], into: Sequence[Tensor]) -> None:
    for value, target in zip(values, into, strict=False):
        target.copy_(value)


@torch.no_grad()
def _blame(
    epoch: int,
    views: Encoders,
    source: ViewSource,
    rows: Tensor | None,
    group: ProcessGroup,
) -> str:
    squares = [view.norm().double().square() for view in views(source, rows)]
    norms = group.sum(torch.stack(squares)).sqrt().tolist()
    shown = in_words([f"{norm:.3g}" for norm in norms])
    return (
        f"the loss is not finite in epoch {epoch} (norms of the views, by the weights "
        f"before it: {shown}); the weights of the last good epoch are kept"
    )
