"""Every failure becomes one sentence on stderr and an exit code.

- 0: success
- 1: a failure that is not the user's
- 2: bad input
- 3: the disk is full, or a limit on files or a quota is reached
- 129, 130, 143: ended by SIGHUP, by Ctrl-C, by SIGTERM (128 and the signal's number)
- 141: nobody reads the output any more, as in `fdgcl ... | head -1`; no sentence
"""

from __future__ import annotations

import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import typer

from fdgcl._checks import InputError, MissingExtraError, in_words, renamed
from fdgcl._files import FULL, DiskFullError
from fdgcl._interrupts import interrupted_by
from fdgcl._settings import settings_of
from fdgcl.cli.options import METHOD, method_of
from fdgcl.cli.settings import settings_of_method
from fdgcl.cli.terminal import fail, warn
from fdgcl.methods import METHODS

FAILURE = 1
BAD_INPUT = 2
DISK_FULL = 3
NOBODY_READS = 128 + signal.SIGPIPE


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
        raise interruption() from None
    except BrokenPipeError:
        raise typer.Exit(NOBODY_READS) from None
    except Exception as error:
        if isinstance(error, typer.Exit | typer.Abort):
            raise
        if debug():
            traceback.print_exc()
        message, code = explain(error)
        if code == FAILURE and interrupted_by():  # some library's word for it
            raise interruption() from None
        if message:
            fail(message)
        raise typer.Exit(code) from None


def interruption(rest: str = "", *, told: bool = True) -> typer.Exit:
    """Say that the command was interrupted; return what to raise.

    Args:
        rest: What more there is to say, after "interrupted".
        told: Whether this process is the one to say it.
    """
    number = interrupted_by() or signal.SIGINT
    by = "" if number == signal.SIGINT else f" by {number.name}"
    if told:
        fail(f"interrupted{by}{rest}")
    return typer.Exit(128 + number)


def explain(error: Exception) -> tuple[str, int]:
    """Return the sentence for the user and the exit code of an exception."""
    if hasattr(error, "format_message"):  # of the parser: a wrong option or command
        return _usage(error), BAD_INPUT
    if isinstance(error, DiskFullError):
        return str(error), DISK_FULL
    if isinstance(error, InputError | MissingExtraError):
        return str(error), BAD_INPUT
    if isinstance(error, OSError) and error.errno in FULL:
        # Those who write files name them; of stdout, Python knows no name.
        what = error.filename or "stdout"
        why = FULL[error.errno]
        return f"the disk is full: {what} could not be written{why}", DISK_FULL
    if "database or disk is full" in str(error):  # SQLite's, of a study
        return "the disk is full: the study was not written to the end", DISK_FULL
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
    text = (
        _renamed(error)
        or _of_another(error)
        or error.format_message().strip().rstrip(".")
    )
    if not text:  # the help was shown instead
        return ""
    # Where the help is short, what was meant may be in the long one.
    known = () if context is None else context.command.params
    shown = "--help-all" if any("--help-all" in one.opts for one in known) else "--help"
    return f"{text[0].lower()}{text[1:]} (see: {command} {shown})"


def _renamed(error: Any) -> str | None:
    """What an option is called now, where the command has it under another name."""
    wrong, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    known = () if context is None else context.command.params
    if wrong is None or not any("--window" in one.opts for one in known):
        return None
    return renamed(wrong.removeprefix("--"), "--")


def _of_another(error: Any) -> str | None:
    """Whose setting an option is, where the command takes those of another method."""
    wrong, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if wrong is None or context is None:
        return None
    if not any(METHOD in one.opts for one in context.command.params):
        return None
    own = method_of(context)
    name = wrong.removeprefix("--").removeprefix("no-").replace("-", "_")
    others = [one for one in METHODS if name in settings_of(settings_of_method(one))]
    if own in others or not others:
        return None
    whose = in_words([repr(one) for one in others])
    return f"{wrong} is a setting of {whose}, not of method {own!r}"


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
