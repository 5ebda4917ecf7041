"""Processes that work side by side, each attributable when it dies."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import suppress
from multiprocessing import connection, get_context

from fdgcl._environment import environment
from fdgcl.experiments.task_queue import TaskQueue
from fdgcl.experiments.worker import Answer, Task, serve

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
_GRACE_SECONDS = 5.0


class Worker:
    """One process, and the task it is at.

    Args:
        threads: Threads of the process; None for as many as torch takes.
    """

    def __init__(self, threads: int | None) -> None:
        # A fresh interpreter: a forked one cannot use CUDA, nor torch's threads.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, threads), daemon=True
        )
        # Numerical libraries look at these once, when they are loaded.
        with environment(ONE_THREAD if threads == 1 else {}):
            self._process.start()
        theirs.close()
        self.task: Task | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the process still is."""
        return self._process.is_alive()

    def begin(self, task: Task) -> None:
        """Hand over a task."""
        self.task = task
        with suppress(BrokenPipeError):  # it has just died: `answer` will say so
            self.pipe.send(task)

    def answer(self) -> Answer:
        """What came of the task; that the process died is an answer as well."""
        self.task = None
        try:
            answer: Answer = self.pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join(_GRACE_SECONDS)
            return Answer(error=_epitaph(self._process.exitcode))
        return answer

    def end(self) -> None:
        """Kill the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def run_tasks(
    queue: TaskQueue, *, processes: int, threads: int | None
) -> Generator[tuple[Task, Answer], None, None]:
    """Do all tasks; yield each with its answer as soon as it is there.

    A task that raises, or kills its process, spoils no other. When the iteration is
    left early, the processes are killed.

    Args:
        queue: The tasks.
        processes: How many to do at once.
        threads: Threads of each process; None for as many as torch takes.
    """
    workers: list[Worker] = []
    try:
        while True:
            _fill(workers, queue, processes, threads)
            busy = [worker for worker in workers if worker.task is not None]
            if not busy:
                return
            ready = connection.wait([worker.pipe for worker in busy])
            for worker in [worker for worker in busy if worker.pipe in ready]:
                task = worker.task
                assert task is not None
                answer = worker.answer()
                queue.finish(task, None if answer.error else answer.seconds)
                yield task, answer
    finally:
        for worker in workers:
            worker.end()


def _fill(
    workers: list[Worker], queue: TaskQueue, processes: int, threads: int | None
) -> None:
    """Give every idle process a task, starting processes where there are too few."""
    for worker in [
        worker for worker in workers if not (worker.task or worker.is_alive)
    ]:
        workers.remove(worker)
        worker.end()
    idle = [worker for worker in workers if worker.task is None]
    while len(queue) and (idle or len(workers) < processes):
        if idle:
            worker = idle.pop()
        else:
            worker = Worker(threads)
            workers.append(worker)
        worker.begin(queue.take())


def _epitaph(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        reason = "; was there too little memory?" if name == "SIGKILL" else ""
        return f"the process was ended by {name}{reason}"
    return f"the process ended with exit code {code}"
