"""A bar of the units that `fdgcl reproduce` measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fdgcl.cli.terminal import stderr

if TYPE_CHECKING:
    from fdgcl.experiments.runner import State

MINUTE, HOUR = 60, 3600


@contextmanager
def progress_bar(*, shown: bool) -> Iterator[Callable[[State], None]]:
    """Yield what draws a bar of the units, on a terminal only."""
    console = stderr()
    if not (shown and console.is_terminal):
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("measuring", total=None, count="", left="")

        def draw(state: State) -> None:
            progress.update(
                task,
                description=state.latest or "measuring",
                completed=state.done,
                total=state.total,
                count=f"{state.done}/{state.total}",
                left=time_left(state.seconds_left),
            )

        yield draw


def time_left(seconds: float | None) -> str:
    """How long it will take, in words: `about 3 min left`."""
    if seconds is None:
        return ""
    if seconds < MINUTE:
        return "less than a minute left"
    if seconds < HOUR:
        return f"about {seconds / MINUTE:.0f} min left"
    return f"about {seconds / HOUR:.1f} h left"
