"""Where text goes: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fdgcl._bars import Bars, bars
from fdgcl.cli.names import as_options

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


@dataclass
class Terminal:
    """Text for people, or one JSON document for programs; notices are kept for it.

    Attributes:
        quiet: Whether people asked for no text.
        json: Whether the result is for a program.
        notices: What was told of choices and assumptions.
    """

    quiet: bool = False
    json: bool = False
    notices: list[str] = field(default_factory=list)

    @property
    def for_all(self) -> Terminal:
        """The same for a result that the quiet asked for, too."""
        return Terminal(json=self.json, notices=self.notices)

    def bars(self) -> AbstractContextManager[Bars]:
        """Return progress bars, drawn for people only."""
        return bars(shown=not (self.quiet or self.json))

    def say(self, text: str = "") -> None:
        """Write a line of the result, unwrapped when piped."""
        if not (self.quiet or self.json):
            _console(stderr=False).print(text, soft_wrap=True)

    def show(self, what: RenderableType) -> None:
        """Write a table of the result."""
        if not (self.quiet or self.json):
            _console(stderr=False).print(what)

    def tell(self, text: str) -> None:
        """Write a line on the progress to stderr."""
        if not (self.quiet or self.json):
            _tell(text, "dim")

    def notice(self, text: str) -> None:
        """Tell what was chosen or assumed, each thing once."""
        text = as_options(text)
        if text not in self.notices:
            self.notices.append(text)
            self.tell(text)

    def emit(self, value: object) -> None:
        """Write the JSON document, if it was asked for."""
        if self.json:
            escaped = not _takes_any_text(sys.stdout)
            text = json.dumps(value, indent=2, ensure_ascii=escaped)
            sys.stdout.write(text + "\n")


def warn(text: str) -> None:
    """Write one `warning: ...` line to stderr."""
    _tell(f"warning: {_one_line(as_options(text))}", "yellow")


def fail(text: str) -> None:
    """Write one `error: ...` line to stderr."""
    _tell(f"error: {_one_line(as_options(text))}", "red")


def stderr() -> Console:
    """Return the console for what is neither result nor JSON."""
    return _console(stderr=True)


def _tell(text: str, style: str) -> None:
    # There is nobody to tell that stderr cannot be written.
    with suppress(OSError):
        stderr().print(text, style=style, soft_wrap=True)


def _console(*, stderr: bool) -> Console:
    # Made anew each time: it is cheap, and stdout may have been redirected since.
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def _takes_any_text(stream: Any) -> bool:
    return str(stream.encoding).lower().replace("-", "").startswith("utf")


def _one_line(text: str) -> str:
    return " ".join(text.split())
