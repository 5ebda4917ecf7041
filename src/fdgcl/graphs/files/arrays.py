"""Matrices in NumPy and SciPy files."""

from __future__ import annotations

import sys
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

# The least that is kept of each column: its name.
_COLUMN_BYTES = 64


@contextmanager
def opened_archive(path: Path) -> Iterator[Any]:
    """Open a `.npz` file; it is closed also where NumPy finds that it is none.

    Left to open the file itself, NumPy keeps a damaged one open.
    """
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        yield archive


def sound_text(array: Any) -> Any:
    """Return an array, unless it holds text of characters that do not exist.

    Raises:
        ValueError: It does, which Python would fail on wherever it is looked at.
    """
    if array.dtype.kind == "U" and array.size:
        native = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("="))
        if native.view(np.uint32).max() > sys.maxunicode:
            message = "text of characters that do not exist"
            raise ValueError(message)
    return array


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
        InputError: The file declares more than it holds, or than memory does; or its
            matrix is damaged.
    """
    refuse_false_sizes(path)
    try:
        with opened_archive(path) as archive:
            if not {"format", "shape"} <= set(archive.files):
                return None
    except DAMAGE:
        return None
    try:
        with path.open("rb") as stream:
            matrix = sparse.load_npz(stream)
        _check_indices(matrix)
    except DAMAGE as error:
        message = f"{path} should be a sparse matrix saved by SciPy, but is damaged"
        raise InputError(message) from error
    return matrix


def _check_indices(matrix: Any) -> None:
    """Refuse indices outside of the matrix, which SciPy does not check.

    Raises:
        ValueError: There are such.
    """
    # SciPy looks at the last of these first, and if that is 0 at nothing else.
    ends = getattr(matrix, "indptr", np.zeros(1))
    # Compared, not subtracted: differences may be beyond 64 bits.
    if ends[0] != 0 or (ends[1:] < ends[:-1]).any():
        message = "rows end before they begin"
        raise ValueError(message)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)


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
