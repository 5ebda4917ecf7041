"""The table of defaults: its units against the parts they are made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from some_defaults import MEASURE, PLACE, rows_of, variant_of

from fdgcl import FDGCL, Graph, linear_probe
from fdgcl._checks import InputError
from fdgcl.estimators import estimator_of
from fdgcl.experiments import baselines
from fdgcl.experiments.experiment import with_splits
from fdgcl.experiments.loader import EVERY, load_experiments
from fdgcl.experiments.measures.base import Unit
from fdgcl.experiments.measures.defaults import FREE, splits_of
from fdgcl.experiments.measures.defaults_page import FREE_NAMES
from fdgcl.experiments.measures.graphs import GraphAccuracy
from fdgcl.experiments.records import Journal
from fdgcl.graphs import random_splits
from fdgcl.graphs.catalogue import CATALOGUE
from helpers.data_roots import NODES, directed, halves, rare, undirected

# --- what is shipped -----------------------------------------------------------------


#: The defaults with something taken away or changed.
CHANGED = {
    "default-512": {"dim": 512},
    "unweighted": {"beta": 0.5, "keep_weight": 1.0},
    "views-alone": {"keep": ()},
    "without-means": {"keep": ("features", "global")},
    "linear": {"activation": "linear"},
    "longer": {"epochs": 40},
    "reduced-views": {"reduce_views": True},
    "relu": {"activation": "relu"},
}


def test_shipped_variants_are_defaults_but_for_what_their_names_say() -> None:
    shipped = {one.variant: one for one in load_experiments("defaults")}
    others = ["cca-ssg", "bgrl"]
    assert list(shipped) == ["no-training", "default", *CHANGED, *others]
    for one in shipped.values():
        assert one.dataset == EVERY
        defaults = estimator_of(one.method)().get_params()
        changed = CHANGED.get(one.variant, {})
        assert {**one.settings} == {**defaults, **changed}
        assert all(defaults[name] != value for name, value in changed.items())
    free = shipped.pop("no-training")
    assert free.options["parts"] == list(FREE) == list(FREE_NAMES)
    assert free.options["always"]
    assert free.options["without"] == ["squirrel", "chameleon", "crocodile"]
    for one in shipped.values():
        # What a decision is worth is told by what was trained.
        both = one.variant not in CHANGED
        assert one.options["parts"] == ["trained", "untrained"][: 1 + both]
        assert one.options["candidate"] is (one.method == "fdgcl")


# --- units ---------------------------------------------------------------------------


def test_what_is_random_is_a_unit_a_seed() -> None:
    one, free = variant_of(), rows_of()
    units = MEASURE.units(one, 2)
    expected = [(part, seed) for part in ("trained", "untrained") for seed in (0, 1)]
    assert units == [Unit(one.name, *pair) for pair in expected]
    assert MEASURE.units(free, 2) == [Unit(free.name, part, 0) for part in FREE]
    with pytest.raises(InputError, match="unknown part 'trainde'"):
        MEASURE.units(variant_of(parts=["trainde"]), 1)


def _expected(part: str, graph: Graph) -> Any:
    if part in ("trained", "untrained"):
        epochs = 2 if part == "trained" else 0
        return FDGCL(dim=8, epochs=epochs, seed=4, device="cpu").fit_transform(graph)
    if part == "features":
        return graph.features
    if part in ("out", "in"):
        return baselines.neighbour_mean(graph, "out" if part == "out" else "in")
    return baselines.smoothed_plainly(graph, 1 if part == "smoothed-once" else 2)


@pytest.mark.parametrize("part", ["trained", "untrained", *FREE])
def test_each_part_probes_its_embedding(part: str) -> None:
    graph = directed()
    one = rows_of() if part in FREE else variant_of()
    records = MEASURE.run(one, Unit(one.name, part, 4), graph, "cpu")
    assert graph.splits is not None
    embedding = _expected(part, graph)
    found = linear_probe(embedding, graph.y, graph.splits)
    assert tuple(record["test"] for record in records) == found.test
    assert tuple(record["val"] for record in records) == found.val
    assert [record["split"] for record in records] == [0, 1, 2]
    for record in records:
        assert record["measure"] == "accuracy"
        assert record["columns"] == embedding.shape[1]
        assert record["splits"] == graph.splits.name
    few = with_splits([one], 2)[0]
    fewer = MEASURE.run(few, Unit(few.name, part, 4), graph, "cpu")
    assert [record["test"] for record in fewer] == list(found.test[:2])


@pytest.mark.parametrize("part", ["out", "in"])
def test_undirected_graphs_have_no_directedrows_of(part: str) -> None:
    one = rows_of()
    records = MEASURE.run(one, Unit(one.name, part, 0), undirected(), "cpu")
    assert records == [{"left_out": "the edges are undirected"}]


def test_a_rare_class_is_scored_by_roc_auc() -> None:
    graph, one = rare(), rows_of()
    records = MEASURE.run(one, Unit(one.name, "features", 0), graph, "cpu")
    splits = random_splits(graph.y, train=0.1, val=0.1, count=10, stratified=True)
    found = linear_probe(graph.features, graph.y, splits)
    assert found.test_auc is not None
    assert tuple(record["test"] for record in records) == found.test_auc
    assert tuple(record["val"] for record in records) == found.val_auc
    assert found.test_auc != found.test
    assert {record["measure"] for record in records} == {"ROC-AUC"}


def test_splits_are_the_files_or_ten_random_ones() -> None:
    graph = undirected()
    drawn = splits_of(graph)
    expected = random_splits(graph.y, train=0.1, val=0.1, count=10, seed=0)
    for part in ("train", "val", "test"):
        np.testing.assert_array_equal(getattr(drawn, part), getattr(expected, part))
    assert drawn.name == expected.name
    own = replace(graph, splits=halves(NODES, "as stored"))
    assert splits_of(own) is own.splits
    # The catalogue draws crocodile's; what somebody else's file holds is kept.
    name = CATALOGUE["crocodile"].split.name
    theirs = replace(graph, splits=halves(NODES, name), name="crocodile")
    assert splits_of(theirs).name == drawn.name
    assert splits_of(replace(own, name="crocodile")) is own.splits
    assert splits_of(replace(theirs, name="texas")) is theirs.splits
    with pytest.raises(InputError, match="no labels"):
        splits_of(replace(graph, y=None, class_names=None))


def test_splits_are_a_choice_of_some_tables() -> None:
    other = replace(variant_of(), table="graphs", options=dict(GraphAccuracy.options))
    with pytest.raises(InputError, match="`splits` is no choice in graphs"):
        with_splits([other], 2)


def test_rows_without_training_outlive_a_change_of_the_defaults(
    tmp_path: Path,
) -> None:
    free, one = rows_of(), variant_of()
    units = {"features": free, "trained": one}
    changed = FDGCL(dim=16).get_params()
    with Journal(tmp_path / "records.jsonl", MEASURE) as journal:
        for part, what in units.items():
            unit = Unit(what.name, part, 0)
            journal.add(what, unit, [{"test": 0.5, "seconds": 1.0}], PLACE)
            later = replace(what, settings=changed)
            assert (journal.find(later, unit) is None) is (part == "trained")
            # What only says how to show it changes nothing; the number of splits does.
            options = {**what.options, "candidate": True, "without": ["texas"]}
            assert journal.find(replace(what, options=options), unit) is not None
            assert journal.find(with_splits([what], 2)[0], unit) is None
