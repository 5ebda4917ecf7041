"""A command that fails ends the same way every time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fdgcl

TOOL = Path(__file__).parents[2] / "tools" / "repeat_failures.py"
CASES = (
    "convert-bad-weight",
    "convert-bad-number",
    "convert-wide-row",
    "convert-negative-weight",
    "convert-duplicate-labels",
)


@pytest.mark.slow
def test_every_time() -> None:
    words = [sys.executable, str(TOOL), "--runs", "4", "--only", ",".join(CASES)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20 runs, 0 unclean" in done.stdout


def test_arrow_gets_no_function_to_keep() -> None:
    # It may let go of it when Python exits, and the process aborts: files/unfit.py.
    for path in Path(fdgcl.__file__).parent.rglob("*.py"):
        assert "invalid_row_handler=" not in path.read_text("utf-8"), path
