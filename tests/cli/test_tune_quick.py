"""`fdgcl tune --quick`: a table, a sentence, and settings that make the same model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from smallgraph import Command

from fdgcl import FDGCL, block_model
from fdgcl.graphs.compact import write_compact
from fdgcl.presets import read_settings

QUICK = ("--quick", "--set", "hidden=8", "--set", "epochs=2")


@pytest.fixture(autouse=True)
def graph(folder: Path) -> None:
    """A graph with splits, in a file."""
    made = block_model(80, 2, num_features=4, seed=2)
    write_compact(folder / "graph.npz", made)


def test_it_writes_settings_that_embed(fdgcl: Command, folder: Path) -> None:
    result = fdgcl("tune", "graph.npz", *QUICK, "-o", "best.toml")
    assert result.exit_code == 0, result.output
    for words in (
        "defaults",
        "±",
        "the first 10 of",
        "taken ",
        "settings   best.toml",
        "fdgcl embed graph.npz --settings best.toml --evaluate",
    ):
        assert words in result.stdout, words
    assert "left out" in result.stderr
    assert "tune --quick" in (folder / "best.toml").read_text()
    found = FDGCL(**read_settings(folder / "best.toml")).check()
    assert (found.hidden, found.epochs) == (8, 2)
    again = fdgcl("embed", "graph.npz", "--settings", "best.toml", "-o", "z.parquet")
    assert again.exit_code == 0, again.output


def test_its_json_says_all(fdgcl: Command, folder: Path) -> None:
    result = fdgcl("tune", "graph.npz", *QUICK, "-o", "best.toml", "--json")
    told = json.loads(result.stdout)
    assert told["settings_file"] == "best.toml"
    assert told["tried"][0]["validation"] >= told["tried"][-1]["validation"]
    assert told["taken"]["name"] in {one["name"] for one in told["tried"]}
    assert told["settings"]["hidden"] == 8
    assert any("left out" in one for one in told["notices"])
    written = FDGCL(**read_settings(folder / "best.toml")).check()
    assert FDGCL(**told["settings"]).check() == written


def test_tables_do_too_and_nothing_is_replaced(fdgcl: Command, folder: Path) -> None:
    files = ("edges.csv", "--features", "x.parquet", "--labels", "y.csv")
    result = fdgcl("tune", *files, *QUICK)
    assert result.exit_code == 0, result.output
    assert (folder / "runs" / "tune-edges" / "quick.toml").is_file()
    assert "ten were drawn" in result.stderr
    refused = fdgcl("tune", *files, *QUICK)
    assert refused.exit_code == 2
    assert "--overwrite" in refused.stderr
    assert fdgcl("tune", *files, *QUICK, "--overwrite", "--quiet").output == ""


@pytest.mark.parametrize(
    "words",
    [
        ("--trials", "3"),
        ("--minutes", "1"),
        ("--seeds", "3"),
        ("--top", "2"),
        ("--slowest", "2"),
        ("--study", "s"),
        ("--space", "small"),
        ("--method", "bgrl"),
        ("--preset", "cora"),
        ("--variant", "paper"),
        ("--settings", "s.toml"),
    ],
    ids=lambda words: str(words[0]),
)
def test_options_of_a_search_are_refused(
    fdgcl: Command, folder: Path, words: tuple[str, str]
) -> None:
    result = fdgcl("tune", "graph.npz", "--quick", *words)
    assert result.exit_code == 2
    assert f"{words[0]} means nothing with --quick" in result.stderr
    assert not (folder / "runs").exists()


def test_a_graph_without_labels_is_refused(fdgcl: Command) -> None:
    result = fdgcl("tune", "edges.csv", "--quick")
    assert result.exit_code == 2
    assert "--labels" in result.stderr
