"""Which unit comes next, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from fdgcl.experiments.unit_task import UnitTask

Kind = tuple[str, str]  # dataset and part: units of one kind take about as long


def kind_of(task: UnitTask) -> Kind:
    """What a task's time is estimated by."""
    return task.experiment.dataset, task.unit.part


class TaskQueue:
    """The tasks that are left: kinds never seen before first, then the longest.

    Starting with one of each kind shows early how long everything takes; of the rest
    the longest come first, so that no process is left with one of them at the end.

    Args:
        tasks: All tasks, in reading order.
        known: Seconds of tasks that were done earlier.
    """

    def __init__(
        self, tasks: Iterable[UnitTask], known: Iterable[tuple[Kind, float]] = ()
    ) -> None:
        self._left = list(tasks)
        self._running: list[UnitTask] = []
        self._seconds: dict[Kind, list[float]] = {}
        for kind, seconds in known:
            self._seconds.setdefault(kind, []).append(seconds)
        self._started: set[Kind] = set(self._seconds)

    def __len__(self) -> int:
        return len(self._left)

    def take(self) -> UnitTask:
        """Take the next task off the list."""
        task = max(self._left, key=self._urgency)
        self._left.remove(task)
        self._running.append(task)
        self._started.add(kind_of(task))
        return task

    def finish(self, task: UnitTask, seconds: float | None) -> None:
        """Note that a task is done, and what it took; None when it failed."""
        self._running.remove(task)
        if seconds is not None:
            self._seconds.setdefault(kind_of(task), []).append(seconds)

    def seconds_left(self, processes: int) -> float | None:
        """How long the rest will take; None before anything is known."""
        known = {kind: fmean(values) for kind, values in self._seconds.items()}
        if not known:
            return None
        typical = fmean(known.values())
        left = [known.get(kind_of(t), typical) for t in (*self._left, *self._running)]
        longest = max(left, default=0.0)
        return max(sum(left) / processes, longest)

    def _urgency(self, task: UnitTask) -> tuple[bool, float]:
        kind = kind_of(task)
        seconds = self._seconds.get(kind)
        return kind not in self._started, fmean(seconds) if seconds else 0.0
