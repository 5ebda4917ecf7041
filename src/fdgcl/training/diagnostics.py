"""What is measured of the views while they are trained, from a few hundred rows."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from fdgcl.losses import principal_direction, row_cosines

SAMPLED_ROWS = 512


def sampled_rows(num_rows: int, members: int = 1) -> slice:
    """The rows to look at, spread over all; members of a group share their number."""
    count = -(-SAMPLED_ROWS // members)
    stride = max(1, num_rows // count)
    return slice(0, stride * count, stride)


@torch.no_grad()
def diagnose(views: Sequence[Tensor], pairs: Sequence[tuple[int, int]]) -> Tensor:
    """Measure how alike the views are, and how many directions they fill.

    Args:
        views: (rows, dim) each.
        pairs: Which of them are compared.

    Returns:
        Alignment and principal cosine, means over the pairs, and each view's effective
        rank.
    """
    rows = sampled_rows(len(views[0]))
    seen = [view[rows] for view in views]
    units = [principal_direction(view) for view in seen]
    found = [
        torch.stack([row_cosines(seen[i], seen[j]).mean(), (units[i] @ units[j]).abs()])
        for i, j in pairs
    ]
    both = found[0] if len(found) == 1 else torch.stack(found).mean(0)
    ranks = effective_ranks(torch.stack(seen))
    return torch.cat([both.to(ranks), ranks])


def effective_ranks(views: Tensor) -> Tensor:
    """How many directions share the energy of the rows: `(sum s)^2 / sum s^2`.

    The s are the squared singular values of the rows as they are, not centred: rows
    that all point the same way have rank one, which is what a collapse looks like.

    Args:
        views: (views, rows, dim).
    """
    wide = views.shape[1] < views.shape[2]
    grams = views @ views.mT if wide else views.mT @ views
    # In float64: the fourth power of a large entry leaves the range of float32.
    traces = grams.diagonal(dim1=1, dim2=2).sum(1, dtype=torch.float64)
    energies = grams.double().square().sum((1, 2))
    return torch.where(energies > 0, traces.square() / energies, 0.0)


def effective_rank(z: Tensor) -> float:
    """The effective rank of one view."""
    return float(effective_ranks(z[None])[0])
