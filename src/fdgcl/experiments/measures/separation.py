"""How far apart classes are: exact mean distances between all pairs of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl._checks import InputError

# Distances held at once: 64 MiB of float32.
_BLOCK = 2**24


def class_distances(
    z: Any, y: NDArray[np.int64], device: torch.device | str = "cpu"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean Euclidean distance of each class within itself, and to all others.

    Args:
        z: (nodes x columns), dense or sparse.
        y: (nodes,) class codes; -1 leaves a node out.
        device: Where to compute.

    Returns:
        For each class the mean over all pairs of two of its nodes, and over all pairs
        of one of its nodes and one of another class.

    Raises:
        InputError: A class has fewer than two nodes, or there is only one class.
    """
    counts = np.bincount(y[y >= 0])
    if len(counts) < 2 or counts.min() < 2:
        message = (
            "distances within and between classes need at least two classes of two "
            f"nodes each, got classes of {counts.tolist()} nodes"
        )
        raise InputError(message)
    sums = _pair_sums(_centred(z[np.flatnonzero(y >= 0)], device), y[y >= 0], device)
    within = np.diag(sums)
    others = counts.sum() - counts
    return (
        within / (counts * (counts - 1)),
        (sums.sum(axis=1) - within) / (counts * others),
    )


def separation(
    z: Any, y: NDArray[np.int64], device: torch.device | str = "cpu"
) -> list[float]:
    """The ratio `d_inter / d_intra` of each class: the larger, the better clustered.

    A class whose nodes are all alike has no such ratio: 0 where the others lie in the
    same place, and otherwise the largest float.
    """
    within, between = class_distances(z, y, device)
    largest = np.finfo(np.float32).max
    ratios = np.divide(
        between, within, out=np.where(between > 0, largest, 0.0), where=within > 0
    )
    return [float(ratio) for ratio in ratios]


def _centred(z: Any, device: torch.device | str) -> Tensor:
    dense = z if isinstance(z, np.ndarray) else z.toarray()
    rows = torch.from_numpy(np.array(dense, dtype=np.float32)).to(device)
    # Distances do not change, and squares of smaller numbers lose fewer digits.
    return rows - rows.mean(0)


def _pair_sums(
    rows: Tensor, y: NDArray[np.int64], device: torch.device | str
) -> NDArray[np.float64]:
    """Sums of the distances between each two classes, ordered pairs."""
    codes = torch.from_numpy(np.asarray(y)).to(device)
    members = torch.nn.functional.one_hot(codes).to(rows)
    squares = rows.square().sum(1)
    total = torch.zeros((members.shape[1],) * 2, dtype=torch.float64, device=device)
    block = max(1, _BLOCK // len(rows))
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        distances = torch.addmm(squares, rows[part], rows.T, alpha=-2)
        distances.add_(squares[part, None]).clamp_min_(0).sqrt_()
        # A node is no pair with itself, whatever rounding says.
        here = torch.arange(start, start + len(distances), device=device)
        distances[here - start, here] = 0
        total += members[part].double().T @ (distances @ members).double()
    return total.cpu().numpy()
