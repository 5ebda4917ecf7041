"""A working folder, and a small graph in memory that is also in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fdgcl import Graph, block_model


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, without a folder of datasets."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FDGCL_DATA", raising=False)
    return tmp_path


@pytest.fixture
def graph(folder: Path) -> Graph:
    """Two communities, as edges.csv, x.csv and y.csv too; ids are the row numbers."""
    made = block_model(60, 2, degree=6, num_features=5, num_splits=2, seed=3)
    assert made.y is not None
    pairs = np.column_stack(made.adjacency.nonzero())
    _write(folder / "edges.csv", "source,target", pairs[pairs[:, 0] < pairs[:, 1]])
    x = np.asarray(made.features)
    header = ",".join(["id", *(f"f{k}" for k in range(x.shape[1]))])
    _write(folder / "x.csv", header, np.column_stack([made.ids, x]))
    names = np.array(["a", "b"])[made.y]
    _write(folder / "y.csv", "id,label", np.column_stack([made.ids, names]))
    return made


def _write(path: Path, header: str, rows: np.ndarray) -> None:
    lines = [
        ",".join(
            str(int(float(value))) if place == 0 else str(value)
            for place, value in enumerate(row)
        )
        for row in rows.tolist()
    ]
    path.write_text("\n".join([header, *lines]) + "\n")
