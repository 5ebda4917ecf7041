"""From the rows of a graph's nodes to one row per graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from fdgcl._checks import InputError, choose


def mean(rows: Tensor, ptr: Tensor) -> Tensor:
    """The mean row of each graph."""
    return total(rows, ptr) / ptr.diff()[:, None].to(rows.dtype)


def total(rows: Tensor, ptr: Tensor) -> Tensor:
    """The sum of each graph's rows."""
    sums = rows.new_zeros(len(ptr) - 1, rows.shape[1])
    return sums.index_add(0, _owners(ptr), rows)


def largest(rows: Tensor, ptr: Tensor) -> Tensor:
    """The largest entry of each column in each graph.

    The gradient goes to the entries that are largest, in equal parts.
    """
    least = rows.new_full((len(ptr) - 1, rows.shape[1]), -torch.inf)
    index = _owners(ptr)[:, None].expand_as(rows)
    return least.scatter_reduce(0, index, rows, "amax", include_self=False)


READOUTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mean": mean,
    "sum": total,
    "max": largest,
}


def check_readouts(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of readouts, each known and named once.

    Raises:
        InputError: There are none, or one is unknown or named twice.
    """
    given = list(names) if isinstance(names, list | tuple) else []
    words = all(isinstance(name, str) for name in given)
    if not given or not words or len(set(given)) < len(given):
        message = (
            f"readout must be a list of some of {', '.join(READOUTS)}, each once, got "
            f"{names!r}"
        )
        raise InputError(message)
    for name in names:
        choose("readout", name, READOUTS)
    return tuple(names)


def pool(rows: Tensor, ptr: Tensor, readouts: Sequence[str] = ("mean",)) -> Tensor:
    """Return one row per graph: the readouts of its nodes, beside each other.

    Args:
        rows: (N, d) one row per node.
        ptr: (G + 1,) whole numbers: graph i owns the rows `ptr[i]` to
            `ptr[i + 1] - 1`, at least one.
        readouts: Names of readouts.

    Returns:
        (G, len(readouts) * d), with gradient with respect to `rows`.

    Raises:
        InputError: A readout is unknown, or `ptr` does not fit the rows.
    """
    names = check_readouts(readouts)
    ends = ptr.to(rows.device)
    fits = ends.ndim == 1 and len(ends) > 1 and not ends.is_floating_point()
    if not fits or int(ends[0]) != 0 or int(ends[-1]) != len(rows):
        message = (
            "ptr must hold whole numbers from 0 to the number of rows, "
            f"{len(rows)}, one more than there are graphs, got {tuple(ptr.shape)} "
            f"numbers of {ptr.dtype}"
        )
        raise InputError(message)
    if bool((ends.diff() <= 0).any()):
        message = "ptr must increase, for no graph may be empty"
        raise InputError(message)
    return torch.cat([READOUTS[name](rows, ends) for name in names], dim=1)


def _owners(ptr: Tensor) -> Tensor:
    graphs = torch.arange(len(ptr) - 1, device=ptr.device)
    return graphs.repeat_interleave(ptr.diff())
