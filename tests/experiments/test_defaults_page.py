"""The page of the defaults against a calculation by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from some_defaults import MEASURE, PLACE, rows_of, variant_of

from fdgcl.experiments.experiment import Experiment, with_splits
from fdgcl.experiments.loader import load_experiments
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.defaults import FREE
from fdgcl.experiments.measures.defaults_page import FREE_NAMES
from fdgcl.experiments.pages import page_of_file
from fdgcl.experiments.records import Journal
from fdgcl.report.page import Figure, Section, Table, Text


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
        free = rows_of(dataset, without=list(without))
        experiments.append(free)
        for part, score in zip(FREE_NAMES, scores, strict=False):
            records += _records(free, part, score)
        for part in list(FREE_NAMES)[len(scores) :]:
            blank = _records(free, part, 0.0, left_out="the edges are undirected")
            records += [{k: v for k, v in r.items() if k != "test"} for r in blank]
        for variant, found in TRAINED.items():
            one = variant_of(variant, dataset, candidate=True)
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
    more = [*experiments, rows_of("four"), variant_of("plain", "four")]
    absent = {"dd": "a collection of graphs", "bare": "it has no features"}
    sections = MEASURE.show([*more, rows_of("dd")], records, absent)
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


def test_a_twin_that_is_not_asked_for_has_no_column() -> None:
    alone = variant_of("alone", "one", parts=["trained"])
    twins = variant_of("twins", "one")
    experiments = [rows_of("one"), alone, twins]
    records = [
        *_records(alone, "trained", 0.7),
        *_records(twins, "trained", 0.8),
        *_records(twins, "untrained", 0.6),
    ]
    table = _blocks(MEASURE.show(experiments, records, {}), "Scores")[0]
    assert list(table.columns[-3:]) == ["ALONE", "TWINS", "TWINS, untrained"]
    assert list(table.rows[0][-3:]) == ["70.00", "80.00", "60.00"]
