"""What a workflow tells while it runs: progress, notices, and where it was stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from fdgcl._bars import Bars, watched
from fdgcl._progress import Progress

#: Called with each thing that was chosen or assumed, as soon as it is known.
OnNotice: TypeAlias = Callable[[str], None]
#: As the methods of a model take it: a bar or none, or a function that is called.
ProgressArgument: TypeAlias = bool | Progress | None


class Interrupted(KeyboardInterrupt):
    """A workflow was interrupted; what it had done is kept where it says.

    Attributes:
        run: The run folder.
        kept: Whether there is anything in it to go on with.
        done: Units of work that are done, where they are counted.
        total: All of them.
    """

    def __init__(
        self, run: Path, *, kept: bool = True, done: int = 0, total: int = 0
    ) -> None:
        state = f"what is done is kept in {run}" if kept else "nothing was done yet"
        super().__init__(f"interrupted; {state}")
        self.run, self.kept = run, kept
        self.done, self.total = done, total


@dataclass
class Feedback:
    """Where progress and notices go; each notice is told once and kept.

    Attributes:
        bars: Told of the progress.
        on_notice: Told of notices; None for nobody.
        notices: All of them.
    """

    bars: Bars
    on_notice: OnNotice | None = None
    notices: list[str] = field(default_factory=list)

    def notice(self, *texts: str) -> None:
        """Tell what was chosen or assumed, each thing once."""
        for text in texts:
            if text not in self.notices:
                self.notices.append(text)
                if self.on_notice is not None:
                    self.on_notice(text)


@contextmanager
def feedback(
    progress: ProgressArgument, on_notice: OnNotice | None = None
) -> Iterator[Feedback]:
    """Yield what a workflow tells to, by its arguments `progress` and `on_notice`.

    Example:
        >>> with feedback(False, print) as told:
        ...     told.notice("edges are directed", "edges are directed")
        edges are directed
    """
    with watched(progress) as tell:
        bars = tell if isinstance(tell, Bars) else _Called(tell)
        yield Feedback(bars, on_notice)


class _Called(Bars):
    """Calls a function with (stage, done, total); a total of 0 is not known."""

    def __init__(self, tell: Progress | None) -> None:
        self._tell = tell

    def __call__(
        self,
        stage: str,
        done: int,
        total: int | None,
        detail: str = "",  # noqa: ARG002
    ) -> None:
        if self._tell is not None:
            self._tell(stage, done, total or 0)
