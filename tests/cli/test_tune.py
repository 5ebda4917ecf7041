"""`fdgcl tune`: searched, written, stopped, continued; and what it never sees."""

from __future__ import annotations

import builtins
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from smallgraph import Command, everything

from fdgcl import FDGCL, Graph, block_model
from fdgcl.graphs.compact import write_compact
from fdgcl.methods import find_method
from fdgcl.presets import read_settings

pytest.importorskip("optuna")

SPACE = """
[search]
lr = { low = 0.001, high = 0.1, log = true }
activation = { choices = ["relu", "linear"] }
"""
OF_CCA = """
[search]
drop_edges = { low = 0.0, high = 0.5 }
dim = { choices = [4, 8] }
"""
QUICK = ("--set", "dim=8", "--set", "epochs=2", "--set", "time=2", "--set", "step=1")
BRIEF = (*QUICK, "--space", "s.toml", "--seeds", "1", "--top", "1")
TUNE = ("tune", "graph.npz", *BRIEF)


@pytest.fixture(autouse=True)
def graph(folder: Path) -> Graph:
    """A graph with a single split, which is quickly probed, and a space."""
    (folder / "s.toml").write_text(SPACE)
    made = block_model(60, 2, degree=5, num_features=4, num_splits=1, seed=2)
    write_compact(folder / "graph.npz", made)
    return made


def settings(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(path.read_text())["settings"]
    return found


def test_it_writes_settings_that_make_a_model(fdgcl: Command, folder: Path) -> None:
    files = ("edges.csv", "--features", "x.parquet", "--labels", "y.csv")
    result = fdgcl("tune", *files, *BRIEF, "--trials", 1, "-o", "best.toml")
    assert result.exit_code == 0, result.output
    for words in (
        "best.toml",
        "runs/tune-edges",
        "fdgcl embed edges.csv --features x.parquet --labels y.csv --settings best",
        "1 trial (1 complete)",
        "±",
    ):
        assert words in result.stdout
    assert "test" not in result.stdout
    assert "random splits" in result.stderr
    assert "trial 0: " in result.stderr
    model = FDGCL(**settings(folder / "best.toml"))
    assert (model.dim, model.epochs) == (8, 2)
    assert model.check().activation in ("half-relu", "relu", "linear")
    header = (folder / "best.toml").read_text().split("[settings]")[0]
    for words in ("edges (40 nodes", "Validation accuracy", "1 trial ", "optuna", "%"):
        assert words in header
    names = {path.name for path in (folder / "runs" / "tune-edges").iterdir()}
    assert "study.db" in names
    assert "study.db-wal" not in names


def test_the_same_command_goes_on(fdgcl: Command, folder: Path) -> None:
    assert fdgcl(*TUNE, "--trials", 2, "--quiet").output == ""
    first = json.loads(fdgcl(*TUNE, "--trials", 2, "--json").stdout)
    assert first["trials"] == {"complete": 2}
    more = json.loads(fdgcl(*TUNE, "--trials", 4, "--json").stdout)
    assert sum(more["trials"].values()) == 4
    assert more["best"]["settings"]["dim"] == 8
    assert set(more["best"]["changes"]) <= {"lr", "activation"}
    assert len(more["best"]["fresh"]) == 3
    assert more["interrupted"] is False
    assert isinstance(more["improves_on_start"], bool)
    assert settings(folder / more["settings_file"])["dim"] == 8


def test_one_search_starts_where_another_ended(fdgcl: Command, folder: Path) -> None:
    assert fdgcl(*TUNE, "--trials", 2, "-o", "best.toml").exit_code == 0
    best = settings(folder / "best.toml")
    words = ("--settings", "best.toml", "--study", "more", "--trials", 1, "--json")
    told = json.loads(fdgcl(*TUNE, *words).stdout)
    assert told["best"]["settings"]["lr"] == best["lr"]
    assert told["best"]["changes"] == {}


def test_a_report_is_written_where_plotly_is(fdgcl: Command, folder: Path) -> None:
    pytest.importorskip("plotly")
    told = json.loads(fdgcl(*TUNE, "--trials", 2, "--json").stdout)
    page = (folder / told["report"]).read_text()
    assert "Tuning FD-GCL on graph" in page
    assert "Best so far" in page


def test_another_method_is_tuned_and_goes_on(fdgcl: Command, folder: Path) -> None:
    (folder / "c.toml").write_text(OF_CCA)
    words = ("tune", "graph.npz", "--method", "cca-ssg", "--space", "c.toml")
    words += ("--set", "hidden=6", "--set", "epochs=2", "--seeds", "1", "--top", "1")
    first = json.loads(fdgcl(*words, "--trials", 1, "--json").stdout)
    assert (first["method"], first["study"]) == ("cca-ssg", "runs/tune-graph-cca-ssg")
    assert "--method cca-ssg --settings runs/tune-graph-cca" in first["next"]
    more = json.loads(fdgcl(*words, "--trials", 3, "--json").stdout)
    assert sum(more["trials"].values()) == 3
    assert set(more["best"]["changes"]) <= {"drop_edges", "dim"}
    file = folder / more["settings_file"]
    assert tomllib.loads(file.read_text())["method"] == "cca-ssg"
    found = read_settings(file, find_method("cca-ssg").settings, "cca-ssg")
    assert (found["hidden"], found["epochs"]) == (6, 2)
    # The study is about that method, and so are the settings it found.
    other = fdgcl(*TUNE, "--study", more["study"], "--trials", 1)
    assert other.exit_code == 2
    assert "of method 'cca-ssg'" in other.stderr
    start = fdgcl(*TUNE, "--settings", file, "--trials", 1)
    assert start.exit_code == 2
    assert "give --method cca-ssg" in start.stderr


def test_other_test_labels_change_nothing(
    fdgcl: Command, folder: Path, graph: Graph
) -> None:
    assert graph.y is not None
    assert graph.splits is not None
    y = np.where(graph.splits.test[0], 1 - graph.y, graph.y)
    write_compact(folder / "other.npz", replace(graph, y=y))
    found = [
        json.loads(fdgcl("tune", name, *BRIEF, "--trials", 3, "--json").stdout)["top"]
        for name in ("graph.npz", "other.npz")
    ]
    assert [one["search"] for one in found[0]] == [one["search"] for one in found[1]]
    assert [one["fresh"] for one in found[0]] == [one["fresh"] for one in found[1]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--trials", "0"), "--trials must be"),
        (("--minutes", "-3"), "--minutes must be positive"),
        (("--seeds", "0"), "--seeds must be"),
        (("--set", "dmi=4"), 'did you mean "dim"'),
        (("--set", "dim"), "NAME=VALUE"),
        (("--method", "brgl"), 'did you mean "bgrl"'),
        (("--method", "bgrl"), "NAME a setting of bgrl, got 'time=2'"),
        (("--space", "bgrl"), "the space 'bgrl' is of method 'bgrl'"),
        (("--set", "dim=big"), "dim must be"),
        (("--set", "orders=2,1"), "orders must lie"),
        (("--set", "device=cpu"), "NAME=VALUE"),
        (("--set", "lr=1", "--set", "activation=relu"), "nothing is left to search"),
        (("--space", "none.toml"), "there is no file none.toml"),
        (("--space", "defualt"), 'did you mean "default"'),
        (("--preset", "texsa"), 'did you mean "texas"'),
        (("--preset", "texas", "--variant", "ours"), "unknown variant"),
        (("--settings", "none.toml"), "none.toml"),
        (("--settings", "s.toml"), "[settings]"),
        (("-o", "best.txt"), "TOML file"),
        (("--study", "edges.csv"), "must be a folder"),
        (("--device", "tpu"), "unknown device"),
    ],
)
def test_bad_input_is_refused_before_any_work(
    words: tuple[str, ...], message: str, fdgcl: Command, folder: Path
) -> None:
    before = everything(folder)
    result = fdgcl(*TUNE, *words)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert everything(folder) == before


def test_labels_are_needed(fdgcl: Command, folder: Path) -> None:
    before = everything(folder)
    result = fdgcl("tune", "edges.csv", "--features", "x.parquet")
    assert result.exit_code == 2
    assert "--labels" in result.stderr
    assert everything(folder) == before


def test_without_optuna_it_says_so_at_once(
    fdgcl: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "optuna":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    before = everything(folder)
    result = fdgcl(*TUNE)
    assert result.exit_code == 2
    assert "not installed: pip install optuna (in a clone" in result.stderr
    assert "pip install -e '.[tune]')" in result.stderr
    assert everything(folder) == before


def test_another_space_is_another_study(fdgcl: Command, folder: Path) -> None:
    assert fdgcl(*TUNE, "--trials", 1).exit_code == 0
    (folder / "s.toml").write_text(SPACE.replace("0.001", "0.002"))
    result = fdgcl(*TUNE, "--trials", 2)
    assert result.exit_code == 2
    assert "another space" in result.stderr
    assert fdgcl(*TUNE, "--trials", 1, "--study", "other").exit_code == 0


@pytest.mark.slow
def test_ctrl_c_ends_with_the_best_so_far(folder: Path) -> None:
    command = [sys.executable, "-m", "fdgcl", *TUNE, "--trials", "5000"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        first = ""
        while not first.startswith("trial 0"):
            first = process.stderr.readline()
            assert first, "it ended before the first trial did"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("error: interrupted")
    assert "best       trial" in out
    assert settings(folder / "runs" / "tune-graph" / "best.toml")["dim"] == 8
