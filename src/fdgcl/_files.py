"""Writing files so that a reader never meets half of one, and reading parts of them."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fdgcl._checks import InputError


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it when the block succeeds.

    The parent folder is made if needed. Whatever goes wrong inside the block, `path`
    keeps its old content (or stays absent) and the temporary file is removed.

    Raises:
        InputError: The folder cannot be written, or the disk is full.
    """
    target = Path(path)
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(target))
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix=".tmp", dir=target.parent
        )
        os.close(handle)
        temporary = Path(name)
        yield temporary
        _sync(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        if error.errno is None:
            raise
        raise explain(error, target) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` as indented JSON, atomically."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def explain(error: OSError, target: Path) -> Exception:
    """The sentence for a file that could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return InputError(
            f"the disk is full: {target} was not written, and nothing half-written "
            "was left behind"
        )
    return InputError(f"cannot write {target}: {error.strerror or error}")


def read_into(file: int, into: memoryview, place: int) -> bool:
    """Fill memory with the bytes of an open file from a place on.

    Any number of threads may do so: the file's own position does not move.

    Returns:
        Whether there were as many.
    """
    done = 0
    while done < len(into):
        got = os.preadv(file, [into[done:]], place + done)
        if got == 0:
            return False
        done += got
    return True
