"""Where text goes: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Return the console for results (stdout)."""
    return _console(stderr=False)


def errors() -> Console:
    """Return the console for progress, notices and errors (stderr)."""
    return _console(stderr=True)


def emit(value: object) -> None:
    """Write `value` to stdout as one JSON document."""
    escaped = not _takes_any_text(sys.stdout)
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=escaped) + "\n")


def say(text: str) -> None:
    """Write a line of human text to stdout, unwrapped when piped."""
    console().print(text, soft_wrap=True)


def notice(text: str) -> None:
    """Write a line that is neither result nor error to stderr."""
    _tell(text, "dim")


def warn(text: str) -> None:
    """Write one `warning: ...` line to stderr."""
    _tell(f"warning: {_one_line(text)}", "yellow")


def fail(text: str) -> None:
    """Write one `error: ...` line to stderr."""
    _tell(f"error: {_one_line(text)}", "red")


def _tell(text: str, style: str) -> None:
    # There is nobody to tell that stderr cannot be written.
    with suppress(OSError):
        errors().print(text, style=style, soft_wrap=True)


def _console(*, stderr: bool) -> Console:
    # Made anew each time: it is cheap, and stdout may have been redirected since.
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def _takes_any_text(stream: Any) -> bool:
    return str(stream.encoding).lower().replace("-", "").startswith("utf")


def _one_line(text: str) -> str:
    return " ".join(text.split())
