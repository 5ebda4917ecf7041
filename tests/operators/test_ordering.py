"""Other orders of the nodes: the same matrix, closer to its diagonal."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, csr_matrix

from fdgcl.graphs import load_dataset
from fdgcl.operators import ordering
from fdgcl.operators.in_memory import build_operator


def parts():
    """Two rings and two nodes without edges."""
    dense = np.zeros((12, 12))
    for nodes in ([0, 4, 2, 9, 7], [1, 11, 3]):
        for a, b in zip(nodes, nodes[1:] + nodes[:1], strict=True):
            dense[a, b] = dense[b, a] = a + b + 1
    return csr_array(dense)


GRAPHS = {
    "cora": lambda: (
        build_operator(load_dataset("cora-bundled").adjacency).matrix.matrix
    ),
    "in parts": parts,
    "one node": lambda: csr_array(np.ones((1, 1))),
    "no edges": lambda: csr_array((3, 3)),
}


@pytest.mark.parametrize("graph", GRAPHS)
def test_every_node_has_one_place_and_keeps_its_weights(graph):
    matrix = GRAPHS[graph]()
    found = ordering.reordered(matrix)
    order = np.argsort(found.places.numpy())
    assert np.array_equal(np.sort(found.places), np.arange(matrix.shape[0]))
    expected = matrix.toarray()[np.ix_(order, order)]
    assert np.array_equal(found.matrix.matrix.toarray(), expected)


def test_neighbours_come_closer():
    matrix = GRAPHS["cora"]()
    shuffled = np.random.default_rng(0).permutation(matrix.shape[0])
    matrix = csr_matrix(matrix)[shuffled][:, shuffled]

    def distance(m):
        entries = m.tocoo()
        return np.abs(entries.row - entries.col).mean()

    found = ordering.reordered(csr_array(matrix)).matrix.matrix
    assert distance(found) < distance(matrix) / 2


def test_pays_on_large_graphs_with_much_to_multiply():
    cpu = torch.device("cpu")
    assert ordering.reordering_pays(ordering.MANY_NODES, 1280, cpu)
    assert not ordering.reordering_pays(ordering.MANY_NODES - 1, 1280, cpu)
    assert not ordering.reordering_pays(ordering.MANY_NODES, 100, cpu)
    assert not ordering.reordering_pays(10**7, 10**6, torch.device("cuda"))
