"""Tasks on the workers of a Dask cluster: one of our own here, or one that runs."""

from __future__ import annotations

import asyncio
import logging
import pickle
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Any, Self

from fdgcl._checks import InputError, check_count
from fdgcl._environment import environment
from fdgcl._interrupts import without_interrupts
from fdgcl.executors.base import T, Task, WorkerError, share_of_cores
from fdgcl.executors.dask_remote import check_workers, distributed, performer
from fdgcl.executors.pool import thread_limits
from fdgcl.executors.processes import TRIES, died

CONNECT_SECONDS = 5
# How long to wait for a task before looking whether there are new workers.
_LOOK_SECONDS = 2.0
_LOST = "the Dask scheduler was lost; what is done is kept: run it again to go on"


class Dask:
    """Runs a task on each worker at a time.

    As a context it connects at its beginning, so that what cannot work fails before
    anything long; without one, `run` does. With an address, the files that tasks read
    must be at the same path for all workers.

    Args:
        address: Of a running scheduler; None starts a cluster on this machine.
        workers: Tasks at the same time; None is one, or all workers of a running
            cluster, also those that join later.
        threads: Of each task; None shares this machine's cores, or takes as many as
            a worker of a running cluster offers.
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        threads: int | None = None,
    ) -> None:
        distributed()  # missing, it fails now
        self.address, self.on_this_machine = address, address is None
        self._most = None if workers is None else check_count("workers", workers)
        self._told = None if threads is None else check_count("threads", threads)
        self.workers = self._most or 1
        here = share_of_cores(threads, self.workers)
        self.threads = here if address is None else self._told or 1
        self._client: Any = None
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            opened.enter_context(_quiet())
            if self.address is None:
                self._client = opened.enter_context(_local(self.workers, self.threads))
            else:
                self._client = opened.enter_context(_connected(self.address))
                offered = self._client.nthreads()
                self.workers = self._most or max(1, len(offered))
                self.threads = self._told or min(offered.values(), default=1)
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client = None
        self._opened.close()

    def run(self, tasks: Sequence[Task[T]], done: Callable[[T], Any]) -> None:
        """Run all tasks.

        Args:
            tasks: The tasks.
            done: Called in this process with what came of each.

        Raises:
            InputError: No scheduler or worker answers, workers do not see the files
                or have another fdgcl, or a task did; the others are given up.
            WorkerError: Workers were lost too often.
        """
        if not tasks:
            return
        if self._client is None:
            with self:
                self.run(tasks, done)
            return
        if self.address is not None:
            check_workers(self._client, self.address, tasks[0])
        with self._client.as_current():
            _Submitted(self._client, self._most).run(tasks, done)


class _Submitted:
    """The tasks that the cluster has now, as many as there are workers.

    Which one runs which is left to Dask, that gives a new one to the least busy: a
    task that was bound to a worker would wait for it forever if it is lost.
    """

    def __init__(self, client: Any, most: int | None) -> None:
        self._client, self._most = client, most
        self._tasks: dict[Any, str] = {}

    def run(self, tasks: Sequence[Task[T]], done: Callable[[T], Any]) -> None:
        waiting = list(reversed(tasks))
        try:
            while waiting or self._tasks:
                for _ in range(min(self._free(), len(waiting))):
                    self._submit(waiting.pop())
                for future in self._finished():
                    done(_result(future, self._tasks[future]))
                    del self._tasks[future]
        finally:
            with suppress(OSError):  # where the scheduler is lost
                self._client.cancel(list(self._tasks))

    def _finished(self) -> Any:
        """Those of our tasks that are done by now, after a while also none."""
        futures = list(self._tasks)
        try:
            return distributed().wait(futures, _LOOK_SECONDS, "FIRST_COMPLETED").done
        except TimeoutError:
            return ()

    def _free(self) -> int:
        """How many more may run, with the workers there are by now."""
        # One even without any: a cluster that grows on demand waits for it.
        try:
            workers = max(1, len(self._client.nthreads()))
        except OSError:
            raise WorkerError(_LOST) from None
        most = workers if self._most is None else min(workers, self._most)
        return max(0, most - len(self._tasks))

    def _submit(self, task: Task[Any]) -> None:
        future = self._client.submit(
            performer(),
            # In bytes, so that a scheduler needs nothing of what is in it.
            pickle.dumps(task),
            key=f"fdgcl-{task.key.replace(' ', '-')}-{uuid.uuid4()}",
            retries=TRIES - 1,
            pure=False,
        )
        self._tasks[future] = task.key


def _result(future: Any, key: str) -> Any:
    try:
        found = future.result()
    except distributed().KilledWorker as error:
        raise WorkerError(died(key, error.allowed_failures + 1)) from None
    except CancelledError:
        raise WorkerError(_LOST) from None
    if isinstance(found, InputError):
        raise found
    return found


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    # A client that finds nobody does not end cleanly, so it is asked for beforehand.
    with ThreadPoolExecutor(1) as thread:  # this one may have an event loop
        asking = thread.submit(lambda: asyncio.run(_kind(address)))
    try:
        found = f"a {asking.result()} is there"
    except Exception as error:  # whatever another kind of server makes of the question
        found = f"nobody answers: {str(error) or type(error).__name__}"
    if found != "a Scheduler is there":
        message = (
            f"no Dask scheduler is at {address!r} ({found}): give the address that "
            "`dask scheduler` prints, as in tcp://host:8786"
        )
        raise InputError(message)
    with distributed().Client(
        address, timeout=CONNECT_SECONDS, set_as_default=False
    ) as client:
        yield client


async def _kind(address: str) -> str:
    """What is at an address, by its own word."""
    security = distributed().Security().get_connection_args("client")
    peer = distributed().rpc(address, timeout=CONNECT_SECONDS, connection_args=security)
    async with peer:
        found = await asyncio.wait_for(peer.identity(), CONNECT_SECONDS + 1)
    return str(found["type"])


@contextmanager
def _local(workers: int, threads: int) -> Iterator[Any]:
    from dask import config

    wanted = {"distributed.scheduler.allowed-failures": TRIES - 1}
    with ExitStack() as opened:
        # Dask hands the environment on to its workers, and adds to this process's.
        opened.enter_context(environment(thread_limits(threads)))
        opened.enter_context(config.set(wanted))
        # Half of a cluster does not end cleanly: Ctrl-C waits until it is whole.
        with without_interrupts():
            cluster = opened.enter_context(
                distributed().LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    memory_limit=0,
                    # No dashboard; its server starts all the same, on a free port.
                    dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
            )
            client = distributed().Client(cluster, set_as_default=False)
            opened.enter_context(client)
        yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask's log is for its developers; what matters is raised."""
    distributed()  # sets its loggers up
    handlers = logging.getLogger("distributed").handlers
    levels = [(handler, handler.level) for handler in handlers]
    for handler, _ in levels:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in levels:
            handler.setLevel(level)
