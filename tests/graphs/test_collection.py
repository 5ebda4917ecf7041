"""Many graphs as one: who owns which nodes, taken apart and put together again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import Graph, GraphDataset


def ring(nodes: int, first: float = 0.0, **others: Any) -> Graph:
    edges = [(i, (i + 1) % nodes) for i in range(nodes)]
    x = first + np.arange(2 * nodes, dtype="f4").reshape(nodes, 2)
    return Graph.from_edges(edges, x, **others)


@pytest.fixture
def rings() -> list[Graph]:
    return [ring(3), ring(5, 100), ring(2, 200), ring(4, 300)]


@pytest.fixture
def dataset(rings: list[Graph]) -> GraphDataset:
    return GraphDataset.from_graphs(rings, ["odd", "odd", "even", None], name="rings")


def dense(values: Any) -> Any:
    return values.toarray() if sparse.issparse(values) else values


def assert_same(got: Graph, expected: Graph) -> None:
    assert np.array_equal(got.adjacency.toarray(), expected.adjacency.toarray())
    assert np.array_equal(dense(got.features), dense(expected.features))
    assert got.ids.tolist() == expected.ids.tolist()


def test_graphs_go_in_and_come_out(dataset: GraphDataset, rings: list[Graph]) -> None:
    assert len(dataset) == dataset.num_graphs == 4
    assert dataset.ptr.tolist() == [0, 3, 8, 10, 14]
    assert dataset.ptr.dtype == np.int64
    assert dataset.graph_of_node.tolist() == [0] * 3 + [1] * 5 + [2] * 2 + [3] * 4
    assert dataset.y.tolist() == [1, 1, 0, -1]
    assert dataset.class_names == ("even", "odd")
    assert dataset.num_classes == 2
    assert dataset.ids.tolist() == [0, 1, 2, 3]
    assert dataset.graph.num_edges == sum(graph.num_edges for graph in rings)
    for at, graph in enumerate(rings):
        assert_same(dataset[at], graph)
    assert_same(dataset[-1], rings[-1])
    with pytest.raises(IndexError):
        dataset[4]
    assert len(list(iter(dataset))) == 4


def test_it_says_what_it_is(dataset: GraphDataset) -> None:
    assert repr(dataset) == (
        "GraphDataset('rings': 4 graphs, 14 nodes, 14 edges, 2 features, 2 classes; "
        "from graphs in memory)"
    )
    assert dataset.graph.name == "rings"


def test_nothing_can_be_changed(dataset: GraphDataset) -> None:
    for part in (dataset.ptr, dataset.y, dataset.ids, dataset.graph_of_node):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 7


@pytest.mark.parametrize("chosen", [[2, 0], [True, False, True, False]])
def test_a_subset_keeps_ids_and_order(
    dataset: GraphDataset, rings: list[Graph], chosen: list[Any]
) -> None:
    part = dataset.subset(chosen)
    order = [2, 0] if chosen[0] == 2 else [0, 2]
    assert part.ids.tolist() == order
    assert part.y.tolist() == [dataset.y[at] for at in order]
    assert part.class_names == dataset.class_names
    for at, was in enumerate(order):
        assert_same(part[at], rings[was])


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        ([4], "between 0 and 3, got 4"),
        ([-1], "between 0 and 3, got -1"),
        ([1, 1], "each graph at most once"),
        ([], "choose at least one"),
        ([0.5], "got float64"),
        ([True, False], r"got bool of shape \(2,\)"),
        ([False] * 4, "choose at least one"),
    ],
)
def test_subsets_that_are_none(
    dataset: GraphDataset, chosen: list[Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        dataset.subset(chosen)


def test_node_ids_are_kept_where_no_two_graphs_share_one() -> None:
    named = [
        Graph.from_edges([("a", "b"), ("b", "c")]),
        Graph.from_edges([("d", "e")]),
    ]
    dataset = GraphDataset.from_graphs(named, ids=["first", "second"])
    assert dataset.graph.ids.tolist() == ["a", "b", "c", "d", "e"]
    assert dataset[1].ids.tolist() == ["d", "e"]
    assert dataset[1].name == "graphs-second"
    assert dataset.subset([1]).graph.ids.tolist() == ["d", "e"]
    shared = GraphDataset.from_graphs([named[0], named[0]])
    assert shared.graph.ids.tolist() == [0, 1, 2, 3, 4, 5]
    assert shared[1].ids.tolist() == [0, 1, 2]


def test_sparse_features_stay_sparse_unless_one_is_dense(rings: list[Graph]) -> None:
    thin = [graph.with_features(sparse.csr_array(graph.features)) for graph in rings]
    both = GraphDataset.from_graphs(thin)
    assert sparse.issparse(both.graph.features)
    mixed = GraphDataset.from_graphs([rings[0], *thin[1:]])
    assert not sparse.issparse(mixed.graph.features)
    expected = np.concatenate([graph.features for graph in rings])
    assert np.array_equal(both.graph.features.toarray(), expected)
    assert np.array_equal(mixed.graph.features, expected)


@pytest.mark.parametrize("y", [[0, 1, 1, -1], np.array([2, 0, 1, 0], np.uint8)])
def test_codes_stay_codes(rings: list[Graph], y: Any) -> None:
    dataset = GraphDataset.from_graphs(rings, y)
    assert dataset.y.tolist() == list(y)
    assert dataset.class_names is None


def test_other_numbers_become_codes(rings: list[Graph]) -> None:
    dataset = GraphDataset.from_graphs(rings, [7, 3, 7, 5])
    assert dataset.y.tolist() == [2, 0, 2, 1]
    assert dataset.class_names == ("3", "5", "7")


def test_a_graph_that_cannot_stand_alone_is_named() -> None:
    # Node 2 is a graph of its own, without an edge.
    block = Graph(sparse.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3)))
    dataset = GraphDataset(block, np.array([0, 2, 3]), ids=["pair", "single"])
    assert dataset[0].num_nodes == 2
    with pytest.raises(InputError, match=r"graph single .* cannot stand alone"):
        dataset[1]


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"ptr": [1, 3, 8, 10, 14]}, "start at 0 and end at .* 14, got 1 and 14"),
        ({"ptr": [0, 3, 8, 10, 13]}, "got 0 and 13"),
        ({"ptr": [0, 3, 3, 8, 10, 14]}, "got 3 and then 3 for graph 1"),
        ({"ptr": [0, 8, 3, 10, 14]}, "got 8 and then 3 for graph 1"),
        ({"ptr": [0.0, 14.0]}, "whole numbers"),
        ({"ptr": [0]}, r"of shape \(1,\)"),
        ({"ptr": [0, 4, 8, 10, 14]}, "node 2 of graph 0|node 3 of graph 0"),
        ({"ptr": [0, 3, 8, 11, 14]}, "no edge may join two graphs, but 2 of them do"),
        ({"y": [0, 1]}, r"per graph, \(4,\), got int64 of shape \(2,\)"),
        ({"y": [0, 1, 1, -2]}, "or -1 for no label, got -2"),
        ({"y": [0.0, 1.0, 1.0, 0.0]}, "integer class code per graph"),
        ({"class_names": ("a",)}, "must name 2 classes, got 1"),
        ({"ids": ["a", "b"]}, "one id per graph, 4"),
        ({"ids": ["a", "b", "a", "c"]}, "graph ids must be unique"),
    ],
)
def test_parts_that_do_not_fit(
    dataset: GraphDataset, parts: dict[str, Any], sentence: str
) -> None:
    given = {"ptr": dataset.ptr, "y": dataset.y} | parts
    with pytest.raises(InputError, match=sentence):
        GraphDataset(dataset.graph, **given)


def test_an_edge_between_graphs_is_named_by_its_ids() -> None:
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
    with pytest.raises(InputError, match=r"node b of graph g1 to node c of graph g2"):
        GraphDataset(graph, np.array([0, 2, 4]), ids=["g1", "g2"])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda graphs: [], "at least one graph"),
        (lambda graphs: [graphs[0], "graph"], "got str at 1"),
        (
            lambda graphs: [graphs[0], graphs[1].with_features(None)],
            "graph 0 has 2 and graph 1 has 0",
        ),
        (
            lambda graphs: [graphs[0], graphs[1].with_features(np.ones((5, 3), "f4"))],
            "graph 0 has 2 and graph 1 has 3",
        ),
    ],
)
def test_graphs_that_do_not_go_together(
    rings: list[Graph], change: Any, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        GraphDataset.from_graphs(change(rings))


def data(edges: list[list[int]], nodes: int, **others: Any) -> SimpleNamespace:
    """What PyTorch Geometric's `Data` is to the reader."""
    index = np.array(edges, np.int64).reshape(2, -1)
    return SimpleNamespace(edge_index=index, num_nodes=nodes, **others)


def test_pyg_graphs_with_single_nodes_weights_and_labels() -> None:
    dataset = GraphDataset.from_pyg(
        [
            data([[0, 1], [1, 0]], 2, x=np.eye(2, dtype="f4"), y=np.array([5])),
            data([], 1, x=np.full((1, 2), 7, "f4"), y=np.array([[9]])),
            data([[0], [2]], 3, x=np.ones((3, 2), "f4"), edge_weight=np.array([0.5])),
        ]
    )
    assert dataset.ptr.tolist() == [0, 2, 3, 6]
    expected = np.zeros((6, 6))
    expected[0, 1] = expected[1, 0] = 1
    expected[3, 5] = 0.5
    assert np.array_equal(dataset.graph.adjacency.toarray(), expected)
    assert dataset.graph.features[2].tolist() == [7, 7]
    assert dataset.y.tolist() == [0, 1, -1]
    assert dataset.class_names == ("5", "9")


def test_pyg_graphs_without_features_or_labels() -> None:
    dataset = GraphDataset.from_pyg([data([[0], [1]], 2), data([[1], [0]], 2)])
    assert dataset.graph.features is None
    assert dataset.y is None
    assert dataset.num_classes == 0


@pytest.mark.parametrize(
    ("graphs", "sentence"),
    [
        ([], "at least one graph"),
        ([data([[0], [1]], 2), 3], "graph 1: .* got int without"),
        ([data([[0], [2]], 2)], "graph 0: edge_index must name nodes 0 to 1, got 0"),
        ([data([[0], [1]], 2, y=np.array([0, 1]))], "graph 0: y must hold one label"),
        (
            [
                data([[0], [1]], 2, x=np.ones((2, 2), "f4")),
                data([[0], [1]], 2, x=np.ones((2, 1), "f4")),
            ],
            "graph 0 has 2 and graph 1 has 1",
        ),
    ],
)
def test_pyg_graphs_that_do_not_fit(graphs: list[Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        GraphDataset.from_pyg(graphs)
