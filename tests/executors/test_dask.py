"""Slices on Dask workers: our own cluster, a running one, and what may be wrong."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from fdgcl._checks import InputError, MissingExtraError
from fdgcl.executors import Dask, dask_cluster, dask_remote
from helpers.accidents import begin
from helpers.stores import make_store
from helpers.tasks import begun, contents, diffused_here, tasks_of

WITHOUT_FDGCL = """
import asyncio, sys
sys.modules["fdgcl"] = None
from distributed import Worker

async def work():
    worker = await Worker(sys.argv[1], nthreads=1, host="127.0.0.1", memory_limit=0)
    print("ready", flush=True)
    await worker.finished()

asyncio.run(work())
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster that was there before: one worker with two threads."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=True,
        host="127.0.0.1",
        memory_limit=0,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    ) as found:
        yield found


@pytest.fixture
def address(cluster: Any) -> str:
    return str(cluster.scheduler_address)


def test_a_running_cluster_makes_the_same_bytes(tmp_path: Path, address: str) -> None:
    expected = diffused_here(begun(make_store(tmp_path / "a")))
    diffusion = begun(make_store(tmp_path / "b"))
    seen: list[int] = []
    with Dask(address) as executor:
        assert (executor.workers, executor.threads) == (1, 2)
        assert not executor.on_this_machine
        executor.run(tasks_of(diffusion), seen.append)
    assert sorted(seen) == list(range(8))
    assert contents(diffusion) == expected


def test_what_a_task_finds_is_raised_as_it_is(tmp_path: Path, address: str) -> None:
    from helpers.accidents import flip

    store = make_store(tmp_path / "g", features=6, block_columns=2)
    diffusion = begun(store, width=2)
    flip(store.folder / "features" / "001.npy", 300)
    with pytest.raises(InputError, match=r"features/001\.npy is damaged: block 0"):
        Dask(address).run(tasks_of(diffusion), lambda _: None)
    assert 1 in diffusion.missing


def test_nothing_to_do_asks_nobody() -> None:
    Dask("tcp://127.0.0.1:1").run([], lambda _: None)


def test_a_cluster_of_our_own_has_the_threads_it_is_told(tmp_path: Path) -> None:
    def tell() -> dict[str, Any]:
        import os

        import torch

        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        told = {name: os.environ[name] for name in names}
        return {**told, "torch": torch.get_num_threads()}

    diffusion = begun(make_store(tmp_path / "g"), width=4)
    before = dict(os.environ), set(active_children())
    with Dask(workers=1, threads=1) as executor:
        (found,) = executor._client.run(tell).values()
        executor.run(tasks_of(diffusion), lambda _: None)
        assert "127.0.0.1" in executor._client.scheduler.address
    assert found.pop("torch") == 1
    assert found == dict.fromkeys(found, "1")
    assert diffusion.missing == []
    assert (dict(os.environ), set(active_children())) == before


def test_nobody_at_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1)
    start = time.monotonic()
    words = r"no Dask scheduler is at 'tcp://127\.0\.0\.1:1' \(nobody answers: "
    with pytest.raises(InputError, match=words):
        Dask("tcp://127.0.0.1:1").__enter__()
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("given", ["nonsense", "", "foo://here:1", "tcp://here:port"])
def test_what_is_no_address(given: str) -> None:
    with pytest.raises(InputError, match=f"no Dask scheduler is at '{given}'"):
        Dask(given).__enter__()


def test_a_worker_is_no_scheduler(cluster: Any) -> None:
    worker = next(iter(cluster.scheduler_info["workers"]))
    with pytest.raises(InputError, match=r"\(a Worker is there\)"):
        Dask(worker).__enter__()


def test_a_cluster_without_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(dask_remote, "FIRST_WORKER_SECONDS", 0.5)
    diffusion = begun(make_store(tmp_path / "g"))
    here = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers=0, **here) as empty,
        pytest.raises(InputError, match=r"has had no worker for 0\.5 s"),
    ):
        Dask(empty.scheduler_address).run(tasks_of(diffusion), lambda _: None)


def test_files_that_workers_do_not_see(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    diffusion = begun(make_store(tmp_path / "g"))
    tasks = tasks_of(diffusion)
    monkeypatch.setattr(dask_remote, "_digest", lambda _: "other")
    with pytest.raises(InputError, match=r"has another .*manifest\.json: it must be"):
        Dask(address).run(tasks, lambda _: None)
    digest = {"manifest.json": "x"}
    (tmp_path / "g" / "manifest.json").unlink()
    monkeypatch.setattr(dask_remote, "_digest", lambda file: digest.get(file, "x"))
    with pytest.raises(InputError, match=r"does not see .*manifest\.json: it must be"):
        Dask(address).run(tasks, lambda _: None)
    assert len(diffusion.missing) == 8


def test_a_worker_with_another_version(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    diffusion = begun(make_store(tmp_path / "g"))
    monkeypatch.setattr(dask_remote, "__version__", "99.0")
    with pytest.raises(InputError, match=r"has fdgcl .*: install fdgcl 99\.0 there"):
        Dask(address).run(tasks_of(diffusion), lambda _: None)


def test_a_worker_without_the_package(tmp_path: Path, cluster: Any) -> None:
    diffusion = begun(make_store(tmp_path / "g"))
    with begin(WITHOUT_FDGCL, cluster.scheduler_address) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        with pytest.raises(InputError, match=r"has no fdgcl \(.*\): install fdgcl"):
            Dask(cluster.scheduler_address).run(tasks_of(diffusion), lambda _: None)
        worker.kill()


def test_without_distributed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install -e '\.\[dask\]'"):
        Dask()


def test_functions_are_sent_by_value() -> None:
    """A scheduler without fdgcl can pass them on."""
    import cloudpickle

    for function in (dask_remote.performer(), dask_remote._looker()):
        code = cloudpickle.dumps(function)
        assert b"look" in code or b"perform" in code
        program = (
            "import sys, pickle; sys.modules['fdgcl'] = None; "
            "print(pickle.loads(bytes.fromhex(sys.argv[1])).__name__)"
        )
        with begin(program, code.hex()) as process:
            out, error = process.communicate()
        assert (out.strip(), error) == (function.__name__, "")


@pytest.mark.parametrize("given", [{"workers": 0}, {"threads": -1}], ids=json.dumps)
def test_counts_are_checked(given: dict[str, int]) -> None:
    with pytest.raises(InputError, match="must be a whole number of at least 1"):
        Dask(**given)
