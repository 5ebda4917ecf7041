"""Tasks side by side in processes of this machine."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from fdgcl._checks import check_count
from fdgcl._environment import environment
from fdgcl._interrupts import without_interrupts
from fdgcl.executors.base import T, Task, WorkerError, share_of_cores
from fdgcl.executors.worker import begin, perform

TRIES = 3


class Processes:
    """Runs as many tasks at a time as there are processes.

    A process that dies takes its pool with it: another is made, and what was lost is
    run again, a task at most three times.

    Args:
        workers: Processes.
        threads: Of each; None shares the cores among them.
    """

    on_this_machine = True

    def __init__(self, workers: int, threads: int | None = None) -> None:
        self.workers = check_count("workers", workers)
        self.threads = share_of_cores(threads, self.workers)

    def run(self, tasks: Sequence[Task[T]], done: Callable[[T], Any]) -> None:
        """Run all tasks.

        Raises:
            InputError: A task did; the others are given up.
            WorkerError: Processes died too often.
        """
        waiting = deque(tasks)
        tries: Counter[str] = Counter()
        while waiting:
            lost = self._run_pool(waiting, done)
            tries.update(task.key for task in lost)
            hopeless = sorted(key for key, count in tries.items() if count >= TRIES)
            if hopeless:
                raise WorkerError(died(hopeless[0], TRIES))
            waiting.extendleft(reversed(lost))

    def _run_pool(
        self, waiting: deque[Task[T]], done: Callable[[T], Any]
    ) -> list[Task[T]]:
        """Run what waits; return what was being run when a process died."""
        with _pool(min(self.workers, len(waiting)), self.threads) as submit:
            # No more than can run: all that is lost with a pool was running.
            running: dict[Future[T], Task[T]] = {}
            try:
                while waiting or running:
                    while waiting and len(running) < self.workers:
                        running[submit(waiting[0])] = waiting[0]
                        waiting.popleft()
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        done(future.result())
                        del running[future]
            except BrokenProcessPool:
                return list(running.values())
        return []


def died(key: str, times: int) -> str:
    """The sentence for a task whose processes died.

    Args:
        key: Of the task.
        times: How many of them did.

    Example:
        >>> died("slice 1", 3)[:40]
        'a worker died 3 times at slice 1: was th'
    """
    return (
        f"a worker died {times} times at {key}: was there too little memory? What is "
        "done is kept: run it again with fewer workers or less memory"
    )


def thread_limits(threads: int) -> dict[str, str]:
    """What numerical libraries look at, once, when they are loaded."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


@contextmanager
def _pool(workers: int, threads: int) -> Iterator[Callable[[Task[T]], Future[T]]]:
    """Processes that take tasks, and end with the block, however that ends."""
    # A fresh interpreter: a forked one cannot use torch's threads.
    context = get_context("spawn")
    # Workers wait for the end of this pipe; it comes when this process dies, too.
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, begin, (theirs,))

    def submit(task: Task[T]) -> Future[T]:
        # Processes start on demand, and inherit both.
        with environment(thread_limits(threads)), without_interrupts():
            return pool.submit(perform, task)

    try:
        yield submit
    except BaseException:
        ours.close()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        ours.close()
        theirs.close()
