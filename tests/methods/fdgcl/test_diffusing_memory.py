"""The bound on memory, kept by a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.stores import make_store

PROGRAM = """
import json, re, sys
from pathlib import Path
from fdgcl import FDGCL
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.running import diffuse_store
from fdgcl._memory import resident_bytes

before = resident_bytes()
store = Store.open(sys.argv[1])
settings = FDGCL(time=10, step=5, rate=0.5).check()
diffusion = diffuse_store(store, settings, memory=int(sys.argv[2]))
status = Path("/proc/self/status").read_text()
peak = int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) * 1024
slices = diffusion.recipe.num_slices
print(json.dumps({"before": before, "peak": peak, "slices": slices}))
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").is_file(), reason="peaks are read from Linux' /proc"
)
def test_memory_is_kept(tmp_path: Path) -> None:
    store = make_store(
        tmp_path / "g", nodes=400_000, edges=900_000, features=64, block_columns=8
    )
    found = {}
    for bound in (600_000_000, 1_200_000_000):
        for file in (store.folder / "diffused").glob("*/recipe.json"):
            file.unlink()
        for file in (store.folder / "diffused").glob("*/*/*.json"):
            file.unlink()
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(store.folder), str(bound)],
            check=True,
            capture_output=True,
            text=True,
        )
        found[bound] = json.loads(run.stdout)
        assert found[bound]["peak"] <= bound
    # All columns at once would not have fitted: two sums and two terms of each.
    whole = 400_000 * 64 * 4 * 4
    assert found[600_000_000]["before"] + whole > 0.93 * 600_000_000
    small, large = (found[bound]["slices"] for bound in found)
    assert small > large == 1
