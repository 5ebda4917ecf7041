"""Nodes of several types: features side by side, and PyTorch Geometric's HeteroData."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from fdgcl import Graph
from fdgcl._checks import InputError
from fdgcl.graphs.node_types import padded

torch_geometric = pytest.importorskip("torch_geometric")

BLOCKS = {
    "paper": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32),
    "author": np.empty((1, 0), np.float32),
    "venue": np.array([[5.0]], np.float32),
}
WIDE = [
    [1, 2, 0, 1, 0, 0],
    [3, 4, 0, 1, 0, 0],
    [0, 0, 0, 0, 1, 0],
    [0, 0, 5, 0, 0, 1],
]


def test_blocks_are_padded_and_types_marked() -> None:
    features, names = padded(BLOCKS, {"paper": ["year", "pages"]})
    assert isinstance(features, np.ndarray)
    assert features.dtype == np.float32
    assert features.tolist() == WIDE
    assert names == (
        "paper:year",
        "paper:pages",
        "venue:0",
        "type=paper",
        "type=author",
        "type=venue",
    )


@pytest.mark.parametrize("kinds", [("paper",), ("author",), ("paper", "venue")])
def test_a_sparse_block_makes_all_sparse(kinds: tuple[str, ...]) -> None:
    blocks = {
        kind: sparse.coo_matrix(block) if kind in kinds else block
        for kind, block in BLOCKS.items()
    }
    features, names = padded(blocks)
    assert isinstance(features, sparse.csr_array)
    assert features.dtype == np.float32
    assert features.toarray().tolist() == WIDE
    assert names == padded(BLOCKS)[1]


def test_the_widest_type_of_numbers_is_kept() -> None:
    assert padded({**BLOCKS, "venue": np.ones((1, 1))})[0].dtype == np.float64
    assert padded({**BLOCKS, "venue": np.ones((1, 1), int)})[0].dtype == np.float32


@pytest.mark.parametrize(
    ("blocks", "names", "message"),
    [
        ({}, None, "at least one type, got none"),
        ({"a": np.ones(3)}, None, r"node type 'a' must be numbers .* shape \(3,\)"),
        ({"a": np.array([["x"]])}, None, "node type 'a' must be numbers"),
        ({"a": np.ones((2, 1))}, {"a": ["b", "c"]}, "the 1 columns of node type 'a'"),
    ],
)
def test_blocks_that_do_not_fit(blocks: Any, names: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        padded(blocks, names)


def hetero() -> Any:
    """Two papers, three authors without features, one venue."""
    data = torch_geometric.data.HeteroData()
    data["paper"].x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    data["paper"].y = torch.tensor([1, 0])
    data["paper"].train_mask = torch.tensor([True, False])
    data["paper"].test_mask = torch.tensor([False, True])
    data["author"].num_nodes = 3
    data["venue"].x = torch.tensor([[5.0]])
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 2, 2], [0, 0, 1]])
    data["paper", "in", "venue"].edge_index = torch.tensor([[0, 1], [0, 0]])
    data["author", "in", "venue"].edge_index = torch.tensor([[1], [0]])
    return data


def test_heterodata_becomes_one_graph() -> None:
    graph = Graph.from_pyg(hetero(), name="papers")
    assert graph.ids.tolist() == [
        "paper:0",
        "paper:1",
        "author:0",
        "author:1",
        "author:2",
        "venue:0",
    ]
    wanted = padded(
        {
            "paper": [[1, 2], [3, 4]],
            "author": np.empty((3, 0), np.float32),
            "venue": [[5.0]],
        }
    )
    assert graph.feature_names == wanted[1]
    assert np.array_equal(graph.features, wanted[0])
    assert graph.y is not None
    assert graph.y.tolist() == [1, 0, -1, -1, -1, -1]
    assert graph.splits is not None
    assert np.flatnonzero(graph.splits.train[0]).tolist() == [0]
    assert np.flatnonzero(graph.splits.test[0]).tolist() == [1]
    assert not graph.splits.val.any()


def test_its_edge_types_are_relations_and_back_again() -> None:
    data = hetero()
    graph = Graph.from_pyg(data)
    assert graph.relations is not None
    first = {"paper": 0, "author": 2, "venue": 5}
    assert [*graph.relations] == sorted(map(" ".join, data.edge_types))
    for start, relation, end in data.edge_types:
        found = graph.relations[f"{start} {relation} {end}"].tocoo()
        back = {
            (int(i) - first[start], int(j) - first[end])
            for i, j in zip(found.row, found.col, strict=True)
        }
        index = data[start, relation, end].edge_index
        assert back == {(int(i), int(j)) for i, j in index.T}
    assert graph.num_edges == 6


def test_own_ids_weights_and_types_without_edges_are_kept() -> None:
    data = hetero()
    data["paper"].node_id = torch.tensor([70, 71])
    data["author"].n_id = ["ann", "bob", "cleo"]
    data["paper", "in", "venue"].edge_weight = torch.tensor([2.0, 3.0])
    data["paper", "cites", "paper"].edge_index = torch.empty((2, 0), dtype=torch.int64)
    graph = Graph.from_pyg(data)
    ids = ["paper:70", "paper:71", "author:ann", "author:bob", "author:cleo", "venue:0"]
    assert graph.ids.tolist() == ids
    assert graph.relations is not None
    assert graph.relations["paper in venue"].data.tolist() == [2, 3]
    assert graph.relations["author writes paper"].data.tolist() == [1, 1, 1]
    assert graph.relations["paper cites paper"].nnz == 0
    assert sorted(graph.adjacency.data.tolist()) == [1, 1, 1, 1, 2, 3]


def test_several_masks_are_several_splits() -> None:
    data = hetero()
    data["paper"].train_mask = torch.tensor([[True, False], [False, True]])
    data["paper"].test_mask = ~data["paper"].train_mask
    splits = Graph.from_pyg(data).splits
    assert splits is not None
    assert [np.flatnonzero(row).tolist() for row in splits.train] == [[0], [1]]


def break_size(data: Any) -> None:
    del data["author"].num_nodes


def break_labels(data: Any) -> None:
    data["venue"].y = torch.tensor([0])


def break_shape(data: Any) -> None:
    data["paper"].y = torch.zeros((2, 3))


def break_ends(data: Any) -> None:
    data["author", "writes", "paper"].edge_index[0, 0] = 3


def break_edges(data: Any) -> None:
    del data["author", "writes", "paper"].edge_index


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (break_size, r"node type 'author' has neither .* data\['author'\].num_nodes"),
        (break_labels, r"got those of paper, venue: .* del data\['venue'\].y"),
        (
            break_shape,
            r"y of node type 'paper' must hold .* \(2,\), got shape \(2, 3\)",
        ),
        (break_ends, "'author writes paper' must name nodes 0 to 2 of type 'author'"),
        (break_edges, "edge type 'author writes paper': .* edge_index of shape"),
    ],
)
@pytest.mark.filterwarnings("ignore:Unable to accurately infer 'num_nodes'")
def test_what_is_wrong_with_heterodata_is_named(harm: Any, message: str) -> None:
    data = hetero()
    harm(data)
    with pytest.raises(InputError, match=message):
        Graph.from_pyg(data)


def test_heterodata_without_edges() -> None:
    data = torch_geometric.data.HeteroData()
    data["paper"].x = torch.ones((2, 1))
    with pytest.raises(InputError, match="HeteroData with edges is expected"):
        Graph.from_pyg(data)


def test_edge_type_of_plain_data_is_taken() -> None:
    index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    data = torch_geometric.data.Data(
        edge_index=index, edge_type=torch.tensor([1, 0, 1]), num_nodes=3
    )
    found = Graph.from_pyg(data).relations
    assert found is not None
    assert {name: part.nnz for name, part in found.items()} == {"0": 1, "1": 2}
