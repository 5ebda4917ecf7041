"""What goes wrong on real machines, on purpose."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parents[1]


@contextmanager
def full_disk(after: int) -> Iterator[None]:
    """No file may grow beyond so many bytes; Python ignores the signal that tells."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (after, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def flip(path: Path, place: int) -> None:
    """Alter one byte."""
    with path.open("r+b") as stream:
        stream.seek(place)
        value = stream.read(1)[0]
        stream.seek(place)
        stream.write(bytes([value ^ 0x40]))


def begin(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a program of Python, which finds the modules beside this folder."""
    words = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
    return subprocess.Popen(
        words,
        env={**os.environ, "PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(happened: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.001)


def kill(pid: int) -> None:
    """End a process without a chance to clear up."""
    os.kill(pid, signal.SIGKILL)


def partial_files(folder: Path) -> list[Path]:
    """Files that are being written, or were when their writer died."""
    return [path for path in folder.rglob("*") if path.name.endswith(".partial")]


def everything(folder: Path) -> set[str]:
    """All files, hidden ones as well."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
