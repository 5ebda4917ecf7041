"""Real processes: killed ones, and two at work on one study."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fdgcl.tuning import Problem
from tuning.tiny import Fake, run_search, tiny_graph

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parents[1]
WORKER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tuning.tiny import Fake, run_search, tiny_graph
from fdgcl.tuning import Problem

folder, name, seconds, trials = Path(sys.argv[2]), *sys.argv[3:6]
fake = Fake(Problem.of(tiny_graph()), seconds=float(seconds))
(folder / f"ready-{name}").touch()
while not (folder / "go").exists():
    time.sleep(0.01)
run_search(folder / "s", fake, trials=int(trials), top=2, fresh=1)
(folder / f"calls-{name}").write_text(str(len(fake.calls)))
"""


def begin(folder: Path, name: str, seconds: float, trials: int) -> subprocess.Popen:
    words = [sys.executable, "-W", "error", "-c", WORKER, TESTS, folder, name]
    return subprocess.Popen(
        [*map(str, words), str(seconds), str(trials)],
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(happened: object, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not happened():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def states(folder: Path) -> list[str]:
    return [row[0] for row in rows(folder, "SELECT state FROM trials")]


def is_training(folder: Path) -> bool:
    """Whether a trial runs whose four values are all known."""
    query = (
        "SELECT COUNT(*) FROM trials JOIN trial_params USING (trial_id) "
        "WHERE state = 'RUNNING'"
    )
    return rows(folder, query) == [(4,)]


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    database = folder / "s" / "study.db"
    if not database.is_file():
        return []
    connection = sqlite3.connect(database, timeout=30)
    try:
        return list(connection.execute(query))
    except sqlite3.OperationalError:  # no tables yet
        return []
    finally:
        connection.close()


def test_a_killed_study_goes_on(tmp_path: Path) -> None:
    process = begin(tmp_path, "a", 0.5, 50)
    try:
        (tmp_path / "go").touch()
        wait_for(lambda: states(tmp_path).count("COMPLETE") >= 2)
        wait_for(lambda: is_training(tmp_path))
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    left = states(tmp_path)
    assert left[-1] == "RUNNING"
    fake = Fake(Problem.of(tiny_graph()))
    records = run_search(tmp_path / "s", fake, trials=len(left) + 2, fresh=0)
    assert [one.state for one in records].count("interrupted") == 1
    killed, again = records[len(left) - 1], records[len(left)]
    assert killed.state == "interrupted"
    assert again.state in ("complete", "pruned")
    assert again.values == killed.values
    # The killed one does not count: its place was taken.
    assert len(records) == len(left) + 3
    assert not list((tmp_path / "s" / ".workers").iterdir())


def test_two_processes_share_one_study(tmp_path: Path) -> None:
    both = [begin(tmp_path, name, 0.05, 16) for name in "ab"]
    try:
        wait_for(lambda: all((tmp_path / f"ready-{name}").exists() for name in "ab"))
        (tmp_path / "go").touch()
        for process in both:
            assert process.wait(timeout=60) == 0, process.stderr.read()
    finally:
        for process in both:
            process.kill()
            process.communicate()
    fake = Fake(Problem.of(tiny_graph()))
    records = run_search(tmp_path / "s", fake, trials=16, top=2, fresh=1)
    assert [one.number for one in records] == list(range(16))
    assert {one.state for one in records} <= {"complete", "pruned"}
    assert len({tuple(one.values.items()) for one in records}) == 16
    assert fake.calls == [], "nothing was left to do"
    calls = [int((tmp_path / f"calls-{name}").read_text()) for name in "ab"]
    assert min(calls) > 5, "both worked"
    # Each trial's seeds once, by one or the other; each fresh run once, where the
    # last trial may have changed what the best two are after the first process ended.
    seeds = sum(len(one.scores) or 1 for one in records)
    assert seeds + 2 <= sum(calls) <= seeds + 5
