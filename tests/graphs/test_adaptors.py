"""Graphs from SciPy, NetworkX and PyTorch Geometric."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fdgcl._checks import InputError, MissingExtraError
from fdgcl.graphs import Graph


def test_scipy_matrices_of_every_format() -> None:
    dense = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 3]])
    for kind in ("csr", "csc", "coo", "lil", "dok"):
        for make in (sparse.coo_array, sparse.coo_matrix):
            graph = Graph.from_scipy(make(dense).asformat(kind), y=["a", "b", "a"])
            assert graph.adjacency.toarray().tolist() == dense.tolist()
            assert graph.y.tolist() == [0, 1, 0]
            assert graph.class_names == ("a", "b")


def test_scipy_takes_the_other_parts() -> None:
    graph = Graph.from_scipy(
        sparse.eye_array(2), np.ones((2, 1)), ids=["p", "q"], name="g"
    )
    assert graph.ids.tolist() == ["p", "q"]
    assert graph.num_features == 1
    with pytest.raises(InputError, match="sparse matrix is expected, got ndarray"):
        Graph.from_scipy(np.eye(2))


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=15),
    st.sampled_from(["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"]),
    st.booleans(),
)
def test_networkx_agrees_with_its_own_matrix(
    edges: list[tuple[int, int]], kind: str, weighted: bool
) -> None:
    theirs = getattr(networkx, kind)()
    theirs.add_nodes_from([9, 8])
    for place, (start, end) in enumerate(edges):
        extra = {"weight": place + 1.0} if weighted and place % 2 == 0 else {}
        theirs.add_edge(start, end, **extra)
    graph = Graph.from_networkx(theirs)
    expected = networkx.to_numpy_array(theirs)
    if not weighted:
        expected = np.minimum(expected, 1)
    assert graph.ids.tolist() == list(theirs.nodes)
    assert np.array_equal(graph.adjacency.toarray(), expected)
    assert graph.is_symmetric or theirs.is_directed()


def test_networkx_attributes() -> None:
    theirs = networkx.Graph(name="club")
    theirs.add_node(("a", 1), size=2.0, vector=[1, 2], team="red")
    theirs.add_node("b", size=3, vector=[3, 4])
    theirs.add_edge(("a", 1), "b", cost=0.5)
    by_vector = Graph.from_networkx(theirs, features="vector", label="team")
    assert by_vector.ids.tolist() == ["('a', 1)", "b"]
    assert by_vector.features.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert by_vector.y.tolist() == [0, -1]
    assert by_vector.class_names == ("red",)
    assert by_vector.name == "club"
    by_names = Graph.from_networkx(theirs, features=["size"], weight="cost")
    assert by_names.feature_names == ("size",)
    assert by_names.adjacency.toarray().tolist() == [[0, 0.5], [0.5, 0]]
    given = Graph.from_networkx(theirs, features=np.eye(2), weight=None)
    assert given.features.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "height"}, "node 0 has no attribute 'height'"),
        ({"features": "odd"}, "'odd' must hold numbers"),
        ({"weight": "word"}, "'word' must hold numbers only"),
        ({"weight": "minus"}, "not negative, got -1"),
    ],
)
def test_networkx_attributes_that_do_not_fit(
    options: dict[str, Any], message: str
) -> None:
    theirs = networkx.Graph()
    theirs.add_edge(0, 1, word="x", minus=-1)
    networkx.set_node_attributes(theirs, {0: [1], 1: [1, 2]}, "odd")
    with pytest.raises(InputError, match=message):
        Graph.from_networkx(theirs, **options)


def test_networkx_nodes_with_one_name() -> None:
    with pytest.raises(InputError, match="ids hold both 1 and '1'"):
        Graph.from_networkx(networkx.Graph([(1, "1")]))
    with pytest.raises(InputError, match="NetworkX graph is expected, got list"):
        Graph.from_networkx([(0, 1)])


def test_networkx_is_named_when_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"pip install -e '\.\[networkx\]'"):
        Graph.from_networkx(None)


def make_data(**fields: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch_geometric.data import Data
    return Data(**fields)


def test_pyg_data() -> None:
    data = make_data(
        x=torch.arange(8.0).reshape(4, 2).requires_grad_(),
        edge_index=torch.tensor([[0, 1, 1], [1, 0, 2]]),
        edge_weight=torch.tensor([1.0, 2.0, 3.0]),
        y=torch.tensor([[0], [1], [1], [0]]),
        train_mask=torch.tensor([[1, 0], [0, 1], [0, 0], [0, 0]], dtype=torch.bool),
        val_mask=torch.tensor([[0, 0], [0, 0], [1, 1], [0, 0]], dtype=torch.bool),
    )
    graph = Graph.from_pyg(data, name="toy")
    expected = np.zeros((4, 4))
    expected[[0, 1, 1], [1, 0, 2]] = [1, 2, 3]
    assert np.array_equal(graph.adjacency.toarray(), expected)
    assert graph.features.tolist() == np.arange(8.0).reshape(4, 2).tolist()
    assert graph.y.tolist() == [0, 1, 1, 0]
    assert graph.splits.train.tolist() == [[True, False, False, False], [0, 1, 0, 0]]
    assert not graph.splits.test.any()
    assert graph.name == "toy"


def test_pyg_data_without_anything_else() -> None:
    data = make_data(edge_index=torch.tensor([[0, 0], [1, 1]]), num_nodes=3)
    graph = Graph.from_pyg(data)
    assert graph.num_nodes == 3
    assert graph.adjacency.toarray()[0].tolist() == [0, 1, 0]
    assert (graph.features, graph.y, graph.splits) == (None, None, None)
    costs = make_data(
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        edge_attr=torch.ones(2, 1) * 4,
        num_nodes=3,
    )
    assert Graph.from_pyg(costs).adjacency.data.tolist() == [4, 4]


def test_what_is_no_pyg_data() -> None:
    with pytest.raises(InputError, match=r"edge_index of shape \(2, E\) is expected"):
        Graph.from_pyg(SimpleNamespace(num_nodes=3))
    data = SimpleNamespace(edge_index=np.array([[0], [7]]), num_nodes=3)
    with pytest.raises(InputError, match="such as 7"):
        Graph.from_pyg(data)


@pytest.mark.dataset
def test_pyg_cora_has_its_known_size(data_root: Path) -> None:
    stored = np.load(data_root / "cora.npz")
    data = make_data(
        edge_index=torch.from_numpy(stored["edge_index"].astype(np.int64)),
        y=torch.from_numpy(stored["y"]),
        num_nodes=2708,
    )
    graph = Graph.from_pyg(data)
    loops = int((graph.adjacency.diagonal() > 0).sum())
    assert graph.num_edges - loops == 10556
    assert graph.is_symmetric
