"""Colours that colour-blind readers can tell apart, the same in HTML and on paper.

The light ones are Okabe and Ito's; the dark ones are lighter shades of them. When they
run out they start again with another symbol.
"""

from __future__ import annotations

from collections.abc import Sequence

from fdgcl.report.page import Series

LIGHT = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#333333")
DARK = ("#1F7FCC", "#EA6A30", "#0F9F78", "#F6C04E", "#CF7DB0", "#7CC8F5", "#F5F5F5")
QUIET = -1
QUIET_LIGHT, QUIET_DARK = "#B4B8BE", "#5B626C"


def assign(series: Sequence[Series]) -> list[int]:
    """The colour number of each series; those without one take the next free."""
    taken = {one.color for one in series if one.color is not None}
    free = (number for number in range(len(series) + len(taken)) if number not in taken)
    return [next(free) if one.color is None else one.color for one in series]


def cycle(number: int) -> int:
    """How often the colours have run out before this number."""
    return max(number, 0) // len(LIGHT)
