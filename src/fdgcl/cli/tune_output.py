"""What `fdgcl tune` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fdgcl.cli.terminal import Terminal
from fdgcl.workflows.tuned import TunedSettings, changes, plus_minus

if TYPE_CHECKING:
    from rich.table import Table

    from fdgcl.tuning.ranking import Standing

_TOLD = 5  # dimensions that matter most


def show_tuned(outcome: TunedSettings, following: str, terminal: Terminal) -> None:
    """Show what tuning found.

    Args:
        outcome: What it found.
        following: The command to suggest next.
        terminal: Where text goes.
    """
    found, best = outcome.found, outcome.found.best
    score = plus_minus(best.mean, best.error)
    terminal.show(_table(outcome))
    terminal.say(
        f"best       trial {best.record.number}, validation accuracy {score} %"
    )
    start = found.baseline
    if start is not None and start is not best:
        verdict = "" if found.improves else ": not clearly worse than the best"
        score = plus_minus(start.mean, start.error)
        terminal.say(f"start      validation accuracy {score} %{verdict}")
    terminal.say(f"settings   {outcome.settings_file}")
    terminal.say(f"study      {outcome.study}  {outcome.counted()}")
    if outcome.report is not None:
        terminal.say(f"report     {outcome.report}")
    if found.importances:
        shares = list(found.importances.items())[:_TOLD]
        told = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares)
        terminal.say(f"matters    {told}")
    terminal.say(f"next       {following}")
    told_of = {"notices": terminal.notices, "next": following}
    terminal.emit({**outcome.to_dict(), **told_of})


def _table(outcome: TunedSettings) -> Table:
    from rich.table import Table

    problem, seeds = outcome.problem, len(outcome.found.plan.seeds)
    caption = (
        "Validation accuracy of a linear probe in %, mean ± standard error over "
        f"{problem.num_splits} splits ({problem.splits}); {seeds} seeds in the "
        "search. Around: mean of the nearest trials. The first is taken."
    )
    table = Table(caption=caption, caption_justify="left", caption_style="dim")
    for heading in ("trial", "search", "fresh seeds", "around", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("differs from the start by")
    for place, one in enumerate(outcome.found.standings):
        style = "bold" if place == 0 else None
        table.add_row(*_row(outcome, one), style=style)
    return table


def _row(outcome: TunedSettings, one: Standing) -> tuple[str, ...]:
    record = one.record
    assert record.value is not None
    return (
        str(record.number),
        plus_minus(record.value, record.error),
        plus_minus(one.mean, one.error) if one.fresh else "",
        f"{100 * one.around:.1f}" if one.around is not None else "",
        f"{record.seconds:.1f}",
        changes(record, outcome.found.start),
    )
