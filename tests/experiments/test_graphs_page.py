"""The page of graph classification against the paper and against arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL
from fdgcl.experiments.experiment import Experiment, PaperNumber
from fdgcl.experiments.measures.base import Record
from fdgcl.experiments.measures.graphs import GraphAccuracy
from fdgcl.experiments.pages import build_page
from fdgcl.report.html import write_page
from fdgcl.report.page import Figure, Section, Table, Text

# As the paper prints them, but for the name of JOAOv2.
PUBLISHED = """
InfoGraph 74.44 ± 0.40 | 72.85 ± 1.70
MVGRL     74.02 ± 0.30 | 75.20 ± 0.40
GraphCL   74.39 ± 0.45 | 78.62 ± 0.40
JOAO      74.55 ± 0.41 | 77.32 ± 0.54
JOAOv2    75.35 ± 0.09 | 77.40 ± 1.11
SimGRACE  75.35 ± 0.09 | 77.44 ± 1.11
DRGCL     75.20 ± 0.60 | 78.40 ± 0.70
CI-GCL    76.50 ± 0.10 | 79.63 ± 0.30
"""
NUMBERS = {"proteins": PaperNumber(75.40, 0.28), "dd": PaperNumber(78.53, 0.36)}


def _experiment(dataset: str = "proteins", variant: str = "paper") -> Experiment:
    return Experiment(
        table="graphs",
        dataset=dataset,
        variant=variant,
        label=f"the {variant} one",
        settings=FDGCL().get_params(),
        paper=NUMBERS.get(dataset),
    )


def _records(
    experiment: Experiment, part: str, tests: Any, **changes: Any
) -> list[Record]:
    """One line a seed and fold of accuracies (seeds, folds); validation is 0.1 more."""
    return [
        {
            "experiment": experiment.name,
            "dataset": experiment.dataset,
            "part": part,
            "seed": seed,
            "fold": fold,
            "test": float(test),
            "val": float(test) + 0.1,
            "train_seconds": 1.0 + seed,
            "probe_seconds": 0.5,
            "peak_memory_mib": 1000.0 + fold,
            **changes,
        }
        for (seed, fold), test in np.ndenumerate(np.asarray(tests))
    ]


def _table(sections: Sequence[Section], title: str = "Accuracy") -> Table:
    (section,) = [s for s in sections if s.title == title]
    return next(block for block in section.blocks if isinstance(block, Table))


def _rows(table: Table) -> dict[str, list[str]]:
    assert {len(row) for row in table.rows} <= {len(table.columns)}
    rows = {row[0]: list(row[1:]) for row in table.rows}
    assert len(rows) == len(table.rows)
    return rows


def _figures(sections: Sequence[Section]) -> list[Figure]:
    return [b for s in sections for b in s.blocks if isinstance(b, Figure)]


PAPER, BEST, DD = _experiment(), _experiment(variant="best"), _experiment("dd")
HIGH, LOW = [[0.8, 0.9], [0.7, 0.6]], [[0.5, 0.6], [0.5, 0.6]]


def test_published_numbers_and_the_papers() -> None:
    sections = GraphAccuracy().show([PAPER, BEST, DD], [], {})
    table = _table(sections)
    assert list(table.columns) == ["embedding", "proteins", "dd"]
    lines = [line.split(maxsplit=1) for line in PUBLISHED.strip().splitlines()]
    expected = [[f"{name}, published", *rest.split(" | ")] for name, rest in lines]
    paper = ["FD-GCL in the paper", "75.40 ± 0.28", "78.53 ± 0.36"]
    assert [list(row) for row in table.rows] == [*expected, paper]
    assert table.strong == frozenset()
    assert _figures(sections) == []


def test_what_is_not_published_is_left_empty() -> None:
    own = _experiment("cora")
    sections = GraphAccuracy().show([own], _records(own, "trained", HIGH), {})
    assert _rows(_table(sections)) == {
        "FD-GCL in the paper": [""],
        "the paper one": ["75.00 ± 10.00"],
    }
    (figure,) = _figures(sections)
    assert [series.name for series in figure.series] == ["measured"]


def test_nothing_measured_still_makes_a_page(tmp_path: Path) -> None:
    page = build_page(GraphAccuracy(), [PAPER, DD], [], {"dd": "it is far away"})
    write_page(page, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "75.40 ± 0.28" in text
    assert "Not here: dd (it is far away)." in text


def test_spread_is_over_the_seeds_of_the_mean_over_the_folds() -> None:
    rng = np.random.default_rng(0)
    tests = rng.uniform(0.6, 0.9, (5, 10))
    records = _records(PAPER, "trained", tests)
    shuffled = [records[at] for at in rng.permutation(len(records))]
    sections = GraphAccuracy().show([PAPER], shuffled, {})
    mean, std = 100 * tests.mean(), 100 * np.std(tests.mean(axis=1))
    assert abs(std - 100 * np.std(tests)) > 1
    cells = _rows(_table(sections))["the paper one"]
    assert cells == [f"{mean:.2f} ± {std:.2f}"]
    (details,) = _table(sections, "Validation, time and memory").rows
    within = 100 * np.std(tests, axis=1).mean()
    assert list(details) == [
        "proteins",
        "the paper one",
        f"{mean + 10:.2f}",
        f"{within:.2f}",
        "3.0 s",
        "0.5 s",
        "1,009 MiB",
    ]
    (figure,) = _figures(sections)
    theirs, ours = figure.series
    assert (theirs.name, ours.name) == ("published", "measured")
    assert theirs.x[0] == "InfoGraph"
    assert (theirs.y[0], theirs.error[0]) == (74.44, 0.40)
    last = theirs.x[-1], theirs.y[-1], theirs.error[-1]
    assert last == ("FD-GCL in the paper", 75.40, 0.28)
    assert list(ours.x) == ["the paper one"]
    assert ours.y == pytest.approx([mean])
    assert ours.error == pytest.approx([std])


def test_shared_parts_come_once_and_the_best_is_stressed() -> None:
    records = [
        *_records(PAPER, "trained", LOW),
        *_records(BEST, "trained", HIGH),
        *_records(PAPER, "untrained", LOW),
        *_records(BEST, "untrained", LOW),
        *_records(PAPER, "smoothed", [[0.1, 0.3]]),
        *_records(BEST, "smoothed", [[0.9, 0.9]]),
        *_records(BEST, "features", [[0.2, 0.4]]),
        *_records(PAPER, "smoothed-alike", [[0.3, 0.3]]),
        *_records(BEST, "smoothed-alike", [[0.4, 0.4]]),
        *_records(BEST, "features-alike", [[0.1, 0.1]]),
        *_records(DD, "trained", LOW),
        *_records(DD, "features", [[0.6, 0.8]]),
    ]
    sections = GraphAccuracy().show([PAPER, BEST, DD], records, {})
    table = _table(sections)
    rows = _rows(table)
    assert list(rows)[9:] == [
        "the paper one",
        "the best one",
        "the paper one, untrained",
        "the best one, untrained",
        "A²X, mean over the nodes",
        "node labels, mean over the nodes",
        "A²X, readout of the paper one",
        "A²X, readout of the best one",
        "node labels, readout of the best one",
    ]
    assert rows["the paper one"] == ["55.00 ± 0.00", "55.00 ± 0.00"]
    assert rows["the best one"] == ["75.00 ± 10.00", "no result"]
    assert rows["A²X, mean over the nodes"] == ["20.00", "no result"]
    assert rows["node labels, mean over the nodes"] == ["30.00", "70.00"]
    assert rows["A²X, readout of the best one"] == ["40.00", "no result"]
    # The published ones are higher, but nobody measured them here.
    assert table.strong == {(10, 1), (14, 2)}
    names = [figure.name for figure in _figures(sections)]
    assert names == ["graphs-proteins", "graphs-dd"]


def test_absent_datasets_are_columns_that_say_so() -> None:
    records = _records(PAPER, "trained", HIGH)
    noted = replace(PAPER, note="a note"), replace(DD, note="not shown")
    sections = GraphAccuracy().show(noted, records, {"dd": "not in the data root"})
    rows = _rows(_table(sections))
    assert rows["the paper one"] == ["75.00 ± 10.00", "not here"]
    assert rows["FD-GCL in the paper"] == ["75.40 ± 0.28", "78.53 ± 0.36"]
    texts = [b.text for s in sections for b in s.blocks if isinstance(b, Text)]
    assert texts == [
        "Not here: dd (not in the data root).",
        "proteins (the paper one): a note",
    ]
    assert [figure.name for figure in _figures(sections)] == ["graphs-proteins"]


@pytest.mark.parametrize("turned", [False, True])
def test_memory_is_that_of_the_gpu_where_one_was_used(turned: bool) -> None:
    on_gpu = _records(PAPER, "trained", [[0.5]], peak_gpu_memory_mib=70.0)
    on_cpu = _records(PAPER, "trained", [[0.6]], seed=1)
    records = [*on_cpu, *on_gpu] if turned else [*on_gpu, *on_cpu]
    sections = GraphAccuracy().show([PAPER], records, {})
    (row,) = _table(sections, "Validation, time and memory").rows
    assert row[-1] == "70 MiB"
