"""A short hash by which graphs can be distinguished."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl.graphs.graph import Graph


def fingerprint(graph: Graph, *, features: bool = True) -> str:
    """A short hash of a graph's edges with their types and, if wanted, its features."""
    parts = _parts(graph.adjacency)
    if features and isinstance(graph.features, csr_array):
        parts += _parts(graph.features)
    elif features and graph.features is not None:
        parts.append(graph.features)
    for name, matrix in (graph.relations or {}).items():
        parts += [np.frombuffer(name.encode(), np.uint8), *_parts(matrix)]
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(str((part.shape, part.dtype)).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _parts(matrix: csr_array) -> list[NDArray[Any]]:
    return [matrix.indptr, matrix.indices, matrix.data]
