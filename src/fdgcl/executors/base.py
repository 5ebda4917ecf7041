"""What a task is, and what runs tasks."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from fdgcl._checks import check_count

T = TypeVar("T")


class WorkerError(RuntimeError):
    """Worker processes died, and a task with them, more often than is chance."""


class Task(ABC, Generic[T]):
    """Work that any process can do: names of folders and numbers, never arrays.

    A task is pickled to get there, so it is a dataclass of a module. It may run more
    than once, and must leave the same behind each time.

    Example:
        >>> class Square(Task[int]):
        ...     key = "square of 7"
        ...
        ...     def run(self) -> int:
        ...         return 7 * 7
        >>> from fdgcl.executors import InProcess
        >>> InProcess(1).run([Square()], print)
        49
    """

    @property
    @abstractmethod
    def key(self) -> str:
        """What to call it where it fails, such as `slice 3`."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Files it reads, which must be the same wherever it runs.

        What it makes goes beside the last of them.
        """
        return ()

    @abstractmethod
    def run(self) -> T:
        """Do it, unless it is done; return what came of it."""


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

    def run(self, tasks: Sequence[Task[T]], done: Callable[[T], Any]) -> None:
        """Run all tasks.

        Args:
            tasks: The tasks.
            done: Called in this process with what came of each.

        Raises:
            InputError: A task did; the others are given up.
            WorkerError: Workers were lost too often.
        """


def cores() -> int:
    """Cores that this process may use.

    Example:
        >>> cores() >= 1
        True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share_of_cores(threads: int | None, workers: int) -> int:
    """The threads of each worker: those given, or the cores shared among them.

    Args:
        threads: As given; None shares the cores.
        workers: How many share them.

    Example:
        >>> share_of_cores(3, workers=2)
        3
    """
    if threads is not None:
        return check_count("threads", threads)
    return max(1, cores() // workers)
