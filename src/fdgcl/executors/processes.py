"""Tasks side by side in processes of this machine."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context

from fdgcl._checks import check_count
from fdgcl._environment import environment
from fdgcl._interrupts import without_interrupts
from fdgcl.executors.base import Task, WorkerError, share_of_cores
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

    def run(self, tasks: Sequence[Task], done: Callable[[int], None]) -> None:
        """Run all tasks.

        Raises:
            InputError: A task did; the others are given up.
            WorkerError: Processes died too often.
        """
        waiting = deque(tasks)
        tries: Counter[int] = Counter()
        while waiting:
            lost = self._run_pool(waiting, done)
            tries.update(task.number for task in lost)
            hopeless = sorted(n for n, count in tries.items() if count >= TRIES)
            if hopeless:
                raise WorkerError(died(hopeless, TRIES))
            waiting.extendleft(reversed(lost))

    def _run_pool(
        self, waiting: deque[Task], done: Callable[[int], None]
    ) -> list[Task]:
        """Run what waits; return what was being run when a process died."""
        with _pool(min(self.workers, len(waiting)), self.threads) as submit:
            # No more than can run: all that is lost with a pool was running.
            flying: dict[Future[int], Task] = {}
            try:
                while waiting or flying:
                    while waiting and len(flying) < self.workers:
                        flying[submit(waiting[0])] = waiting[0]
                        waiting.popleft()
                    for future in wait(flying, return_when=FIRST_COMPLETED).done:
                        done(future.result())
                        del flying[future]
            except BrokenProcessPool:
                return list(flying.values())
        return []


def died(numbers: Sequence[int], times: int) -> str:
    """The sentence for slices that cost their workers' lives."""
    which = ", ".join(map(str, numbers))
    return (
        f"a worker died {times} times at slice{'s'[: len(numbers) > 1]} {which}: was "
        "there too little memory? What is done is kept: run it again with fewer "
        "workers or less memory"
    )


def thread_limits(threads: int) -> dict[str, str]:
    """What numerical libraries look at, once, when they are loaded."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return dict.fromkeys(names, str(threads))


@contextmanager
def _pool(workers: int, threads: int) -> Iterator[Callable[[Task], Future[int]]]:
    """Processes that take tasks, and end with the block, however that ends."""
    # A fresh interpreter: a forked one cannot use torch's threads.
    context = get_context("spawn")
    # Workers wait for the end of this pipe; it comes when this process dies, too.
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, begin, (theirs,))

    def submit(task: Task) -> Future[int]:
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
