"""A small graph in files, and what tests do with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import Result

NODES, FEATURES = 40, 6
SMALL = ("--dim", "8", "--epochs", "3", "--time", "2", "--step", "1")
Command = Callable[..., Result]


def write_graph(folder: Path, seed: int = 0, prefix: str = "n") -> None:
    """Write two rings with chords: ids out of order, one node without an edge."""
    rng = np.random.default_rng(seed)
    ids = [f"{prefix}{i}" for i in rng.permutation(NODES)]
    y = np.arange(NODES) % 2
    pairs = {
        (i, int(j))
        for i in range(NODES - 1)
        for j in rng.integers(0, NODES - 1, 4)
        if y[i] == y[j] and i != j
    }
    lines = ["source,target", *(f"{ids[i]},{ids[j]}" for i, j in sorted(pairs))]
    (folder / "edges.csv").write_text("\n".join(lines) + "\n")
    x = rng.standard_normal((NODES, FEATURES)) + 2 * y[:, None]
    columns = {f"f{k}": x[:, k] for k in range(FEATURES)}
    pq.write_table(pa.table({"id": ids, **columns}), folder / "x.parquet")
    labels = ["id,label", *(f"{i},{'ab'[k]}" for i, k in zip(ids, y, strict=True))]
    (folder / "y.csv").write_text("\n".join(labels) + "\n")


def edit_features(
    folder: Path, change: Callable[[dict[str, list[object]]], None]
) -> None:
    """Change the columns of x.parquet."""
    columns = pq.read_table(folder / "x.parquet").to_pydict()
    change(columns)
    pq.write_table(pa.table(columns), folder / "x.parquet")


def everything(folder: Path) -> set[Path]:
    """All files and folders, hidden ones as well."""
    return set(folder.rglob("*"))
