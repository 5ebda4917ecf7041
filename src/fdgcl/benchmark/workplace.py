"""The folder that a measurement happens in, and how fast its disk is."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from fdgcl._checks import InputError

_BLOCK_BYTES = 2**24


@contextmanager
def work_folder(folder: Path | None, *, keep: bool) -> Iterator[Path]:
    """Yield an empty folder, and remove it in the end unless it is to be kept.

    Args:
        folder: The one asked for; None for a new one among the temporary files.
        keep: Whether it stays.

    Raises:
        InputError: There is something in it, or it cannot be made.
    """
    made = folder is None or not folder.exists()
    if folder is None:
        place = Path(mkdtemp(prefix="fdgcl-out-of-core-"))
    else:
        place = folder.absolute()
        try:
            place.mkdir(parents=True, exist_ok=True)
            taken = any(place.iterdir())
        except OSError as error:
            message = f"--folder {folder} cannot be used: {error.strerror}"
            raise InputError(message) from None
        if taken:
            message = f"--folder {folder} is not empty: name a new one, or empty it"
            raise InputError(message)
    try:
        yield place
    finally:
        if not keep:
            for inside in place.iterdir():
                shutil.rmtree(inside) if inside.is_dir() else inside.unlink()
            if made:
                place.rmdir()


def disk_rates(folder: Path, size: int) -> dict[str, float]:
    """Bytes a second that a file is written with and, out of the cache, read with.

    The second is an upper bound where another cache, of the disk or of the host of a
    virtual machine, has the file still.
    """
    path, block = folder / "probe.bin", os.urandom(_BLOCK_BYTES)
    blocks = max(1, size // len(block))
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        start = time.perf_counter()
        for _ in range(blocks):
            os.write(handle, block)
        os.fsync(handle)
        written = time.perf_counter() - start
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.lseek(handle, 0, os.SEEK_SET)
        start = time.perf_counter()
        while os.read(handle, _BLOCK_BYTES):
            pass
        read = time.perf_counter() - start
    finally:
        os.close(handle)
        path.unlink()
    total = blocks * len(block)
    return {
        "bytes": total,
        "write_bytes_per_second": total / written,
        "read_bytes_per_second": total / read,
    }
