"""Tasks one after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fdgcl.executors.base import Task, share_of_cores


class InProcess:
    """Runs each task with all threads; what the others are compared with.

    Args:
        threads: Of a task; None for as many as there are cores.
    """

    workers = 1
    on_this_machine = True

    def __init__(self, threads: int | None = None) -> None:
        self.threads = share_of_cores(threads, 1)

    def run(self, tasks: Sequence[Task], done: Callable[[int], None]) -> None:
        """Run all tasks."""
        for task in tasks:
            done(task.run())
