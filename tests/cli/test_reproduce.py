"""`fdgcl reproduce`: what it lists, runs, writes, and refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from smallgraph import Command, everything

from fdgcl.cli.reproduce_bar import time_left
from fdgcl.executors.base import cores
from fdgcl.experiments import loader
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures import TABLES, Table
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.experiments.measures.graphs import GraphAccuracy
from fdgcl.graphs import GraphDataset
from fdgcl.report.page import Section
from fdgcl.workflows.reproduce_table import processes

TOYS = Path(__file__).parents[1] / "experiments"


class FewGraphs(Measure):
    """Two parts on twenty graphs; other processes find this by its name."""

    options = GraphAccuracy.options

    def units(self, experiment: Experiment, seeds: int) -> list[Unit]:
        units = GraphAccuracy().units(experiment, seeds)
        return [unit for unit in units if unit.part in ("trained", "features")]

    def run(
        self, experiment: Experiment, unit: Unit, graph: GraphDataset, device: str
    ) -> list[Record]:
        assert graph.y is not None
        some = [np.flatnonzero(graph.y == code)[:10] for code in (0, 1)]
        few = graph.subset(np.concatenate(some))
        return GraphAccuracy().run(experiment, unit, few, device)

    def show(
        self,
        experiments: Sequence[Experiment],
        records: Sequence[Record],
        absent: Mapping[str, str],
    ) -> list[Section]:
        return GraphAccuracy().show(experiments, records, absent)


@pytest.fixture
def toys(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of toys, on a graph that is always here and on one that is not."""
    monkeypatch.syspath_prepend(str(TOYS))
    table = Table("Toys", "Table 0", "They play.", "toys:Toy")
    monkeypatch.setitem(TABLES, "toys", table)
    monkeypatch.setattr(loader, "ROOT", folder / "tables")
    place = folder / "tables" / "toys"
    place.mkdir(parents=True)
    (place / "cora-bundled-plain.toml").write_text('label = "plain"\n')
    (place / "cora-bundled-odd.toml").write_text(
        'order = 1\n[options]\nparts = ["quick", "bad"]\n'
    )
    (place / "texas-plain.toml").write_text("")
    return folder


def test_list_names_tables_and_datasets(fdgcl: Command, folder: Path) -> None:
    result = fdgcl("reproduce", "--list", "--json", "list.json")
    assert result.exit_code == 0
    for name in TABLES:
        assert name in result.stdout
    assert "data root: none" in result.stdout
    facts = {fact["table"]: fact for fact in json.loads(Path("list.json").read_text())}
    assert list(facts) == list(TABLES)
    assert facts["homophilic"]["regenerates"] == "Table 1"
    # The bundled Cora has another split: it does not count.
    assert facts["homophilic"]["here"] == []
    assert "bundled" in facts["homophilic"]["not_here"]["cora"]


@pytest.mark.dataset
def test_list_knows_what_is_here(fdgcl: Command, data_root: Path) -> None:
    words = ("reproduce", "--list", "--data-root", data_root, "--json", "list.json")
    assert fdgcl(*words).exit_code == 0
    facts = {fact["table"]: fact for fact in json.loads(Path("list.json").read_text())}
    assert "ogbn-arxiv" in facts["homophilic"]["not_here"]
    assert {"cora", "photo"} <= set(facts["homophilic"]["here"])
    assert "features" in facts["homophilic"]["not_here"]["ogbn-arxiv"]


REFUSED = {
    (): "name a TABLE",
    ("heterphilic",): "unknown table 'heterphilic'; did you mean \"heterophilic\"?",
    ("orders", "--dataset", "coar"): "unknown dataset of orders 'coar'; did you mean",
    ("orders", "--dataset", " , "): "--dataset names nothing",
    ("orders", "--variant", "gnc"): "unknown variant of orders 'gnc'; did you mean",
    ("orders", "--seeds", "0"): "--seeds must be a whole number of at least 1, got 0",
    ("orders", "--jobs", "0"): "--jobs must be a whole number of at least 1, got 0",
    ("orders", "--device", "gpu"): "unknown device 'gpu'",
    ("orders", "--data-root", "nowhere"): "holds the datasets as NAME.npz",
    ("orders", "--run", "edges.csv"): "edges.csv is a file, not a folder",
    ("orders", "--json", "edges.csv/o.json"): "edges.csv is a file, not a folder",
}


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_bad_input_is_one_sentence(
    words: tuple[str, ...], fdgcl: Command, folder: Path
) -> None:
    before = everything(folder)
    result = fdgcl("reproduce", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert REFUSED[words] in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert everything(folder) == before


@pytest.mark.parametrize("root", [None, "."])
def test_nothing_that_can_run_says_what_to_do(
    root: str | None, fdgcl: Command, folder: Path
) -> None:
    before = everything(folder)
    words = [] if root is None else ["--data-root", root]
    result = fdgcl("reproduce", "heterophilic", "--dataset", "texas,cornell", *words)
    assert result.exit_code == 1
    assert "nothing of heterophilic can be measured here" in result.stderr
    assert "fdgcl data convert cornell --download" in result.stderr
    assert ("--data-root" in result.stderr) is (root is None)
    assert everything(folder) == before


@pytest.mark.slow
def test_runs_goes_on_and_writes_everything(fdgcl: Command, toys: Path) -> None:
    words = ["reproduce", "toys", "--seeds", "2", "--jobs", "1", "--variant", "plain"]
    result = fdgcl(*words, "--json", "out.json", "--figures", "figures")
    assert result.exit_code == 0, result.stderr
    assert "4 units" not in result.stdout
    assert "texas" in result.stdout
    run = toys / "runs" / "reproduce-toys"
    assert "<html" in (run / "report.html").read_text(encoding="utf-8")
    assert {file.name for file in (toys / "figures").iterdir()} == {
        "toy.png",
        "toy.pdf",
    }
    facts = json.loads((toys / "out.json").read_text())
    assert facts["command"] == "fdgcl " + " ".join(
        [*words, "--json", "out.json", "--figures", "figures"]
    )
    assert facts["not_here"] == {"texas": "no data root was given"}
    assert len(facts["records"]) == 2 * 3
    assert [one["name"] for one in facts["experiments"]] == [
        "toys/cora-bundled-plain",
        "toys/texas-plain",
    ]
    lines = (run / "records.jsonl").read_bytes()

    # The same command measures nothing again; another variant adds to it, and fails.
    assert fdgcl(*words).exit_code == 0
    assert (run / "records.jsonl").read_bytes() == lines
    failed = fdgcl("reproduce", "toys", "--seeds", "1", "--jobs", "1", "-q")
    assert failed.exit_code == 1
    assert "1 of 3 units failed" in failed.stderr
    assert failed.stdout == ""
    more = (run / "records.jsonl").read_bytes()
    assert more.startswith(lines)
    assert b'"bad"' in more
    assert "this toy is broken" in (run / "report.html").read_text(encoding="utf-8")

    fresh = fdgcl(*words[:3], "1", *words[4:], "--fresh", "--json", "out.json")
    assert fresh.exit_code == 0, fresh.output
    assert len(json.loads((toys / "out.json").read_text())["records"]) == 3
    # With its quotation marks: a commit's hash may have these letters, too.
    assert b'"bad"' not in (run / "records.jsonl").read_bytes()


@pytest.mark.slow
@pytest.mark.dataset
def test_a_real_row(fdgcl: Command, folder: Path, data_root: Path) -> None:
    words = ("--dataset", "texas,arxiv-year", "--variant", "best", "--seeds", "1")
    result = fdgcl("reproduce", "heterophilic", *words, "--data-root", data_root)
    assert result.exit_code == 0, result.stderr
    assert "78.38 ±" in result.stdout
    assert "not here" in result.stdout
    lines = (folder / "runs/reproduce-heterophilic/records.jsonl").read_text()
    records = [json.loads(line) for line in lines.splitlines() if '"kind"' not in line]
    trained = [r["test"] for r in records if r["part"] == "trained"]
    assert len(trained) == 10
    assert sum(trained) / 10 > 0.75


@pytest.mark.slow
@pytest.mark.dataset
def test_a_real_line_of_the_dynamics(
    fdgcl: Command, folder: Path, data_root: Path
) -> None:
    words = ("--dataset", "wisconsin", "--variant", "gread-best", "--seeds", "1")
    more = ("--jobs", "1", "--data-root", data_root)
    result = fdgcl("reproduce", "dynamics", *words, *more)
    assert result.exit_code == 0, result.stderr
    assert "GREAD, ours" in result.stdout
    assert "73.73 ±" in result.stdout  # the paper's
    run = folder / "runs/reproduce-dynamics"
    report = (run / "report.html").read_text(encoding="utf-8")
    assert "Other right-hand sides" in report
    assert "dynamics-wisconsin" in report
    lines = (run / "records.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines if '"kind"' not in line]
    scores = {
        part: [r["test"] for r in records if r["part"] == part]
        for part in ("trained", "untrained")
    }
    assert [len(values) for values in scores.values()] == [10, 10]
    assert sum(scores["trained"]) / 10 > 0.8


@pytest.mark.slow
@pytest.mark.dataset
def test_a_table_of_real_graphs(
    fdgcl: Command, folder: Path, data_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = replace(TABLES["graphs"], measure=f"{__name__}:FewGraphs")
    monkeypatch.setitem(TABLES, "graphs", few)
    words = ("--dataset", "proteins", "--variant", "paper", "--seeds", "1")
    more = ("--jobs", "1", "--data-root", data_root, "--json", "out.json")
    result = fdgcl("reproduce", "graphs", *words, *more)
    assert result.exit_code == 0, result.stderr
    assert "CI-GCL, published" in result.stdout
    assert "75.40 ± 0.28" in result.stdout  # the paper's
    report = folder / "runs/reproduce-graphs/report.html"
    assert "graphs-proteins" in report.read_text(encoding="utf-8")
    records = json.loads(Path("out.json").read_text())["records"]
    assert {record["graphs"] for record in records} == {20}
    assert Counter(record["part"] for record in records) == {
        "trained": 10,
        "features": 10,
    }


def test_help_and_list_are_light() -> None:
    code = (
        "import sys\n"
        "from fdgcl.cli import app\n"
        "try:\n    app(['reproduce', '--help'], prog_name='fdgcl')\n"
        "except SystemExit:\n    pass\n"
        "sys.exit('torch' in sys.modules or 'numpy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_clocks_are_not_disturbed() -> None:
    assert processes("cost", "cpu") == 1
    assert processes("orders", "cuda") == 1
    assert processes("orders", "cpu") == cores()


def test_time_left_in_words() -> None:
    assert time_left(None) == ""
    assert time_left(20) == "less than a minute left"
    assert time_left(125) == "about 2 min left"
    assert time_left(5400) == "about 1.5 h left"
