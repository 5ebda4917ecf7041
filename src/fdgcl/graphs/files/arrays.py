"""Matrices in NumPy and SciPy files."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl._memory import available_bytes
from fdgcl.graphs.files.declared import refuse_false_sizes
from fdgcl.graphs.files.signature import refuse_foreign

#: What NumPy, SciPy and zipfile raise on damaged bytes: headers are read as Python, and
#: entries may be encrypted, packed in other ways, or ask for more than memory.
DAMAGE = (
    *(OSError, ValueError, EOFError, LookupError, TypeError, AttributeError),
    *(SyntaxError, tokenize.TokenError, RuntimeError, MemoryError, OverflowError),
    *(zipfile.BadZipFile, zlib.error),
)

# What is kept of each column at least: its name.
_COLUMN_BYTES = 64


@contextmanager
def opened_archive(path: Path) -> Iterator[Any]:
    """Open a `.npz` file; it is closed also where NumPy finds that it is none.

    Left to open the file itself, NumPy keeps a damaged one open.
    """
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        yield archive


def read_matrix(path: Path) -> Any:
    """Return the matrix of a `.npy` file, or the only one (maybe sparse) of a `.npz`.

    Raises:
        InputError: The file is damaged, needs pickle, or holds something else.
    """
    refuse_foreign(path, ("npy", "npz", "zip"), "a NumPy file")
    refuse_false_sizes(path)
    try:
        array = _load(path)
    except InputError:
        raise
    except DAMAGE as error:
        message = f"{path} is not a NumPy file of plain numbers, or it is damaged"
        raise InputError(message) from error
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        message = (
            f"{path} must hold a matrix of numbers, one row per node, got "
            f"{array.dtype} of shape {array.shape}"
        )
        raise InputError(message)
    if array.shape[1] * _COLUMN_BYTES > available_bytes():
        # A sparse matrix may declare any number of them.
        message = f"{path} declares {array.shape[1]:,} columns, more than memory holds"
        raise InputError(message)
    return array


def read_scipy_archive(path: Path) -> Any:
    """Return the sparse matrix of a `.npz` file that SciPy saved, or None.

    Raises:
        InputError: The file declares more than it holds, or than memory does.
    """
    refuse_false_sizes(path)
    try:
        with opened_archive(path) as archive:
            if not {"format", "shape"} <= set(archive.files):
                return None
        with path.open("rb") as stream:
            matrix = sparse.load_npz(stream)
        if hasattr(matrix, "check_format"):
            # SciPy takes the file's word for which rows and columns there are.
            matrix.check_format(full_check=True)
    except DAMAGE:
        return None
    return matrix


def _load(path: Path) -> Any:
    if path.suffix.lower() == ".npy":
        with path.open("rb") as stream:
            return np.load(stream, allow_pickle=False)
    saved = read_scipy_archive(path)
    if saved is not None:
        return sparse.csr_array(saved)
    with opened_archive(path) as archive:
        if len(archive.files) == 1:
            return np.asarray(archive[archive.files[0]])
        held = ", ".join(" ".join(name.split()) for name in archive.files)
    message = (
        f"{path} must hold one matrix, or a sparse one saved by SciPy, got the arrays "
        f"{held}"
    )
    raise InputError(message)
