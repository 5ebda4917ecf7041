"""Which unit comes next, and what is said of the time left."""

from __future__ import annotations

from dataclasses import replace

import pytest
from toys import TOY, Toy, toy

from fdgcl.experiments.task_queue import TaskQueue, kind_of
from fdgcl.experiments.unit_task import UnitTask


def _tasks(dataset: str, *parts: str, seeds: int = 2) -> list[UnitTask]:
    experiment = replace(toy(*parts), dataset=dataset)
    units = Toy().units(experiment, seeds)
    return [UnitTask(experiment, unit, TOY, "cpu", None) for unit in units]


def _order(queue: TaskQueue) -> list[tuple[str, str, int]]:
    found = []
    while len(queue):
        task = queue.take()
        found.append((*kind_of(task), task.unit.seed))
    return found


def test_new_kinds_come_first_then_the_longest() -> None:
    tasks = [*_tasks("a", "p", "q"), *_tasks("b", "p")]
    known = [(("a", "q"), 5.0), (("a", "q"), 7.0), (("b", "p"), 9.0)]
    order = _order(TaskQueue(tasks, known))
    assert order[0] == ("a", "p", 0)  # never done
    assert order[1:] == [
        ("b", "p", 0),
        ("b", "p", 1),
        ("a", "q", 0),
        ("a", "q", 1),
        ("a", "p", 1),
    ]


def test_time_left_is_by_dataset_and_part() -> None:
    queue = TaskQueue([*_tasks("a", "p", seeds=3), *_tasks("b", "p", seeds=3)])
    assert queue.seconds_left(2) is None
    first, second = queue.take(), queue.take()
    queue.finish(first, 10.0)
    # Two of the known kind; the three others are taken to be like it.
    assert queue.seconds_left(1) == pytest.approx(50.0)
    queue.finish(second, 2.0)
    assert queue.seconds_left(1) == pytest.approx(2 * 10 + 2 * 2)
    assert queue.seconds_left(2) == pytest.approx(12)
    assert queue.seconds_left(4) == pytest.approx(10)  # the longest one alone


def test_a_failure_teaches_nothing() -> None:
    queue = TaskQueue(_tasks("a", "p"))
    queue.finish(queue.take(), None)
    assert queue.seconds_left(1) is None
    assert len(queue) == 1
