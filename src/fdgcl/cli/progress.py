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
    "look": "looking at the graph",
    "statistics": "finding means and covariances",
    "diffuse": "diffusing",
    "train": "training",
    "embed": "embedding",
    "probe": "probing",
}


class Bars:
    """One bar at a time; called as `bars(stage, done, total)` by what runs long."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        self._label = ""
        self._part = ""

    def part(self, text: str) -> None:
        """Begin another part (say, the next seed): later bars start with `text`."""
        self._part = f"{text}, " if text else ""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Say that `done` of `total` are done; a total of None is not known."""
        if self._progress is None:
            return
        label = self._part + STAGES.get(stage, stage)
        if self._task is None or label != self._label:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(label, total=total, count="", left="")
            self._label = label
        count, left = ("", "") if total is None else (f"{done}/{total}", "left")
        self._progress.update(
            self._task, completed=done, total=total, count=count, left=left
        )

    @contextmanager
    def waiting(self, stage: str) -> Iterator[None]:
        """Show a moving bar while the block runs, for work that cannot be counted."""
        self(stage, 0, None)
        yield


@contextmanager
def bars(*, shown: bool) -> Iterator[Bars]:
    """Yield the bars; they are drawn only when `shown` and stderr is a terminal."""
    console = errors()
    if not (shown and console.is_terminal):
        yield Bars(None)
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Bars(progress)
