"""Edge types on the command line, from a compact file that has them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from smallgraph import SMALL, Command

from fdgcl import Graph
from fdgcl.graphs import write_compact

NODES = 40


def write(path: Path, types: tuple[str, ...]) -> None:
    rng = np.random.default_rng(len(types))
    count = 60 * len(types)
    graph = Graph.from_edges(
        rng.integers(0, NODES, (count, 2)),
        rng.standard_normal((NODES, 5)).astype(np.float32),
        edge_types=np.resize(types, count),
    )
    write_compact(path, graph)


@pytest.fixture
def run(fdgcl: Command, folder: Path) -> Path:
    write(folder / "g.npz", ("buys", "likes"))
    parts = ("--keep", "local", "--hidden", "8", "--dim", "50")
    result = fdgcl("embed", "g.npz", *SMALL, *parts, "--run", "run")
    assert result.exit_code == 0, result.output
    told = "2 edge types (buys, likes): features are diffused along each by itself"
    assert told in result.stderr
    return folder / "run"


def test_the_report_tells_of_the_types(fdgcl: Command, run: Path) -> None:
    result = fdgcl("report", "run")
    assert result.exit_code == 0, result.output
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "buys, likes" in page
    assert "edges of all types together" in page
    schema = json.loads((run / "config.json").read_text())["schema"]
    assert schema["relations"] == ["buys", "likes"]


def test_a_missing_type_is_told_and_an_unknown_one_refused(
    fdgcl: Command, run: Path, folder: Path
) -> None:
    write(folder / "some.npz", ("buys",))
    result = fdgcl("transform", "run", "some.npz", "-o", "z.parquet")
    assert result.exit_code == 0, result.output
    assert "this graph has no edges of type likes" in result.stderr
    assert f"({NODES} nodes x {2 * 8 + 2 * 5}" in result.stdout
    write(folder / "others.npz", ("buys", "views"))
    result = fdgcl("transform", "run", "others.npz")
    assert result.exit_code == 2
    assert "this graph has others: views" in result.stderr


def test_types_are_merged_where_asked_for(fdgcl: Command, folder: Path) -> None:
    write(folder / "g.npz", ("buys", "likes"))
    arguments = ("embed", "g.npz", *SMALL, "--edge-types", "merge", "--dry-run")
    result = fdgcl(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["plan"]["workload"]["relations"] == 1
    assert "edge types" not in result.stderr


def test_too_many_types_name_the_option(fdgcl: Command, folder: Path) -> None:
    write(folder / "g.npz", tuple(f"t{at}" for at in range(17)))
    result = fdgcl("embed", "g.npz", *SMALL)
    assert result.exit_code == 2
    assert "at most, got 17" in result.stderr
    assert "--edge-types merge" in result.stderr
