"""`--reduce` and `--feature-scaling auto` on files and stores, there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from smallgraph import Command

from fdgcl.embeddings import read_embeddings
from tolerances import assert_agree

WIDE, NODES = 60, 80
DIFFUSED = ("--time", 2, "--step", 1, "--reduce", 32, "--seed", 3)
AUTO = ("--feature-scaling", "auto")
SMALL = (*DIFFUSED, "--dim", 8, "--epochs", 2)


def write_wide(folder: Path, name: str, nodes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, 4 * nodes))
    # Both ways, so that a store knows as much of them as the files.
    ends = np.concatenate([ends, ends[::-1]], axis=1)
    pq.write_table(
        pa.table({"source": ends[0], "target": ends[1]}), folder / f"{name}.parquet"
    )
    words = rng.poisson(0.3, (nodes, WIDE)).astype(np.float32)
    columns: dict[str, Any] = {f"w{k}": words[:, k] for k in range(WIDE)}
    table = pa.table({"id": np.arange(nodes), **columns})
    pq.write_table(table, folder / f"{name}-x.parquet")


@pytest.fixture
def wide(folder: Path) -> Path:
    write_wide(folder, "e", NODES, seed=0)
    write_wide(folder, "other", 50, seed=1)
    return folder


def test_files_there_and_back(fdgcl: Command, wide: Path) -> None:
    files = ("e.parquet", "--features", "e-x.parquet")
    result = fdgcl("embed", *files, *SMALL, *AUTO, "--run", "r", "-o", "z.parquet")
    assert result.exit_code == 0, result.output
    told = " ".join(result.stderr.split())
    assert "60 columns of features are reduced to 32 by their principal" in told
    assert "feature_scaling 'row' was chosen" in told
    config = json.loads((wide / "r" / "config.json").read_text())
    assert config["settings"]["feature_scaling"] == "row"
    assert config["settings"]["reduce"] == 32
    again = fdgcl("transform", "r", *files, "-o", "again.parquet")
    assert again.exit_code == 0, again.output
    found, expected = (
        read_embeddings(wide / f"{name}.parquet")[1] for name in ("again", "z")
    )
    assert_agree(found, expected)
    others = ("other.parquet", "--features", "other-x.parquet")
    result = fdgcl("transform", "r", *others, "-o", "o.parquet")
    assert result.exit_code == 0, result.output
    assert read_embeddings(wide / "o.parquet")[1].shape == (50, 8)
    page = fdgcl("report", "r", "-o", "page.html")
    assert page.exit_code == 0, page.output


def test_a_store_there_and_back(fdgcl: Command, wide: Path) -> None:
    files = ("e.parquet", "--features", "e-x.parquet")
    imported = fdgcl("data", "import", *files, "--store", "g")
    assert imported.exit_code == 0, imported.output
    plan = fdgcl("diffuse", "g", *DIFFUSED, *AUTO, "--dry-run")
    assert plan.exit_code == 0, plan.output
    assert "60 columns of features reduced to 32" in " ".join(plan.output.split())
    result = fdgcl("diffuse", "g", *DIFFUSED, *AUTO)
    assert result.exit_code == 0, result.output
    told = " ".join(result.stderr.split())
    assert "60 columns of features are reduced to 32 by their principal" in told
    assert "feature_scaling 'row' was chosen" in told
    trained = fdgcl("train", "g", *SMALL, *AUTO, "--run", "r", "-o", "z")
    assert trained.exit_code == 0, trained.output
    result = fdgcl("transform", "r", "g", "-o", "again")
    assert result.exit_code == 0, result.output
    z = read_embeddings(wide / "z")[1]
    assert np.array_equal(read_embeddings(wide / "again")[1], z)
    # All three with one diffusion.
    [diffused] = (wide / "g" / "diffused").iterdir()
    assert (diffused / "directions.npy").is_file()
    # As from the files.
    result = fdgcl("embed", *files, *SMALL, *AUTO, "--run", "m", "-o", "m.parquet")
    assert result.exit_code == 0, result.output
    ids, found = read_embeddings(wide / "m.parquet")
    order = np.argsort(ids), np.argsort(read_embeddings(wide / "z")[0])
    assert_agree(found[order[0]], z[order[1]])
    result = fdgcl("transform", "m", "g", "-o", "mz")
    assert result.exit_code == 0, result.output
    assert_agree(read_embeddings(wide / "mz")[1], z)


def test_what_cannot_be_is_refused(fdgcl: Command, wide: Path) -> None:
    assert wide.is_dir()
    files = ("e.parquet", "--features", "e-x.parquet")
    result = fdgcl("embed", *files, "--reduce", -1)
    assert result.exit_code == 2
    assert "reduce must be a whole number of at least 0, got -1" in result.output
