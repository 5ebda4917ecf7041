"""The planner: hand-computed costs, and the choices that follow."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fdgcl._checks import InputError
from fdgcl._memory import describe_size
from fdgcl.methods.fdgcl.plan import DENSE_ADVANTAGE, Workload, make_plan

SMALL = Workload(
    nodes=10,
    weights=30,
    features=4,
    nonzeros=40,
    dim=3,
    products=5,
    orders=2,
    epochs=7,
    batch_size=None,
)
CROCODILE = Workload(
    nodes=11_631,
    weights=353_177,
    features=13_183,
    nonzeros=700_000,
    dim=256,
    products=10,
    orders=2,
    epochs=5,
    batch_size=None,
)
ARXIV = Workload(
    nodes=169_343,
    weights=2_484_941,
    features=128,
    nonzeros=169_343 * 128,
    dim=256,
    products=10,
    orders=2,
    epochs=55,
    batch_size=None,
)


def test_costs_by_hand():
    costs = make_plan(SMALL).relative_cost
    # Seven epochs forward and backward, one last forward, two orders: 30 rounds of
    # X W with 2 * 10 * 4 * 3 operations.
    dense = 30 * 240
    # One pass: five products of 2 * 30, a recurrence of 4 * 10 and a sum of 2 * 10
    # for each order, on each column.
    assert costs["precompute"] == 10 * 5 * (60 + 40 + 40) * 4 + dense
    assert costs["in-loop"] == 30 * 10 * 5 * (60 + 40 + 20) * 3 + dense
    assert DENSE_ADVANTAGE == 10


def test_sparse_features_are_encoded_by_their_nonzeros():
    costs = make_plan(replace(SMALL, nonzeros=6)).relative_cost
    encode = 10 * 30 * 2 * 6 * 3
    assert costs["in-loop"] == 30 * 10 * 5 * (60 + 40 + 20) * 3 + encode


def test_what_a_plan_says():
    plan = make_plan(SMALL)
    assert plan.strategy == "precompute"
    assert plan.sparse_products == 5 * 4
    assert plan.dense_flops == 30 * 240
    forced = make_plan(SMALL, "in-loop")
    assert forced.sparse_products == 5 * 30 * 3
    assert forced.dense_flops == 30 * 240
    assert make_plan(replace(SMALL, nonzeros=6), "in-loop").dense_flops == 0


def test_peak_memory_by_hand():
    # Both diffused features, weights with gradient and two moments, five arrays of
    # hidden features for each order.
    expected = 2 * 10 * 4 + 4 * 2 * 4 * 3 + 5 * 2 * 10 * 3
    assert make_plan(SMALL).peak_bytes == 4 * expected
    assert make_plan(replace(SMALL, itemsize=8)).peak_bytes == 8 * expected
    # A step in place holds one, and the embedding is made of two.
    in_place = 2 * 10 * 4 + 4 * 2 * 4 * 3 + 2 * 10 * 3
    assert make_plan(replace(SMALL, held=1)).peak_bytes == 4 * in_place
    # Batches of two: a covariance for each order, and the embedding is what is left.
    batched = 2 * 10 * 4 + 2 * 4 * 4 + 4 * 2 * 4 * 3 + max(5 * 2 * 2 * 3, 2 * 10 * 3)
    assert make_plan(replace(SMALL, batch_size=2)).peak_bytes == 4 * batched
    in_loop = 4 * 10 * 3 + 4 * 2 * 4 * 3 + 5 * 2 * 10 * 3
    assert make_plan(SMALL, "in-loop").peak_bytes == 4 * in_loop
    # Stepping keeps three states of each view, and of one at a time what a step needs.
    stepped = in_loop + (2 * 3 + 4) * 10 * 3
    plan = make_plan(replace(SMALL, history=3), "in-loop")
    assert plan.peak_bytes == 4 * stepped


def test_edge_types_by_hand():
    # Three types with 30 weights in all: each pass is over those, the recurrence and
    # sums are three times as many, and so are the columns that a view is made of.
    load = replace(SMALL, relations=3)
    plan = make_plan(load)
    dense = 3 * 30 * 240
    assert plan.relative_cost["precompute"] == 10 * 5 * (60 + 120 + 120) * 4 + dense
    assert plan.relative_cost["in-loop"] == 30 * 10 * 5 * (60 + 120 + 60) * 3 + dense
    assert plan.sparse_products == 3 * 5 * 4
    assert make_plan(load, "in-loop").sparse_products == 3 * 5 * 30 * 3
    assert plan.peak_bytes == 4 * (2 * 10 * 12 + 4 * 2 * 12 * 3 + 5 * 2 * 10 * 3)
    sparse = make_plan(replace(load, nonzeros=6)).relative_cost["in-loop"]
    assert sparse == 30 * 10 * 5 * (60 + 120 + 60) * 3 + 3 * 10 * 30 * 2 * 6 * 3


@pytest.mark.parametrize("load", [SMALL, CROCODILE, ARXIV])
def test_more_epochs_cost_more_and_speak_for_precomputing(load):
    costs = [make_plan(replace(load, epochs=n)).relative_cost for n in (0, 1, 10, 300)]
    for strategy in ("precompute", "in-loop"):
        values = [cost[strategy] for cost in costs]
        assert values == sorted(values)
        assert values[0] > 0
    advantage = [cost["in-loop"] / cost["precompute"] for cost in costs]
    assert advantage[-1] >= advantage[0]


def test_bags_of_words_and_few_epochs_are_diffused_in_the_loop():
    plan = make_plan(CROCODILE)
    assert plan.strategy == "in-loop"
    assert plan.relative_cost["in-loop"] < plan.relative_cost["precompute"]
    assert plan.peak_bytes < make_plan(CROCODILE, "precompute").peak_bytes


def test_narrow_features_and_many_epochs_are_precomputed():
    plan = make_plan(ARXIV)
    assert plan.strategy == "precompute"
    assert plan.sparse_products == 10 * 128
    assert plan.relative_cost["in-loop"] > 10 * plan.relative_cost["precompute"]


def test_the_reason_is_the_ratio_of_the_costs():
    plan = make_plan(ARXIV)
    ratio = plan.relative_cost["in-loop"] / plan.relative_cost["precompute"]
    assert f"about {ratio:.1f} times as much" in plan.reason


@pytest.mark.parametrize("strategy", ["precompute", "in-loop"])
@pytest.mark.parametrize("load", [SMALL, CROCODILE, ARXIV])
def test_what_is_asked_for_is_done(load, strategy):
    plan = make_plan(load, strategy)
    assert (plan.strategy, plan.reason) == (strategy, "asked for")


def test_mini_batches_need_precomputed_features():
    plan = make_plan(replace(CROCODILE, batch_size=512))
    assert plan.strategy == "precompute"
    assert "mini-batches" in plan.reason


def test_trained_dynamics_stay_in_the_loop():
    plan = make_plan(ARXIV, can_precompute=False)
    assert plan.strategy == "in-loop"
    assert "stepped in every epoch" in plan.reason
    with pytest.raises(InputError, match="'precompute' needs a dynamics that training"):
        make_plan(ARXIV, "precompute", can_precompute=False)


def test_unknown_strategies_are_refused():
    with pytest.raises(InputError, match="unknown strategy 'precomputed'; did you"):
        make_plan(SMALL, "precomputed")


@pytest.mark.parametrize("load", [SMALL, CROCODILE, replace(ARXIV, batch_size=4096)])
def test_sentences_are_complete(load):
    plan = make_plan(load)
    lines = plan.describe()
    text = "\n".join(lines)
    assert not set("{}%") & set(text)
    assert "None" not in text
    assert f"{load.nodes:,} nodes" in lines[0]
    assert plan.strategy in lines[1]
    assert plan.reason in lines[1]
    assert f"{plan.sparse_products:,} columns" in lines[2]
    batch = "batches of 4,096 rows" if load.batch_size else "all rows at once"
    assert batch in lines[3]
    assert f"up to {describe_size(plan.peak_bytes)}, input aside" in lines[4]


def test_is_plain_data():
    data = json.loads(json.dumps(make_plan(ARXIV).to_dict()))
    assert data["workload"]["nodes"] == 169_343
    assert data["strategy"] == "precompute"
