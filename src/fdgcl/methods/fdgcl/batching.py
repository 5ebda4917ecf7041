"""How many rows a training step takes, and how far it goes, where that is left open."""

from __future__ import annotations

import math

from fdgcl._checks import InputError
from fdgcl.methods.fdgcl.settings import Settings

# Numbers in one view above which rows are trained in batches, and those in a batch:
# 64 MiB of float32, and 16 MiB, which a processor's cache still holds.
FULL_BATCH_NUMBERS = 2**24
BATCH_NUMBERS = 2**22
# Numbers of the embedding that are made at a time, and the most rows: what a cache
# still holds, and what is no loss when an allocator keeps it.
BLOCK_NUMBERS = 2**20
BLOCK_ROWS = 2**15


def batch_rows(settings: Settings, nodes: int) -> int | None:
    """Rows of a batch, None for all; where it was left open, the size decides."""
    chosen = settings.batch_size
    large = nodes * settings.hidden_columns > FULL_BATCH_NUMBERS
    if not settings.is_fixed_linear or settings.strategy == "in-loop":
        return None
    if chosen is None and large:
        chosen = max(BATCH_NUMBERS // settings.hidden_columns, 2)
    return None if chosen is None or chosen >= nodes else chosen


def batch_lr(settings: Settings, nodes: int) -> float:
    """The learning rate of a batch.

    Where batches were not asked for, they share one full step's length among them: an
    epoch moves the weights as far as it does on a small graph.
    """
    rows = batch_rows(settings, nodes)
    if settings.batch_size is not None or rows is None:
        return settings.lr
    return settings.lr / math.ceil(nodes / rows)


def check_batch_size(settings: Settings, nodes: int) -> None:
    """Refuse a batch that is larger than the graph.

    Raises:
        InputError: It is.
    """
    if settings.batch_size is not None and settings.batch_size > nodes:
        message = (
            f"batch_size must not exceed the graph's {nodes:,} nodes, got "
            f"{settings.batch_size:,}"
        )
        raise InputError(message)


def block_rows(made: int, num_features: int) -> int:
    """Rows to embed at a time, by the columns of the embedding's parts and features."""
    return max(64, min(BLOCK_ROWS, BLOCK_NUMBERS // max(made, num_features)))
