"""Every failure becomes one sentence on stderr and an exit code.

0 is success, 2 bad input, 1 a failure that is not the user's, 130 an interruption.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import typer

from fdgcl._checks import InputError, MissingExtraError
from fdgcl._interrupts import was_interrupted
from fdgcl.cli.console import fail, warn

BAD_INPUT = 2
FAILURE = 1
INTERRUPTED = 130


@contextmanager
def explained(debug: Callable[[], bool]) -> Iterator[None]:
    """Turn what the block raises into one line and `typer.Exit` with the right code.

    Args:
        debug: Whether to show the traceback as well, asked when something fails.
    """
    try:
        with warnings.catch_warnings():
            # The project's own warnings are shown, each once; those of other
            # libraries are for developers.
            warnings.simplefilter("default" if debug() else "always")
            warnings.showwarning = _shower(debug)
            yield
    except KeyboardInterrupt:
        fail("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if isinstance(error, typer.Exit | typer.Abort | BrokenPipeError):
            raise
        if debug():
            traceback.print_exc()
        message, code = explain(error)
        if code == FAILURE and was_interrupted():  # some library's word for it
            message, code = "interrupted", INTERRUPTED
        if message:
            fail(message)
        raise typer.Exit(code) from None


def explain(error: Exception) -> tuple[str, int]:
    """Return the sentence for the user and the exit code of an exception."""
    if hasattr(error, "format_message"):  # of the parser: a wrong option or command
        return _usage(error), BAD_INPUT
    if isinstance(error, InputError | MissingExtraError):
        return str(error), BAD_INPUT
    if isinstance(error, OSError) and error.filename is not None:
        return f"cannot use {error.filename}: {error.strerror}", BAD_INPUT
    if _is_ours(type(error)):
        return str(error), FAILURE
    if isinstance(error, MemoryError) or "out of memory" in str(error).lower():
        return (
            "there is not enough memory; see what --dry-run predicts, and try a "
            "smaller --dim or --batch-size",
            FAILURE,
        )
    return (
        f"something went wrong inside fdgcl ({type(error).__name__}: {error}); "
        "run again with --debug to see where",
        FAILURE,
    )


def _usage(error: Any) -> str:
    context = getattr(error, "ctx", None)
    command = "fdgcl" if context is None else context.command_path
    text = error.format_message().strip().rstrip(".")
    if not text:  # the help was shown instead
        return ""
    return f"{text[0].lower()}{text[1:]} (see: {command} --help)"


def _is_ours(kind: type) -> bool:
    return kind.__module__.split(".")[0] == "fdgcl"


def _shower(debug: Callable[[], bool]) -> Callable[..., None]:
    seen: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,  # noqa: ARG001
    ) -> None:
        text = str(message)
        if _is_ours(category) and text not in seen:
            seen.add(text)
            warn(text)
        elif debug() and not _is_ours(category):
            shown: Any = file or sys.stderr
            shown.write(warnings.formatwarning(message, category, filename, lineno))

    return show
