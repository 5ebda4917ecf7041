"""What `fdgcl tune --quick` shows, and what it does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.cli.terminal import Terminal
from fdgcl.workflows.tuned import plus_minus, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from fdgcl.choosing.choice import Choice
    from fdgcl.workflows.choose_settings import ChosenSettings

_LINES = 10


def refuse_with_quick(**given: Any) -> None:
    """Refuse options of a search, which mean nothing to a quick choice.

    Args:
        given: Options by their names; None where one was not given.

    Raises:
        InputError: One of them was.
    """
    for name, value in given.items():
        if value is not None:
            message = (
                f"--{name} means nothing with --quick, which tries settings of "
                "its own, once each, from the defaults: leave out one of the two"
            )
            raise InputError(message)


def show_chosen(outcome: ChosenSettings, following: str, terminal: Terminal) -> None:
    """Show what was tried and taken.

    Args:
        outcome: What was found.
        following: The command to suggest next.
        terminal: Where text goes.
    """
    choice = outcome.choice
    terminal.show(_table(choice))
    terminal.say(f"taken      {choice.why}")
    terminal.say(f"settings   {outcome.settings_file}")
    terminal.say(f"next       {following}")
    told_of = {"notices": terminal.notices, "next": following}
    terminal.emit({**outcome.to_dict(), **told_of})


def _table(choice: Choice) -> Table:
    from rich.table import Table

    count, first = len(choice.tried), choice.tried[:_LINES]
    shorter = f"; the first {_LINES} of {count}" if count > _LINES else ""
    caption = (
        "Validation accuracy of a linear probe in %, mean ± standard error on "
        f"{choice.splits}; {choice.seconds:.0f} s{shorter}"
    )
    table = Table(caption=caption, caption_justify="left", caption_style="dim")
    table.add_column("settings", no_wrap=True)
    table.add_column("validation", justify="right", no_wrap=True)
    table.add_column("differs from the defaults by")
    for one in first:
        style = "bold" if one is choice.taken else None
        score = plus_minus(one.mean, one.error)
        table.add_row(one.name, score, _changes(one.changes), style=style)
    return table


def _changes(changes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {shown(value)}" for name, value in changes.items())
