"""The compact `.npz` format: one graph in plain arrays, without pickle.

docs/datasets.md describes every array.
"""

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
from fdgcl.graphs.splits import Splits
from fdgcl.graphs.targets import Targets

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

UNNAMED_SPLIT = "as stored"

_RELATIONS = ("relation_names", "relation_ptr", "relation_index", "relation_weight")
_SPARSE_FEATURES = ("x_data", "x_indices", "x_indptr", "x_shape")
EDGES_AND_FEATURES = {"edge_index", "edge_weight", "x", *_SPARSE_FEATURES}
_MASKS = ("train_mask", "val_mask", "test_mask")
_KNOWN = {
    *EDGES_AND_FEATURES,
    *_MASKS,
    *_RELATIONS,
    *("y", "split", "num_nodes"),
    *("ids", "class_names", "feature_names", "split_name"),
    *("target_values", "target_matrix", "target_names"),
}


def read_compact(path: str | os.PathLike[str]) -> Graph:
    """Read a graph from a compact `.npz` file, edges exactly as stored.

    Repeated edges count once; where the file has weights, they are added up.

    Raises:
        InputError: The file is missing, damaged or of another kind.
    """
    file = Path(path)
    arrays = load_arrays(file, _KNOWN, refuse_many)
    try:
        return _assemble(arrays, file)
    except InputError as error:
        message = f"{file}: {error}"
        raise InputError(message) from None


def write_compact(path: str | os.PathLike[str], graph: Graph) -> None:
    """Write `graph` to a compact `.npz` file; `read_compact` gives it back.

    The same graph always gives the same bytes.

    Raises:
        InputError: The file cannot be written.
    """
    save_arrays(path, to_arrays(graph))


def to_arrays(graph: Graph) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of the compact format that hold `graph`."""
    arrays = {
        "num_nodes": np.array(graph.num_nodes, np.int64),
        **edge_arrays(graph),
        **_relation_arrays(graph),
        **feature_arrays(graph),
    }
    if graph.y is not None:
        arrays["y"] = graph.y
    if graph.targets is not None:
        kind = "values" if graph.targets.kind == "values" else "matrix"
        arrays[f"target_{kind}"] = graph.targets.array
        arrays["target_names"] = plain_array(np.array(graph.targets.names, object))
    if graph.splits is not None:
        masks = (graph.splits.train, graph.splits.val, graph.splits.test)
        for name, mask in zip(_MASKS, masks, strict=True):
            arrays[name] = mask[0] if len(mask) == 1 else mask.T
        arrays["split_name"] = np.array(graph.splits.name)
    if not np.array_equal(graph.ids, np.arange(graph.num_nodes)):
        arrays["ids"] = plain_array(graph.ids)
    if graph.class_names is not None:
        arrays["class_names"] = plain_array(np.array(graph.class_names, object))
    if graph.feature_names is not None:
        arrays["feature_names"] = plain_array(np.array(graph.feature_names, object))
    return arrays


def edge_arrays(graph: Graph) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that hold the edges."""
    edges = graph.adjacency.tocoo()
    arrays = {"edge_index": np.stack([edges.row, edges.col]).astype(np.int32)}
    return arrays | ({"edge_weight": edges.data} if graph.is_weighted else {})


def _relation_arrays(graph: Graph) -> dict[str, npt.NDArray[Any]]:
    if graph.relations is None:
        return {}
    parts = [matrix.tocoo() for matrix in graph.relations.values()]
    edges = [np.stack([part.row, part.col]).astype(np.int32) for part in parts]
    values = (
        plain_array(np.array([*graph.relations], object)),
        np.cumsum([0, *(part.nnz for part in parts)]),
        np.concatenate(edges, axis=1),
        np.concatenate([part.data for part in parts]),
    )
    return dict(zip(_RELATIONS, values, strict=True))


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


def refuse_many(file: Path, names: Collection[str]) -> None:
    """Refuse a file that holds many graphs."""
    if "ptr" in names:
        message = (
            f"{file} holds many graphs (it has an array ptr), not one: load_graphs "
            "reads it"
        )
        raise InputError(message)


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


def _assemble(arrays: Arrays, file: Path) -> Graph:
    features = features_of(arrays)
    nodes = _num_nodes(arrays, features)
    return Graph(
        adjacency=adjacency_of(arrays, nodes),
        features=features,
        y=arrays.get("y"),
        splits=_splits(arrays, nodes),
        ids=arrays.get("ids", np.empty(0, np.int64)),
        class_names=names_of(arrays, "class_names"),
        feature_names=names_of(arrays, "feature_names"),
        name=file.stem,
        source=str(file),
        targets=_targets(arrays),
        relations=_relations(arrays, nodes),
    )


def _targets(arrays: Arrays) -> Targets | None:
    names = names_of(arrays, "target_names")
    if "target_values" in arrays:
        return Targets("values", names or ("value",), values=arrays["target_values"])
    if "target_matrix" in arrays:
        matrix = arrays["target_matrix"]
        counted = tuple(map(str, range(matrix.shape[-1])))
        return Targets("multilabel", names or counted, matrix=matrix)
    return None


def _num_nodes(arrays: Arrays, features: Any) -> int:
    if "num_nodes" in arrays:
        count = whole_numbers(arrays, "num_nodes")
        if count.size != 1 or count.min() < 0:
            message = f"num_nodes must be one number from 0, got {count.tolist()}"
            raise InputError(message)
        nodes = int(count.reshape(-1)[0])
        _refuse_false_count(nodes, arrays, features)
        return nodes
    if features is not None and features.ndim:
        return int(features.shape[0])
    return len(np.atleast_1d(need(arrays, "y")))


def _refuse_false_count(nodes: int, arrays: Arrays, features: Any) -> None:
    """Refuse a number of nodes before memory is taken for them."""
    parts = {"x": features, "y": arrays.get("y"), "ids": arrays.get("ids")}
    for name, part in parts.items():
        if part is not None and part.shape[:1] != (nodes,):
            message = f"num_nodes is {nodes}, but {name} is of shape {part.shape}"
            raise InputError(message)
    refuse_too_many(nodes, "num_nodes")


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
    edges = _edges(arrays, "edge_index", nodes)
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


def _edges(arrays: Arrays, name: str, nodes: int) -> npt.NDArray[Any]:
    edges = whole_numbers(arrays, name)
    if edges.ndim != 2 or edges.shape[0] != 2:
        message = f"{name} must have shape (2, edges), got {edges.shape}"
        raise InputError(message)
    if edges.size and not (edges.min() >= 0 and edges.max() < nodes):
        wrong = edges[(edges < 0) | (edges >= nodes)][0]
        message = f"{name} must name nodes 0 to {nodes - 1}, got {wrong}"
        raise InputError(message)
    return edges


def _relations(arrays: Arrays, nodes: int) -> dict[str, sparse.csr_array] | None:
    names = names_of(arrays, "relation_names")
    if names is None:
        return None
    edges = _edges(arrays, "relation_index", nodes)
    weights = need(arrays, "relation_weight")
    ends = whole_numbers(arrays, "relation_ptr")
    count = edges.shape[1]
    starts_and_ends = ends.shape == (len(names) + 1,) and ends[0] == 0
    if not starts_and_ends or ends[-1] != count or (np.diff(ends) < 0).any():
        message = (
            f"relation_ptr must hold {len(names) + 1} places from 0 to {count}, one "
            "after another"
        )
        raise InputError(message)
    if weights.shape != (count,) or weights.dtype.kind not in "biuf":
        message = f"relation_weight must hold one number per edge, {count}"
        raise InputError(message)
    found = {}
    for name, start, end in zip(names, ends[:-1], ends[1:], strict=True):
        part = (weights[start:end], tuple(edges[:, start:end]))
        found[name] = sparse.coo_array(part, shape=(nodes, nodes)).tocsr()
    return found


def _splits(arrays: Arrays, nodes: int) -> Splits | None:
    name = (names_of(arrays, "split_name") or (UNNAMED_SPLIT,))[0]
    if any(mask in arrays for mask in _MASKS):
        masks = [need(arrays, mask) for mask in _MASKS]
    elif "split" in arrays:
        codes = whole_numbers(arrays, "split")
        masks = [codes == code for code in range(3)]
    else:
        return None
    for label, mask in zip(_MASKS, masks, strict=True):
        if mask.ndim not in (1, 2) or mask.shape[0] != nodes:
            message = (
                f"{label} must have shape ({nodes},) or ({nodes}, splits), got "
                f"{mask.shape}"
            )
            raise InputError(message)
    train, val, test = (np.ascontiguousarray(mask.T) for mask in masks)
    return Splits(train, val, test, name=name)


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
