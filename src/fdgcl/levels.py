"""Nodes or graphs: what one row of the embedding stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar, overload

import numpy as np
import torch
from numpy.typing import NDArray

from fdgcl._checks import InputError, choose
from fdgcl.graphs import Graph, GraphDataset
from fdgcl.graphs.data import GraphData
from fdgcl.methods.readout import pool
from fdgcl.methods.settings import MethodSettings

S = TypeVar("S", bound=MethodSettings)

Level = Literal["node", "graph"]
LEVELS = ("node", "graph")


def choose_level(data: Any, level: str | None) -> Level:
    """The level asked for, or that of the data: graphs for a dataset of graphs."""
    if level is None:
        return "graph" if isinstance(data, GraphDataset) else "node"
    choose("level", level, dict.fromkeys(LEVELS))
    if level == "node":
        return "node"
    if not isinstance(data, GraphDataset):
        message = (
            "level 'graph' needs a GraphDataset, many graphs in one, got "
            f"{type(data).__name__}"
        )
        raise InputError(message)
    return "graph"


@overload
def as_graph(data: Graph | GraphDataset) -> Graph: ...


@overload
def as_graph(data: GraphData | GraphDataset) -> GraphData: ...


def as_graph(data: GraphData | GraphDataset) -> GraphData:
    """The graph to work on: all graphs of a dataset as one."""
    return data.graph if isinstance(data, GraphDataset) else data


def settings_for(data: GraphData | GraphDataset, settings: S) -> S:
    """The settings for data: many graphs without features are told by degrees.

    Spectral features are those of one graph; of many at once they would only say which
    graph a node is in.
    """
    many = isinstance(data, GraphDataset) and data.graph.features is None
    if many and settings.structural == "spectral":
        return replace(settings, structural="degree")
    return settings


def rows_of(
    embedding: NDArray[np.float32],
    data: GraphData | GraphDataset,
    level: Level,
    readouts: Sequence[str],
) -> NDArray[np.float32]:
    """The embedding's rows at a level, from those of all nodes."""
    if level == "node":
        return embedding
    assert isinstance(data, GraphDataset)
    # A copy of ptr: it is read-only, which torch warns of.
    pooled = pool(torch.from_numpy(embedding), torch.tensor(data.ptr), readouts)
    return np.asarray(pooled.numpy())
