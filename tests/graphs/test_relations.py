"""Edges of several types: how a graph holds them, and what does not make up one."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fdgcl import Graph, GraphDataset
from fdgcl._checks import InputError
from fdgcl.graphs import write_compact
from fdgcl.graphs.compact import read_compact, to_arrays
from fdgcl.graphs.compact_arrays import save_arrays
from fdgcl.graphs.edges import MOST_RELATIONS, relations_of
from fdgcl.graphs.fingerprint import fingerprint

EDGES = [("ann", "tea"), ("bob", "tea"), ("ann", "bob"), ("ann", "tea")]
TYPES = ["buys", "buys", "knows", "likes"]


@pytest.fixture
def typed() -> Graph:
    return Graph.from_edges(EDGES, edge_types=TYPES)


def dense(graph: Graph) -> dict[str, list[list[float]]]:
    assert graph.relations is not None
    return {name: part.toarray().tolist() for name, part in graph.relations.items()}


def test_each_type_is_a_matrix_and_the_adjacency_their_union(typed: Graph) -> None:
    assert typed.ids.tolist() == ["ann", "bob", "tea"]
    assert dense(typed) == {
        "buys": [[0, 0, 1], [0, 0, 1], [0, 0, 0]],
        "knows": [[0, 1, 0], [0, 0, 0], [0, 0, 0]],
        "likes": [[0, 0, 1], [0, 0, 0], [0, 0, 0]],
    }
    assert typed.adjacency.toarray().tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert "3 edges, 3 edge types" in repr(typed)


def test_weights_are_added_within_a_type_and_in_the_union() -> None:
    weights = [1.0, 2.0, 4.0, 8.0]
    graph = Graph.from_edges([(0, 1)] * 4, weights=weights, edge_types=list("abab"))
    assert dense(graph) == {"a": [[0, 5], [0, 0]], "b": [[0, 10], [0, 0]]}
    assert graph.adjacency.toarray().tolist() == [[0, 15], [0, 0]]


@given(st.permutations(range(12)))
def test_the_order_of_the_edges_makes_no_difference(order: list[int]) -> None:
    rng = np.random.default_rng(0)
    pairs, types = rng.integers(0, 5, (12, 2)), rng.integers(0, 3, 12)
    weights = rng.random(12)
    graph = Graph.from_edges(pairs, weights=weights, edge_types=types)
    other = Graph.from_edges(
        pairs[order], weights=weights[order], edge_types=types[order]
    )
    assert fingerprint(graph) == fingerprint(other)


@pytest.mark.parametrize(
    "types",
    [
        np.array(["x", "y", "x"]),
        np.array(["x", "y", "x"], object),
        pa.array(["x", "y", "x"]),
        pa.chunked_array([["x"], ["y", "x"]]),
        pa.array(["x", "y", "x"]).dictionary_encode(),
    ],
)
def test_types_come_in_any_column(types: Any) -> None:
    ends = np.array([0, 1, 2]), np.array([1, 2, 0])
    found = relations_of(*ends, None, types, 3)
    assert {name: part.nnz for name, part in found.items()} == {"x": 2, "y": 1}


@pytest.mark.parametrize(
    "types", [np.array([10, 2, 10]), torch.tensor([10, 2, 10]), [10.0, 2.0, 10.0]]
)
def test_numbers_are_names_sorted_as_text(types: Any) -> None:
    ends = np.array([0, 1, 2]), np.array([1, 2, 0])
    assert [*relations_of(*ends, None, types, 3)] == ["10", "2"]


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (["x", None, "x"], "edge_types has no type in row 2"),
        (["x", "x", ""], "edge_types has no type in row 3"),
        ([1.0, float("nan"), 1.0], "edge_types has no type in row 2"),
        (["x", "y"], "edge_types must hold one type per edge, 3, got 2"),
        ([0.5, 1.0, 1.0], "edge_types must hold text or whole numbers"),
        (np.ones((3, 2)), "edge_types must hold text or whole numbers"),
    ],
)
def test_types_that_are_none(types: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_edges([(0, 1), (1, 2), (2, 0)], edge_types=types)


def test_a_column_with_a_value_per_edge_is_no_type() -> None:
    count = MOST_RELATIONS + 1
    ends = np.arange(count), np.arange(count) + 1
    with pytest.raises(InputError, match="at most 1,000 of them, got 1,001 such as"):
        relations_of(*ends, None, np.arange(count), count + 1)


def test_relations_are_checked_sorted_and_read_only(typed: Graph) -> None:
    assert typed.relations is not None
    turned = dict(reversed([*typed.relations.items()]))
    again = replace(typed, relations=turned)
    assert list(again.relations or ()) == ["buys", "knows", "likes"]
    with pytest.raises(ValueError, match="read-only"):
        typed.relations["buys"].data[0] = 2
    assert fingerprint(pickle.loads(pickle.dumps(typed))) == fingerprint(typed)


@pytest.mark.parametrize(
    ("relations", "message"),
    [
        ({}, "must map the name of each edge type to its matrix, got none"),
        ([sparse.eye_array(3)], "to its matrix, got list"),
        ({"a": sparse.eye_array(2)}, r"of shape \(3, 3\), got the relation 'a'"),
        ({1: sparse.eye_array(3)}, r"must map names to matrices .* relation 1 of"),
        ({"a": -sparse.eye_array(3)}, "edge weights of the relation 'a' must be"),
        ({"a": sparse.eye_array(3)}, "must have the edges of all relations and no"),
    ],
)
def test_relations_that_do_not_fit(typed: Graph, relations: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(typed, relations=relations)


def test_types_count_for_the_fingerprint(typed: Graph) -> None:
    bare = replace(typed, relations=None)
    other = Graph.from_edges(EDGES, edge_types=["buys", "buys", "knows", "loves"])
    assert len({fingerprint(one) for one in (typed, bare, other)}) == 3


def test_the_compact_format_keeps_types(typed: Graph, tmp_path: Path) -> None:
    weighted = Graph.from_edges(EDGES, weights=[1, 2, 3, 4.5], edge_types=TYPES)
    for graph in (typed, weighted):
        write_compact(tmp_path / "g.npz", graph)
        found = read_compact(tmp_path / "g.npz")
        assert dense(found) == dense(graph)
        assert found.adjacency.toarray().tolist() == graph.adjacency.toarray().tolist()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("relation_ptr", np.array([0, 2, 9, 4]), "relation_ptr must hold 4 places"),
        ("relation_ptr", np.array([0, 4]), "relation_ptr must hold 4 places"),
        ("relation_index", np.full((2, 4), 7), "relation_index must name nodes 0 to 2"),
        ("relation_weight", np.ones(3), "relation_weight must hold one number per"),
        ("relation_weight", None, "the array relation_weight is missing"),
    ],
)
def test_a_damaged_compact_file_is_refused(
    typed: Graph, tmp_path: Path, name: str, value: Any, message: str
) -> None:
    arrays = {**to_arrays(typed), name: value}
    if value is None:
        del arrays[name]
    save_arrays(tmp_path / "g.npz", arrays)
    with pytest.raises(InputError, match=message):
        read_compact(tmp_path / "g.npz")


def test_many_graphs_take_no_types(typed: Graph) -> None:
    message = "many graphs takes no edge types, got buys, knows, likes: merge them"
    with pytest.raises(InputError, match=message):
        GraphDataset.from_graphs([typed, typed])
    with pytest.raises(InputError, match=message):
        GraphDataset(typed, np.array([0, 3]))
