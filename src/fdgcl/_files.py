"""Writing files so that a reader never sees half of one, and reading parts of them."""

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
from fdgcl._memory import describe_size

#: Error numbers of a write without room, and what each adds to the message.
FULL = {
    errno.ENOSPC: "",
    errno.EDQUOT: " (the quota of this user is reached)",
    errno.EFBIG: " (the size that files may have is reached: see ulimit -f)",
}


class DiskFullError(InputError):
    """There is no room for a file; the command line exits with code 3."""


#: In a run folder: what the run wrote elsewhere.
LEDGER = "outputs.json"


@contextmanager
def atomic_path(
    path: str | os.PathLike[str], size: int | None = None
) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it when the block succeeds.

    The parent folder is made if needed. Whatever goes wrong inside the block, `path`
    keeps its old content (or stays absent) and the temporary file is removed.

    Args:
        path: The file to be.
        size: How many bytes it will have, where that is known, for the sentence.

    Raises:
        DiskFullError: The disk is full.
        InputError: The folder cannot be written.
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
        raise explain(error, target, size) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` as indented JSON, atomically."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with atomic_path(path, len(text)) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def explain(error: OSError, target: Path, size: int | None = None) -> Exception:
    """The sentence for a file that could not be written.

    Args:
        error: Why.
        target: The file.
        size: How many bytes it would have had, where that is known.
    """
    if error.errno in FULL:
        needs = "" if size is None else f" (it takes {describe_size(size)})"
        return DiskFullError(
            f"the disk is full: {target}{needs} was not written, and nothing "
            f"half-written was left behind{FULL[error.errno]}"
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
