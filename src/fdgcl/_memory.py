"""Memory: what there is, what this process holds, and how people write amounts."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import sys
from pathlib import Path

from fdgcl._checks import InputError

_UNITS = (
    ("EB", 1e18),
    ("PB", 1e15),
    ("TB", 1e12),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
)
_PREFIXES = {
    "": 1,
    "k": 1e3,
    "m": 1e6,
    "g": 1e9,
    "t": 1e12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}
_SIZE = re.compile(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([kmgt]?i?)b?\s*", re.IGNORECASE)
_GROUP = Path("/sys/fs/cgroup")
_STATM = Path("/proc/self/statm")
# Of the memory to spare, where no bound is given.
_SHARE = 0.6


def describe_size(size: float) -> str:
    """Bytes as a short text in powers of ten.

    Args:
        size: The bytes.

    Example:
        >>> describe_size(5.6e9)
        '5.6 GB'
    """
    size = min(size, 1e300)  # what is declared may be more than floats hold
    for unit, scale in _UNITS:
        if size >= 0.9995 * scale:  # which three digits round up to one of the unit
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} bytes"


def parse_size(text: str | float, name: str = "memory") -> int:
    """Turn `6GB`, `512 MiB` or a number of bytes into bytes.

    Args:
        text: As people write it.
        name: What to call it in an error.

    Raises:
        InputError: It is no size.

    Example:
        >>> parse_size("1.5 GB")
        1500000000
    """
    match = _SIZE.fullmatch(str(text))
    unit = None if match is None else _PREFIXES.get(match[2].lower())
    if match is None or unit is None or float(match[1]) <= 0:
        message = f"{name} must be a size such as 6GB or 512MiB, got {text!r}"
        raise InputError(message)
    return int(float(match[1]) * unit)


def total_bytes() -> int:
    """All memory of this machine.

    Example:
        >>> total_bytes() >= available_bytes()
        True
    """
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_bytes() -> int:
    """What this process may still take: of the machine's memory, and of its limits.

    Example:
        >>> available_bytes() > 0
        True
    """
    return max(0, min(_spare_bytes(), _left_of_address_space(), _left_of_group()))


def allowed_bytes(memory: str | int | None, name: str = "memory") -> int:
    """A bound in bytes: as given, or a share of what this machine has to spare.

    Args:
        memory: A size such as `6GB`, a number of bytes, or None.
        name: What it is called in errors.

    Example:
        >>> allowed_bytes("6GB")
        6000000000
    """
    if memory is not None:
        return parse_size(memory, name)
    return int(_SHARE * available_bytes())


def resident_bytes() -> int:
    """What this process holds in memory; where only the peak is known, that.

    Example:
        >>> resident_bytes() > 10**6
        True
    """
    if _STATM.is_file():
        return int(_STATM.read_text().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts in bytes, everything else in KiB.
    return peak if sys.platform == "darwin" else peak * 1024


def give_back() -> None:
    """Return memory that the allocator keeps for later, where it can be asked to.

    Example:
        >>> give_back()
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _spare_bytes() -> int:
    """What this machine has to spare; half of all memory where that is not known."""
    meminfo = Path("/proc/meminfo")
    if meminfo.is_file():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return total_bytes() // 2


def _left_of_address_space() -> int:
    """What `ulimit -v` leaves of this process's address space."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or not _STATM.is_file():
        return total_bytes()
    return limit - int(_STATM.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _left_of_group() -> int:
    """What the limit of a container leaves; all memory outside of one."""
    try:
        limit, used = (
            int((_GROUP / name).read_text())
            for name in ("memory.max", "memory.current")
        )
        lines = (_GROUP / "memory.stat").read_text().splitlines()
        # Files that were read count as used, and make room where it is needed.
        files = int(dict(line.split() for line in lines)["inactive_file"])
    except (OSError, ValueError, KeyError):
        return total_bytes()
    return limit - used + files
