"""The rows of a graph, some at a time."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from fdgcl.methods.fdgcl.sources import batch_seed


def row_batches(
    count: int, size: int | None, seed: int, epoch: int
) -> Iterator[Tensor | None]:
    """All rows once, shuffled by seed and epoch alone; None stands for all at once.

    Args:
        count: How many rows there are.
        size: How many a batch has; None for all.
        seed: Of the shuffle, with the epoch.
        epoch: Which pass this is.

    Example:
        >>> [len(rows) for rows in row_batches(7, 3, seed=0, epoch=1)]
        [3, 4]
    """
    if size is None or size >= count:
        yield None
        return
    generator = torch.Generator().manual_seed(batch_seed(seed, epoch))
    parts = [*torch.split(torch.randperm(count, generator=generator), size)]
    # A single left-over row has no principal direction: it joins the batch before.
    if len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    yield from parts
