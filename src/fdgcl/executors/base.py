"""What a task is, and what runs tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from fdgcl._checks import check_count
from fdgcl.methods.fdgcl.slice_plan import cores


class WorkerError(RuntimeError):
    """Workers were lost, and a task with them, more often than is chance."""


@dataclass(frozen=True)
class Task:
    """One slice of a diffusion: names of folders and numbers, never arrays.

    Attributes:
        store: Folder of the store.
        diffusion: Folder with the recipe.
        number: Of the slice.
        threads: To use, and no more.
    """

    store: str
    diffusion: str
    number: int
    threads: int

    def run(self) -> int:
        """Do it in this process, unless it is done; return its number."""
        # Here, for that module imports this one.
        from fdgcl.methods.fdgcl.diffusing import diffuse_slice

        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            diffuse_slice(self.store, self.diffusion, self.number, self.threads)
        finally:
            torch.set_num_threads(before)
        return self.number


class Executor(Protocol):
    """Runs tasks, in any order, each at least once.

    Attributes:
        workers: Tasks at the same time.
        threads: Of each task.
        on_this_machine: Whether workers share this machine's memory.
    """

    workers: int
    threads: int
    on_this_machine: bool

    def run(self, tasks: Sequence[Task], done: Callable[[int], None]) -> None:
        """Run all tasks.

        Args:
            tasks: The tasks.
            done: Called in this process with the number of each that is done.

        Raises:
            InputError: A task did; the others are given up.
            WorkerError: Workers were lost too often.
        """


def share_of_cores(threads: int | None, workers: int) -> int:
    """The threads of each worker: as told, or the cores shared among them."""
    if threads is not None:
        return check_count("threads", threads)
    return max(1, cores() // workers)
