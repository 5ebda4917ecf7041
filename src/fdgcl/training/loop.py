"""The one training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import torch
from torch import Tensor

from fdgcl.training.records import EpochRecord, NonFiniteLossError
from fdgcl.training.trainable import Trainable


def train(
    trainable: Trainable[Any],
    *,
    epochs: int,
    first_epoch: int = 1,
    on_epoch: Callable[[EpochRecord], None],
) -> None:
    """Train, calling `on_epoch` after each epoch.

    Args:
        trainable: A model on a graph.
        epochs: The last epoch.
        first_epoch: The first.
        on_epoch: Called after each epoch.

    Raises:
        NonFiniteLossError: The loss is not finite; the weights are put back to the
            last ones whose loss was.
    """
    weights = list(trainable.model.parameters())
    good: list[Tensor] = []
    with trainable.session():
        for epoch in range(first_epoch, epochs + 1):
            started = time.perf_counter()
            losses: list[float] = []
            seen: list[float] = []
            with closing(trainable.batches(epoch)) as batches:
                for batch in batches:
                    # Waits for the device.
                    value, *views = trainable.gradient(batch).tolist()
                    if not math.isfinite(value):
                        _copy(good, weights)
                        raise NonFiniteLossError(_blame(epoch, trainable, batch))
                    good = good or [torch.empty_like(weight) for weight in weights]
                    _copy(weights, good)
                    losses.append(value)
                    seen = seen or views
                    trainable.update()
            seconds = time.perf_counter() - started
            mean = sum(losses) / len(losses)
            alignment, cosine, *ranks = seen
            on_epoch(EpochRecord(epoch, mean, alignment, cosine, (*ranks,), seconds))


@torch.no_grad()
def _copy(values: Sequence[Tensor], into: Sequence[Tensor]) -> None:
    for value, target in zip(values, into, strict=False):
        target.copy_(value)


def _blame(epoch: int, trainable: Trainable[Any], batch: Any) -> str:
    found = trainable.blame(batch)
    views = f" ({found})" if found else ""
    return (
        f"the loss is not finite in epoch {epoch}{views}; the weights of the last good "
        "epoch are kept"
    )
