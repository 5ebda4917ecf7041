"""Progress bars on stderr, for people only: silent when piped, quiet or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fdgcl.cli.console import errors

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

STAGES = {
    "read": "reading",
    "diffuse": "diffusing",
    "train": "training",
    "embed": "embedding",
    "probe": "probing",
}


class Bars:
    """One bar per stage; called as `bars(stage, done, total)` by what runs long."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}
        self._prefix = ""

    def part(self, text: str) -> None:
        """Begin another part (say, the next seed): later bars start with `text`."""
        self._prefix = f"{text}, " if text else ""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Say that `done` of `total` are done; a total of None is not known."""
        if self._progress is None:
            return
        label = self._prefix + STAGES.get(stage, stage)
        if label not in self._tasks:
            self._tasks[label] = self._progress.add_task(label, total=total)
        self._progress.update(self._tasks[label], completed=done, total=total)

    @contextmanager
    def waiting(self, stage: str) -> Iterator[None]:
        """Show a moving bar while the block runs, for work that cannot be counted."""
        self(stage, 0, None)
        yield
        self(stage, 1, 1)


@contextmanager
def bars(*, shown: bool) -> Iterator[Bars]:
    """Yield the bars; they are drawn only when `shown` and stderr is a terminal."""
    console = errors()
    if not (shown and console.is_terminal):
        yield Bars(None)
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=console) as progress:
        yield Bars(progress)
