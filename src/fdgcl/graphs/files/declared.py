"""What NumPy files declare to hold, checked before memory is taken for it."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np

from fdgcl._checks import InputError
from fdgcl._memory import available_bytes, describe_size

# Deflate makes at most so many bytes of one.
_MOST = 1032


def refuse_false_sizes(path: Path, names: Collection[str] | None = None) -> None:
    """Refuse a `.npy` or `.npz` file that declares more than it holds, or memory does.

    Files that are neither are left to their readers.

    Args:
        path: The file.
        names: The arrays of a `.npz` file that will be read; None for all.

    Raises:
        InputError: It is cut off or damaged, or too large.
    """
    needed = 0
    for name, size, held in _arrays(path):
        if names is not None and name not in names:
            continue
        whose = f"{path}" if name is None else f"the array {name} of {path}"
        if size > held:
            message = (
                f"{whose} declares {describe_size(size)} and has "
                f"{describe_size(held)}: it is cut off or damaged"
            )
            raise InputError(message)
        needed += size
    spare = available_bytes()
    if needed > spare:
        message = (
            f"{path} takes {describe_size(needed)} of memory once read, and "
            f"{describe_size(spare)} are to spare"
        )
        raise InputError(message)


def _arrays(path: Path) -> list[tuple[str | None, int, int]]:
    """Name, declared and held bytes of every array."""
    try:
        if not zipfile.is_zipfile(path):
            with path.open("rb") as stream:
                size = _declared(stream)
                return [(None, size, path.stat().st_size - stream.tell())]
        with zipfile.ZipFile(path) as archive:
            return [
                (entry.filename.removesuffix(".npy"), *_entry(archive, entry))
                for entry in archive.infolist()
                if entry.filename.endswith(".npy")
            ]
    except Exception:  # the reader meets it again, and explains it
        return []


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[int, int]:
    held = entry.file_size
    if entry.compress_type == zipfile.ZIP_DEFLATED:
        held = min(held, _MOST * entry.compress_size)
    elif entry.compress_type == zipfile.ZIP_STORED:
        held = min(held, entry.compress_size)
    with archive.open(entry) as stream:
        size = _declared(stream)
        return size, max(0, held - stream.tell())


def _declared(stream: IO[bytes] | Any) -> int:
    """The bytes after the header of an array, by what the header says."""
    version = np.lib.format.read_magic(stream)
    # Later versions differ from the second only in how names are encoded.
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(stream)
    # Of objects, which are refused as pickles, the size is not known.
    return 0 if dtype.hasobject else math.prod(shape) * dtype.itemsize
