"""Neighbours next to each other in memory: products with large graphs gain by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from fdgcl.operators.sparse import SparseMatrix

# With fewer nodes a product's operands stay in a processor's caches in any order.
MANY_NODES = 2**16
# Finding the order costs about as much as products with this many columns in all gain.
COLUMNS_TO_PAY = 1000


@dataclass(frozen=True, eq=False)
class Ordered:
    """A square matrix with its rows and columns in another order.

    Attributes:
        places: Where each node stands.
        matrix: The matrix, place by place.
    """

    places: Tensor
    matrix: SparseMatrix


def reordering_pays(nodes: int, columns: int, device: torch.device) -> bool:
    """Whether to reorder before so many columns are multiplied in all."""
    # On other devices products take less time than the order does here.
    return device.type == "cpu" and nodes >= MANY_NODES and columns >= COLUMNS_TO_PAY


def reordered(matrix: csr_array) -> Ordered:
    """Number the nodes of a symmetric pattern breadth first, from the largest hub.

    As good as the reverse Cuthill-McKee order for this use, at a fifth of its price.
    """
    order = _breadth_first(matrix)
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    rows = matrix[order]
    moved = (rows.data, places.take(rows.indices), rows.indptr)
    return Ordered(
        torch.from_numpy(places.astype(np.int64)),
        SparseMatrix(csr_array(moved, shape=matrix.shape)),
    )


def _breadth_first(matrix: csr_array) -> NDArray[np.int32]:
    # Here, so that programs which never reorder need not load it.
    from scipy.sparse.csgraph import breadth_first_order

    start = int(np.argmax(np.diff(matrix.indptr)))
    found = breadth_first_order(matrix, start, return_predecessors=False)
    left = np.ones(matrix.shape[0], dtype=bool)
    left[found] = False
    return np.concatenate([found, np.flatnonzero(left)]).astype(np.int32)
