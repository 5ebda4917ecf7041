"""Results that mean nothing say so, and name the reason."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fdgcl import FDGCL, Graph, block_model
from fdgcl._checks import InputError
from fdgcl.graphs.diagnosis import DOMINATING, FeatureFindings
from fdgcl.graphs.moments import ColumnMoments
from fdgcl.presets import paper_defaults
from fdgcl.training import TrainingWarning

SMALL: dict[str, Any] = {"dim": 16, "epochs": 3, "device": "cpu"}
# The paper takes features as they are.
QUICK = {**paper_defaults(), **SMALL}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(300, 3, seed=0)


def with_times(graph: Graph, **changes: Any) -> Graph:
    """The graph with one more column: unix times, which say nothing."""
    times = np.random.default_rng(1).uniform(1.5e9, 1.7e9, (graph.num_nodes, 1))
    x = np.hstack([np.asarray(graph.features), times]).astype(np.float32)
    return Graph(graph.adjacency, features=x, **changes)


def told(graph: Graph, **settings: Any) -> list[str]:
    """What is warned of while a model is fitted."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        FDGCL(**{**QUICK, **settings}).fit(graph)
    assert all(one.category is TrainingWarning for one in found)
    assert all(one.filename == __file__ for one in found), "they point at the caller"
    return [str(one.message) for one in found]


def test_features_like_each_other_need_no_word(graph: Graph) -> None:
    assert told(graph) == []


def test_one_large_column_is_named_before_and_after(graph: Graph) -> None:
    names = [*(f"f{k}" for k in range(graph.num_features)), "signed up"]
    before, after = told(with_times(graph, feature_names=names))
    assert before.startswith("column 'signed up' of the features has 100 % of the var")
    assert 'feature_scaling="columns"' in before
    assert "effective ranks of the views 1.00 and 1.00" in after
    assert "column 'signed up'" in after
    assert "collapsed" not in before + after


def test_a_column_without_a_name_is_counted(graph: Graph) -> None:
    column = graph.num_features
    assert told(with_times(graph))[0].startswith(f"column {column} (counted from 0)")


def test_scaled_columns_need_no_word(graph: Graph) -> None:
    assert told(with_times(graph), feature_scaling="columns") == []


def test_by_default_columns_are_scaled_and_need_no_word(graph: Graph) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FDGCL(**SMALL).fit(with_times(graph))
    assert "feature_scaling 'columns' was chosen" in model.notices_[0]


def test_one_large_column_does_not_speak_for_linked_nodes(graph: Graph) -> None:
    """Its values say nothing of neighbours; those of the other columns do."""
    model = FDGCL(**QUICK)
    with pytest.warns(TrainingWarning):
        model.fit(with_times(graph))
    assert model.notices_ == []
    assert model._config.decisions["beta"] == 0.5


def test_noise_beside_a_large_column_is_noise(graph: Graph) -> None:
    x = np.random.default_rng(2).standard_normal((300, 8)).astype(np.float32)
    model = FDGCL(**QUICK)
    with pytest.warns(TrainingWarning):
        model.fit(with_times(graph.with_features(x)))
    assert model._config.decisions["beta"] == 1.0
    assert "the features of linked nodes tell nothing" in model.notices_[0]


@pytest.mark.parametrize("share", [DOMINATING - 0.01, DOMINATING + 0.001])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_criterion_is_the_share_of_the_variance(share: float, form: Any) -> None:
    x = np.random.default_rng(0).standard_normal((5000, 4))
    x = (x - x.mean(0)) / x.std(0)
    x[:, 2] *= np.sqrt(3 * share / (1 - share))
    found = FeatureFindings.of(ColumnMoments.of(form(x)), None)
    assert found.share == pytest.approx(share)
    assert found.largest == 2
    assert found.is_dominated == (share >= DOMINATING)
    assert (found.warning is not None) == (share >= DOMINATING)


def test_constant_features_are_told(graph: Graph) -> None:
    first, *rest = told(graph.with_features(np.full((300, 3), 7.0)))
    assert first.startswith("the features are the same for every node, so that")
    for one in rest:
        assert one.endswith("the features are the same for every node")


def test_the_only_column_is_told_after_training(graph: Graph) -> None:
    (after,) = told(graph.with_features(np.asarray(graph.features)[:, :1]))
    assert "one direction" in after
    assert "column 0 (counted from 0) of the features is the only one" in after


def test_columns_that_say_the_same_are_told_after_training(graph: Graph) -> None:
    x = np.asarray(graph.features)[:, :1] * np.array([1.0, -2.0, 3.0])
    (after,) = told(graph.with_features(x))
    assert "the diffused features vary in one direction alone" in after


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scaling", ["none", "row"])
def test_features_of_zeros_are_refused(graph: Graph, form: Any, scaling: str) -> None:
    empty = graph.with_features(form(np.zeros((300, 3))))
    with pytest.raises(InputError, match="all features are 0, and the embedding would"):
        FDGCL(**{**QUICK, "feature_scaling": scaling}).fit(empty)


def test_constant_features_are_refused_where_nothing_is_left(graph: Graph) -> None:
    same = graph.with_features(np.full((300, 3), 7.0))
    for settings in ({**QUICK, "feature_scaling": "columns"}, SMALL):
        with pytest.raises(InputError, match="scaling 'columns' leaves nothing"):
            FDGCL(**settings).fit(same)


def test_a_graph_of_self_loops_is_refused() -> None:
    x = np.random.default_rng(0).standard_normal((4, 3))
    loops = Graph.from_edges([(i, i) for i in range(4)], x)
    with pytest.raises(InputError, match="all 4 edges are self-loops"):
        FDGCL(**QUICK).fit(loops)


def test_what_was_decided_and_how_it_went_is_logged(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    edges = [("ann", "bob"), ("bob", "cleo"), ("cleo", "ann"), ("cleo", "dan")]
    model = FDGCL(**QUICK)
    with caplog.at_level(logging.INFO, logger="fdgcl"):
        model.fit(Graph.from_edges(edges), run=tmp_path / "run")
    lines = [record.getMessage() for record in caplog.records]
    assert lines[: len(model.notices_)] == model.notices_
    assert lines[-1].startswith("3 epochs, ")
    assert {record.name for record in caplog.records} == {"fdgcl"}
    assert {record.levelname for record in caplog.records} == {"INFO"}
