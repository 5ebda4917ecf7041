"""Each method on the command line, from a table of edges to a report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from smallgraph import NODES, Command

from fdgcl.embeddings import read_embeddings
from fdgcl.methods import METHODS
from tolerances import assert_agree

QUICK = ("--dim", 8, "--epochs", 3, "--device", "cpu")
FILES = ("edges.csv", "--features", "x.parquet")
OTHERS = sorted(METHODS.keys() - {"fdgcl"})


@pytest.mark.parametrize("method", METHODS)
def test_from_edges_to_a_report(fdgcl: Command, folder: Path, method: str) -> None:
    options = ("--method", method, *QUICK, "--run", "r", "-o", "z.parquet")
    made = fdgcl("embed", *FILES, *options, "--labels", "y.csv", "--evaluate")
    assert made.exit_code == 0, made.output
    ids, z = read_embeddings(folder / "z.parquet")
    assert z.shape == (NODES, 8)
    assert len(np.unique(z.round(4), axis=0)) > NODES // 2
    assert json.loads((folder / "r" / "config.json").read_text())["method"] == method

    again = fdgcl("transform", "r", *FILES, "-o", "again.parquet")
    assert again.exit_code == 0, again.output
    found = read_embeddings(folder / "again.parquet")
    assert found[0].tolist() == ids.tolist()
    assert_agree(found[1], z)

    report = fdgcl("report", "r", "--json")
    assert report.exit_code == 0, report.output
    assert "The embedding" in json.loads(report.stdout)["sections"]


@pytest.mark.parametrize("method", OTHERS)
def test_an_interrupted_run_goes_on_with_its_method(
    fdgcl: Command, folder: Path, method: str
) -> None:
    named = ("embed", *FILES, "--method", method, "--run", "r", *QUICK)
    assert fdgcl(*named, "-o", "z.parquet").exit_code == 0
    (folder / "z.parquet").unlink()
    again = fdgcl(*named, "--resume", "-o", "z.parquet")
    assert again.exit_code == 0, again.output
    other = fdgcl("embed", *FILES, "--run", "r", "--resume", *QUICK)
    assert other.exit_code == 2
    assert method in other.stderr


@pytest.mark.parametrize("method", OTHERS)
def test_the_options_are_those_of_the_method(fdgcl: Command, method: str) -> None:
    shown = fdgcl("embed", "--method", method, "--help-all").stdout
    assert "--orders" not in shown
    assert "--epochs" in shown
    refused = fdgcl("embed", *FILES, "--method", method, "--orders", "0.1,1")
    assert refused.exit_code == 2
    assert "--orders" in refused.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--method cca-ssg --orders 0.1,1", "--orders is a setting of 'fdgcl', not of"),
        ("--momentum 0.9", "--momentum is a setting of 'bgrl', not of method 'fdgcl'"),
        ("--method=bgrl --no-standardize", "is a setting of 'fdgcl' and 'gcn', not of"),
        ("--method bgrl --momentun 0.9", "no such option: --momentun"),
    ],
)
def test_options_of_another_method_say_whose_they_are(
    fdgcl: Command, words: str, sentence: str
) -> None:
    refused = fdgcl("embed", *FILES, *words.split(), "--run", "r")
    assert refused.exit_code == 2
    assert sentence in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert not Path("r").exists()


@pytest.mark.parametrize("method", METHODS)
def test_a_dry_run_keeps_the_bound_on_memory(fdgcl: Command, method: str) -> None:
    words = ("embed", *FILES, "--method", method, *QUICK, "--dry-run", "--memory")
    planned = fdgcl(*words, "1GB")
    assert planned.exit_code == 0, planned.output
    assert "of 1 GB" in planned.stdout
    # Orders and diffusions are FD-GCL's.
    assert ("orders" in planned.stdout) == (method == "fdgcl")
    refused = fdgcl(*words, "1kB")
    assert refused.exit_code == 2
    assert "memory must be at least" in refused.stderr
