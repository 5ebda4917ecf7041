"""The probe's validation score alone."""

from __future__ import annotations

import numpy as np
import pytest

from fdgcl import linear_probe
from fdgcl._checks import InputError
from fdgcl.evaluation import validation_scores
from tuning.tiny import tiny_graph


def test_it_is_what_the_probe_says_of_validation() -> None:
    graph = tiny_graph(splits=3)
    z = np.array(graph.features)
    splits = graph.splits
    expected = linear_probe(z, graph.y, splits).val
    assert validation_scores(z, graph.y, splits.train, splits.val) == expected
    visible = np.where(splits.train | splits.val, graph.y, -1)
    assert validation_scores(z, visible, splits.train, splits.val) == expected
    one = validation_scores(z, graph.y, splits.train[1], splits.val[1])
    assert one == (expected[1],)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.zeros(3, int)}, "one class per row"),
        ({"y": np.zeros((2, 60), int)}, "one class per node"),
        ({"y": np.full(60, -1)}, "no label"),
        ({"train": np.ones(60, int)}, "train must be a mask"),
        ({"train": np.ones((3, 59), bool)}, "train must be a mask"),
        ({"val": np.zeros((3, 60), bool)}, "split 0 has none"),
        ({"val": np.zeros((0, 60), bool)}, "no split"),
        ({"val": np.ones((1, 60), bool)}, "as many splits"),
        ({"val": np.ones((3, 60), bool)}, "in train and in val of split 0"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], message: str) -> None:
    graph = tiny_graph(splits=3)
    given = {"y": graph.y, "train": graph.splits.train, "val": graph.splits.val}
    with pytest.raises(InputError, match=message):
        validation_scores(np.array(graph.features), **{**given, **change})
