"""Checks of what the evaluations are given: embedding, labels, splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl.graphs.targets import has_label

if TYPE_CHECKING:
    from fdgcl.graphs import Splits

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[Any]  # float32 or float64
Matrix: TypeAlias = Tensor | sparse.csr_array

_LARGEST_DENSE = 2**28  # entries that a sparse matrix may have to be made dense


def as_matrix(z: Any, *, device: str | torch.device | None = None) -> Matrix:
    """Return an embedding as a dense tensor on `device`, or as SciPy CSR.

    float64 stays, everything else becomes float32; sparse stays sparse unless dense is
    faster and below a GiB of float32.

    Raises:
        InputError: Not a matrix, empty, or not finite.
    """
    matrix: Matrix
    if sparse.issparse(z):
        kind = np.float64 if z.dtype == np.float64 else np.float32
        matrix = sparse.csr_array(z, dtype=kind)
        # A sparse product costs some forty times as much per entry as a dense one.
        size = matrix.shape[0] * matrix.shape[-1]
        if size < 40 * matrix.nnz and size <= _LARGEST_DENSE:
            matrix = torch.from_numpy(matrix.toarray())
    else:
        # A graph's own arrays are read-only, which torch warns of.
        read_only = isinstance(z, np.ndarray) and not z.flags.writeable
        matrix = torch.as_tensor(z.copy() if read_only else z).detach()
        if matrix.dtype != torch.float64:
            matrix = matrix.to(torch.float32)
    if matrix.ndim != 2 or min(matrix.shape) == 0:
        message = (
            "z must be a matrix (nodes, dim) that is not empty, "
            f"got shape {tuple(matrix.shape)}"
        )
        raise InputError(message)
    _check_finite(matrix)
    return matrix.to(device) if isinstance(matrix, Tensor) else matrix


def as_dense(z: Any, device: str | torch.device | None = None) -> Tensor:
    """Return an embedding as `as_matrix` does, dense."""
    matrix = as_matrix(z, device=device)
    return matrix if isinstance(matrix, Tensor) else torch.from_numpy(matrix.toarray())


def device_of(matrix: Matrix, device: str | torch.device | None) -> torch.device:
    """Return the device asked for, or that of the embedding."""
    if device is not None:
        return torch.device(device)
    return matrix.device if isinstance(matrix, Tensor) else torch.device("cpu")


def _check_finite(matrix: Matrix) -> None:
    if isinstance(matrix, Tensor):
        finite = torch.isfinite(matrix)
        if bool(finite.all()):
            return
        row, column = (~finite).nonzero()[0].tolist()
        value = matrix[row, column].item()
    else:
        finite = np.isfinite(matrix.data)
        if finite.all():
            return
        at = int(np.flatnonzero(~finite)[0])
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        column, value = int(matrix.indices[at]), float(matrix.data[at])
    message = f"z must be finite, got {value} in row {row}, column {column}"
    raise InputError(message)


def as_labels(y: Any, num_nodes: int) -> Ints:
    """Return class codes as int64, one per node; -1 stands for unlabelled.

    Raises:
        InputError: Not whole numbers, or not one per node.
    """
    labels = np.asarray(y.cpu() if isinstance(y, Tensor) else y)
    if labels.shape != (num_nodes,):
        message = (
            f"y must hold one class per row of z, shape ({num_nodes},), "
            f"got shape {labels.shape}"
        )
        raise InputError(message)
    if not np.issubdtype(labels.dtype, np.integer) or labels.min() < -1:
        message = (
            "y must hold class codes 0, 1, ... and -1 for unlabelled nodes, "
            f"got {labels.dtype} down to {labels.min()}"
        )
        raise InputError(message)
    return labels.astype(np.int64)


def as_values(values: Any, num_nodes: int) -> Floats:
    """Return values as float64, one per node; NaN stands for unlabelled.

    Raises:
        InputError: Not numbers, not one per node, or infinite.
    """
    found = np.asarray(values.cpu() if isinstance(values, Tensor) else values)
    if found.shape != (num_nodes,) or found.dtype.kind not in "iuf":
        message = (
            f"values must hold one number per row of z, shape ({num_nodes},), got "
            f"{found.dtype} of shape {found.shape}"
        )
        raise InputError(message)
    numbers = found.astype(np.float64)
    if np.isinf(numbers).any():
        row = int(np.isinf(numbers).argmax())
        message = f"values must be finite, or NaN for unlabelled nodes, got row {row}"
        raise InputError(message)
    return numbers


def as_label_matrix(matrix: Any, num_nodes: int) -> Ints:
    """Return labels as int8, 1 where one applies; rows of -1 stand for unlabelled.

    Raises:
        InputError: Not a row per node, or something else in it.
    """
    found = np.asarray(matrix.cpu() if isinstance(matrix, Tensor) else matrix)
    if found.ndim != 2 or len(found) != num_nodes or found.shape[1] == 0:
        message = (
            f"matrix must hold one row of labels per row of z, ({num_nodes}, labels), "
            f"got shape {found.shape}"
        )
        raise InputError(message)
    labelled = np.isin(found, (0, 1)).all(axis=1)
    bad = ~labelled & ~(found == -1).all(axis=1)
    if bad.any():
        message = (
            "matrix must hold 0 and 1, or -1 throughout an unlabelled row, got row "
            f"{bad.argmax()}"
        )
        raise InputError(message)
    result: Ints = found.astype(np.int8)
    return result


def check_splits(splits: Splits, labels: npt.NDArray[Any]) -> None:
    """Refuse splits that do not fit the labels: codes, values or a matrix.

    Raises:
        InputError: Wrong length, an empty part, or an unlabelled node in a part.
    """
    code = " (y is -1)" if labels.dtype.kind == "i" and labels.ndim == 1 else ""
    for part in ("train", "val", "test"):
        masks = getattr(splits, part)
        if masks.shape[1] != len(labels):
            message = (
                f"the splits are for {masks.shape[1]} nodes, z and y have {len(labels)}"
            )
            raise InputError(message)
        empty = np.flatnonzero(~masks.any(axis=1))
        if len(empty):
            message = f"split {empty[0]} has no {part} nodes; every part needs some"
            raise InputError(message)
        unlabelled = np.argwhere(masks & ~has_label(labels))
        if len(unlabelled):
            split, node = unlabelled[0]
            message = (
                f"node {node} has no label{code} but is in the {part} part "
                f"of split {split}"
            )
            raise InputError(message)
