"""The blocks that stand beside the views, once it is known which a graph has."""

from __future__ import annotations

from collections.abc import Sequence

from fdgcl._checks import InputError
from fdgcl.graphs.directions import Direction

KEPT = ("features", "local", "global", "out", "in")
#: Beside views that stand side by side, as far as the embedding has room for them.
KEPT_BY_DEFAULT = ("features", "global", "out", "in")
#: What `out` and `in` are where edges have no direction: one block instead of two.
NEIGHBOURS = "neighbours"
#: The blocks that are means over neighbours, and over which of them.
AVERAGED: dict[str, Direction] = {"out": "out", "in": "in", NEIGHBOURS: "symmetric"}


def kept_blocks(keep: Sequence[str], direction: str | None) -> tuple[str, ...]:
    """Return the blocks there are of those asked for, in their order.

    Args:
        keep: Of `KEPT`.
        direction: The edges that are known: `symmetric` ones, those `out` of each node
            or `in` to it alone, or None for both of these.

    Example:
        >>> kept_blocks(("out", "features", "in"), None)
        ('out', 'features', 'in')
        >>> kept_blocks(("out", "features", "in"), "symmetric")
        ('neighbours', 'features')
        >>> kept_blocks(("out", "features", "in"), "in")
        ('features', 'in')
    """
    if direction == "symmetric":
        merged = (NEIGHBOURS if name in AVERAGED else name for name in keep)
        return tuple(dict.fromkeys(merged))
    unknown = {"out": "in", "in": "out"}.get(direction or "")
    return tuple(name for name in keep if name != unknown)


def averages_edges(keep: Sequence[str], direction: str) -> bool:
    """Whether some block is a mean over edges that are known in one direction.

    Args:
        keep: Of `KEPT`.
        direction: Of the edges, as in `kept_blocks`.

    Example:
        >>> averages_edges(["in"], "out"), averages_edges(["in"], "symmetric")
        (False, True)
    """
    return any(name in AVERAGED for name in kept_blocks(keep, direction))


def block_weights(
    kept: Sequence[str], keep: Sequence[str], keep_weight: float | Sequence[float]
) -> list[float]:
    """Return the weight of each block that there is.

    Where one block stands for two that were asked for, the larger weight is its.

    Args:
        kept: What `kept_blocks` returned.
        keep: What was asked for.
        keep_weight: The weight of all of these, or of each.

    Raises:
        InputError: There is a block that nobody asked for.

    Example:
        >>> block_weights(("neighbours", "features"), ("out", "features", "in"), 0.5)
        [0.5, 0.5]
        >>> block_weights(("features", "in"), ("out", "features", "in"), (1, 2, 3))
        [2, 3]
    """
    each = keep_weight
    if not isinstance(each, Sequence):
        each = [each] * len(keep)
    asked = dict(zip(keep, each, strict=True))
    sides = [weight for name, weight in asked.items() if name in AVERAGED]
    if sides:
        asked[NEIGHBOURS] = max(sides)
    unknown = [name for name in kept if name not in asked]
    if unknown:
        message = (
            f"kept blocks must be among what keep asks for ({', '.join(keep)}), got "
            f"{unknown[0]!r}"
        )
        raise InputError(message)
    return [asked[name] for name in kept]
