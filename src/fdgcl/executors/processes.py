"""Tasks side by side in processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from fdgcl._checks import check_count
from fdgcl.executors.base import T, Task, WorkerError, share_of_cores
from fdgcl.executors.outcomes import Done, Failed
from fdgcl.executors.pool import InOrder, run_tasks

TRIES = 3


class Processes:
    """Runs as many tasks at a time as there are processes.

    Where a process dies another takes its place, and its task is run again, at most
    three times in all.

    Args:
        workers: Processes.
        threads: Of each; None shares the cores among them.

    Example:
        >>> Processes(2, threads=1).workers
        2
    """

    on_this_machine = True

    def __init__(self, workers: int, threads: int | None = None) -> None:
        self.workers = check_count("workers", workers)
        self.threads = share_of_cores(threads, self.workers)

    def run(self, tasks: Sequence[Task[T]], done: Callable[[T], Any]) -> None:
        """Run all tasks.

        Args:
            tasks: The tasks.
            done: Called in this process with what came of each.

        Raises:
            InputError: A task did; the others are given up.
            WorkerError: Processes died too often.
        """
        outcomes = run_tasks(
            InOrder(tasks), processes=self.workers, threads=self.threads, tries=TRIES
        )
        # Not left to the garbage collector: the processes must end with this call.
        with closing(outcomes):
            for task, outcome in outcomes:
                match outcome:
                    case Done(value):
                        done(value)
                    case Failed(error, trace):
                        raise error from RuntimeError(f"in a worker process:\n{trace}")
                    case _:
                        raise WorkerError(died(task.key, TRIES))


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
