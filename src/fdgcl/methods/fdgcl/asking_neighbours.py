"""What neighbours tell of a node, asked of a graph in memory or of a store."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array

from fdgcl.graphs._validate import is_symmetric
from fdgcl.graphs.rows import RowSource
from fdgcl.graphs.store.row_blocks import weight_blocks
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.kept_blocks import NEIGHBOURS
from fdgcl.operators.neighbour_information import (
    NeighbourInformation,
    choose_sample,
    mean_weights,
    neighbour_information,
)


def neighbours_of_graph(
    features: RowSource, adjacency: csr_array
) -> NeighbourInformation:
    """Ask a graph in memory, along its arrows, against them, and both ways.

    Args:
        features: Scaled, and not yet reduced.
        adjacency: Row i has the nodes that i points to.

    Example:
        >>> from fdgcl import block_model
        >>> graph = block_model(300, homophily=0.9, seed=0)
        >>> neighbours_of_graph(graph.features, graph.adjacency).neighbours.keys()
        dict_keys(['neighbours'])
    """
    sample = choose_sample(*features.shape)
    out = csr_array(adjacency[sample])
    if is_symmetric(adjacency):
        weights = {NEIGHBOURS: mean_weights(out, sample)}
    else:
        back = csr_array(adjacency.tocsc()[:, sample].T)
        kinds = {NEIGHBOURS: csr_array(out + back), "out": out, "in": back}
        weights = {kind: mean_weights(rows, sample) for kind, rows in kinds.items()}
    return neighbour_information(features, sample, weights)


def neighbours_of_store(store: Store, features: RowSource) -> NeighbourInformation:
    """Ask a store, in the one direction that it has.

    Args:
        store: The graph.
        features: Its features, scaled, and not yet reduced.
    """
    direction = store.manifest.direction
    kind = NEIGHBOURS if direction == "symmetric" else direction
    sample = choose_sample(*features.shape)
    weights = mean_weights(_rows_of(store, sample), sample)
    return neighbour_information(features, sample, {kind: weights})


def _rows_of(store: Store, sample: NDArray[np.int64]) -> csr_array:
    """Some rows of a store's weights, which pass by in order."""
    found = []
    for start, rows in weight_blocks(store):
        first, last = np.searchsorted(sample, [start, start + rows.shape[0]])
        found.append(rows[sample[first:last] - start])
    return csr_array(sparse.vstack(found, format="csr"))
