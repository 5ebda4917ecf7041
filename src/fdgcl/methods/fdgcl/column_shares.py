"""How many of the embedding's columns each of its blocks has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Of every block, however little it varies: what is small in all may still tell a few
# nodes apart. Half of the embedding at most goes to blocks in this way.
LEAST_COLUMNS = 8
# Variances are compared by half of the digits that float32 has, so that rounding does
# not decide between blocks that vary alike: from memory or a store, one is the same.
STEPS = 2**11


def equal_shares(widths: Sequence[int], dim: int) -> tuple[int, ...]:
    """As many columns for each block; what a narrow one does not need is the others'.

    Args:
        widths: Columns of the blocks.
        dim: Columns of the embedding, at least one for each block.

    Example:
        >>> equal_shares((512, 1433, 1433), 1024), equal_shares((16, 1433, 500), 1024)
        ((341, 341, 342), (16, 508, 500))
        >>> equal_shares((512, 100), 1024)
        (512, 100)
    """
    if sum(widths) <= dim:
        return tuple(widths)
    found = list(widths)
    narrow_first = sorted(range(len(widths)), key=widths.__getitem__)
    for place, block in enumerate(narrow_first):
        found[block] = min(widths[block], dim // (len(widths) - place))
        dim -= found[block]
    return tuple(found)


def ranked_shares(
    variances: Sequence[NDArray[np.float64]], dim: int
) -> tuple[int, ...]:
    """As many columns for each block as it has of the directions that vary most.

    A few of each block come first; the others are ranked together. Where two vary
    alike, the earlier block's is taken.

    Args:
        variances: Of each block's directions, as they are in the embedding, the
            largest first.
        dim: Columns of the embedding: at least one for each block, and no more than
            there are directions.

    Example:
        >>> ranked_shares((np.array([4.0, 2.0, 1.0]), np.array([3.0, 0.5])), 4)
        (3, 1)
    """
    least = max(1, min(LEAST_COLUMNS, dim // (2 * len(variances))))
    own = [min(least, len(one)) for one in variances]
    rest = [one[first:] for one, first in zip(variances, own, strict=True)]
    blocks = np.repeat(np.arange(len(rest)), [len(one) for one in rest])
    order = np.argsort(-_rounded(np.concatenate(rest)), kind="stable")
    more = np.bincount(blocks[order[: dim - sum(own)]], minlength=len(rest))
    return tuple((more + own).tolist())


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    mantissas, exponents = np.frexp(values)
    return np.ldexp(np.round(mantissas * STEPS) / STEPS, exponents)
