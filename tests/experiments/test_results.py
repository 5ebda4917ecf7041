"""docs/results.md is what the committed measurements say."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from toys import Toy, toy

from as_markdown import to_markdown
from fdgcl._checks import InputError
from fdgcl.experiments.loader import load_experiments
from fdgcl.experiments.measures import TABLES, build_measure
from fdgcl.experiments.measures.base import Unit
from fdgcl.experiments.pages import page_of_file
from fdgcl.experiments.records import Journal
from fdgcl.report.page import Figure, Listing, Page, Section, Series, Table, Text

ROOT = Path(__file__).parents[2]
PLACE = {
    "device": "cuda",
    "hardware": "an abacus",
    "cores": 1,
    "threads": None,
    "commit": "abc",
    "versions": {"fdgcl": "1"},
}


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "render_results.py"))


def test_the_page_is_what_the_tool_writes(tool: dict[str, Any]) -> None:
    pages = list(tool["read_pages"](ROOT / "results"))
    text = tool["render"](pages, ROOT / "docs")
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == text


def test_committed_measurements_are_named_by_table_and_hardware() -> None:
    for file in (ROOT / "results").glob("*.jsonl"):
        assert file.stem.rpartition("-")[0] in TABLES


def _write(path: Path) -> None:
    experiment = load_experiments("homophilic")[0]
    measure = build_measure(TABLES["homophilic"].measure)
    with Journal(path, measure) as journal:
        for unit in measure.units(experiment, 2)[:2]:
            record = {
                "split": 0,
                "test": 0.5 + unit.seed / 10,
                "val": 0.5,
                "splits": "public",
                "train_seconds": 1.0,
                "probe_seconds": 1.0,
                "seconds": 2.0,
                "peak_memory_mib": 9.0,
                "peak_gpu_memory_mib": 7.0,
            }
            journal.add(experiment, unit, [record], PLACE)


def test_measurements_become_rows(tool: dict[str, Any], tmp_path: Path) -> None:
    _write(tmp_path / "homophilic-abacus.jsonl")
    ((name, page),) = tool["read_pages"](tmp_path)
    assert name == "homophilic-abacus"
    text = tool["render"]([(name, page)], tmp_path)
    assert "## Accuracy on homophilic graphs, on ABACUS" in text
    assert "| cora | 84.50 ± 0.43 | **55.00 ± 5.00** | 50.00 | no result |" in text
    assert "| photo | 94.17 ± 0.86 | not here |" in text
    assert "| cora | 1.0 s | 1.0 s | 7 MiB |" in text
    assert "- commit: abc" in text
    assert "- hardware: an abacus" in text
    assert "fdgcl reproduce homophilic --seeds 2 --device cuda" in text
    assert "other settings" not in text
    images = tmp_path / "images" / "results" / name
    images.mkdir(parents=True)
    (images / "homophilic-accuracy.png").touch()
    shown = tool["render"]([(name, page)], tmp_path)
    assert f"(images/results/{name}/homophilic-accuracy.png)" in shown


def test_measurements_under_other_settings_are_left_out(
    tool: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "homophilic-cpu.jsonl"
    _write(path)
    first, rest = path.read_text().split("\n", 1)
    line = json.loads(first)
    line["settings"]["time"] += 1
    path.write_text(json.dumps(line) + "\n" + rest)
    ((name, page),) = tool["read_pages"](tmp_path)
    text = tool["render"]([(name, page)], tmp_path)
    assert "| cora | 84.50 ± 0.43 | not here |" in text
    assert "2 of 2 units in homophilic-cpu.jsonl were measured under other" in text


def test_a_run_folder_has_a_page(tmp_path: Path) -> None:
    _write(tmp_path / "records.jsonl")
    page = page_of_file(tmp_path / "records.jsonl")
    assert page.title == "Accuracy on homophilic graphs"
    assert page.facts["command"] == "fdgcl reproduce homophilic --seeds 2 --device cuda"
    with pytest.raises(InputError, match="holds no measurements yet"):
        page_of_file(tmp_path / "nowhere" / "records.jsonl")
    with Journal(tmp_path / "records.jsonl", Toy()) as journal:
        unit = Unit("toys/cora-bundled-toy", "quick", 0)
        journal.add(toy("quick"), unit, [{"value": 1}], PLACE)
    with pytest.raises(InputError, match=r"several tables \(homophilic, toys\)"):
        page_of_file(tmp_path / "records.jsonl")


def test_nothing_measured_is_said(tool: dict[str, Any], tmp_path: Path) -> None:
    assert list(tool["read_pages"](tmp_path)) == []
    assert "Nothing is measured yet." in tool["render"]([], tmp_path)


def test_markdown_of_a_page() -> None:
    figure = Figure("f", "A figure", [Series("s", [1.0], [2.0])], caption="As seen.")
    page = Page(
        "Title",
        "Summary <b>",
        [
            Section("One", [Text("Some\ntext."), Listing(["x", "y <"]), figure]),
            Section(
                "Two", [Table(["a", "b"], [["x|y", "2"]], "Why.", frozenset({(0, 1)}))]
            ),
            Section("Only figures", [figure]),
        ],
        {"seed": "0"},
    )
    plain = to_markdown(page, level=2)
    assert plain == (
        "## Title\n\nSummary &lt;b>\n\n### One\n\nSome text.\n\n- x\n- y &lt;\n\n"
        "### Two\n\n"
        "| a | b |\n|---|---|\n| x\\|y | **2** |\n\nWhy.\n\n- seed: 0\n"
    )
    assert "![A figure](p.png)\n\nAs seen." in to_markdown(page, images={"f": "p.png"})
