"""A worker that is killed in the middle: the others finish, and nobody can tell."""

from __future__ import annotations

from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from fdgcl.executors import Dask, Executor, Processes
from helpers.accidents import kill, partial_files
from helpers.stores import make_store
from helpers.tasks import begun, contents, diffused_here, tasks_of

SIZES: dict[str, Any] = {"nodes": 20_000, "edges": 100_000, "features": 12}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Processes, Dask])
def test_a_killed_worker_is_made_good(tmp_path: Path, kind: type) -> None:
    expected = diffused_here(begun(make_store(tmp_path / "a", **SIZES)))
    diffusion = begun(make_store(tmp_path / "b", **SIZES))
    seen: list[int] = []
    pids: set[int] = set()

    def done(number: int) -> None:
        children = {process.pid for process in active_children() if process.pid}
        if not seen:
            kill(min(children))
        seen.append(number)
        pids.update(children)

    executor: Executor = kind(workers=2, threads=1)
    assert (executor.workers, executor.threads) == (2, 1)
    assert executor.on_this_machine
    executor.run(tasks_of(diffusion), done)
    assert sorted(seen) == list(range(12))
    # With Dask the other worker may do all before a new one is up.
    assert len(pids) > 2 or kind is Dask
    assert not active_children()
    # What it had half written was replaced with what it was to be.
    assert not partial_files(diffusion.folder)
    found = contents(diffusion)
    assert found.keys() == expected.keys()
    assert found == expected
