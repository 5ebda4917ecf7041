"""`fdgcl reproduce defaults` on a folder of small graphs, one's own among them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from smallgraph import Command

from fdgcl.experiments import loader
from helpers.data_roots import write_data_root

SMALL = """
label = "small"
order = 1
[settings]
dim = 8
epochs = 2
[options]
candidate = true
"""
OTHER = """
label = "other"
method = "cca-ssg"
order = 3
[settings]
dim = 8
hidden = 8
epochs = 1
"""


@pytest.fixture
def root(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root, and three variants that take no time beside the shipped rows."""
    place = folder / "tables" / "defaults"
    place.mkdir(parents=True)
    free = loader.ROOT / "defaults" / "every-no-training.toml"
    (place / "every-no-training.toml").write_text(free.read_text(encoding="utf-8"))
    (place / "every-small.toml").write_text(SMALL)
    (place / "every-wide.toml").write_text(SMALL.replace("8", "16").replace("sm", "t"))
    (place / "every-other.toml").write_text(OTHER)
    monkeypatch.setattr(loader, "ROOT", folder / "tables")
    write_data_root(folder / "data")
    return folder / "data"


def _lines(run: Path) -> list[dict[str, Any]]:
    lines = (run / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _table(page: dict[str, Any], title: str) -> dict[str, list[str]]:
    (section,) = [one for one in page["sections"] if one["title"] == title]
    table = next(block for block in section["blocks"] if "rows" in block)
    return {row[0]: row[1:] for row in table["rows"]}


@pytest.mark.slow
def test_all_graphs_of_a_folder(fdgcl: Command, root: Path) -> None:
    words = ["reproduce", "defaults", "--data-root", root, "--seeds", "1"]
    words += ["--splits", "2", "--jobs", "2"]
    first = fdgcl(*words, "--variant", "small,other", "--json", "out.json")
    assert first.exit_code == 0, first.stderr
    # Rows without training are measured whatever is asked for.
    run = root.parent / "runs" / "reproduce-defaults"
    units = {
        (line["experiment"], line["part"]) for line in _lines(run) if "part" in line
    }
    assert len(units) == 3 * (5 + 2 * 2)
    page = json.loads(Path("out.json").read_text())
    scores = _table(page, "Scores")
    assert list(scores) == ["Directed", "rare (ROC-AUC)", "undirected"]
    assert [cell == "-" for cell in scores["undirected"][3:5]] == [True, True]
    assert not {"-", "no result"} & {*scores["Directed"], *scores["rare (ROC-AUC)"][:3]}
    assert "Left out: many (a collection of graphs)." in first.stdout
    assert page["not_here"]["bare"] == "it has no features"
    assert not any(s["title"].startswith("Chosen") for s in page["sections"])
    splits = [row[0] for row in _table(page, "Splits, time and memory").values()]
    assert splits[1:] == [
        "stratified 10/10/80, seed 0: 2",
        "random 10/10/80, seed 0: 2",
    ]

    # The same command measures nothing again, another variant only itself.
    before = (run / "records.jsonl").read_bytes()
    assert fdgcl(*words, "--variant", "small,other", "-q").exit_code == 0
    assert (run / "records.jsonl").read_bytes() == before
    more = fdgcl(*words, "--json", "out.json", "--overwrite")
    assert more.exit_code == 0, more.stderr
    assert (run / "records.jsonl").read_bytes().startswith(before)
    page = json.loads(Path("out.json").read_text())
    chosen = _table(page, "Chosen without this dataset")
    assert list(chosen) == [*scores, "mean"]
    assert "html" in (run / "report.html").read_text(encoding="utf-8")

    # Another number of splits is other work, of one dataset here.
    one = fdgcl(*words[:-3], "1", *words[-2:], "--dataset", "directed", "-q")
    assert one.exit_code == 0, one.stderr
    latest = [line["options"]["splits"] for line in _lines(run) if "options" in line]
    assert set(latest) == {1, 2}
    assert latest[-1] == 1
    assert fdgcl("report", run, "-o", "again.html").exit_code == 0


def test_list_and_what_cannot_be_measured(fdgcl: Command, root: Path) -> None:
    listed = fdgcl("reproduce", "--list", "--data-root", root, "--json", "list.json")
    assert listed.exit_code == 0
    facts = {one["table"]: one for one in json.loads(Path("list.json").read_text())}
    assert facts["defaults"]["here"] == ["Directed", "rare", "undirected"]
    assert facts["defaults"]["not_here"]["many"] == "a collection of graphs"
    defaults = ("reproduce", "defaults", "--data-root")
    refused = fdgcl(*defaults, root, "--dataset", "many,bare")
    assert refused.exit_code == 1
    assert "bare: it has no features; many: a collection" in refused.stderr
    assert "convert" not in refused.stderr
    empty = fdgcl(*defaults, root.parent / "tables")
    assert empty.exit_code == 1
    assert "there is no NAME.npz in" in empty.stderr
    nowhere = fdgcl("reproduce", "defaults", "--variant", "small")
    assert nowhere.exit_code == 1
    assert "no data root was given" in nowhere.stderr
    typo = fdgcl(*defaults, root, "--dataset", "drected")
    assert typo.exit_code == 2
    assert 'did you mean "directed"?' in typo.stderr


def test_splits_are_refused_where_they_are_no_choice(
    fdgcl: Command, folder: Path
) -> None:
    for words in (("defaults", "--splits", "0"), ("orders", "--splits", "2")):
        result = fdgcl("reproduce", *words)
        assert result.exit_code == 2
        assert result.stderr.startswith("error: --splits ")
