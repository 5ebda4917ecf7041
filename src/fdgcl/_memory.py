"""Amounts of memory: what there is, and how people write it."""

from __future__ import annotations

import os
import resource
from pathlib import Path

_UNITS = (
    ("EB", 1e18),
    ("PB", 1e15),
    ("TB", 1e12),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
)


def describe_size(size: float) -> str:
    """Bytes as a short text in powers of ten: `5.6 GB`."""
    size = min(size, 1e300)  # what is declared may be more than floats hold
    for unit, scale in _UNITS:
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} bytes"


def total_bytes() -> int:
    """All memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_bytes() -> int:
    """What this process may still take: of the machine's memory, and of its limit."""
    return max(0, min(_spare_bytes(), _allowed_bytes()))


def _spare_bytes() -> int:
    """What this machine has to spare; half of all memory where that is not known."""
    meminfo = Path("/proc/meminfo")
    if meminfo.is_file():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return total_bytes() // 2


def _allowed_bytes() -> int:
    """What `ulimit -v` leaves of this process's address space."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = Path("/proc/self/statm")
    if limit == resource.RLIM_INFINITY or not used.is_file():
        return total_bytes()
    return limit - int(used.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
