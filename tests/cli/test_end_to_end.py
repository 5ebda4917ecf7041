"""200,000 nodes from edge list to embedding, by the commands a user types.

The same path as ten million nodes take: import, diffuse and train on disk, each a
process of its own that must stay below a bound on memory.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from typer.testing import CliRunner

from fdgcl import FDGCL
from fdgcl.cli import app
from fdgcl.embeddings import read_embeddings
from fdgcl.graphs.store.store import Store
from helpers.stores import in_memory
from tolerances import half_digits

NODES, EDGES, FEATURES, DIM = 200_000, 2_000_000, 64, 128
MEMORY = 1_000_000_000


@pytest.mark.slow
def test_from_edge_list_to_embedding_within_a_gigabyte(tmp_path: Path) -> None:
    """One test, for it must not run twice where tests are shared by processes."""
    work = tmp_path / "work"
    record = _run(work)
    _check_bound(record)
    store = Store.open(work / "store")
    _check_graph(store, work / "source")
    ids, rows = read_embeddings(work / "z")
    given = pq.read_table(work / "source" / "features.parquet", columns=["id"])
    assert np.array_equal(ids, given["id"].to_numpy())
    _check_rows(rows)
    expected = FDGCL.load(work / "run").transform(in_memory(store))
    _check_equal(rows, expected)
    shutil.rmtree(work)  # half a gigabyte


def _run(work: Path) -> dict[str, Any]:
    record = work.with_suffix(".json")
    sizes = f"--nodes {NODES} --edges {EDGES} --features {FEATURES} --dim {DIM}"
    place = f"--memory {MEMORY} --folder {work} --keep -o {record} --quiet"
    words = f"bench --out-of-core {sizes} --epochs 3 {place}".split()
    result = CliRunner().invoke(app, words, prog_name="fdgcl")
    assert result.exit_code == 0, result.output
    assert "bound kept: yes" in result.stdout
    found: dict[str, Any] = json.loads(record.read_text())
    return found


def _check_bound(record: dict[str, Any]) -> None:
    for stage in record["stages"][1:]:
        assert 10**8 < stage["peak_bytes"] <= MEMORY, stage["stage"]
    assert record["total"]["bound_kept"] is True


def _check_graph(store: Store, source: Path) -> None:
    """The store against SciPy's reading of the file that was imported."""
    table = pq.read_table(source / "edges.parquet")
    ends = [table[name].to_numpy() for name in ("source", "target")]
    ones = np.ones(len(table), np.float32)
    one_way = coo_array((ones, tuple(ends)), shape=(NODES, NODES)).tocsr()
    both = csr_array(one_way + one_way.T)
    both.setdiag(0)
    both.eliminate_zeros()
    both.sort_indices()
    assert store.manifest.nodes == NODES
    assert np.array_equal(np.load(store.starts.path), both.indptr)
    assert np.array_equal(np.load(store.neighbours.path), both.indices)
    table = pq.read_table(source / "features.parquet")
    given = table["features"].combine_chunks().flatten().to_numpy()
    found = np.hstack([np.load(block.path) for block in store.features])
    assert np.array_equal(found, given.reshape(NODES, FEATURES))


def _check_rows(rows: NDArray[np.float32]) -> None:
    assert rows.shape == (NODES, DIM)
    assert np.isfinite(rows).all()
    # Nodes do not share one row: training has not collapsed.
    assert len(np.unique(rows[:1000].round(4), axis=0)) > 900


def _check_equal(rows: NDArray[np.float32], expected: NDArray[np.float32]) -> None:
    """The embedding against that of the same model with all of the graph in memory."""
    sample = np.random.default_rng(0).choice(NODES, 20_000, replace=False)
    apart = float(np.abs(rows[sample] - expected[sample]).max())
    size = float(np.abs(expected[sample]).max())
    print(f"\nlargest difference {apart:.1e}, largest entry {size:.1e}")
    assert apart < half_digits(np.float32) * size
