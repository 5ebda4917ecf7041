"""Scores as tables on the terminal."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from fdgcl.workflows.evaluation import Evaluation
    from fdgcl.workflows.scores import ScoreTable


def score_table(scores: ScoreTable) -> Table:
    """Methods and what they scored: shares in percent, the best test score bold."""
    from fdgcl.workflows.scores import shown

    first = scores.rows[0]
    table = _table(scores.caption)
    table.add_column(f"{scores.judge} on")
    for name in (first.measure, *(one.name for one in first.others)):
        table.add_column(f"test {name}", justify="right")
    table.add_column("validation", justify="right")
    best = max(fmean(row.test) for row in scores.rows)
    for row in scores.rows:
        style = "bold" if fmean(row.test) == best else None
        further = (shown(one.name, one.test) for one in row.others)
        test, val = shown(row.measure, row.test), shown(row.measure, row.val)
        table.add_row(row.name, test, *further, val, style=style)
    return table


def evaluation_table(found: Evaluation) -> Table:
    """What an embedding scored by each measure."""
    from fdgcl.workflows.scores import shown

    table = _table(found.caption)
    table.add_column("")
    table.add_column("test", justify="right")
    table.add_column("validation", justify="right")
    for line in found.lines:
        val = "" if line.val is None else shown(line.measure, line.val)
        table.add_row(line.name, shown(line.measure, line.test), val)
    return table


def _table(caption: str) -> Table:
    from rich.table import Table

    return Table(caption=caption, caption_justify="left", caption_style="dim")
