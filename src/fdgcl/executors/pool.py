"""Processes that do tasks side by side; one that dies is known by its task."""

from __future__ import annotations

import pickle
import signal
import time
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from multiprocessing import connection, get_context
from typing import Any, Generic, Protocol, TypeVar

from fdgcl._environment import environment
from fdgcl._interrupts import without_interrupts
from fdgcl.executors.base import Task
from fdgcl.executors.outcomes import Died, Outcome
from fdgcl.executors.worker import GRACE_SECONDS, serve

K = TypeVar("K", bound=Task[Any])
K_co = TypeVar("K_co", bound=Task[Any], covariant=True)


class Queue(Protocol[K_co]):
    """Decides which task comes next, each time that a process is free."""

    def __len__(self) -> int:
        """How many are left."""

    def take(self) -> K_co:
        """Take the next one off."""


class InOrder(Generic[K]):
    """Tasks as they are listed.

    Args:
        tasks: The list.
    """

    def __init__(self, tasks: Sequence[K]) -> None:
        self._left: list[K] = list(reversed(tasks))

    def __len__(self) -> int:
        return len(self._left)

    def take(self) -> K:
        """Take the next one off."""
        return self._left.pop()


def run_tasks(
    queue: Queue[K], *, processes: int, threads: int | None, tries: int = 1
) -> Generator[tuple[K, Outcome], None, None]:
    """Do all tasks; yield each with what came of it, as soon as it is there.

    A task that raises, or whose process dies, spoils no other. When the iteration is
    left early, the processes are ended; they also end with this one, however it ends.

    Args:
        queue: The tasks.
        processes: How many to do at once.
        threads: Of each process; None for as many as its libraries take.
        tries: How often a task is begun whose process dies.
    """
    workers: list[_Worker[K]] = []
    again: list[K] = []
    deaths: Counter[str] = Counter()
    try:
        while True:
            while again or len(queue):
                worker = _free(workers, processes, threads)
                if worker is None:
                    break
                worker.begin(again.pop() if again else queue.take())
            if not any(worker.task for worker in workers):
                return
            for worker in _ready(workers):
                task, outcome = worker.finish()
                if isinstance(outcome, Died):
                    workers.remove(worker)
                    deaths[task.key] += 1
                    if deaths[task.key] < tries:
                        again.append(task)
                        continue
                yield task, outcome
    finally:
        _end(workers)


def thread_limits(threads: int | None) -> dict[str, str]:
    """Environment variables that numerical libraries read when they are loaded.

    Args:
        threads: To be used; None for as many as they take.

    Example:
        >>> thread_limits(2)["OMP_NUM_THREADS"]
        '2'
    """
    if threads is None:
        return {}
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


class _Worker(Generic[K]):
    """One process, and the task it is at."""

    def __init__(self, threads: int | None) -> None:
        # A fresh interpreter: a forked one cannot use CUDA, nor torch's threads.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        with environment(thread_limits(threads)), without_interrupts():
            self.process.start()
        theirs.close()
        self.task: K | None = None

    def begin(self, task: K) -> None:
        """Hand over a task."""
        self.task = task
        with suppress(BrokenPipeError):  # it has just died: `finish` will say so
            self.pipe.send_bytes(pickle.dumps(task))

    def finish(self) -> tuple[K, Outcome]:
        """What came of the task."""
        task, self.task = self.task, None
        assert task is not None
        try:
            return task, self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(GRACE_SECONDS)
            how = _cause(self.process.exitcode)
            _end([self])
            return task, Died(how)


def _free(
    workers: list[_Worker[K]], processes: int, threads: int | None
) -> _Worker[K] | None:
    """A process without a task, started where there are too few; None if all work."""
    for worker in list(workers):
        if worker.task is None:
            if worker.process.is_alive():
                return worker
            workers.remove(worker)
            _end([worker])
    if len(workers) == processes:
        return None
    workers.append(_Worker(threads))
    return workers[-1]


def _ready(workers: Iterable[_Worker[K]]) -> list[_Worker[K]]:
    """Wait until some processes have an answer, or died."""
    busy = [worker for worker in workers if worker.task is not None]
    ready = connection.wait([worker.pipe for worker in busy])
    return [worker for worker in busy if worker.pipe in ready]


def _end(workers: Sequence[_Worker[K]]) -> None:
    """End processes: what they are at may remove what is half done."""
    for worker in workers:
        worker.process.terminate()
    latest = time.monotonic() + GRACE_SECONDS
    for worker in workers:
        worker.process.join(max(0.0, latest - time.monotonic()))
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        reason = "; was there too little memory?" if name == "SIGKILL" else ""
        return f"the process was ended by {name}{reason}"
    return f"the process ended with exit code {code}"
