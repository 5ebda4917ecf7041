"""A small folder of datasets: three graphs to probe, and files of no use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from fdgcl import Graph, GraphDataset, Splits, block_model
from fdgcl.graphs import write_compact, write_compact_graphs
from fdgcl.graphs.targets import Targets

NODES = 60


def directed() -> Graph:
    """Edges one way, three splits of its own."""
    return block_model(
        NODES, 2, degree=4, num_features=5, directed=True, num_splits=3, seed=1
    )


def undirected() -> Graph:
    """No splits."""
    made = block_model(NODES, 3, degree=4, num_features=5, seed=2)
    return replace(made, splits=None)


def rare() -> Graph:
    """Two classes, one of them of every fifth node; no splits."""
    made = block_model(2 * NODES, 2, degree=4, num_features=5, seed=3)
    y = (np.arange(2 * NODES) % 5 == 0).astype(np.int64)
    return replace(made, y=y, splits=None, class_names=None)


def write_data_root(folder: Path) -> dict[str, str]:
    """Write Directed, rare, undirected; return why each other file is of no use."""
    folder.mkdir()
    graph = undirected()
    write_compact(folder / "Directed.npz", directed())
    write_compact(folder / "undirected.npz", graph)
    write_compact(folder / "rare.npz", rare())
    write_compact(folder / "bare.npz", graph.with_features(None))
    write_compact(folder / "blank.npz", replace(graph, y=None, class_names=None))
    values = Targets("values", ("price",), values=np.arange(float(NODES)))
    priced = replace(graph, y=None, class_names=None, targets=values)
    write_compact(folder / "priced.npz", priced)
    alike = replace(graph, y=np.zeros(NODES, np.int64), class_names=None)
    write_compact(folder / "alike.npz", alike)
    many = GraphDataset.from_graphs([graph, graph], [0, 1])
    write_compact_graphs(folder / "many.npz", many)
    np.savez(folder / "table.npz", x=np.ones((3, 2)), y=np.array([0, 1, 0]))
    (folder / "torn.npz").write_bytes((folder / "rare.npz").read_bytes()[:200])
    (folder / "notes.md").write_text("no dataset")
    return {
        "alike": "its labels are of one class alone",
        "bare": "it has no features",
        "blank": "it has no labels",
        "many": "a collection of graphs",
        "priced": "its labels are not classes",
        "table": "it has no edges",
        "torn": "it cannot be read as a compact .npz file",
    }


def halves(nodes: int, name: str) -> Splits:
    """One split: nodes in turn for training, validation and test."""
    turn = np.arange(nodes) % 3
    return Splits(turn == 0, turn == 1, turn == 2, name)
