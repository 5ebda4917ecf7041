"""The compact `.npz` format: one graph in plain arrays, without pickle.

docs/datasets.md describes every array.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs.compact_arrays import (
    EDGES_AND_FEATURES,
    Arrays,
    adjacency_of,
    edge_arrays,
    edges_of,
    feature_arrays,
    features_of,
    load_arrays,
    names_of,
    need,
    plain_array,
    refuse_too_many,
    save_arrays,
    whole_numbers,
)
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.splits import Splits
from fdgcl.graphs.targets import Targets

UNNAMED_SPLIT = "as stored"

_RELATIONS = ("relation_names", "relation_ptr", "relation_index", "relation_weight")
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

    Example:
        >>> from fdgcl import block_model
        >>> from fdgcl.graphs import read_compact, write_compact
        >>> write_compact("mine.npz", block_model(50))
        >>> read_compact("mine.npz").num_nodes
        50
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

    Example:
        >>> from fdgcl import block_model
        >>> from fdgcl.graphs import write_compact
        >>> write_compact("mine.npz", block_model(50))
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


def refuse_many(file: Path, names: Collection[str]) -> None:
    """Refuse a file that holds many graphs."""
    if "ptr" in names:
        message = (
            f"{file} holds many graphs (it has an array ptr), not one: load_graphs "
            "reads it"
        )
        raise InputError(message)


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


def _relations(arrays: Arrays, nodes: int) -> dict[str, sparse.csr_array] | None:
    names = names_of(arrays, "relation_names")
    if names is None:
        return None
    edges = edges_of(arrays, "relation_index", nodes)
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
