"""The table of dynamics against the paper and against arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from fdgcl import FDGCL
from fdgcl.experiments.experiment import Experiment, PaperNumber
from fdgcl.experiments.loader import load_experiments
from fdgcl.experiments.measures.accuracy import DynamicsAccuracy
from fdgcl.experiments.measures.base import Record, Unit
from fdgcl.graphs.catalogue import CATALOGUE
from fdgcl.presets import preset_settings
from fdgcl.report.page import Figure, Section, Table, Text

# As the paper prints them.
DATASETS = ("cora", "wisconsin", "squirrel", "roman-empire")
PAPER = """
grand 84.20 ± 0.22 | 79.22 ± 5.13 | 64.92 ± 1.46 | 72.56 ± 0.63
cde   71.79 ± 0.14 | 74.31 ± 4.42 | OOM          | OOM
gread 80.36 ± 0.15 | 73.73 ± 4.74 | 65.37 ± 2.00 | 70.97 ± 0.51
"""
GRAND, CDE, CDE_OURS, GREAD, GREAD_OURS = (
    "GRAND, the paper's settings",
    "CDE, GRAND's settings",
    "CDE, ours",
    "GREAD, GRAND's settings",
    "GREAD, ours",
)
LABELS = [GRAND, CDE, CDE_OURS, GREAD, GREAD_OURS]
FAR = {"roman-empire": "not in the data root"}


def _printed() -> dict[tuple[str, str], str]:
    lines = [line.split(maxsplit=1) for line in PAPER.strip().splitlines()]
    return {
        (dataset, name): cell.strip()
        for name, cells in lines
        for dataset, cell in zip(DATASETS, cells.split("|"), strict=True)
    }


@pytest.fixture(scope="module")
def shipped() -> list[Experiment]:
    return load_experiments("dynamics")


def test_shipped_experiments_hold_the_papers_numbers(
    shipped: list[Experiment],
) -> None:
    printed = _printed()
    assert list(dict.fromkeys(one.dataset for one in shipped)) == list(DATASETS)
    found = set()
    for one in shipped:
        dynamics, _, base = one.variant.partition("-")
        assert base in ("paper", "best")
        assert one.settings["dynamics"] == dynamics
        assert one.options == {
            "encoder": "diffusion",
            "parts": ["trained", "untrained"],
        }
        cell = printed[one.dataset, dynamics]
        if cell == "OOM":
            assert (one.paper, one.paper_word) == (None, "OOM")
        else:
            value, std = map(float, cell.split(" ± "))
            assert (one.paper, one.paper_word) == (PaperNumber(value, std), "")
        found.add((one.dataset, one.variant))
    # Each cell of the paper's, and ours where the data allow it.
    assert found == {(name, f"{kind}-paper") for name, kind in printed} | {
        (name, f"{kind}-best") for name in DATASETS[:3] for kind in ("cde", "gread")
    }


def test_settings_that_are_not_ours_are_grands(shipped: list[Experiment]) -> None:
    for one in shipped:
        dynamics, _, base = one.variant.partition("-")
        expected = FDGCL(**preset_settings(one.dataset, "paper")).get_params()
        expected["dynamics"] = dynamics
        if base == "best":
            assert one.settings != expected
            assert "Chosen on validation" in one.note
            continue
        if one.dataset == "squirrel" and dynamics != "grand":
            # One batch of all nodes is the whole graph.
            nodes = CATALOGUE["squirrel"].sizes.nodes
            assert (expected["dim"], expected["batch_size"]) == (4096, nodes)
            expected["dim"], expected["batch_size"] = 2048, None
            expected["hidden"] = 2048
            assert "The width is 2048, not 4096." in one.note
        assert one.settings == expected
        assert ("no settings of its own" in one.note) is (dynamics != "grand")


def test_every_line_is_trained_and_untrained_a_seed(
    shipped: list[Experiment],
) -> None:
    for one in shipped:
        assert DynamicsAccuracy().units(one, 2) == [
            Unit(one.name, part, seed)
            for part in ("trained", "untrained")
            for seed in range(2)
        ]


def _records(one: Experiment, part: str, tests: Sequence[float]) -> list[Record]:
    splits = "public" if one.dataset == "cora" else "geom-gcn"
    return [
        {
            "experiment": one.name,
            "dataset": one.dataset,
            "part": part,
            "seed": seed,
            "split": 0,
            "test": test,
            "val": test + 0.1,
            "splits": splits,
            "train_seconds": 2.0,
            "probe_seconds": 0.5,
            "peak_memory_mib": 100.0,
        }
        for seed, test in enumerate(tests)
    ]


def _show(
    experiments: Sequence[Experiment],
    found: Mapping[tuple[str, str, str], Sequence[float]],
) -> list[Section]:
    by_name = {(one.dataset, one.variant): one for one in experiments}
    records = [
        record
        for (dataset, variant, part), tests in found.items()
        for record in _records(by_name[dataset, variant], part, tests)
    ]
    return DynamicsAccuracy().show(experiments, records, FAR)


def _tables(sections: Sequence[Section]) -> list[Table]:
    tables = [b for s in sections for b in s.blocks if isinstance(b, Table)]
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}
    return tables


def _figures(sections: Sequence[Section]) -> dict[str, Figure]:
    figures = [b for s in sections for b in s.blocks if isinstance(b, Figure)]
    return {figure.name: figure for figure in figures}


MEASURED = {
    ("cora", "grand-paper", "trained"): [0.8, 0.9],
    ("cora", "grand-paper", "untrained"): [0.7, 0.7],
    ("cora", "cde-best", "trained"): [0.5, 0.5],
    ("cora", "cde-best", "untrained"): [0.6, 0.7],
    ("cora", "gread-best", "untrained"): [0.6, 0.7],
    ("squirrel", "grand-paper", "trained"): [0.5, 0.7],
    ("squirrel", "cde-paper", "trained"): [0.6, 0.6],
    ("squirrel", "cde-best", "trained"): [0.7, 0.7],
    ("squirrel", "gread-paper", "trained"): [0.3, 0.5],
}


def test_the_papers_column_has_numbers_and_words(shipped: list[Experiment]) -> None:
    table = _tables(_show(shipped, MEASURED))[0]
    assert list(table.columns) == [
        "encoder",
        *(column for name in DATASETS for column in (f"{name}, paper", name)),
    ]
    assert [row[0] for row in table.rows] == LABELS
    printed = _printed()
    kinds = ["grand", "cde", "cde", "gread", "gread"]
    for place, dataset in enumerate(DATASETS):
        expected = [printed[dataset, kind] for kind in kinds]
        if dataset == "roman-empire":  # nothing of ours there
            expected[2] = expected[4] = ""
        assert [row[1 + 2 * place] for row in table.rows] == expected
    ours = {
        name: [row[2 + 2 * place] for row in table.rows]
        for place, name in enumerate(DATASETS)
    }
    assert ours == {
        "cora": ["85.00 ± 5.00", "no result", "50.00 ± 0.00", "no result", "no result"],
        "wisconsin": ["no result"] * 5,
        "squirrel": [
            "60.00 ± 10.00",
            "60.00 ± 0.00",
            "70.00 ± 0.00",
            "40.00 ± 10.00",
            "no result",
        ],
        "roman-empire": ["not here", "not here", "", "not here", ""],
    }
    assert table.strong == {(0, 2), (2, 6)}
    assert "over 2 seeds and all splits" in table.caption


def test_what_training_adds(shipped: list[Experiment]) -> None:
    sections = _show(shipped, MEASURED)
    table = _tables(sections)[1]
    assert list(table.columns) == ["encoder, untrained", *DATASETS[:3]]
    # Only where both are measured: 85 - 70, and 50 - 65.
    assert [list(row) for row in table.rows] == [
        [GRAND, "70.00 ± 0.00 (+15.00)", "", ""],
        [CDE, "", "", ""],
        [CDE_OURS, "65.00 ± 5.00 (-15.00)", "", ""],
        [GREAD, "", "", ""],
        [GREAD_OURS, "", "", ""],
    ]
    texts = [b.text for s in sections for b in s.blocks if isinstance(b, Text)]
    assert texts[0] == "Not here: roman-empire (not in the data root)."
    assert not any("roman-empire (" in text for text in texts[1:])
    assert any(text.startswith("squirrel (CDE, ours): Chosen on") for text in texts)


def test_other_tables_leave_absent_datasets_out(shipped: list[Experiment]) -> None:
    _, _, val, cost = _tables(_show(shipped, MEASURED))
    assert list(val.rows[0]) == [GRAND, "95.00", "", "70.00"]
    assert list(cost.rows[2]) == [
        CDE_OURS,
        "2.0 s, 0.5 s, 100 MiB",
        "",
        "2.0 s, 0.5 s, 100 MiB",
    ]


def test_figures_keep_the_reading_order(shipped: list[Experiment]) -> None:
    full = {("squirrel", "gread-best", "trained"): [0.6, 0.8], **MEASURED}
    figures = _figures(_show(shipped, full))
    assert list(figures) == [f"dynamics-{name}" for name in DATASETS[:3]]
    series = {one.name: one for one in figures["dynamics-squirrel"].series}
    # The paper lacks CDE: names as they first come must still be those of the table.
    assert list(series["paper"].x) == [GRAND, GREAD, GREAD_OURS]
    names = [x for one in figures["dynamics-squirrel"].series for x in one.x]
    assert list(dict.fromkeys(names)) == LABELS
    assert series["measured"].y == pytest.approx([60, 60, 70, 40, 70])
    assert series["measured"].error == pytest.approx([10, 0, 0, 10, 10])
    assert list(series["paper"].y) == [64.92, 65.37, 65.37]
    assert series["paper"].dashed
    assert series["paper"].color != series["measured"].color
    # Where nothing is measured, the paper stands alone, in its own colour.
    (alone,) = figures["dynamics-wisconsin"].series
    assert (alone.name, alone.color) == ("paper", series["paper"].color)
