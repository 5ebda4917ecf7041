"""PyTorch Geometric's `HeteroData`: nodes and edges of several types in one graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fdgcl._checks import InputError
from fdgcl.graphs.edges import build_csr, checked_weights
from fdgcl.graphs.graph import Graph
from fdgcl.graphs.labels import as_codes
from fdgcl.graphs.node_types import padded
from fdgcl.graphs.pyg_parts import as_array, pyg_edges, pyg_labels, pyg_masks, stacked
from fdgcl.graphs.splits import Splits


def from_hetero(data: Any, name: str, source: str) -> Graph:
    """Make a graph of a `HeteroData`; `pyg.from_pyg` says how."""
    sizes = {kind: _size(kind, data[kind]) for kind in data.node_types}
    places = np.cumsum([0, *sizes.values()])
    blocks = {
        kind: slice(int(start), int(end))
        for kind, start, end in zip(sizes, places[:-1], places[1:], strict=True)
    }
    nodes = int(places[-1])
    edges, weights = _edges(data, blocks)
    relations = {
        kind: build_csr(ends[0], ends[1], weights[kind], nodes)
        for kind, ends in edges.items()
    }
    rows, columns = np.concatenate([*edges.values()], axis=1)
    every = stacked([*weights.values()], [*edges.values()])
    features, feature_names = padded(
        {kind: _features(data[kind], size) for kind, size in sizes.items()}
    )
    graph = Graph(
        build_csr(rows, columns, every, nodes),
        features=features,
        ids=_ids(data, sizes),
        feature_names=feature_names,
        name=name,
        source=source,
        relations=relations,
    )
    return _labelled(graph, data, blocks)


def _size(kind: str, nodes: Any) -> int:
    count = nodes.num_nodes
    if count is None:
        message = (
            f"node type {kind!r} has neither features nor num_nodes: set "
            f"data[{kind!r}].num_nodes"
        )
        raise InputError(message)
    return int(count)


def _features(nodes: Any, size: int) -> npt.NDArray[Any]:
    x = as_array(getattr(nodes, "x", None))
    if x is None:
        return np.empty((size, 0), np.float32)
    return x[:, None] if x.ndim == 1 else x


def _ids(data: Any, sizes: dict[str, int]) -> npt.NDArray[Any]:
    ids: list[str] = []
    for kind, size in sizes.items():
        own = getattr(data[kind], "node_id", getattr(data[kind], "n_id", None))
        listed = range(size) if own is None else np.asarray(own).tolist()
        ids += [f"{kind}:{one}" for one in listed]
    return np.array(ids, object)


def _edges(
    data: Any, blocks: dict[str, slice]
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, npt.NDArray[Any] | None]]:
    """The (2, E) nodes of each type's edges, counted over all nodes, and weights."""
    edges, weights = {}, {}
    for start, relation, end in data.edge_types:
        own = f"{start} {relation} {end}"
        try:
            index, weight = pyg_edges(data[start, relation, end])
            weights[own] = checked_weights(weight, index.shape[1])
        except InputError as error:
            message = f"edge type {own!r}: {error}"
            raise InputError(message) from None
        for kind, ends in zip((start, end), index, strict=True):
            _check_ends(own, kind, ends, blocks[kind])
        first = np.array([[blocks[start].start], [blocks[end].start]])
        edges[own] = index.astype(np.int64) + first
    if not edges:
        message = "a HeteroData with edges is expected, got one without edge types"
        raise InputError(message)
    return edges, weights


def _check_ends(relation: str, kind: str, ends: npt.NDArray[Any], block: slice) -> None:
    size = block.stop - block.start
    if ends.size and not (ends.min() >= 0 and ends.max() < size):
        message = (
            f"edge type {relation!r} must name nodes 0 to {size - 1} of type {kind!r}, "
            f"got {ends.min()} to {ends.max()}"
        )
        raise InputError(message)


def _labelled(graph: Graph, data: Any, blocks: dict[str, slice]) -> Graph:
    """The graph with the labels and masks of the one node type that has labels."""
    labelled = [kind for kind in blocks if getattr(data[kind], "y", None) is not None]
    if not labelled:
        return graph
    if len(labelled) > 1:
        message = (
            f"labels of one node type are taken, got those of {', '.join(labelled)}: "
            f"delete the others, such as del data[{labelled[1]!r}].y"
        )
        raise InputError(message)
    kind = labelled[0]
    labels = pyg_labels(data[kind])
    assert labels is not None
    size = blocks[kind].stop - blocks[kind].start
    if labels.shape != (size,):
        message = (
            f"y of node type {kind!r} must hold one label per node, ({size},), got "
            f"shape {labels.shape}"
        )
        raise InputError(message)
    codes, class_names = as_codes(labels)
    y = np.full(graph.num_nodes, -1)
    y[blocks[kind]] = codes
    found = pyg_masks(data[kind])
    splits = None if found is None else _widened(found, blocks[kind], graph.num_nodes)
    return replace(graph, y=y, class_names=class_names, splits=splits)


def _widened(splits: Splits, block: slice, nodes: int) -> Splits:
    def wide(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        whole = np.zeros((len(mask), nodes), np.bool_)
        whole[:, block] = mask
        return whole

    return Splits(wide(splits.train), wide(splits.val), wide(splits.test), splits.name)
