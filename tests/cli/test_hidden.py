"""Columns of the views and of the embedding, on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

from smallgraph import FEATURES, SMALL, Command

from fdgcl import FDGCL
from fdgcl.embeddings import read_embeddings

FILES = ("embed", "edges.csv", "--features", "x.parquet", *SMALL)


def test_the_embedding_has_dim_columns(fdgcl: Command, folder: Path) -> None:
    parts = ("--hidden", "6", "--dim", "7", "--combine", "concat", "--beta", "0.5")
    # Two views, and four blocks of the features beside them.
    columns = 2 * 6 + 4 * FEATURES
    result = fdgcl(*FILES, *parts, "--run", "r", "-o", "z.parquet")
    assert result.exit_code == 0, result.output
    told = f"the parts of the embedding have {columns} columns; these are compressed"
    assert f"{told} by PCA, to 7" in " ".join(result.stderr.split())
    assert read_embeddings(folder / "z.parquet")[1].shape[1] == 7
    settings = json.loads((folder / "r" / "config.json").read_text())["settings"]
    assert (settings["dim"], settings["hidden"]) == (7, 6)
    again = fdgcl(
        "transform", "r", "edges.csv", "--features", "x.parquet", "-o", "y.parquet"
    )
    assert again.exit_code == 0, again.output
    (folder / "z.parquet").unlink()
    assert fdgcl("report", "r").exit_code == 0
    page = (folder / "r" / "report.html").read_text(encoding="utf-8")
    assert "nodes embedded in 7 dimensions" in page
    _, _, section = page.partition("<h2>The parts of the embedding")
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", section.partition("<h2>")[0])
    kept = [int(cell) for cell in cells[1::3]]
    assert tuple(kept) == FDGCL.load("r").part_columns_
    assert sum(kept) == 7


def test_fewer_columns_than_parts_are_refused(fdgcl: Command) -> None:
    parts = ("--dim", "2", "--combine", "concat", "--keep", "features")
    result = fdgcl(*FILES, *parts)
    assert result.exit_code == 2
    assert "dim must be at least 3" in " ".join(result.stderr.split())


def test_help_says_what_each_means(fdgcl: Command) -> None:
    text = " ".join(fdgcl("embed", "--help-all").stdout.replace("│", " ").split())
    assert "Columns of the embedding, at most." in text
    assert "--hidden" in text
    assert "Columns of each view" in text
