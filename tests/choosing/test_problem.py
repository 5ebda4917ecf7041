"""Test labels: no field for them, and none of them in any other."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from fdgcl import Graph, Splits
from fdgcl._checks import InputError
from fdgcl.graphs.splits import random_splits
from fdgcl.tuning import Problem
from fdgcl.tuning.objective import Objective
from tuning.tiny import tiny_graph, tiny_start


def with_other_test_labels(graph: Graph) -> Graph:
    """Permute the labels of all nodes that are for testing in every split."""
    always = graph.splits.test.all(axis=0)
    y = graph.y.copy()
    y[always] = 1 - y[always]
    assert always.sum() > 10
    return replace(graph, y=y)


def test_a_problem_has_no_field_for_test_nodes() -> None:
    assert {field.name for field in fields(Problem)} == {
        "graph",
        "labels",
        "train",
        "val",
        "splits",
    }
    problem = Problem.of(tiny_graph())
    assert problem.graph.y is None
    assert problem.graph.splits is None
    assert problem.graph.class_names is None


def test_labels_are_erased_split_by_split() -> None:
    """What one split tests on, another trains on: each sees its own labels only."""
    graph = tiny_graph()
    graph = replace(
        graph, splits=random_splits(graph.y, train=0.4, val=0.3, count=10, seed=1)
    )
    splits = graph.splits
    assert not splits.test.all(axis=0).any()
    problem = Problem.of(graph)
    assert (problem.labels[splits.test] == -1).all()
    used = splits.train | splits.val
    everywhere = np.broadcast_to(graph.y, used.shape)
    np.testing.assert_array_equal(problem.labels[used], everywhere[used])


def test_a_label_that_should_not_be_there_is_noticed() -> None:
    problem = Problem.of(tiny_graph())
    seen = np.broadcast_to(tiny_graph().y, problem.labels.shape)
    with pytest.raises(AssertionError):
        replace(problem, labels=seen)
    with pytest.raises(AssertionError):
        replace(problem, graph=tiny_graph())


def test_other_test_labels_change_nothing() -> None:
    graph = tiny_graph()
    found = []
    for one in (graph, with_other_test_labels(graph)):
        problem = Problem.of(one)
        scores = Objective(problem, "cpu").scores(tiny_start(), 0, lambda: None)
        found.append((problem.fingerprint(), list(scores)))
    assert found[0] == found[1]
    validating = graph.y.copy()
    validating[graph.splits.val[0]] ^= 1
    other = Problem.of(replace(graph, y=validating))
    assert other.fingerprint() != found[0][0]


def test_what_cannot_be_tuned_on_is_refused() -> None:
    graph = tiny_graph()
    with pytest.raises(InputError, match="no labels"):
        Problem.of(replace(graph, y=None, class_names=None))
    with pytest.raises(InputError, match="no splits"):
        Problem.of(replace(graph, splits=None))
    masks = graph.splits
    unvalidated = Splits(masks.train, np.zeros_like(masks.val), masks.test)
    with pytest.raises(InputError, match="no validation nodes"):
        Problem.of(replace(graph, splits=unvalidated))
    unlabelled = np.where(masks.train[0], -1, graph.y)
    with pytest.raises(InputError, match="without a label"):
        Problem.of(replace(graph, y=unlabelled))
