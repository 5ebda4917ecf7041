"""Graph and Graph.from_edges: checks at construction, and a loop as reference."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import Graph, Splits
from tolerances import gamma

PATH = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]], np.float32))


def entries(graph: Graph) -> dict[tuple[Any, Any], float]:
    coo = graph.adjacency.tocoo()
    keys = zip(graph.ids[coo.row].tolist(), graph.ids[coo.col].tolist(), strict=True)
    return dict(zip(keys, coo.data.tolist(), strict=True))


def test_parts_have_the_agreed_types_and_sizes() -> None:
    graph = Graph(
        sparse.csr_array(np.array([[0, 1], [1, 0]], np.int64)),
        features=np.array([[1, 2, 3], [4, 5, 6]]),
        y=np.array([1, -1], np.int8),
        class_names=("a", "b"),
        feature_names=("x", "y", "z"),
    )
    assert graph.adjacency.dtype == np.float32
    assert graph.features.dtype == np.float32
    assert graph.y.dtype == np.int64
    assert graph.ids.dtype == np.int64
    assert graph.ids.tolist() == [0, 1]
    sizes = (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes)
    assert sizes == (2, 2, 3, 2)
    assert repr(graph).startswith("Graph('graph': 2 nodes, 2 edges, 3 features, 2 cla")


def test_float64_is_kept() -> None:
    graph = Graph(PATH.astype(np.float64), features=np.eye(3))
    assert graph.adjacency.dtype == np.float64
    assert graph.features.dtype == np.float64


def test_plain_python_numbers_become_float32() -> None:
    graph = Graph.from_edges([(0, 1)], [[0.5], [1.5]], weights=[0.1])
    assert graph.adjacency.dtype == np.float32
    assert graph.features.dtype == np.float32
    with pytest.raises(InputError, match="got inf for edge 0"):
        Graph.from_edges([(0, 1)], weights=[1e300])


def test_symmetric_and_weighted() -> None:
    assert Graph(PATH).is_symmetric
    assert Graph(PATH).is_weighted
    one_way = Graph(sparse.csr_array(np.array([[0.0, 1.0], [0.0, 1.0]])))
    assert not one_way.is_symmetric
    assert not one_way.is_weighted
    uneven = Graph(sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]])))
    assert not uneven.is_symmetric


def test_adjacency_becomes_canonical() -> None:
    data, indices, indptr = [1.0, 2.0, 3.0, 0.0], [1, 0, 1, 0], [0, 3, 4]
    graph = Graph(sparse.csr_array((data, indices, indptr), shape=(2, 2)))
    assert graph.adjacency.has_canonical_format
    assert graph.adjacency.toarray().tolist() == [[2.0, 4.0], [0.0, 0.0]]
    assert graph.num_edges == 2


def test_a_graph_cannot_be_changed() -> None:
    features = np.ones((3, 2), np.float32)
    graph = Graph(PATH, features=features, y=np.zeros(3, np.int64))
    with pytest.raises(FrozenInstanceError):
        graph.name = "other"  # type: ignore[misc]
    arrays = (graph.features, graph.y, graph.ids, graph.adjacency.data)
    for array in (*arrays, graph.adjacency.indices, graph.adjacency.indptr):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    features[0, 0] = 5  # what the caller holds stays the caller's to change


def test_replace_and_with_features_check_again() -> None:
    graph = Graph(PATH, features=np.ones((3, 2)), feature_names=("a", "b"))
    renamed = replace(graph, name="other")
    assert renamed.name == "other"
    assert renamed.feature_names == ("a", "b")
    wide = graph.with_features(np.ones((3, 4)), names="wxyz", source="elsewhere")
    assert wide.num_features == 4
    assert wide.feature_names == ("w", "x", "y", "z")
    assert wide.source == "elsewhere"
    assert graph.with_features(None).num_features == 0
    with pytest.raises(InputError, match="one row per node"):
        graph.with_features(np.ones((2, 4)))


def test_sparse_features_stay_sparse() -> None:
    graph = Graph(PATH, features=sparse.coo_matrix(np.eye(3)))
    assert isinstance(graph.features, sparse.csr_array)
    assert (
        graph.adjacency @ graph.features
    ).toarray().tolist() == PATH.todense().tolist()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"adjacency": np.ones((2, 3))}, r"square matrix, got shape \(2, 3\)"),
        ({"adjacency": sparse.csr_array((1, 1))}, "at least two nodes, got 1"),
        (
            {"adjacency": sparse.csr_array((4, 4))},
            "at least one edge, got none among 4",
        ),
        ({"adjacency": PATH * -1}, "not negative, got -1 .* node 0 to node 1"),
        ({"adjacency": PATH * np.nan}, "finite and not negative, got nan"),
        ({"adjacency": PATH * 1j}, "real numbers, got complex"),
        ({"features": np.ones((2, 2))}, r"one row per node, \(3, F\), got .*\(2, 2\)"),
        ({"features": np.ones(3)}, "one row per node"),
        ({"features": np.ones((3, 0))}, "at least one column"),
        ({"features": np.array([["a"], ["b"], ["c"]])}, "must hold real numbers"),
        (
            {"features": np.diag([1, np.nan, 1])},
            "finite, got nan for node 1 .row 1, col",
        ),
        ({"features": sparse.diags_array([1, 1, np.inf])}, "got inf .* 2 .row 2, col"),
        ({"y": np.zeros(2, np.int64)}, r"one integer class code per node, \(3,\)"),
        ({"y": np.zeros(3)}, "got float64"),
        ({"y": np.array([0, -2, 0])}, "-1 for no label, got -2"),
        (
            {"y": np.array([0, 1, 2]), "class_names": ("a",)},
            "must name 3 classes, got 1",
        ),
        ({"ids": np.array([1, 2])}, "one id per node, 3"),
        ({"ids": np.array([1, 2, 1])}, "unique, got 1 repeated"),
        ({"ids": ["a", "b", None]}, "must not be missing"),
        ({"ids": np.array([0.5, 1, 2])}, "whole numbers or strings"),
        (
            {"features": np.eye(3), "feature_names": ("a",)},
            "must name 3 columns, got 1",
        ),
        ({"splits": Splits([True], [False], [False])}, "cover the graph's 3 nodes"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph(**{"adjacency": PATH, **parts})


IDS = st.one_of(
    st.integers(-5, 20),
    st.text(max_size=3),
    st.tuples(st.integers(0, 2)),
    st.booleans(),
)
EDGES = st.lists(st.tuples(IDS, IDS), min_size=1, max_size=30)


def as_written(ids: set[Any]) -> dict[Any, Any]:
    """Ids as the graph keeps them: integers when all are, else strings."""
    whole = all(type(value) is int for value in ids)
    return {value: value if whole else str(value) for value in ids}


@given(EDGES, st.randoms(use_true_random=False), st.booleans())
def test_from_edges_agrees_with_a_loop(
    edges: list[tuple[Any, Any]], random: Any, weighted: bool
) -> None:
    # 1 and True are one key of a dict but two ids.
    edges = [
        (str(a), str(b)) if bool in (type(a), type(b)) else (a, b) for a, b in edges
    ]
    weights = [random.choice([0.5, 1.0, 2.25, 1e-3]) for _ in edges]
    ends = {end for edge in edges for end in edge}
    kept = as_written(ends)
    if len({str(end) for end in ends}) < len(ends):
        with pytest.raises(InputError, match="written alike"):
            Graph.from_edges(edges, weights=weights if weighted else None)
        return
    expected: dict[tuple[Any, Any], float] = defaultdict(float)
    for (start, end), weight in zip(edges, weights, strict=True):
        key = (kept[start], kept[end])
        expected[key] = expected[key] + weight if weighted else 1.0
    if len(set(kept.values())) < 2:
        with pytest.raises(InputError, match="at least two nodes"):
            Graph.from_edges(edges, weights=weights if weighted else None)
        return
    graph = Graph.from_edges(edges, weights=weights if weighted else None)
    assert graph.ids.tolist() == sorted(set(kept.values()))
    found = entries(graph)
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        # Weights are float32, and positive: no sum of them cancels.
        assert found[key] == pytest.approx(value, rel=gamma(len(edges) + 1, np.float32))


@given(EDGES, st.randoms(use_true_random=False))
def test_the_order_of_the_edges_does_not_matter(
    edges: list[tuple[Any, Any]], random: Any
) -> None:
    edges = [*((str(start), str(end)) for start, end in edges), ("one", "two")]
    weighted = [(*edge, 0.1 + random.random()) for edge in edges * 2]
    shuffled = random.sample(weighted, len(weighted))
    first, second = (
        Graph.from_edges([row[:2] for row in rows], weights=[row[2] for row in rows])
        for rows in (weighted, shuffled)
    )
    assert first.ids.tolist() == second.ids.tolist()
    assert first.adjacency.indices.tobytes() == second.adjacency.indices.tobytes()
    assert first.adjacency.data.tobytes() == second.adjacency.data.tobytes()


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2), (2, 0)],
        [[0, 1, 2], [1, 2, 0]],
        np.array([[0, 1], [1, 2], [2, 0]], np.uint8),
        np.array([[0, 1, 2], [1, 2, 0]]),
        np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 0.0]]),
        ((start, end) for start, end in [(0, 1), (1, 2), (2, 0)]),
    ],
)
def test_shapes_of_edges(edges: Any) -> None:
    assert set(entries(Graph.from_edges(edges))) == {(0, 1), (1, 2), (2, 0)}


def test_two_by_two_is_two_edges() -> None:
    for edges in (np.array([[0, 1], [2, 0]]), [[0, 1], [2, 0]]):
        assert set(entries(Graph.from_edges(edges))) == {(0, 1), (2, 0)}


def test_ids_fix_the_order_of_features_and_keep_lonely_nodes() -> None:
    graph = Graph.from_edges(
        [("b", "a")],
        features=np.array([[3.0], [1.0], [2.0]]),
        ids=["c", "a", "b"],
        y=["red", None, "blue"],
    )
    assert graph.ids.tolist() == ["c", "a", "b"]
    assert entries(graph) == {("b", "a"): 1.0}
    assert graph.features[:, 0].tolist() == [3.0, 1.0, 2.0]
    assert graph.y.tolist() == [1, -1, 0]
    assert graph.class_names == ("blue", "red")


def test_without_ids_features_follow_the_numbers() -> None:
    graph = Graph.from_edges([(3, 1)], features=np.ones((5, 2)))
    assert graph.num_nodes == 5
    assert entries(graph) == {(3, 1): 1.0}
    assert Graph.from_edges([(3, 1)], num_nodes=7).num_nodes == 7
    assert Graph.from_edges([(3, 1)], y=[0, 1, 1, 0]).num_nodes == 4
    assert Graph.from_edges([(3, 1)]).ids.tolist() == [1, 3]


def test_numbers_and_their_texts_are_one_id() -> None:
    graph = Graph.from_edges([(7, 8)], ids=["8", "7", "x"])
    assert entries(graph) == {("7", "8"): 1.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"edges": [(0, 1), (1, 9), (8, 9)], "num_nodes": 3},
            "2 edges name 2 ids .* 9",
        ),
        ({"edges": [("a", "q")], "ids": ["a", "b"]}, "1 edges name 1 ids .* 'q'"),
        (
            {"edges": [("a", "b")], "features": np.ones((2, 1))},
            "2 ids that are not among",
        ),
        ({"edges": [(0, -1)], "num_nodes": 3}, "such as -1"),
        ({"edges": [(0, 1, 2)]}, "pairs"),
        ({"edges": ["ab", "cd"]}, "pairs"),
        ({"edges": np.ones((3, 3))}, r"\(E, 2\) or \(2, E\), got shape \(3, 3\)"),
        ({"edges": []}, "at least two nodes"),
        ({"edges": [], "num_nodes": 4}, "at least one edge"),
        ({"edges": [(0, 0)]}, "at least two nodes"),
        ({"edges": [(0, None)]}, "must not be missing"),
        ({"edges": [(0, 1)], "weights": [1, 2]}, r"one number per edge, \(1,\)"),
        ({"edges": [(0, 1)], "weights": ["a"]}, "one number per edge"),
        ({"edges": [(0, 1)], "weights": [-2.0]}, "not negative, got -2 for edge 0"),
        ({"edges": [(0, 1)], "weights": [np.inf]}, "finite .* got inf for edge 0"),
        ({"edges": [(0, 1)], "weights": [0.0]}, "at least one edge"),
        ({"edges": [(0, 1)], "ids": ["0", "1", "1"]}, "ids repeats 1 ids, such as '1'"),
        (
            {"edges": [(0, 1)], "num_nodes": 3, "features": np.ones((2, 2))},
            "one row per",
        ),
    ],
)
def test_bad_edges_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_edges(**arguments)


def test_labels_of_minus_one_and_one_are_not_guessed_at() -> None:
    codes = Graph.from_edges([(0, 1)], y=[-1, 1])
    assert codes.y.tolist() == [-1, 1]
    with pytest.raises(InputError, match="-1 means a node without a label"):
        Graph.from_edges([(0, 1)], y=[-1.0, 1.0])
