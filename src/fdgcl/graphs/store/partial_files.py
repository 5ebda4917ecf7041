"""Files that are being written: each has one writer, and a dead one's are removed.

A writer holds a lock on its file, which ends with it, however it ends. So a file that
can be locked has no writer any more. File systems without locks do without them.
"""

from __future__ import annotations

import fcntl
import io
import os
import platform
import secrets
from collections.abc import Iterator
from pathlib import Path

from fdgcl._checks import InputError

ENDING = ".partial"


def open_own(path: Path) -> tuple[Path, io.FileIO]:
    """A new file beside `path` for this writer alone; others may do the same work.

    What dead writers of `path` on this machine left is removed.

    Returns:
        The file's name, and the file, locked, for reading and writing.
    """
    for left in _of_this_machine(path):
        _remove_if_dead(left)
    while True:
        # The machine is named: locks may say nothing of writers on another one.
        name = f"{_start(path)}{secrets.token_hex(6)}{ENDING}"
        stream = _open_locked(path.with_name(name))
        if stream is not None:
            return path.with_name(name), stream


def open_shared(path: Path) -> tuple[Path, io.FileIO]:
    """The one file beside `path` that writers take turns at.

    Returns:
        The file's name, and the file, locked, with what it holds already.

    Raises:
        InputError: It has a writer at this moment.
    """
    partial = path.with_name(f".{path.stem}{ENDING}")
    stream = _open_locked(partial)
    if stream is None:
        message = f"{path} is being written by another process: wait until it is done"
        raise InputError(message)
    return partial, stream


def _start(path: Path) -> str:
    return f".{path.stem}.{platform.node()}."


def _of_this_machine(path: Path) -> Iterator[Path]:
    start = _start(path)
    for file in path.parent.iterdir():
        if file.name.startswith(start) and file.name.endswith(ENDING):
            yield file


def _remove_if_dead(partial: Path) -> None:
    try:
        with partial.open("r+b") as stream:
            # Without a lock nothing is known of its writer.
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            partial.unlink(missing_ok=True)
    except OSError:
        return


def _open_locked(partial: Path) -> io.FileIO | None:
    """Open a file and lock it; None where another holds it or has just removed it."""
    stream = io.FileIO(os.open(partial, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
    try:
        _lock(stream)
        # Between opening and locking, another may have finished or removed it.
        if os.path.samestat(os.fstat(stream.fileno()), partial.stat()):
            return stream
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        stream.close()
        raise
    stream.close()
    return None


def _lock(stream: io.FileIO) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:  # a file system without locks
        return
