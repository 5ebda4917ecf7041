"""The compact `.npz` format for many graphs: `ptr` says which nodes each one owns.

docs/datasets.md describes every array.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs.collection import GraphDataset
from fdgcl.graphs.compact_arrays import (
    EDGES_AND_FEATURES,
    Arrays,
    adjacency_of,
    edge_arrays,
    feature_arrays,
    features_of,
    load_arrays,
    names_of,
    plain_array,
    refuse_too_many,
    save_arrays,
    whole_numbers,
)
from fdgcl.graphs.graph import Features, Graph

_KNOWN = {
    *EDGES_AND_FEATURES,
    *("ptr", "y", "node_label", "node_attr", "ids", "node_ids"),
    *("class_names", "feature_names"),
}
_MOST_LABELS = 1_000_000


def read_compact_graphs(
    path: str | os.PathLike[str], *, attributes: bool = False
) -> GraphDataset:
    """Read many graphs from a compact `.npz` file, edges exactly as stored.

    Features are the array `x` where there is one, else node labels with one column
    for each from 0 to the largest.

    Args:
        path: The file.
        attributes: Whether the columns of `node_attr` are put behind the features.

    Raises:
        InputError: The file is missing, damaged or of another kind, or attributes
            are asked for and not there.

    Example:
        >>> from fdgcl import GraphDataset, block_model
        >>> from fdgcl.graphs import read_compact_graphs, write_compact_graphs
        >>> graphs = GraphDataset.from_graphs([block_model(20), block_model(30)])
        >>> write_compact_graphs("mine.npz", graphs)
        >>> read_compact_graphs("mine.npz").ptr.tolist()
        [0, 20, 50]
    """
    file = Path(path)
    arrays = load_arrays(file, _KNOWN, _refuse_one)
    try:
        return _assemble(arrays, file, attributes=attributes)
    except InputError as error:
        message = f"{file}: {error}"
        raise InputError(message) from None


def holds_graphs(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an archive with an array `ptr`; nothing else is looked at."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "ptr.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def read_attributes(path: str | os.PathLike[str]) -> npt.NDArray[Any] | None:
    """Return the node attributes in a file of many graphs; None in any other file."""
    if not holds_graphs(path):
        return None
    arrays = load_arrays(Path(path), {"node_attr"}, _refuse_one)
    return arrays.get("node_attr")


def write_compact_graphs(
    path: str | os.PathLike[str],
    dataset: GraphDataset,
    *,
    node_attr: npt.NDArray[Any] | None = None,
) -> None:
    """Write many graphs to a compact `.npz` file; `read_compact_graphs` reads it.

    The same dataset always gives the same bytes. Class codes of single nodes are left
    out: the format has none.

    Args:
        path: The file.
        dataset: What to write.
        node_attr: Further columns, (N, A), which a reader gets only if it asks.

    Raises:
        InputError: The file cannot be written.

    Example:
        >>> from fdgcl import GraphDataset, block_model
        >>> from fdgcl.graphs import write_compact_graphs
        >>> graphs = GraphDataset.from_graphs([block_model(20), block_model(30)])
        >>> write_compact_graphs("mine.npz", graphs)
    """
    graph = dataset.graph
    arrays = {"ptr": dataset.ptr, **edge_arrays(graph)}
    labels = _node_labels(graph.features)
    arrays |= feature_arrays(graph) if labels is None else {"node_label": labels}
    if node_attr is not None:
        arrays["node_attr"] = node_attr
    if dataset.y is not None:
        arrays["y"] = dataset.y
    if not np.array_equal(dataset.ids, np.arange(dataset.num_graphs)):
        arrays["ids"] = plain_array(dataset.ids)
    if dataset.has_node_ids:
        arrays["node_ids"] = plain_array(graph.ids)
    names = {"class_names": dataset.class_names, "feature_names": graph.feature_names}
    for key, values in names.items():
        if values is not None:
            arrays[key] = plain_array(np.array(values, object))
    save_arrays(path, arrays)


def one_hot(labels: npt.NDArray[Any]) -> sparse.csr_array:
    """Return labels from 0 as float32 columns, one for each up to the largest."""
    nodes = len(labels)
    shape = (nodes, int(labels.max()) + 1)
    parts = (np.ones(nodes, np.float32), labels.astype(np.int64), np.arange(nodes + 1))
    return sparse.csr_array(parts, shape=shape)


def append_columns(features: Features | None, columns: npt.NDArray[Any]) -> Features:
    """Return features with further columns behind them, sparse if they were."""
    if features is None:
        return columns.astype(np.float32)
    added = columns.astype(features.dtype)
    if sparse.issparse(features):
        return sparse.hstack([features, sparse.csr_array(added)], "csr")
    return np.concatenate([np.asarray(features), added], axis=1)


def _refuse_one(file: Path, names: Collection[str]) -> None:
    if "ptr" not in names and "edge_index" in names:
        message = (
            f"{file} holds one graph (it has no array ptr), not many: load_dataset "
            "reads it"
        )
        raise InputError(message)


def _assemble(arrays: Arrays, file: Path, *, attributes: bool) -> GraphDataset:
    ptr = whole_numbers(arrays, "ptr")
    nodes = int(ptr.reshape(-1)[-1]) if ptr.size else 0
    refuse_too_many(nodes, "the end of ptr")
    features = _features(arrays, nodes)
    if attributes:
        features = append_columns(features, _attributes(arrays, nodes))
    names = names_of(arrays, "feature_names")
    if attributes and names is not None:
        names = (*names, *(f"node_attr_{at}" for at in range(_added(arrays))))
    graph = Graph(
        adjacency_of(arrays, nodes),
        features=features,
        ids=arrays.get("node_ids", np.empty(0, np.int64)),
        feature_names=names,
    )
    return GraphDataset(
        graph,
        ptr,
        y=arrays.get("y"),
        ids=arrays.get("ids", np.empty(0, np.int64)),
        class_names=names_of(arrays, "class_names"),
        name=file.stem,
        source=str(file),
    )


def _features(arrays: Arrays, nodes: int) -> Features | None:
    stored: Features | None = features_of(arrays)
    if stored is not None and (stored.ndim != 2 or stored.shape[0] != nodes):
        message = (
            f"x must have one row per node, ({nodes}, F), got shape {stored.shape}"
        )
        raise InputError(message)
    if stored is not None or "node_label" not in arrays:
        return stored
    labels = whole_numbers(arrays, "node_label")
    if labels.shape != (nodes,):
        message = (
            f"node_label must hold one label per node, ({nodes},), got shape "
            f"{labels.shape}"
        )
        raise InputError(message)
    if nodes and not (labels.min() >= 0 and labels.max() < _MOST_LABELS):
        wrong = labels[(labels < 0) | (labels >= _MOST_LABELS)][0]
        message = f"node_label must hold labels from 0 to {_MOST_LABELS}, got {wrong}"
        raise InputError(message)
    return one_hot(labels) if nodes else None


def _attributes(arrays: Arrays, nodes: int) -> npt.NDArray[Any]:
    if "node_attr" not in arrays:
        message = "attributes were asked for, but the array node_attr is not there"
        raise InputError(message)
    values = arrays["node_attr"]
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) != nodes or values.dtype.kind not in "biuf":
        message = (
            f"node_attr must hold numbers, one row per node, ({nodes}, columns), got "
            f"{values.dtype} of shape {values.shape}"
        )
        raise InputError(message)
    return values


def _added(arrays: Arrays) -> int:
    values = arrays["node_attr"]
    return 1 if values.ndim == 1 else int(values.shape[1])


def _node_labels(features: Any) -> npt.NDArray[Any] | None:
    """Return the labels behind features that are what `one_hot` makes of them."""
    if not sparse.issparse(features) or features.dtype != np.float32:
        return None
    single = (np.diff(features.indptr) == 1).all() and (features.data == 1).all()
    if not single or features.indices.max() + 1 != features.shape[1]:
        return None
    smallest = np.min_scalar_type(int(features.indices.max()))
    return np.asarray(features.indices).astype(smallest)
