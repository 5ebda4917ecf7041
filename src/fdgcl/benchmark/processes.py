"""A command and all processes it starts, watched from outside: memory, disk, time."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fdgcl._checks import InputError

SAMPLE_SECONDS = 0.05
# Looking at every file of a folder takes longer than looking at a few processes.
_DISK_SECONDS = 0.5
_PATIENCE_SECONDS = 10.0
_PROC = Path("/proc")


@dataclass(frozen=True)
class Watched:
    """What a command took.

    Attributes:
        exit_code: 0 where it went well.
        seconds: From its start to its end.
        peak_bytes: The most that it and its descendants held together.
        peak_disk_bytes: The most that the watched folder held.
    """

    exit_code: int
    seconds: float
    peak_bytes: int
    peak_disk_bytes: int


class Tree:
    """A process and its descendants, as far as they were seen.

    A descendant stays one when its parent has ended: by its session, or because it
    was known before.

    Args:
        root: Id of the first process.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._known: set[tuple[int, int]] = set()
        # No process becomes a descendant later, so others are looked at once only.
        self._others: set[int] = set()
        self.highest_bytes = 0

    def resident_bytes(self) -> int:
        """What all of them hold now; pages that they share count in each."""
        total = 0
        for process in self._members():
            now, highest = _memory(process)
            total += now
            self.highest_bytes = max(self.highest_bytes, highest)
        return total

    def _members(self) -> list[int]:
        running = _all_processes()
        self._others &= running
        here = {pid: stat for pid in running - self._others if (stat := _stat(pid))}
        ours = {
            pid
            for pid, (_, session, start) in here.items()
            if self._root in (pid, session) or (pid, start) in self._known
        }
        # Parents may have larger ids than their children: look until nothing is new.
        added = True
        while added:
            new = {pid for pid, (parent, _, _) in here.items() if parent in ours} - ours
            ours |= new
            added = bool(new)
        self._known = {(pid, here[pid][2]) for pid in ours}
        self._others |= here.keys() - ours
        return sorted(ours)


def watch(
    words: Sequence[str],
    *,
    output: Path,
    errors: Path,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    sample_seconds: float = SAMPLE_SECONDS,
    on_sample: Callable[[float, int], None] | None = None,
) -> Watched:
    """Run a command to its end, sampling its memory.

    The peak is that of sums taken every `sample_seconds`, or the highest that any one
    process had until its last look, by the kernel's own count, if that is more. What
    ends before the first look is not seen.

    Args:
        words: The command.
        output: Where its stdout goes.
        errors: Where its stderr goes.
        folder: Whose bytes are added up from time to time.
        environment: Of the command; None for that of this process.
        sample_seconds: How long to wait between two looks.
        on_sample: Called at each look with seconds so far and bytes of memory.

    Raises:
        InputError: This is not Linux.
    """
    check_linux()
    with output.open("wb") as out, errors.open("wb") as err:
        start = time.perf_counter()
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=None if environment is None else dict(environment),
            start_new_session=True,
        )
        try:
            tree, peak, disk = Tree(child.pid), 0, 0
            looked = -_DISK_SECONDS
            while child.poll() is None:
                held = tree.resident_bytes()
                peak = max(peak, held)
                seconds = time.perf_counter() - start
                if on_sample is not None:
                    on_sample(seconds, held)
                if seconds - looked >= _DISK_SECONDS:
                    looked, disk = seconds, max(disk, folder_bytes(folder))
                with suppress(subprocess.TimeoutExpired):
                    child.wait(sample_seconds)
            seconds = time.perf_counter() - start
        finally:
            _end(child)
    disk = max(disk, folder_bytes(folder))
    return Watched(child.returncode, seconds, max(peak, tree.highest_bytes), disk)


def check_linux() -> None:
    """Refuse other systems."""
    if sys.platform != "linux":
        message = (
            "the memory of processes is read from /proc, which only Linux has, and "
            f"this is {sys.platform}"
        )
        raise InputError(message)


def folder_bytes(folder: Path) -> int:
    """Sizes of all files below a folder, some of which may come and go meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118
    return total


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a command that still runs, by interruption or an error here, and its kin."""
    if child.poll() is not None:
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        _signal_group(child.pid, number)
        with suppress(subprocess.TimeoutExpired):
            child.wait(_PATIENCE_SECONDS)
            break
    _signal_group(child.pid, signal.SIGKILL)  # those it has left behind


def _signal_group(leader: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, number)


def _all_processes() -> set[int]:
    with os.scandir(_PROC) as places:
        return {int(place.name) for place in places if place.name.isdigit()}


def _stat(process: int) -> tuple[int, int, int] | None:
    """Parent, session and starting time; None where it has ended."""
    try:
        text = (_PROC / str(process) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # Its name stands in brackets, and may hold brackets and blanks itself.
    values = text.rpartition(")")[2].split()
    return int(values[1]), int(values[3]), int(values[19])


def _memory(process: int) -> tuple[int, int]:
    """Bytes resident now, and the most that ever were."""
    place = _PROC / str(process)
    try:
        now = int((place / "statm").read_text().split()[1]) * resource.getpagesize()
        for line in (place / "status").read_text(errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return now, int(line.split()[1]) * 1024
    except (OSError, IndexError):
        return 0, 0
    return now, now
