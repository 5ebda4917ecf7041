"""The memory that is allowed is a bound: the peak of a fresh process stays below it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from fdgcl._memory import resident_bytes
from fdgcl.graphs.importing import Request, plan_import

NODES, EDGES, WIDTH = 300_000, 5_000_000, 24
ALLOWED = 700 * 10**6

WORKER = textwrap.dedent(
    """
    import json, re, sys
    from pathlib import Path
    from fdgcl.graphs.importing import Request, run_request

    *files, folder, memory = sys.argv[1:]
    request = Request(*map(Path, files))
    store = run_request(request, Path(folder), int(memory))
    status = Path("/proc/self/status").read_text()
    peak = int(re.search(r"VmHWM:\\s+([0-9]+) kB", status)[1]) * 1024
    print(json.dumps({"peak": peak, "entries": store.manifest.entries}))
    """
)

needs_peak = pytest.mark.skipif(
    not Path("/proc/self/status").is_file(),
    reason="the peak of a process is read from /proc, which only Linux has",
)


def imported(folder: Path, *files: Path, allowed: int = ALLOWED) -> Any:
    words = [*map(str, files), str(folder), str(allowed)]
    result = subprocess.run(
        [sys.executable, "-c", WORKER, *words],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
    )
    return json.loads(result.stdout)


@needs_peak
@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_five_million_edges_in_one_row_group(tmp_path: Path, weighted: bool) -> None:
    """Whole, with features, they would take 5 M * 2 * 20 bytes and more."""
    rng = np.random.default_rng(0)
    start, end = (rng.integers(0, NODES, EDGES) for _ in range(2))
    names = rng.permutation(2**60 // NODES * np.arange(NODES, dtype=np.int64))
    columns = {"source": names[start], "target": names[end]}
    if weighted:
        columns["weight"] = rng.random(EDGES, np.float32)
    pq.write_table(pa.table(columns), tmp_path / "e.parquet", row_group_size=EDGES)
    x = pa.array(rng.standard_normal(NODES * WIDTH, np.float32))
    vectors = pa.FixedSizeListArray.from_arrays(x, WIDTH)
    table = pa.table({"id": names, "x": vectors})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=NODES)
    files = (tmp_path / "e.parquet", tmp_path / "x.parquet")
    found = imported(tmp_path / "store", *files)
    assert found["peak"] < ALLOWED
    keys = np.concatenate((start * NODES + end, end * NODES + start))
    keys = keys[np.tile(start != end, 2)]
    keys.sort()
    assert found["entries"] == 1 + np.count_nonzero(np.diff(keys))


@needs_peak
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["x.parquet", "x.csv", "x.npy"])
def test_many_columns_of_many_kinds(tmp_path: Path, kind: str) -> None:
    """As numbers of 64 bits they would take 192 MB, and unpacked pages twice that."""
    rows, width, allowed = 150_000, 160, 600 * 10**6
    rows = rows if kind != "x.csv" else 60_000  # enough: its blocks are the same
    rng = np.random.default_rng(0)
    ends = {"source": np.arange(rows), "target": (np.arange(rows) + 1) % rows}
    pq.write_table(pa.table(ends), tmp_path / "e.parquet")
    x = rng.standard_normal((rows, width)) * 10.0 ** (np.arange(width) % 7)
    if kind == "x.npy":
        np.save(tmp_path / kind, x)
    else:
        columns: dict[str, Any] = {"id": np.arange(rows)}
        columns |= {f"f{j}": x[:, j] for j in range(width)}
        columns["city"] = [f"city {n}" for n in rng.integers(0, 9000, rows)]
        columns["remark"] = [f"remark number {n} of some length" for n in range(rows)]
        table = pa.table(columns)
        if kind == "x.csv":
            pacsv.write_csv(table, tmp_path / kind)
        else:
            pq.write_table(table, tmp_path / kind, row_group_size=rows)
        del table, columns
    files = (tmp_path / "e.parquet", tmp_path / kind)
    found = imported(tmp_path / "store", *files, allowed=allowed)
    assert found["peak"] < allowed


def test_the_plan_before_an_import(tmp_path: Path) -> None:
    edges = {"source": range(1000), "target": range(1, 1001)}
    pq.write_table(pa.table(edges), tmp_path / "e.parquet")
    np.save(tmp_path / "x.npy", np.arange(10010, dtype=np.float32).reshape(1001, 10))
    memory = resident_bytes() + 10**9
    request = Request(tmp_path / "e.parquet", tmp_path / "x.npy")
    plan = plan_import(request, memory)
    assert (plan.nodes, plan.edges, plan.features) == (1001, 1000, 10)
    assert plan.nodes_known
    # Starts, neighbours both ways, features and ids; and runs on the way.
    assert plan.disk_bytes == 8 * 1002 + 4 * 2000 + 4 * 10010 + 8 * 1001
    assert plan.temporary_bytes == 8 * 2000
    assert plan.least_bytes <= plan.peak_bytes <= memory
    alone = plan_import(Request(tmp_path / "e.parquet"), memory)
    assert not alone.nodes_known
    assert alone.features == 32


def test_rows_of_text_are_guessed(tmp_path: Path) -> None:
    lines = "".join(f"{i},{i + 1}\n" for i in range(1000, 9000))
    (tmp_path / "e.csv").write_text(lines)
    (tmp_path / "x.csv").write_text("node,f\n" + lines)
    request = Request(tmp_path / "e.csv", tmp_path / "x.csv")
    plan = plan_import(request, resident_bytes() + 10**9)
    assert abs(plan.edges - 8000) < 80
    assert abs(plan.nodes - 8000) < 80
    assert not plan.nodes_known
