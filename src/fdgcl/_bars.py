"""Progress for people: a bar where one can be drawn, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl._progress import Progress

if TYPE_CHECKING:
    from rich import progress as rich_progress
    from rich.console import Console

STAGES = {
    "read": "reading",
    "look": "looking at the graph",
    "statistics": "finding means and covariances",
    "diffuse": "diffusing",
    "slices": "diffusing",
    "train": "training",
    "embed": "embedding",
    "probe": "probing",
    "try": "trying settings",
}
UNITS = {"diffuse": " columns", "slices": " slices", "train": " epochs"}

#: How often a line is written where no bar can be drawn.
LINE_SECONDS = 10.0


class Bars:
    """Progress, called as `bars(stage, done, total)`; this one shows nothing.

    >>> bars = Bars()
    >>> bars("train", 3, 20, "loss 0.1234")
    """

    _part = ""

    def part(self, text: str) -> None:
        """Begin another part (say, the next seed): later bars start with `text`."""
        self._part = f"{text}, " if text else ""

    def __call__(
        self, stage: str, done: int, total: int | None, detail: str = ""
    ) -> None:
        """Say that `done` of `total` are done; a total of None is not known."""
        label, unit = STAGES.get(stage, stage), UNITS.get(stage, "")
        self._show(self._part + label, done, total, unit, detail)

    @contextmanager
    def waiting(self, stage: str) -> Iterator[None]:
        """Show a moving bar while the block runs, for work that cannot be counted."""
        self(stage, 0, None)
        yield

    def _show(
        self, label: str, done: int, total: int | None, unit: str, detail: str
    ) -> None:
        """Show where the work is."""


class Drawn(Bars):
    """One of rich's bars at a time."""

    def __init__(self, progress: rich_progress.Progress) -> None:
        self._progress = progress
        self._task: rich_progress.TaskID | None = None
        self._label = ""

    def _show(
        self, label: str, done: int, total: int | None, unit: str, detail: str
    ) -> None:
        if self._task is None or label != self._label:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(label, total=total, count="", left="")
            self._label = label
        count, left = ("", "") if total is None else (f"{done}/{total}{unit}", "left")
        count = ", ".join(text for text in (count, detail) if text)
        self._progress.update(
            self._task, completed=done, total=total, count=count, left=left
        )


class Lines(Bars):
    """A line every ten seconds, for the log of a batch job.

    Args:
        write: Takes a line.
        clock: Returns seconds that never decrease.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write, self._clock = write, clock
        self._lock = threading.Lock()
        self._start = self._told = clock()
        self._label = self._counted = self._last = ""
        self._began = (0.0, 0)  # when the stage first reported, and what was done
        self._done, self._total = 0, 0

    def _show(
        self, label: str, done: int, total: int | None, unit: str, detail: str
    ) -> None:
        with self._lock:
            if label != self._label:
                self._label, self._began = label, (self._clock(), done)
            self._done, self._total = done, total or 0
            counted = f"{done:,} of {total:,}{unit}" if total else ""
            self._counted = "".join(f"{x}, " for x in (counted, detail) if x)
        self.beat()

    def beat(self) -> None:
        """Write a line if it is time for one."""
        with self._lock:
            now = self._clock()
            if not self._label or now - self._told < LINE_SECONDS:
                return
            state = f"{self._label}: {self._counted}"
            if self._done == self._total > 0 and state == self._last:
                return  # the end of a stage is reported once
            self._told, self._last = now, state
            elapsed = f"{_time(now - self._start)} elapsed"
            self._write(f"{state}{elapsed}{self._left(now)}")

    def _left(self, now: float) -> str:
        start, before = self._began
        done, left = self._done - before, self._total - self._done
        if done <= 0 or left <= 0:
            return ""
        return f", about {_time((now - start) / done * left)} left"


@contextmanager
def bars(*, shown: bool) -> Iterator[Bars]:
    """Yield a display of progress on stderr, or in a notebook, if `shown`."""
    if not shown:
        yield Bars()
        return
    from rich.console import Console

    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if not _can_draw(console):
        with _beating(Lines(_writer(console))) as lines:
            yield lines
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[left]}"),
    )
    apart = console.is_jupyter  # what is printed has a place of its own there
    with Progress(
        *columns,
        console=console,
        transient=True,
        redirect_stdout=not apart,
        redirect_stderr=not apart,
    ) as progress:
        yield Drawn(progress)


@contextmanager
def watched(progress: bool | Progress | None) -> Iterator[Progress | None]:
    """Yield what a method reports its progress to, from its argument `progress`.

    Args:
        progress: None for a bar where a person is watching, True or False to decide, or
            a function to call instead.

    Raises:
        InputError: It is something else.
    """
    given: Any = progress
    if callable(given):
        yield given
        return
    if given is not None and not isinstance(given, bool):
        message = (
            "progress must be True, False, None or a function of stage, done and "
            f"total, got {given!r}"
        )
        raise InputError(message)
    if not (_is_watched() if given is None else given):
        yield None
        return
    with bars(shown=True) as drawn:
        drawn("look", 0, None)
        yield drawn


def _is_watched() -> bool:
    """Whether this is a notebook, or an interactive session on a terminal."""
    shell = _shell()
    if shell == "ZMQInteractiveShell" or "google.colab" in shell:
        return True
    if not (shell or hasattr(sys, "ps1")):
        return False
    errors: Any = sys.stderr
    try:
        return bool(errors.isatty())
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _shell() -> str:
    """The class of IPython's shell, without loading IPython; empty without one."""
    find = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if find is None else find()
    if shell is None:
        return ""
    kind = type(shell)
    return "google.colab" if "google.colab" in kind.__module__ else kind.__name__


def _can_draw(console: Console) -> bool:
    if console.is_jupyter:
        return all(map(_is_there, ("IPython", "ipywidgets")))
    return console.is_terminal


def _is_there(module: str) -> bool:
    # None stands for what must not be loaded, and what is loaded may lack a spec.
    if module in sys.modules:
        return sys.modules[module] is not None
    return find_spec(module) is not None


def _writer(console: Console) -> Callable[[str], None]:
    stream = sys.stderr

    def write(text: str) -> None:
        # If stderr cannot be written, there is no place left to report that.
        with suppress(OSError, ValueError):
            if console.is_jupyter:
                stream.write(f"{text}\n")
            else:
                console.print(text, style="dim", soft_wrap=True)

    return write


@contextmanager
def _beating(lines: Lines) -> Iterator[Lines]:
    """Let lines come in time, however long the next report takes."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(1.0):
            lines.beat()

    thread = threading.Thread(target=beat, name="progress lines", daemon=True)
    thread.start()
    try:
        yield lines
    finally:
        ended.set()
        thread.join(1.0)


def _time(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
