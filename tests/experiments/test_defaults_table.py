"""The table of defaults: its units against their parts, its sums against a calculation
by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL, Graph, linear_probe
from fdgcl._checks import InputError
from fdgcl.estimators import estimator_of
from fdgcl.experiments import baselines
from fdgcl.experiments.experiment import Experiment, with_splits
from fdgcl.experiments.loader import EVERY, load_experiments
from fdgcl.experiments.measures.base import Record, Unit
from fdgcl.experiments.measures.defaults import FREE, Defaults, splits_of
from fdgcl.experiments.measures.defaults_page import FREE_NAMES
from fdgcl.experiments.measures.graphs import GraphAccuracy
from fdgcl.experiments.pages import page_of_file
from fdgcl.experiments.records import Journal
from fdgcl.graphs import random_splits
from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.report.page import Figure, Section, Table, Text
from helpers.data_roots import NODES, directed, halves, rare, undirected

MEASURE = Defaults()
PLACE = {
    "device": "cpu",
    "hardware": "an abacus",
    "cores": 1,
    "threads": 1,
    "commit": "abc",
    "versions": {"fdgcl": "1"},
}


def _variant(
    variant: str = "default", dataset: str = "mine", **options: Any
) -> Experiment:
    return Experiment(
        table="defaults",
        dataset=dataset,
        variant=variant,
        label=variant.upper(),
        settings=FDGCL(dim=8, epochs=2).get_params(),
        options={**MEASURE.options, **options},
    )


def _rows(dataset: str = "mine", **options: Any) -> Experiment:
    return _variant("free", dataset, parts=list(FREE_NAMES), always=True, **options)


# --- what is shipped -----------------------------------------------------------------


def test_shipped_variants_are_defaults_and_no_value_is_written_down() -> None:
    shipped = {one.variant: one for one in load_experiments("defaults")}
    assert list(shipped) == ["no-training", "default", "cca-ssg", "bgrl"]
    for one in shipped.values():
        assert one.dataset == EVERY
        assert one.settings == estimator_of(one.method)().get_params()
    free = shipped.pop("no-training")
    assert free.options["parts"] == list(FREE) == list(FREE_NAMES)
    assert free.options["always"]
    assert free.options["without"] == ["squirrel", "chameleon", "crocodile"]
    for one in shipped.values():
        assert one.options["parts"] == ["trained", "untrained"]
        assert one.options["candidate"] is (one.variant == "default")


# --- units ---------------------------------------------------------------------------


def test_what_is_random_is_a_unit_a_seed() -> None:
    one, free = _variant(), _rows()
    units = MEASURE.units(one, 2)
    expected = [(part, seed) for part in ("trained", "untrained") for seed in (0, 1)]
    assert units == [Unit(one.name, *pair) for pair in expected]
    assert MEASURE.units(free, 2) == [Unit(free.name, part, 0) for part in FREE]
    with pytest.raises(InputError, match="unknown part 'trainde'"):
        MEASURE.units(_variant(parts=["trainde"]), 1)


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
    one = _rows() if part in FREE else _variant()
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
def test_undirected_graphs_have_no_directed_rows(part: str) -> None:
    one = _rows()
    records = MEASURE.run(one, Unit(one.name, part, 0), undirected(), "cpu")
    assert records == [{"left_out": "the edges are undirected"}]


def test_a_rare_class_is_scored_by_roc_auc() -> None:
    graph, one = rare(), _rows()
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
    other = replace(_variant(), table="graphs", options=dict(GraphAccuracy.options))
    with pytest.raises(InputError, match="`splits` is no choice in graphs"):
        with_splits([other], 2)


def test_rows_without_training_outlive_a_change_of_the_defaults(
    tmp_path: Path,
) -> None:
    free, one = _rows(), _variant()
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


# --- the page ------------------------------------------------------------------------


def _records(
    one: Experiment, part: str, *tests: float, val: float = 0.5, **changes: Any
) -> list[Record]:
    """A line a seed, one split; training took as many seconds as the seed's square."""
    return [
        {
            "experiment": one.name,
            "dataset": one.dataset,
            "part": part,
            "seed": seed,
            "split": 0,
            "splits": "public",
            "measure": "accuracy",
            "test": test,
            "val": val,
            "train_seconds": float(seed * seed),
            "probe_seconds": 0.5,
            "peak_memory_mib": 100.0 + seed,
            **changes,
        }
        for seed, test in enumerate(tests)
    ]


# Test scores of X, AX, A²X, out X and in X; of the latter two where edges are directed.
FREE_SCORES = {
    "one": (0.50, 0.60, 0.70, 0.40, 0.30),  # best 70
    "two": (0.80, 0.60, 0.70),  # best 80
    "three": (0.50, 0.50, 0.50, 0.90, 0.50),  # best 90, by out X
}
TRAINED = {  # test and validation scores
    "plain": {"one": (0.72, 0.60), "two": (0.77, 0.64), "three": (0.60, 0.40)},
    "wide": {"one": (0.69, 0.50), "two": (0.81, 0.70), "three": (0.70, 0.39)},
}
UNTRAINED = {"one": 0.70, "two": 0.74, "three": 0.64}


def _case(
    without: Sequence[str] = ("three",),
) -> tuple[list[Experiment], list[Record]]:
    experiments, records = [], []
    for dataset, scores in FREE_SCORES.items():
        free = _rows(dataset, without=list(without))
        experiments.append(free)
        for part, score in zip(FREE_NAMES, scores, strict=False):
            records += _records(free, part, score)
        for part in list(FREE_NAMES)[len(scores) :]:
            blank = _records(free, part, 0.0, left_out="the edges are undirected")
            records += [{k: v for k, v in r.items() if k != "test"} for r in blank]
        for variant, found in TRAINED.items():
            one = _variant(variant, dataset, candidate=True)
            experiments.append(one)
            test, val = found[dataset]
            # Three seeds about the mean.
            tests = (test - 0.01, test, test + 0.01)
            records += _records(one, "trained", *tests, val=val)
            if variant == "plain":
                records += _records(one, "untrained", UNTRAINED[dataset])
    return experiments, records


def _blocks(sections: Sequence[Section], title: str) -> list[Any]:
    (section,) = [one for one in sections if one.title == title]
    return list(section.blocks)


def _table(sections: Sequence[Section], title: str) -> dict[str, list[str]]:
    table = next(one for one in _blocks(sections, title) if isinstance(one, Table))
    assert {len(row) for row in table.rows} <= {len(table.columns)}
    return {row[0]: list(row[1:]) for row in table.rows}


SUMS = "Against the best row without training"
CHOSEN = "Chosen without this dataset"


def test_a_line_is_a_dataset() -> None:
    experiments, records = _case()
    sections = MEASURE.show(experiments, records, {})
    table = _blocks(sections, "Scores")[0]
    assert list(table.columns) == [
        *("dataset", "X", "AX", "A²X", "out X", "in X"),
        *("PLAIN", "PLAIN, untrained", "WIDE", "WIDE, untrained"),
    ]
    rows = _table(sections, "Scores")
    assert rows["one"] == [
        *("50.00", "60.00", "70.00", "40.00", "30.00"),
        *("72.00", "70.00", "69.00", "no result"),
    ]
    assert rows["two"][3:5] == ["-", "-"]
    # The best of a line: the plain variant, the wide one, out X.
    assert table.strong == {(0, 6), (1, 8), (2, 4)}
    assert "all splits" in table.caption
    few = MEASURE.show(with_splits(experiments, 3), records, {})
    assert "the first 3 splits" in _blocks(few, "Scores")[0].caption


def test_sums_by_hand() -> None:
    # Distances of the plain variant: 72 - 70, 77 - 80, 60 - 90; mean -31 / 3; of the
    # wide one: -1, +1, -20; mean -20 / 3. Trained minus untrained: 2, 3, -4.
    experiments, records = _case()
    sections = MEASURE.show(experiments, records, {})
    assert _table(sections, SUMS) == {
        "PLAIN": ["3", "-10.33", "-30.00 (three)", "1 of 3", "+0.33"],
        "PLAIN, without three": ["2", "-0.50", "-3.00 (two)", "1 of 2", "+2.50"],
        "WIDE": ["3", "-6.67", "-20.00 (three)", "1 of 3", ""],
        "WIDE, without three": ["2", "+0.00", "-1.00 (one)", "1 of 2", ""],
    }
    # Without a name in the files, or none of those here, there is no second line.
    for names in ([], ["squirrel"]):
        others = MEASURE.show(*_case(names), {})
        assert list(_table(others, SUMS)) == ["PLAIN", "WIDE"]


def test_choices_by_the_other_datasets_by_hand() -> None:
    # Validation: rows without training have 50 everywhere. Plain: 10, 14, -10; wide:
    # 0, 20, -11. Without one: 2 against 4.5; without two: 0 against -5.5; without
    # three: 12 against 10. Test distances of what is chosen: -1, -3, -30.
    experiments, records = _case()
    sections = MEASURE.show(experiments, records, {})
    assert _table(sections, CHOSEN) == {
        "one": ["WIDE", "69.00", "-1.00"],
        "two": ["PLAIN", "77.00", "-3.00"],
        "three": ["PLAIN", "60.00", "-30.00"],
        "mean": ["above on 0 of 3", "", "-11.33"],
    }
    (table,) = _blocks(sections, CHOSEN)
    assert "PLAIN -10.33, WIDE -6.67" in table.caption


def test_choices_need_two_candidates_of_a_method_and_two_datasets() -> None:
    experiments, records = _case()

    def titles(some: Sequence[Experiment]) -> list[str]:
        names = {one.name for one in some}
        found = [record for record in records if record["experiment"] in names]
        return [section.title for section in MEASURE.show(some, found, {})]

    assert CHOSEN in titles(experiments)
    assert CHOSEN not in titles([e for e in experiments if e.dataset == "one"])
    assert CHOSEN not in titles([e for e in experiments if e.variant != "wide"])
    alone = [
        replace(e, options={**e.options, "candidate": e.variant == "wide"})
        for e in experiments
    ]
    assert CHOSEN not in titles(alone)
    other = [
        replace(e, method="bgrl") if e.variant == "wide" else e for e in experiments
    ]
    assert not any(title.startswith(CHOSEN) for title in titles(other))


def test_choices_name_the_method_where_there_are_several() -> None:
    experiments, records = _case()

    def twins(candidate: bool) -> list[str]:
        others = [
            replace(
                one,
                method="bgrl",
                variant=f"{one.variant}-2",
                label=f"{one.label} 2",
                options={**one.options, "candidate": candidate},
            )
            for one in experiments
            if one.variant != "free"
        ]
        names = {one.name.removesuffix("-2"): one.name for one in others}
        copies = [
            {**record, "experiment": names[record["experiment"]]}
            for record in records
            if record["experiment"] in names
        ]
        sections = MEASURE.show([*experiments, *others], [*records, *copies], {})
        return [one.title for one in sections if one.title.startswith(CHOSEN)]

    assert twins(candidate=False) == [CHOSEN]
    assert twins(candidate=True) == [f"{CHOSEN}, fdgcl", f"{CHOSEN}, bgrl"]


def test_a_dataset_counts_when_all_its_rows_are_measured() -> None:
    experiments, records = _case(())
    lost = experiments[0].name
    some = [
        record
        for record in records
        if (record["experiment"], record["part"]) != (lost, "smoothed")
    ]
    sections = MEASURE.show(experiments, some, {})
    assert _table(sections, "Scores")["one"][2] == "no result"
    assert _table(sections, SUMS)["PLAIN"][:2] == ["2", "-16.50"]
    (figure,) = [b for b in _blocks(sections, "Scores") if isinstance(b, Figure)]
    assert [list(series.x) for series in figure.series] == [["two", "three"]] * 2
    assert list(figure.series[1].y) == pytest.approx([1.0, -20.0])
    none = [record for record in records if record["part"] not in FREE]
    sections = MEASURE.show(experiments, none, {})
    assert _table(sections, SUMS)["PLAIN"] == ["0", "", "", "", ""]


def test_what_is_scored_otherwise_missing_and_left_out_is_said() -> None:
    experiments, records = _case()
    for record in records:
        if record["dataset"] == "two":
            record["measure"] = "ROC-AUC"
    more = [*experiments, _rows("four"), _variant("plain", "four")]
    absent = {"dd": "a collection of graphs", "bare": "it has no features"}
    sections = MEASURE.show([*more, _rows("dd")], records, absent)
    texts = [b.text for b in _blocks(sections, "Scores") if isinstance(b, Text)]
    assert any(
        text.startswith("One of the two classes of two is rare") for text in texts
    )
    assert "four is not measured yet." in texts
    assert "Left out: dd (a collection of graphs)." in texts
    assert "Left out: bare (it has no features)." in texts
    assert list(_table(sections, "Scores")) == ["one", "two (ROC-AUC)", "three", "four"]


def test_seconds_are_medians_over_seeds() -> None:
    sections = MEASURE.show(*_case(), {})
    rows = _table(sections, "Splits, time and memory")
    # Seeds 0, 1, 2 took 0, 1 and 4 s, and at most 102 MiB.
    assert rows["one"] == ["public: 1", "1.00 s, 102 MiB", "1.00 s, 102 MiB"]


def test_variants_that_were_not_asked_for_are_not_shown() -> None:
    experiments, records = _case()
    some = [r for r in records if "wide" not in r["experiment"]]
    sections = MEASURE.show(experiments, some, {})
    assert "WIDE" not in _blocks(sections, "Scores")[0].columns
    free = [r for r in some if r["experiment"].endswith("free")]
    titles = [section.title for section in MEASURE.show(experiments, free, {})]
    assert titles == ["Scores", "Splits, time and memory"]
    assert MEASURE.show(experiments, [], {"one": "gone"})


def test_the_page_of_a_file_is_that_of_its_latest_number_of_splits(
    tmp_path: Path,
) -> None:
    shipped = load_experiments("defaults")[:2]
    path = tmp_path / "records.jsonl"
    with Journal(path, MEASURE) as journal:
        for count, test in ((1, 0.25), (2, 0.75)):
            for every in with_splits(shipped, count):
                one = replace(every, dataset="mine")
                for unit in MEASURE.units(one, 1):
                    (record,) = _records(one, unit.part, test, seconds=1.0)
                    own = ("experiment", "dataset", "part", "seed")
                    fields = {k: v for k, v in record.items() if k not in own}
                    journal.add(one, unit, [fields], PLACE)
    page = page_of_file(path)
    assert _table(page.sections, "Scores")["mine"] == ["75.00"] * 7
    assert page.facts["command"].endswith("--device cpu --splits 2")
    assert "7 of 14 units" in _blocks(page.sections, "Left out")[0].text
    assert "of the paper" not in page.summary
