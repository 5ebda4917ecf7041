"""Graph embeddings without labels, by fractional-order diffusion.

The names below are loaded when first used, so that `import fdgcl` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fdgcl._version import __version__

if TYPE_CHECKING:
    from fdgcl._notices import FdgclWarning as FdgclWarning
    from fdgcl.evaluation import cluster as cluster
    from fdgcl.evaluation import graph_svm as graph_svm
    from fdgcl.evaluation import knn as knn
    from fdgcl.evaluation import knn_values as knn_values
    from fdgcl.evaluation import linear_probe as linear_probe
    from fdgcl.evaluation import multilabel_probe as multilabel_probe
    from fdgcl.evaluation import ridge_probe as ridge_probe
    from fdgcl.evaluation import roc_auc as roc_auc
    from fdgcl.graphs import Graph as Graph
    from fdgcl.graphs import GraphDataset as GraphDataset
    from fdgcl.graphs import Splits as Splits
    from fdgcl.graphs import block_model as block_model
    from fdgcl.graphs import load_dataset as load_dataset
    from fdgcl.graphs import load_graphs as load_graphs
    from fdgcl.graphs import read_graph as read_graph
    from fdgcl.model import FDGCL as FDGCL

_HOME = {
    "FDGCL": "fdgcl.model",
    "FdgclWarning": "fdgcl._notices",
    "Graph": "fdgcl.graphs",
    "GraphDataset": "fdgcl.graphs",
    "Splits": "fdgcl.graphs",
    "block_model": "fdgcl.graphs",
    "load_dataset": "fdgcl.graphs",
    "load_graphs": "fdgcl.graphs",
    "read_graph": "fdgcl.graphs",
    "linear_probe": "fdgcl.evaluation",
    "graph_svm": "fdgcl.evaluation",
    "knn": "fdgcl.evaluation",
    "knn_values": "fdgcl.evaluation",
    "multilabel_probe": "fdgcl.evaluation",
    "ridge_probe": "fdgcl.evaluation",
    "roc_auc": "fdgcl.evaluation",
    "cluster": "fdgcl.evaluation",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        message = f"module 'fdgcl' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
