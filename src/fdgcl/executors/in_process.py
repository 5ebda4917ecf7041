"""Tasks one after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fdgcl.executors.base import T, Task, share_of_cores


class InProcess:
    """Runs each task with all threads; what the others are compared with.

    Args:
        threads: Of a task; None for as many as there are cores.

    Example:
        >>> InProcess(threads=2).threads
        2
    """

    workers = 1
    on_this_machine = True

    def __init__(self, threads: int | None = None) -> None:
        self.threads = share_of_cores(threads, 1)

    def run(self, tasks: Sequence[Task[T]], done: Callable[[T], Any]) -> None:
        """Run all tasks.

        Args:
            tasks: The tasks.
            done: Called with what came of each.
        """
        for task in tasks:
            done(task.run())
