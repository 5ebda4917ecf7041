"""Scoring from Python: files, arrays, datasets by name and in memory, labels."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fdgcl import Graph
from fdgcl._checks import InputError
from fdgcl.embeddings import write_embeddings
from fdgcl.evaluation import linear_probe
from fdgcl.workflows import evaluate
from fdgcl.workflows.evaluation import Evaluation
from fdgcl.workflows.labels import rows_by_id


def probe_of(found: Evaluation) -> dict[str, Any]:
    probe: dict[str, Any] = found.results["probe"]
    return probe


@pytest.fixture
def z(graph: Graph) -> np.ndarray:
    """An embedding that tells the communities apart, not always."""
    assert graph.y is not None
    noise = np.random.default_rng(0).standard_normal((len(graph.y), 3))
    return (noise + 2 * graph.y[:, None]).astype(np.float32)


def test_an_array_beside_a_graph_is_in_its_order(graph: Graph, z: np.ndarray) -> None:
    found = evaluate(z, dataset=graph)
    expected = linear_probe(z, graph.y, graph.splits)
    assert probe_of(found)["test"] == list(expected.test)
    assert found.lines[0].test == expected.test
    assert found.labels.splits is graph.splits
    assert json.dumps(found.to_dict())


def test_ids_are_matched_whatever_the_order(graph: Graph, z: np.ndarray) -> None:
    order = np.random.default_rng(1).permutation(len(z))
    write_embeddings("z.parquet", graph.ids[order], z[order])
    expected = probe_of(evaluate(z, dataset=graph))
    assert probe_of(evaluate("z.parquet", dataset=graph)) == expected
    shuffled = evaluate(z[order], ids=graph.ids[order], dataset=graph)
    assert probe_of(shuffled) == expected


def test_labels_of_a_file_and_in_memory_are_the_same(
    graph: Graph, z: np.ndarray
) -> None:
    assert graph.y is not None
    names = np.array(["a", "b"])[graph.y].tolist()
    by_file = evaluate(z, ids=graph.ids, labels="y.csv", seed=3)
    by_hand = evaluate(z, labels=names, seed=3)
    assert probe_of(by_file) == probe_of(by_hand)
    assert by_hand.to_dict()["task"] == "classify"
    values = evaluate(z, labels=z[:, 0].tolist())
    assert values.to_dict()["task"] == "regress"
    assert values.lines[0].measure == "R²"


def test_graphs_are_scored_on_folds(z: np.ndarray) -> None:
    codes = (np.arange(60) % 2).tolist()
    found = evaluate(z, labels=codes, level="graph")
    assert set(found.results) == {"svm", "kmeans"}
    assert found.to_dict()["level"] == "graph"
    assert len(found.lines[0].test) == 5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "either `dataset=NAME` or `labels=FILE`"),
        ({"labels": [1, 2]}, "`labels` must be one for each of 60 rows, got 2"),
        ({"labels": "y.csv", "splits": "dataset"}, "use `splits='random'`"),
        ({"labels": "y.csv", "splits": "mine"}, "unknown kind of splits"),
        ({"labels": "y.csv", "ids": [1, 2]}, "one id per row, got shape"),
        ({"labels": "no.csv"}, "`labels`: no.csv is not there"),
    ],
)
def test_what_is_refused_names_the_argument(
    z: np.ndarray, arguments: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        evaluate(z, **arguments)


def test_a_graph_without_labels(graph: Graph, z: np.ndarray) -> None:
    bare = replace(graph, y=None, splits=None)
    with pytest.raises(InputError, match="has no labels to score the embedding"):
        evaluate(z, dataset=bare)


def test_rows_that_do_not_match_say_which_and_why() -> None:
    ids = np.array(["1", "2", "x"], object)
    with pytest.raises(InputError, match="ids in z are not nodes of g, such as 'x'"):
        rows_by_id(np.array([1, 2]), ids, "nodes of g", "z")
    with pytest.raises(InputError, match=r"\(its ids are string, those of the nodes"):
        rows_by_id(np.array([1, 3]), ids, "nodes of g", "z")
    # Ids that are written alike are the same.
    assert rows_by_id(np.array([2, 1]), ids[:2], "nodes", "z").tolist() == [1, 0]
