"""`fdgcl data import` and `fdgcl data generate`: what they say, write and refuse."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fdgcl._memory import resident_bytes
from fdgcl.cli import app
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.importing import Request
from fdgcl.graphs.store.store import Store
from helpers.importing_twin import check


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda file: None)


@pytest.fixture
def memory() -> int:
    return resident_bytes() + 10**9


def fdgcl(*words: object) -> Result:
    result = CliRunner().invoke(app, [str(word) for word in words], prog_name="fdgcl")
    assert "Traceback" not in result.stderr
    return result


def as_json(*words: object) -> Any:
    result = fdgcl(*words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def generated() -> tuple[str, str]:
    sizes = ("--nodes", 400, "--edges", 3000, "--features", 10, "--seed", 2)
    found = as_json("data", "generate", *sizes, "-o", "big")
    assert found["files"] == ["big/edges.parquet", "big/features.parquet"]
    assert found["bytes"] == sum(Path(f).stat().st_size for f in found["files"])
    return found["files"][0], found["files"][1]


def test_generate_then_import(tmp_path: Path, memory: int) -> None:
    edges, features = generated()
    words = ("data", "import", edges, "--features", features, "--memory", memory)
    result = fdgcl(*words, "--store", "G", "--direction", "out", "--name", "mine")
    assert result.exit_code == 0, result.stderr
    assert "mine: 400 nodes, 3,000 edges read" in result.stdout
    assert "next: fdgcl train G -o G-embedding" in result.stdout
    store = Store.open("G")
    check(store, Request(Path(edges), Path(features), direction="out"))
    facts = as_json(*words, "--store", "G", "--direction", "out", "--name", "mine")
    assert facts["entries"] == store.manifest.entries
    assert facts["fingerprint"] == store.fingerprint
    assert fdgcl(*words, "--store", "H", "--quiet").stdout == ""


def test_generate_says_what_to_do_next() -> None:
    sizes = ("--nodes", 40, "--edges", 30, "--features", 0)
    result = fdgcl("data", "generate", *sizes, "-o", "big")
    assert result.exit_code == 0
    assert "wrote big/edges.parquet: " in result.stdout
    assert "next: fdgcl data import big/edges.parquet --store" in result.stdout


def test_a_dry_run_writes_nothing(memory: int) -> None:
    edges, features = generated()
    words = ("data", "import", edges, "--store", "G", "--memory", memory, "--dry-run")
    result = fdgcl(*words, "--features", features)
    assert result.exit_code == 0, result.stderr
    assert "400 nodes, about 3,000 edges, 10 features" in result.stdout
    assert "time: about" in result.stdout
    assert "perhaps 600 nodes (known once the edges are read)" in fdgcl(*words).stdout
    Path("x.csv").write_text("node,f\n1,2\n3,4\n")
    assert "about 3 nodes, about" in fdgcl(*words, "--features", "x.csv").stdout
    plan = as_json(*words, "--features", features)
    assert plan["peak_bytes"] <= memory
    assert plan["seconds"] > 0
    assert not Path("G").exists()


def test_columns_and_the_memory_to_spare(tmp_path: Path) -> None:
    Path("e.csv").write_text("x,y,z\n1,2,0.5\n2,3,4\n")
    columns = ("--source-column", "y", "--target-column", "x", "--weight-column", "z")
    result = fdgcl("data", "import", "e.csv", "--store", "G", *columns)
    assert result.exit_code == 0, result.stderr
    assert "3 features (spectral: there were none)" in result.stdout
    tables = TableOptions(source="y", target="x", weight="z")
    check(Store.open("G"), Request(Path("e.csv"), tables=tables))


def test_what_was_taken_is_told(memory: int) -> None:
    Path("e.csv").write_text("payer,payee,note\nu1,u2,x\nu2,u3,y\nu3,u9,z\n")
    Path("x.csv").write_text("user,age,city\nu1,20,Rome\nu2,50,Oslo\nu3,90,Rome\n")
    words = ("data", "import", "e.csv", "--features", "x.csv", "--memory", memory)
    words += ("--missing", "drop-edges", "--categorical", "city", "--drop", "age")
    result = fdgcl(*words, "--store", "G")
    assert result.exit_code == 0, result.stderr
    told = " ".join((result.stdout + result.stderr).split())
    assert "edges: payer -> payee; ignored: note" in told
    assert "features: 1 column by user; ignored: age" in told
    assert "1 edges of e.csv name ids without features" in told
    facts = as_json(*words, "--store", "G")
    assert facts["reading"] == list(Store.open("G").manifest.reading)
    assert len(facts["feature_schema"]["columns"]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.csv", "--store", "G"), "no such file: none.csv"),
        (("e.csv", "--store", "G", "--memory", "much"), "--memory must be a size"),
        (("e.csv", "--store", "G", "--memory", "1MB"), "memory must be at least"),
        (("e.csv", "--store", "G", "--direction", "up"), "unknown direction 'up'"),
        (
            ("e.csv", "--store", "G", "--features", "x.csv", "--features", "y.csv"),
            "a store has one table of features, got 2",
        ),
        (
            ("e.csv", "--store", "G", "--features", "e.csv", "--missing", "mean"),
            "choose error or drop-edges",
        ),
        (
            ("e.csv", "--store", "G", "--edge-type-column", "u"),
            "cannot be used in a store",
        ),
    ],
)
def test_refusals(words: tuple[str, ...], message: str) -> None:
    Path("e.csv").write_text("u,v\n1,2\n2,3\n")
    result = fdgcl("data", "import", *words)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
