"""Embeddings that need no training, to stand beside every trained one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.embedder import GraphEmbedder
from fdgcl.graphs import Graph, GraphDataset
from fdgcl.levels import as_graph, settings_for
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation, prepare
from fdgcl.methods.readout import pool
from fdgcl.model import FDGCL
from fdgcl.operators.in_memory import build_operator
from fdgcl.presets import paper_defaults

_CHUNK_ENTRIES = 2**24


def untrained(model: GraphEmbedder, graph: Graph | GraphDataset) -> NDArray[np.float32]:
    """The embedding by the encoder's initial weights; of many graphs, one row each."""
    return type(model)(**{**model.get_params(), "epochs": 0}).fit_transform(graph)


def smoothed(model: GraphEmbedder, graph: Graph | GraphDataset) -> Any:
    """A²X, the features smoothed twice by the model's operator; sparse if X is."""
    prepared = _unscaled(model, graph)
    x, a = prepared.features, prepared.operator.matrix.matrix
    return (a @ (a @ x)).astype(x.dtype)


def features(model: GraphEmbedder, graph: Graph | GraphDataset) -> Any:
    """X, the features themselves, made from the edges where there are none."""
    return _unscaled(model, graph).features


def smoothed_plainly(graph: Graph, times: int) -> Any:
    """A^k X, A = D^-1/2 (A + I) D^-1/2 of the undirected graph; sparse if X is.

    Unlike `smoothed` it asks no model: whatever a model's defaults become, this stays.
    """
    x = _given(graph)
    operator = build_operator(
        graph.adjacency,
        direction="symmetric",
        self_loops=1.0,
        normalization="symmetric",
    )
    found = x
    for _ in range(times):
        found = operator.matrix.matrix @ found
    return found.astype(x.dtype)


def neighbour_mean(graph: Graph, direction: Literal["out", "in"]) -> Any:
    """Mean of X over the nodes that a node points to, or that point to it.

    Weighted where edges are; a node's loop to itself does not count, and a node
    without neighbours has zeros.
    """
    x = _given(graph)
    operator = build_operator(
        graph.adjacency, direction=direction, self_loops=0.0, normalization="row"
    )
    return (operator.matrix.matrix @ x).astype(x.dtype)


def pooled_smoothed(model: GraphEmbedder, dataset: GraphDataset) -> NDArray[Any]:
    """A²X read out over the nodes of each graph, as the model reads out."""
    return _pooled(smoothed(model, dataset), dataset, model.readout)


def pooled_features(
    dataset: GraphDataset,
    readouts: Sequence[str] = ("mean",),
    *,
    model: GraphEmbedder | None = None,
) -> NDArray[Any]:
    """X read out over the nodes of each graph.

    Args:
        dataset: The graphs.
        readouts: Names of readouts, side by side.
        model: Whose features to take where the graphs have none.
    """
    x: Any = dataset.graph.features
    if x is None:
        x = features(model or _paper(), dataset)
    return _pooled(x, dataset, readouts)


def _pooled(x: Any, dataset: GraphDataset, readouts: Sequence[str]) -> NDArray[Any]:
    """Read rows out, some graphs at a time: sparse rows may be many and wide."""
    most = max(1, _CHUNK_ENTRIES // int(x.shape[1]))
    ptr, parts, first = dataset.ptr, [], 0
    while first < dataset.num_graphs:
        fitting = int(np.searchsorted(ptr, ptr[first] + most, side="right")) - 1
        last = max(first + 1, fitting)
        rows = x[int(ptr[first]) : int(ptr[last])]
        dense = rows.toarray() if sparse.issparse(rows) else np.array(rows)
        ends = torch.from_numpy(ptr[first : last + 1] - ptr[first])
        parts.append(pool(torch.from_numpy(dense), ends, readouts).numpy())
        first = last
    return np.concatenate(parts)


def _given(graph: Graph) -> Any:
    if graph.features is None:
        message = f"{graph.name} has no features"
        raise InputError(message)
    return graph.features


def _unscaled(
    model: GraphEmbedder, graph: Graph | GraphDataset
) -> DiffusionPreparation:
    # X is the features as they came, whatever the model does to them first. A method
    # without an operator of its own is compared with that of the paper's.
    own = model if isinstance(model, FDGCL) else _paper(**_shared(model))
    settings = settings_for(graph, own.check())
    settings = replace(settings, feature_scaling="none", reduce=0)
    return prepare(as_graph(graph), settings)


def _paper(**settings: Any) -> FDGCL:
    return FDGCL(**{**paper_defaults(), **settings})


def _shared(model: GraphEmbedder) -> dict[str, Any]:
    names = ("direction", "structural", "seed", "device", "dtype", "readout")
    return {name: getattr(model, name) for name in names}
