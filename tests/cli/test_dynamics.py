"""The equation's right-hand side on the command line, and its options."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from smallgraph import NODES, SMALL, Command, everything, write_graph

from fdgcl._settings import about
from fdgcl.cli.settings import known_settings
from fdgcl.diffusion import DYNAMICS
from fdgcl.embeddings import read_embeddings
from tolerances import assert_agree

FILES = ("edges.csv", "--features", "x.parquet")
EMBED = ("embed", *FILES, *SMALL)


def settings_of(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "config.json").read_text("utf-8"))
    return dict(found["settings"])


def words_of(text: str) -> set[str]:
    """Words of a help text, names with hyphens whole."""
    return set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", text))


def test_options_come_in_their_own_types(fdgcl: Command, folder: Path) -> None:
    options = "reaction=fisher,nu=0.5,trained=false"
    words = ("--dynamics", "gread", "--dynamics-options", options)
    result = fdgcl(*EMBED, *words, "--run", "run")
    assert result.exit_code == 0, result.output
    settings = settings_of(folder / "run")
    assert settings["dynamics"] == "gread"
    found = settings["dynamics_options"]
    assert found == {"reaction": "fisher", "nu": 0.5, "trained": False}
    assert [type(value) for value in found.values()] == [str, float, bool]
    assert np.isfinite(read_embeddings(folder / "run" / "z.parquet")[1]).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("heads=2,width=3", {"heads": 2, "width": 3}),
        (" heads = 2 , width=3,", {"heads": 2, "width": 3}),
        ("width=5", {"width": 5}),
        ("heads=2.0", {"heads": 2}),
    ],
)
def test_spaces_and_commas_do_not_matter(
    fdgcl: Command, text: str, expected: dict[str, int]
) -> None:
    words = ("--dynamics", "grand-attention", "--dynamics-options", text)
    result = fdgcl(*EMBED, *words, "--dry-run", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)["settings"]
    assert told["dynamics"] == "grand-attention"
    assert told["dynamics_options"] == expected


def test_options_change_the_embedding(fdgcl: Command, folder: Path) -> None:
    rows = {}
    for number, options in enumerate(("nu=0.5", "nu=0.9", "nu=0.5,trained=false")):
        file = f"{number}.parquet"
        words = ("--dynamics", "gread", "--dynamics-options", options, "-o", file)
        assert fdgcl(*EMBED, *words).exit_code == 0
        rows[options] = read_embeddings(folder / file)[1].tobytes()
    assert len(set(rows.values())) == 3


@pytest.mark.parametrize("name", DYNAMICS)
def test_every_dynamics_is_in_the_help_and_runs(
    fdgcl: Command, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = about(known_settings()["dynamics"]).text
    assert name in words_of(text), f"--dynamics says nothing of {name}"
    monkeypatch.setenv("COLUMNS", "1000")
    shown = fdgcl("embed", "--help-all").stdout
    [line] = [line for line in shown.splitlines() if re.search(r"--dynamics\s", line)]
    assert name in words_of(line)
    result = fdgcl(*EMBED, "--dynamics", name, "--run", "run")
    assert result.exit_code == 0, result.output
    assert settings_of(folder / "run")["dynamics"] == name
    assert read_embeddings(folder / "run" / "z.parquet")[1].shape == (NODES, 8)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("gread", "--dynamics-options", "fisher"), ("--dynamics-options", "'fisher'")),
        (
            ("gread", "--dynamics-options", "nu=1,=3"),
            ("--dynamics-options", "'nu=1,=3'"),
        ),
        (("gread", "--dynamics-options", "nu=much"), ("nu", "'much'")),
        (("gread", "--dynamics-options", "nu="), ("nu", "number")),
        (("gread", "--dynamics-options", "trained=yes"), ("trained", "'yes'")),
        (
            ("gread", "--dynamics-options", "reactoin=fisher"),
            ("'gread'", "'reactoin'", 'did you mean "reaction"'),
        ),
        (("cde", "--dynamics-options", "velocity=thanh"), ('did you mean "tanh"',)),
        (("grand", "--dynamics-options", "nu=1"), ("'grand'", "'nu'", "no options")),
        (("grand-atention",), ("'grand-atention'", 'did you mean "grand-attention"')),
        (("cde", "--solver", "exact"), ("'exact'", "'cde'")),
        (("cde", "--strategy", "precompute"), ("'cde'", "'precompute'")),
        (("cde", "--keep", "global"), ("'cde'", "'global'")),
        (("cde", "--batch-size", "10"), ("'cde'", "batch_size", "10")),
        (("cde", "--gradient", "adjoined"), ('did you mean "adjoint"',)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_what_does_not_fit_gets_one_line(
    fdgcl: Command, folder: Path, words: tuple[str, ...], named: tuple[str, ...]
) -> None:
    before = everything(folder)
    result = fdgcl(*EMBED, "-o", "z.parquet", "--dynamics", *words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    [line] = [x for x in result.stderr.splitlines() if x.startswith("error: ")]
    assert result.stderr.splitlines()[-1] == line
    for word in named:
        assert word in line
    assert everything(folder) == before


def test_dry_run_says_what_is_stepped(fdgcl: Command, folder: Path) -> None:
    before = everything(folder)
    result = fdgcl(*EMBED, "--dynamics", "cde", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "the dynamics has to be stepped in every epoch" in result.stdout
    assert "dynamics 'cde' is not linear, or is trained" in result.stdout
    told = json.loads(fdgcl(*EMBED, "--dynamics", "cde", "--dry-run", "--json").stdout)
    assert told["stability"] is None
    assert told["plan"]["strategy"] == "in-loop"
    assert everything(folder) == before
    fixed = ("--dynamics", "gread", "--dynamics-options", "trained=false")
    other = fdgcl(*EMBED, *fixed, "--dry-run")
    assert other.exit_code == 0, other.output
    assert "has to be stepped" not in other.stdout
    assert "stable" in other.stdout


def test_a_report_has_no_gain_by_frequency(fdgcl: Command, folder: Path) -> None:
    words = ("--dynamics", "cde", "--labels", "y.csv", "--run", "run")
    assert fdgcl(*EMBED, *words).exit_code == 0
    result = fdgcl("report", "run", "--json")
    assert result.exit_code == 0, result.output
    sections = json.loads(result.stdout)["sections"]
    assert {"Training", "Frequencies", "Principal components"} <= set(sections)
    page = (folder / "run" / "report.html").read_text("utf-8")
    text = page.partition('id="palettes"')[0]
    assert "gain at a frequency depends on the features" in text
    assert 'id="figure-frequencies"' not in text
    assert 'id="figure-loss"' in text
    assert "view of order" in text


@pytest.mark.parametrize("words", [("graphcon",), ("gread", "trained=false")])
def test_a_report_of_what_is_linear_shows_its_gain(
    fdgcl: Command, folder: Path, words: tuple[str, ...]
) -> None:
    given = ("--dynamics", words[0])
    if words[1:]:
        given = (*given, "--dynamics-options", words[1])
    assert fdgcl(*EMBED, *given, "--run", "run").exit_code == 0
    result = fdgcl("report", "run")
    assert result.exit_code == 0, result.output
    page = (folder / "run" / "report.html").read_text("utf-8")
    assert 'id="figure-frequencies"' in page.partition('id="palettes"')[0]


def test_transform_by_the_trained_dynamics(fdgcl: Command, folder: Path) -> None:
    for run, epochs in (("run", 3), ("untrained", 0)):
        words = ("--dynamics", "cde", "--run", run, "--epochs", epochs)
        assert fdgcl(*EMBED, *words).exit_code == 0
    first = read_embeddings(folder / "run" / "z.parquet")
    again = fdgcl("transform", "run", *FILES, "-o", "a.parquet")
    assert again.exit_code == 0, again.output
    second = read_embeddings(folder / "a.parquet")
    assert first[0].tolist() == second[0].tolist()
    assert_agree(second[1], first[1])
    write_graph(folder, seed=5, prefix="other-")
    rows = {}
    for run in ("run", "untrained"):
        result = fdgcl("transform", run, *FILES, "-o", f"{run}.parquet")
        assert result.exit_code == 0, result.output
        ids, rows[run] = read_embeddings(folder / f"{run}.parquet")
        assert all(name.startswith("other-") for name in ids)
        assert rows[run].shape == (NODES, 8)
    # Another graph and other weights change first digits, not the last ones alone.
    assert not np.allclose(rows["run"], first[1])
    assert not np.allclose(rows["run"], rows["untrained"], atol=1e-3)
