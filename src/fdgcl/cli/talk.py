"""What a command tells the user, by --quiet and --json."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fdgcl._bars import Bars, bars
from fdgcl.cli import console

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass
class Talk:
    """Text for people, or one JSON object for programs; notices are kept for it."""

    quiet: bool = False
    json: bool = False
    notices: list[str] = field(default_factory=list)

    def bars(self) -> AbstractContextManager[Bars]:
        """Return progress bars, drawn for people only."""
        return bars(shown=not (self.quiet or self.json))

    def say(self, text: str = "") -> None:
        """Write a line of the result."""
        if not (self.quiet or self.json):
            console.say(text)

    def show(self, what: RenderableType) -> None:
        """Write a table of the result."""
        if not (self.quiet or self.json):
            console.console().print(what)

    def notice(self, *texts: str) -> None:
        """Tell what was chosen or assumed, each thing once."""
        for text in _new(texts, self.notices):
            self.notices.append(text)
            if not (self.quiet or self.json):
                console.notice(text)

    def emit(self, value: dict[str, object]) -> None:
        """Write the JSON object, if it was asked for."""
        if self.json:
            console.emit(value)


def _new(texts: Iterable[str], known: list[str]) -> list[str]:
    return [text for text in texts if text not in known]
