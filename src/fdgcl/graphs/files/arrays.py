"""Matrices in NumPy and SciPy files."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fdgcl._checks import InputError

_DAMAGE = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)


def read_matrix(path: Path) -> Any:
    """Return the matrix of a `.npy` file, or the only one (maybe sparse) of a `.npz`.

    Raises:
        InputError: The file is damaged, needs pickle, or holds something else.
    """
    try:
        array = _load(path)
    except InputError:
        raise
    except _DAMAGE as error:
        message = f"{path} is not a NumPy file of plain numbers, or it is damaged"
        raise InputError(message) from error
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        message = (
            f"{path} must hold a matrix of numbers, one row per node, got "
            f"{array.dtype} of shape {array.shape}"
        )
        raise InputError(message)
    return array


def read_scipy_archive(path: Path) -> Any:
    """Return the sparse matrix of a `.npz` file that SciPy saved, or None."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not {"format", "shape"} <= set(archive.files):
                return None
        return sparse.load_npz(path)
    except (*_DAMAGE, AttributeError):
        return None


def _load(path: Path) -> Any:
    if path.suffix.lower() == ".npy":
        return np.load(path, allow_pickle=False)
    saved = read_scipy_archive(path)
    if saved is not None:
        return sparse.csr_array(saved)
    with np.load(path, allow_pickle=False) as archive:
        if len(archive.files) == 1:
            return archive[archive.files[0]]
        held = ", ".join(archive.files)
    message = (
        f"{path} must hold one matrix, or a sparse one saved by SciPy, got the arrays "
        f"{held}"
    )
    raise InputError(message)
