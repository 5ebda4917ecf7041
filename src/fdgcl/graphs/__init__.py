"""What goes in: graphs from files, other libraries, known datasets or a generator.

The names below are loaded when first used: a graph in memory needs no reader of files.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdgcl.graphs.collection import GraphDataset as GraphDataset
    from fdgcl.graphs.compact import read_compact as read_compact
    from fdgcl.graphs.compact import write_compact as write_compact
    from fdgcl.graphs.compact_graphs import read_compact_graphs as read_compact_graphs
    from fdgcl.graphs.compact_graphs import write_compact_graphs as write_compact_graphs
    from fdgcl.graphs.datasets import load_dataset as load_dataset
    from fdgcl.graphs.datasets import load_graphs as load_graphs
    from fdgcl.graphs.graph import Graph as Graph
    from fdgcl.graphs.graph_readers import read_graphs as read_graphs
    from fdgcl.graphs.labels import encode_labels as encode_labels
    from fdgcl.graphs.readers import read_graph as read_graph
    from fdgcl.graphs.readers import read_labels as read_labels
    from fdgcl.graphs.splits import Splits as Splits
    from fdgcl.graphs.splits import per_class_split as per_class_split
    from fdgcl.graphs.splits import random_splits as random_splits
    from fdgcl.graphs.structural import STRUCTURAL as STRUCTURAL
    from fdgcl.graphs.structural import structural_features as structural_features
    from fdgcl.graphs.synthetic import block_model as block_model
    from fdgcl.graphs.synthetic import power_law_graph as power_law_graph
    from fdgcl.graphs.targets import Targets as Targets
    from fdgcl.graphs.targets import find_targets as find_targets

_HOME = {
    "GraphDataset": "collection",
    "read_compact": "compact",
    "write_compact": "compact",
    "read_compact_graphs": "compact_graphs",
    "write_compact_graphs": "compact_graphs",
    "load_dataset": "datasets",
    "load_graphs": "datasets",
    "Graph": "graph",
    "read_graphs": "graph_readers",
    "encode_labels": "labels",
    "read_graph": "readers",
    "read_labels": "readers",
    "Splits": "splits",
    "per_class_split": "splits",
    "random_splits": "splits",
    "STRUCTURAL": "structural",
    "structural_features": "structural",
    "block_model": "synthetic",
    "power_law_graph": "synthetic",
    "Targets": "targets",
    "find_targets": "targets",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        message = f"module 'fdgcl.graphs' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(importlib.import_module(f"fdgcl.graphs.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
