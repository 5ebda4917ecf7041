"""stdout and stderr as they come: closed, full, or unable to show a character."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from fdgcl.cli.failures import NOBODY_READS, explain
from fdgcl.cli.terminal import fail

_STDERR = 2


def prepare_streams() -> None:
    """See to it that there are stdout and stderr, and that they take any text."""
    # Where one is closed, the next file to be opened would take its number, and with
    # it all that libraries print.
    while (opened := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(opened)
    sys.stdout, sys.stderr = _there(sys.stdout, 1), _there(sys.stderr, _STDERR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def finish_output(code: int) -> int:
    """Write out what stdout still holds; return the exit code, which may be another.

    Python would do so itself when it exits, where it can only report a failure.
    """
    failure = _flush(sys.stdout)
    if failure is not None and code == 0:
        message, code = explain(failure)
        if isinstance(failure, BrokenPipeError):
            code = NOBODY_READS
        else:
            fail(message)
    _flush(sys.stderr)
    return code


def _there(stream: TextIO | None, number: int) -> TextIO:
    # Python has no stream where the file was closed when it started.
    return stream or os.fdopen(number, "w", encoding="utf-8", errors="replace")


def _flush(stream: TextIO) -> OSError | None:
    """Write out what a stream holds; where that fails, discard it and tell why."""
    try:
        stream.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        return error
    return None
