"""The weights of an embedding's parts, as the graph decides them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdgcl.methods.fdgcl.weighing import (
    LEAST_WEIGHT,
    MEANS_WEIGHT,
    NOTHING_SHOWN,
    Weighing,
)
from fdgcl.operators.neighbour_information import NeighbourInformation

SHARES = st.floats(-0.2, 1.0)
KEPT = ("features", "out", "in", "global")


def weighing(
    own: float, both: float, out: float = 0, back: float = 0, trust: float = 1
) -> Weighing:
    kinds = {"neighbours": both, "out": out, "in": back}
    return Weighing(NeighbourInformation(own, kinds), trust)


@given(SHARES, SHARES, SHARES, SHARES, st.floats(0.001, 1))
def test_weights_are_positive_and_at_most_one(
    own: float, both: float, out: float, back: float, trust: float
) -> None:
    found = weighing(own, both, out, back, trust)
    weights = [*found.of_kept(KEPT), *found.of_views(3)]
    assert all(0 < one <= 1 for one in weights)


@given(SHARES, SHARES, SHARES)
def test_the_more_neighbours_tell_the_more_they_weigh(
    own: float, one: float, other: float
) -> None:
    less, more = sorted((one, other))
    before, after = weighing(own, less), weighing(own, more)
    assert before.of_neighbours() <= after.of_neighbours()
    assert before.of_own >= after.of_own


def test_neighbours_that_tell_nothing_weigh_least() -> None:
    found = weighing(own=1.0, both=-0.01)
    # What the floor on both shares leaves: a hundredth over four tenths, cubed.
    assert found.of_neighbours() == pytest.approx(LEAST_WEIGHT, abs=1e-3)
    assert found.of_own > 0.9


def test_each_direction_has_its_own_weight() -> None:
    features, out, back, smoothed = weighing(0.3, 0.3, out=0.3, back=0.0).of_kept(KEPT)
    assert out > back
    assert out == pytest.approx(MEANS_WEIGHT * smoothed)
    assert features < smoothed


def test_few_rows_for_many_columns_take_weight_from_views_alone() -> None:
    told = NeighbourInformation(0.2, {"neighbours": 0.1})
    few, many = Weighing.of(told, 100, 200), Weighing.of(told, 10_000, 200)
    # A quarter of the rows there should be; the square root of that is trusted.
    assert (few.trust, many.trust) == (0.5, 1.0)
    assert few.of_kept(("features",)) == many.of_kept(("features",))
    assert few.of_views(2) == tuple(one / 2 for one in many.of_views(2))


def test_views_go_from_own_to_neighbours() -> None:
    found = weighing(0.3, 0.1)
    first, middle, last = found.of_views(3)
    assert (first, last) == (found.of_own, found.of_neighbours())
    assert middle == pytest.approx((first + last) / 2)
    assert found.of_views(1) == (first,)


def test_features_made_from_edges_are_no_evidence() -> None:
    found = Weighing(None, 1.0)
    assert {*found.of_kept(("features", "global")), *found.of_views(2)} == {1.0}
    assert found.describe(("features",)) == []


def test_a_store_of_one_direction_has_that_for_all() -> None:
    found = Weighing(NeighbourInformation(0.2, {"out": 0.2}), 1.0)
    assert found.of_neighbours() == found.of_neighbours("out")
    assert "out-neighbours predict 20 %" in found.describe(("out",))[0]
    assert "out-neighbours predict 20 %" in found.describe(("features",))[0]


def test_it_is_told_in_sentences_and_saved_as_json() -> None:
    found = weighing(0.3, 0.12, 0.2, 0.0, trust=0.5)
    first, second = found.describe(KEPT)
    assert "neighbours predict 12 % of a node's hidden features" in first
    assert "out-neighbours predict 20 %" in first
    assert "trained views weigh 0.5" in second
    assert json.loads(json.dumps(found.to_dict()))["own"] == 0.3


def test_where_nothing_shows_that_edges_tell_they_weigh_half() -> None:
    told = NeighbourInformation(0.0, {"neighbours": 0.0})
    open_to_all = Weighing(told, 1.0)
    assert open_to_all.of_neighbours() > 0.9
    assert "hardly predict one another" in open_to_all.describe(("features",))[0]
    found = Weighing(told, 1.0, edges_tell=False)
    assert found.of_neighbours() == NOTHING_SHOWN
    first, _ = found.describe(("features",))
    assert first == "nothing shows that neighbours tell of a node"
