"""Who works on a study: locks that the system drops when their process ends."""

from __future__ import annotations

import fcntl
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Wait until no one else holds the lock at `path`, then hold it."""
    with path.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


@contextmanager
def worker(folder: Path) -> Iterator[str]:
    """Yield a name that `is_alive` knows as long as the block, or process, lasts."""
    folder.mkdir(exist_ok=True)
    name = uuid.uuid4().hex[:12]
    path = folder / name
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        try:
            yield name
        finally:
            path.unlink(missing_ok=True)


def is_alive(folder: Path, name: str) -> bool:
    """Whether the worker still works; what a killed one left behind is removed."""
    path = folder / name
    try:
        with path.open() as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    path.unlink(missing_ok=True)
    return False
