"""What is kept beside the views, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from smallgraph import SMALL, Command

from fdgcl import Graph
from fdgcl.graphs import write_compact

NODES, FEATURES, DIM = 40, 5, 8


@pytest.mark.parametrize("directed", [True, False])
def test_means_over_neighbours_are_kept(
    fdgcl: Command, folder: Path, directed: bool
) -> None:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, NODES, (120, 2))
    if not directed:
        edges = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
    x = rng.standard_normal((NODES, FEATURES)).astype(np.float32)
    write_compact(folder / "g.npz", Graph.from_edges(edges, x))
    keep = ("--keep", "features,out,in,global", "--keep-weight", "1,2,2,0.5")
    keep += ("--hidden", str(DIM), "--dim", "64")
    result = fdgcl("embed", "g.npz", *SMALL, *keep, "-o", "z.parquet", "--run", "run")
    assert result.exit_code == 0, result.output
    sides = ["out", "in"] if directed else ["neighbours"]
    config = json.loads((folder / "run" / "config.json").read_text())
    assert config["decisions"]["kept"] == ["features", *sides, "global"]
    assert config["settings"]["keep_weight"] == [1, 2, 2, 0.5]
    width = 2 * DIM + FEATURES * (2 + len(sides))
    table = pq.read_table(folder / "z.parquet")
    assert f"({NODES} nodes x {width}" in result.stdout
    assert len(table) == NODES
    result = fdgcl("transform", "run", "g.npz", "-o", "again.parquet")
    assert result.exit_code == 0, result.output
    assert pq.read_table(folder / "again.parquet").equals(table)


def test_weights_must_be_those_of_the_blocks(fdgcl: Command, folder: Path) -> None:
    (folder / "edges.csv").write_text("source,target\n0,1\n1,2\n")
    words = ("--keep", "out,in", "--keep-weight", "1,2,3")
    result = fdgcl("embed", "edges.csv", *SMALL, *words)
    assert result.exit_code == 2
    assert "for each of the 2 blocks of keep (out, in)" in " ".join(
        result.stderr.split()
    )
