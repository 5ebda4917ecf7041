"""Embeddings that need no training, to stand beside every trained one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl.graphs import Graph
from fdgcl.model import FDGCL
from fdgcl.preparation import Preparation, prepare


def untrained(model: FDGCL, graph: Graph) -> NDArray[np.float32]:
    """The embedding by the encoder's initial weights."""
    return type(model)(**{**model.get_params(), "epochs": 0}).fit_transform(graph)


def smoothed(model: FDGCL, graph: Graph) -> Any:
    """A²X, the features smoothed twice by the model's operator; sparse if X is."""
    prepared = _unscaled(model, graph)
    x, a = prepared.features, prepared.operator.matrix.matrix
    return (a @ (a @ x)).astype(x.dtype)


def features(model: FDGCL, graph: Graph) -> Any:
    """X, the features themselves, made from the edges where there are none."""
    return _unscaled(model, graph).features


def _unscaled(model: FDGCL, graph: Graph) -> Preparation:
    # X is the features as they came, whatever the model does to them first.
    return prepare(graph, replace(model.check(), feature_scaling="none"))
