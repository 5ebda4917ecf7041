"""What one row of an embedding stands for, a node or a graph, and its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fdgcl._checks import InputError, choose
from fdgcl.workflows.reading import Reading
from fdgcl.workflows.source import Source, has_many

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fdgcl.workflows.source import Data

Level = Literal["node", "graph"]
LEVELS = ("node", "graph")


def find_level(source: Source, reading: Reading, wanted: str | None) -> Level:
    """Return the level asked for, or the one that fits, before anything is read.

    Raises:
        InputError: The level is unknown, or there is one graph only.
    """
    many = has_many(source, reading)
    if wanted is not None:
        choose("level", wanted, dict.fromkeys(LEVELS))
    if wanted == "graph" and not many:
        message = (
            f"`level='graph'` needs many graphs, but {source.name} is one: name a "
            "dataset of graphs, or a file that says which graph a node belongs to by "
            "`graph_ids`"
        )
        raise InputError(message)
    return "graph" if many and wanted != "node" else "node"


def refuse_scores_of_nodes(source: Source, reading: Reading, level: Level) -> None:
    """Refuse to score the nodes of many graphs: it is the graphs that have labels."""
    if level == "node" and has_many(source, reading):
        message = (
            f"`evaluate` scores graphs by their labels, and the nodes of {source.name} "
            "have none: leave out `evaluate` or `level='node'`"
        )
        raise InputError(message)


def row_ids(data: Data, level: Level) -> npt.NDArray[Any]:
    """Return the ids of an embedding's rows.

    A node of many graphs is `graph:node`, its node its own id or, where it has none,
    its place in the graph from 0.
    """
    import numpy as np

    from fdgcl.graphs import GraphDataset
    from fdgcl.graphs.store.store import Store

    if isinstance(data, Store):
        return data.read_ids(0, data.num_nodes)
    if level == "graph" or not isinstance(data, GraphDataset):
        return data.ids
    owners = data.graph_of_node
    nodes: npt.NDArray[np.int64] = data.graph.ids
    if not data.has_node_ids:
        nodes = nodes - data.ptr[owners]
    pairs = zip(data.ids[owners].tolist(), nodes.tolist(), strict=True)
    return np.array([f"{graph}:{node}" for graph, node in pairs], object)
