"""Which views are compared with which."""

from __future__ import annotations

from itertools import combinations, pairwise

PAIRS = ("all", "consecutive")


def pairs_of(count: int, pairs: str = "all") -> list[tuple[int, int]]:
    """Return the pairs of views that a loss is the mean over.

    A single view is compared with itself: what is left of a loss then is what it asks
    of each view alone.

    Args:
        count: How many views there are.
        pairs: `all` of them, or `consecutive` ones, in the order they are given.

    Example:
        >>> pairs_of(3), pairs_of(3, "consecutive"), pairs_of(1)
        ([(0, 1), (0, 2), (1, 2)], [(0, 1), (1, 2)], [(0, 0)])
    """
    if count == 1:
        return [(0, 0)]
    views = range(count)
    return list(pairwise(views) if pairs == "consecutive" else combinations(views, 2))
