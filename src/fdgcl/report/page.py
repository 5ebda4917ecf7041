"""What a report says, before anyone decides how it looks.

A page is sections of text, tables and figures, all plain values. `html` draws it with
Plotly into one file, `static` its figures with matplotlib for a paper.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from fdgcl._checks import InputError

_NAME = re.compile(r"[A-Za-z0-9-]+")

Mark = Literal["line", "points", "bar", "step"]


@dataclass(frozen=True)
class Series:
    """One curve, cloud or set of bars.

    Attributes:
        name: In the legend.
        x: Numbers, or names for bars.
        y: As many numbers.
        mark: How it is drawn.
        error: Half-lengths of error bars; None for none.
        hover: A text for each point, shown on hover; may come from a user's data.
        dashed: For what is not ours: the paper's numbers, a bound.
        color: Series with the same number share a colour; None takes the next, and -1
            is a quiet grey.
        secondary: Drawn against an axis of its own on the right.
        filled: Whether the area below a line or step is shaded.
    """

    name: str
    x: Sequence[float] | Sequence[str]
    y: Sequence[float]
    mark: Mark = "line"
    error: Sequence[float] | None = None
    hover: Sequence[str] | None = None
    dashed: bool = False
    color: int | None = None
    secondary: bool = False
    filled: bool = False


@dataclass(frozen=True)
class Figure:
    """One plot.

    Attributes:
        name: Of its files and its place in the page: letters, digits and hyphens.
        title: Above it.
        series: What it shows.
        x_label: Empty for none.
        y_label: Empty for none.
        secondary_label: Of the right axis.
        caption: A sentence or two below: what one sees, and how it was made.
        log_x: Whether the x axis is logarithmic.
        log_y: Whether the y axis is logarithmic; the right one never is.
        map: A map of points: no ticks, equal scales.
    """

    name: str
    title: str
    series: Sequence[Series]
    x_label: str = ""
    y_label: str = ""
    secondary_label: str = ""
    caption: str = ""
    log_x: bool = False
    log_y: bool = False
    map: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of text.

    Attributes:
        columns: Headings; the first column is the rows' names.
        rows: Cells, as many in each row as there are columns.
        caption: Below the table.
        strong: (row, column) of cells to stress.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    strong: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Listing:
    """Sentences that stand below each other."""

    lines: Sequence[str]


Block: TypeAlias = Text | Listing | Table | Figure


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A whole report.

    Attributes:
        title: Of the page.
        summary: One or two sentences below the title.
        sections: In reading order.
        facts: Names and values shown small at the end: settings, versions, command.
    """

    title: str
    summary: str
    sections: Sequence[Section]
    facts: dict[str, str] = field(default_factory=dict)

    def figures(self) -> list[Figure]:
        """All figures, in reading order."""
        return [
            block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Figure)
        ]


def check_names(page: Page) -> list[str]:
    """The figures' names, which must be plain and differ.

    Raises:
        InputError: A name could not be that of a file, or comes twice.
    """
    names = [figure.name for figure in page.figures()]
    for name in names:
        if not _NAME.fullmatch(name) or names.count(name) > 1:
            message = (
                "figures of a page must have different names of letters, digits and "
                f"hyphens, got {name!r}"
            )
            raise InputError(message)
    return names
