"""What is watched while the views are trained, from a few hundred of their rows."""

from __future__ import annotations

import torch
from torch import Tensor

from fdgcl.losses import principal_direction, row_cosines

WATCHED_ROWS = 512


def watched_rows(num_rows: int, members: int = 1) -> slice:
    """The rows to look at, spread over all; members of a team share their number."""
    count = -(-WATCHED_ROWS // members)
    stride = max(1, num_rows // count)
    return slice(0, stride * count, stride)


@torch.no_grad()
def watch(first: Tensor, second: Tensor) -> Tensor:
    """Alignment, principal cosine and both effective ranks, of a few hundred rows."""
    rows = watched_rows(len(first))
    first, second = first[rows], second[rows]
    alignment = row_cosines(first, second).mean()
    cosine = principal_direction(first) @ principal_direction(second)
    ranks = effective_ranks(torch.stack([first, second]))
    return torch.cat([torch.stack([alignment, cosine.abs()]).to(ranks), ranks])


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
