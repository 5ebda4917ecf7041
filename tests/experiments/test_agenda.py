"""Which unit comes next, and what is said of the time left."""

from __future__ import annotations

from dataclasses import replace

import pytest
from toys import TOY, Toy, toy

from fdgcl.experiments.agenda import Agenda, kind_of
from fdgcl.experiments.worker import Task


def _tasks(dataset: str, *parts: str, seeds: int = 2) -> list[Task]:
    experiment = replace(toy(*parts), dataset=dataset)
    units = Toy().units(experiment, seeds)
    return [Task(experiment, unit, TOY, "cpu", None) for unit in units]


def _order(agenda: Agenda) -> list[tuple[str, str, int]]:
    found = []
    while len(agenda):
        task = agenda.take()
        found.append((*kind_of(task), task.unit.seed))
    return found


def test_new_kinds_come_first_then_the_longest() -> None:
    tasks = [*_tasks("a", "p", "q"), *_tasks("b", "p")]
    known = [(("a", "q"), 5.0), (("a", "q"), 7.0), (("b", "p"), 9.0)]
    order = _order(Agenda(tasks, known))
    assert order[0] == ("a", "p", 0)  # never done
    assert order[1:] == [
        ("b", "p", 0),
        ("b", "p", 1),
        ("a", "q", 0),
        ("a", "q", 1),
        ("a", "p", 1),
    ]


def test_time_left_is_by_dataset_and_part() -> None:
    agenda = Agenda([*_tasks("a", "p", seeds=3), *_tasks("b", "p", seeds=3)])
    assert agenda.seconds_left(2) is None
    first, second = agenda.take(), agenda.take()
    agenda.finish(first, 10.0)
    # Two of the known kind; the three others are taken to be like it.
    assert agenda.seconds_left(1) == pytest.approx(50.0)
    agenda.finish(second, 2.0)
    assert agenda.seconds_left(1) == pytest.approx(2 * 10 + 2 * 2)
    assert agenda.seconds_left(2) == pytest.approx(12)
    assert agenda.seconds_left(4) == pytest.approx(10)  # the longest one alone


def test_a_failure_teaches_nothing() -> None:
    agenda = Agenda(_tasks("a", "p"))
    agenda.finish(agenda.take(), None)
    assert agenda.seconds_left(1) is None
    assert len(agenda) == 1
