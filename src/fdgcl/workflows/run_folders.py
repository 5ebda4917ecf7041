"""Where a run goes: checked before any work, never over another run."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path

from fdgcl._checks import InputError

RUNS = Path("runs")
EMBEDDING = "z.parquet"
#: Of a store: a folder of parts.
STORE_EMBEDDING = "z"


def check_output(path: Path) -> None:
    """Refuse an output that cannot be written, or whose name says something else."""
    if path.suffix not in (".parquet", ".pq"):
        message = f"the output is Parquet and its name must end so, got {path}"
        raise InputError(message)
    if path.is_dir():
        message = f"cannot write {path}: it is a folder"
        raise InputError(message)
    check_writable(path.parent)


def check_parts(folder: Path) -> None:
    """Refuse a folder of an embedding's parts that is a file, or cannot be made."""
    if folder.suffix in (".parquet", ".pq") or folder.is_file():
        message = (
            "the embedding is a folder of Parquet files: `output` must name a folder, "
            f"got {folder}"
        )
        raise InputError(message)
    check_writable(folder)


def check_writable(folder: Path) -> None:
    """Refuse a folder in which no file can be made, without making anything."""
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        reason = (
            error.strerror if there.is_dir() else f"{there} is a file, not a folder"
        )
        message = f"cannot write in {folder}: {reason}"
        raise InputError(message) from None


def check_run(folder: Path | None, *, resume: bool) -> None:
    """Refuse a run folder that is taken, or that has nothing to resume."""
    if folder is None:
        if resume:
            message = "`resume` needs `run=DIR`, the folder of the run to go on with"
            raise InputError(message)
        check_writable(RUNS)
        return
    check_writable(folder)
    taken = folder.is_dir() and any(folder.iterdir())
    if resume and not taken:
        message = f"`resume`: there is no run in {folder} to go on with"
        raise InputError(message)
    if taken and not resume:
        message = (
            f"the run folder {folder} is not empty: go on with the run in it by "
            "`resume`, or name another folder"
        )
        raise InputError(message)


@contextmanager
def run_folder(folder: Path | None, name: str) -> Iterator[Path]:
    """Yield the folder, made; one that stays empty because of a failure is removed.

    Args:
        folder: The folder asked for; None for a new `runs/<name>-<timestamp>`.
        name: What the graph is called.
    """
    parent_was_there = RUNS.is_dir()
    made = folder is None or not folder.is_dir()
    path = _new_folder(name) if folder is None else folder
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield path
    finally:
        if made and not any(path.iterdir()):
            path.rmdir()
            if folder is None and not parent_was_there and not any(RUNS.iterdir()):
                RUNS.rmdir()


def _new_folder(name: str) -> Path:
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "graph"
    stem = f"{plain}-{datetime.now():%Y%m%d-%H%M%S}"
    for number in count(1):
        path = RUNS / (stem if number == 1 else f"{stem}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return path
    raise AssertionError
