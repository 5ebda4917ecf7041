"""Amounts of memory, as people write them, and what this process holds of it."""

from __future__ import annotations

import ctypes
import re
import resource
import sys
from pathlib import Path

from fdgcl._checks import InputError

_UNITS = {
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


def parse_size(text: str | float, name: str = "memory") -> int:
    """Turn `6GB`, `512 MiB` or a number of bytes into bytes."""
    match = _SIZE.fullmatch(str(text))
    unit = None if match is None else _UNITS.get(match[2].lower())
    if match is None or unit is None or float(match[1]) <= 0:
        message = f"{name} must be a size such as 6GB or 512MiB, got {text!r}"
        raise InputError(message)
    return int(float(match[1]) * unit)


def resident_bytes() -> int:
    """What this process holds in memory; where only the peak is known, that."""
    statm = Path("/proc/self/statm")
    if statm.is_file():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts in bytes, everything else in KiB.
    return peak if sys.platform == "darwin" else peak * 1024


def give_back() -> None:
    """Return memory that the allocator keeps for later, where it can be asked to."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
