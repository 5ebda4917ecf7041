"""What the compact `.npz` formats share: edges and features as plain arrays."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl._files import atomic_path
from fdgcl._memory import available_bytes
from fdgcl.graphs.files.arrays import DAMAGE, opened_archive, sound_text
from fdgcl.graphs.files.declared import refuse_false_sizes
from fdgcl.graphs.files.signature import refuse_foreign
from fdgcl.graphs.graph import Graph

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

_SPARSE_FEATURES = ("x_data", "x_indices", "x_indptr", "x_shape")
EDGES_AND_FEATURES = {"edge_index", "edge_weight", "x", *_SPARSE_FEATURES}


def edge_arrays(graph: Graph) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that hold the edges."""
    edges = graph.adjacency.tocoo()
    arrays = {"edge_index": np.stack([edges.row, edges.col]).astype(np.int32)}
    return arrays | ({"edge_weight": edges.data} if graph.is_weighted else {})


def feature_arrays(graph: Graph) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that hold the features; none without features."""
    if sparse.issparse(graph.features):
        x: Any = graph.features
        parts = (x.data, x.indices, x.indptr, np.array(x.shape, np.int64))
        return dict(zip(_SPARSE_FEATURES, parts, strict=True))
    return {} if graph.features is None else {"x": np.asarray(graph.features)}


def save_arrays(path: str | os.PathLike[str], arrays: Arrays) -> None:
    """Write arrays as a compressed `.npz` whose bytes depend on the arrays alone."""
    with (
        atomic_path(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file,
    ):
        for name in sorted(arrays):
            # A fixed date: by default an archive records when it was made.
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            with file.open(entry, "w", force_zip64=True) as stream:
                np.lib.format.write_array(
                    stream, np.asarray(arrays[name], order="C"), allow_pickle=False
                )


def load_arrays(
    file: Path, known: Collection[str], refuse: Callable[[Path, Collection[str]], None]
) -> dict[str, npt.NDArray[Any]]:
    """Return those arrays of an `.npz` file that a format knows.

    Args:
        file: The file.
        known: Names of the arrays to read; others are left alone.
        refuse: Called with the file and its names, to refuse another format.

    Raises:
        InputError: The file is missing, damaged or of another kind.
    """
    if not file.exists():
        message = f"there is no file {file}"
        raise InputError(message)
    if file.is_dir():
        message = f"{file} is a folder, not a compact .npz file"
        raise InputError(message)
    refuse_foreign(file, ("npz", "zip"), "a compact .npz file")
    refuse_false_sizes(file, known)
    try:
        with opened_archive(file) as archive:
            refuse(file, archive.files)
            # An entry that does not begin as an array comes back as bytes.
            return {
                name: sound_text(np.asarray(archive[name]))
                for name in archive.files
                if name in known
            }
    except InputError:
        raise
    except PermissionError as error:
        message = f"{file} may not be read: {error.strerror}"
        raise InputError(message) from error
    except DAMAGE as error:
        message = (
            f"{file} cannot be read as a compact .npz file: it is damaged, cut off or "
            "of another kind"
        )
        raise InputError(message) from error


def refuse_too_many(nodes: int, name: str) -> None:
    """Refuse more nodes than memory has room to number.

    Args:
        nodes: As declared.
        name: The array that does.
    """
    if nodes * np.dtype(np.int64).itemsize > available_bytes():
        message = f"{name} is {nodes}, more than memory holds"
        raise InputError(message)


def features_of(arrays: Arrays) -> Any:
    """Return the features as stored, dense or CSR, or None."""
    if "x" in arrays:
        return arrays["x"]
    if not any(name in arrays for name in _SPARSE_FEATURES):
        return None
    data, indices = need(arrays, "x_data"), need(arrays, "x_indices")
    if data.size == 1:  # one value for all entries, as in a 0/1 bag of words
        data = np.full(indices.shape, data.reshape(-1)[0])
    if data.dtype.kind not in "biuf" or data.shape != indices.shape:
        message = (
            "x_data must hold one number per entry of x_indices, got "
            f"{data.dtype} of shape {data.shape} for {indices.shape}"
        )
        raise InputError(message)
    try:
        shape = tuple(whole_numbers(arrays, "x_shape").tolist())
        columns = whole_numbers(arrays, "x_indices")
        starts = whole_numbers(arrays, "x_indptr")
        matrix = sparse.csr_array((data, columns, starts), shape=shape)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        if isinstance(error, InputError):
            raise
        message = f"x_indices, x_indptr and x_shape do not fit together ({error})"
        raise InputError(message) from None
    return matrix


def adjacency_of(arrays: Arrays, nodes: int) -> sparse.csr_array:
    """Return the adjacency matrix of the stored edges."""
    edges = edges_of(arrays, "edge_index", nodes)
    weights = arrays.get("edge_weight", np.ones(edges.shape[1], np.float32))
    if weights.shape != edges.shape[1:] or weights.dtype.kind not in "biuf":
        message = (
            f"edge_weight must hold one number per edge, {edges.shape[1]}, got "
            f"{weights.dtype} of shape {weights.shape}"
        )
        raise InputError(message)
    matrix = sparse.coo_array((weights, tuple(edges)), shape=(nodes, nodes)).tocsr()
    if "edge_weight" not in arrays:
        matrix.data[:] = 1
    return matrix


def edges_of(arrays: Arrays, name: str, nodes: int) -> npt.NDArray[Any]:
    """Return (2, edges) numbers of nodes, or refuse what is not."""
    edges = whole_numbers(arrays, name)
    if edges.ndim != 2 or edges.shape[0] != 2:
        message = f"{name} must have shape (2, edges), got {edges.shape}"
        raise InputError(message)
    if edges.size and not (edges.min() >= 0 and edges.max() < nodes):
        wrong = edges[(edges < 0) | (edges >= nodes)][0]
        message = f"{name} must name nodes 0 to {nodes - 1}, got {wrong}"
        raise InputError(message)
    return edges


def names_of(arrays: Arrays, key: str) -> tuple[str, ...] | None:
    """Return an array of names as strings, or None without it."""
    return tuple(map(str, arrays[key].ravel())) if key in arrays else None


def need(arrays: Arrays, name: str) -> npt.NDArray[Any]:
    """Return an array, or refuse a file without it."""
    if name not in arrays:
        found = ", ".join(sorted(arrays)) or "none that this format knows"
        message = f"the array {name} is missing (found: {found})"
        raise InputError(message)
    return arrays[name]


def whole_numbers(arrays: Arrays, name: str) -> npt.NDArray[Any]:
    """Return an array of whole numbers, or refuse a file without it."""
    array = need(arrays, name)
    if array.dtype.kind not in "iu":
        message = f"{name} must hold whole numbers, got {array.dtype}"
        raise InputError(message)
    return array


def plain_array(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return strings as a unicode array, which needs no pickle; numbers as is."""
    return values.astype(np.str_) if values.dtype == object else values
