"""The micro-benchmarks in `benchmarks/` still run, each once and on a small graph."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_every_benchmark_runs() -> None:
    words = ["-m", "pytest", "benchmarks", "--benchmark-disable", "-q", "-rN"]
    # Whatever told this process to be one of several must not reach that one.
    inherited = {k: v for k, v in os.environ.items() if "XDIST" not in k}
    done = subprocess.run(
        [sys.executable, *words, "-p", "no:cacheprovider"],
        cwd=ROOT,
        env={**inherited, "BENCH_NODES": "200"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "11 passed" in done.stdout
