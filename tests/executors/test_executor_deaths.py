"""Processes that die for good, and parents that do."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing import active_children
from pathlib import Path

import pytest

from fdgcl.executors import Dask, Processes, WorkerError, dask_cluster
from fdgcl.methods.fdgcl.running import SliceTask
from helpers.accidents import begin, kill, wait_for
from helpers.tasks import Deadly, Telling, is_alive

SLOW = """
import sys
from fdgcl.executors import Processes
from helpers.tasks import Slow

if __name__ == "__main__":
    folder = sys.argv[1]
    Processes(2, 1).run([Slow(folder, "", n, 1) for n in range(2)], lambda _: None)
"""


def test_what_kills_its_process_is_tried_three_times(tmp_path: Path) -> None:
    folder = str(tmp_path)
    tasks = [Telling(folder, "", 0, 1), Deadly(folder, "", 1, 1)]
    seen: list[int] = []
    with pytest.raises(WorkerError, match="a worker died 3 times at slice 1: "):
        Processes(1, 1).run(tasks, seen.append)
    assert seen == [0]
    assert (tmp_path / "tried-1").read_text() == "xxx"
    assert not active_children()


def test_what_kills_its_dask_worker_is_tried_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = str(tmp_path / "tried")

    def performer() -> Callable[..., None]:
        def perform(*_: object) -> None:
            import os

            with open(mark, "a") as stream:  # noqa: PTH123
                stream.write("x")
            os.kill(os.getpid(), 9)

        return perform

    monkeypatch.setattr(dask_cluster, "performer", performer)
    with pytest.raises(WorkerError, match="a worker died 3 times at slice 7: "):
        Dask(workers=1).run([SliceTask(str(tmp_path), "", 7, 1)], lambda _: None)
    assert Path(mark).read_text() == "xxx"
    assert not active_children()


def workers_of(folder: Path) -> list[int]:
    return [int(path.name.removeprefix("slow-")) for path in folder.glob("slow-*")]


def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    with begin(SLOW, tmp_path) as process:
        wait_for(lambda: len(workers_of(tmp_path)) == 2)
        pids = workers_of(tmp_path)
        assert all(map(is_alive, pids))
        kill(process.pid)
        wait_for(lambda: not any(map(is_alive, pids)), seconds=20)
    assert (tmp_path / "cleared").exists()
    assert os.getpid() not in pids
