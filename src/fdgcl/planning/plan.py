"""What a step does and takes, whichever it is."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fdgcl._checks import InputError
from fdgcl._files import DiskFullError
from fdgcl._memory import describe_size
from fdgcl.planning.cost import describe_seconds

# What is asked for is told with three digits, and Python itself takes a little more in
# one run than in the next.
_SPARE = 1.01


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a step does and takes, before anything runs.

    A step that has more to say for programs adds fields to it, and nothing else.

    Attributes:
        does: What is done, in sentences.
        peak_bytes: Memory expected at the peak.
        aside: What is in memory anyway and not counted, in words.
        memory: The bound on it; None where there is none but the machine's.
        least_bytes: The least bound with which the step can be done.
        purpose: What takes the memory, in words.
        disk_bytes: What the step leaves on disk.
        temporary_bytes: What it takes beside that while it runs.
        seconds: Expected; None where nothing was measured to tell by.
        sparse_products: Products of the graph with one column, in all; None where
            nobody counted.
        dense_flops: Floating-point operations of dense products, in all; None where
            nobody counted.

    Example:
        >>> plan = Plan(does=("sorts 7 edges",), peak_bytes=2 * 10**9, memory=4 * 10**9)
        >>> for sentence in plan.describe():
        ...     print(sentence)
        sorts 7 edges
        memory: up to 2 GB of 4 GB
    """

    does: tuple[str, ...]
    peak_bytes: int
    aside: str = ""
    memory: int | None = None
    least_bytes: int | None = None
    purpose: str = ""
    disk_bytes: int = 0
    temporary_bytes: int = 0
    seconds: float | None = None
    sparse_products: int | None = None
    dense_flops: float | None = None

    def describe(self) -> list[str]:
        """Plain sentences for people."""
        memory = f"memory: up to {describe_size(self.peak_bytes)}"
        if self.memory is not None:
            memory += f" of {describe_size(self.memory)}"
        if self.least_bytes is not None and self.least_bytes < self.peak_bytes:
            memory += f"; {describe_size(_SPARE * self.least_bytes)} would do"
        sentences = [*self.does, memory + (f", {self.aside}" if self.aside else "")]
        if self.disk_bytes:
            disk = f"disk: {describe_size(self.disk_bytes)}"
            if self.temporary_bytes:
                disk += f", and {describe_size(self.temporary_bytes)} more on the way"
            sentences.append(disk)
        if self.seconds is not None:
            sentences.append(f"time: about {describe_seconds(self.seconds)}")
        return sentences

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)

    def check(self) -> None:
        """Refuse what does not fit.

        Raises:
            InputError: More memory is needed.
        """
        if self.memory is not None and self.least_bytes is not None:
            check_memory(self.memory, self.least_bytes, self.purpose)


def check_memory(memory: int, least: float, purpose: str = "") -> None:
    """Refuse a bound on memory that will not do.

    Args:
        memory: The bound.
        least: The least that would do.
        purpose: What takes it, in words.

    Raises:
        InputError: The bound is less; the message says what is enough.

    Example:
        >>> check_memory(10**9, 2 * 10**9, "for 7 nodes")
        Traceback (most recent call last):
        fdgcl._checks.InputError: memory must be at least 2.02 GB for 7 nodes, got 1 GB
    """
    if memory < least:
        enough = " ".join(filter(None, [describe_size(_SPARE * least), purpose]))
        message = f"memory must be at least {enough}, got {describe_size(memory)}"
        raise InputError(message)


def check_disk(folder: Path, needed: int, purpose: str, remedy: str = "") -> None:
    """Refuse to begin what the disk cannot hold.

    Args:
        folder: Where it goes, which need not be there yet.
        needed: Bytes that it takes beside what is there.
        purpose: What takes them, in words, such as `the embedding takes`.
        remedy: What to do about it, if that is not obvious.

    Raises:
        DiskFullError: There is less room.

    Example:
        >>> check_disk(Path("."), 10**18, "the universe takes")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        fdgcl._files.DiskFullError: . has ... of free disk, and the universe takes 1 EB
    """
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    if needed > free:
        message = (
            f"{folder} has {describe_size(free)} of free disk, and {purpose} "
            f"{describe_size(needed)}{': ' if remedy else ''}{remedy}"
        )
        raise DiskFullError(message)
