"""The pool itself: what it yields, in which order, and who is spoilt by whom."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from fdgcl.executors import Processes, Task
from fdgcl.executors.outcomes import Died, Done, Failed
from fdgcl.executors.pool import InOrder, run_tasks
from helpers.accidents import wait_for


class TwoPartError(Exception):
    """Cannot be unpickled: its constructor wants two arguments."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


@dataclass(frozen=True)
class Act(Task[Any]):
    """Does what its name says."""

    name: str
    folder: str = ""

    @property
    def key(self) -> str:
        return f"act {self.name}"

    def run(self) -> Any:
        match self.name:
            case "raise":
                message = "no good"
                raise ValueError(message)
            case "odd error":
                raise TwoPartError("a", "b")
            case "no pickle":
                return threading.Lock()
            case "leave":
                raise SystemExit(3)
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "die once":
                mark = Path(self.folder) / "died"
                if not mark.exists():
                    mark.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            case "group":
                return os.getpgrp()
        return self.name


def outcomes(tasks: list[Act], processes: int = 1, **options: Any) -> dict[str, Any]:
    found = run_tasks(InOrder(tasks), processes=processes, threads=1, **options)
    with closing(found):
        return {task.name: outcome for task, outcome in found}


def test_every_end_of_a_task_is_told_and_spoils_no_other() -> None:
    names = ["raise", "odd error", "no pickle", "leave", "die", "fine"]
    found = outcomes([Act(name) for name in names])
    assert list(found) == names
    assert found["fine"] == Done("fine")
    assert isinstance(found["raise"], Failed)
    assert repr(found["raise"].error) == "ValueError('no good')"
    assert "in run" in found["raise"].trace
    assert str(found["odd error"].error) == "TwoPartError: ab"
    assert isinstance(found["no pickle"], Failed)
    assert found["leave"] == Died("the process ended with exit code 3")
    assert found["die"] == Died(
        "the process was ended by SIGKILL; was there too little memory?"
    )
    assert not active_children()


def test_where_an_error_came_from_is_its_cause() -> None:
    with pytest.raises(ValueError, match=r"^no good$") as caught:
        Processes(1, 1).run([Act("raise")], lambda _: None)
    assert "in run" in str(caught.value.__cause__)


def test_a_task_is_begun_again_as_often_as_is_told(tmp_path: Path) -> None:
    task = Act("die once", str(tmp_path))
    assert outcomes([task], tries=2) == {"die once": Done("die once")}
    (tmp_path / "died").unlink()
    assert isinstance(outcomes([task])["die once"], Died)


def test_workers_are_out_of_reach_of_the_terminal() -> None:
    """Ctrl-C and what else is sent to the group of the parent is the parent's."""
    assert outcomes([Act("group")])["group"].value != os.getpgrp()


def test_the_queue_decides_while_tasks_run() -> None:
    class Growing:
        """Has a task more once the first is done."""

        def __init__(self) -> None:
            self.left = [Act("first")]

        def __len__(self) -> int:
            return len(self.left)

        def take(self) -> Act:
            return self.left.pop()

    queue = Growing()
    names = []
    with closing(run_tasks(queue, processes=1, threads=None)) as found:
        for task, _ in found:
            names.append(task.name)
            if task.name == "first":
                queue.left.append(Act("second"))
    assert names == ["first", "second"]


def test_leaving_early_ends_the_processes() -> None:
    found: Iterator[Any] = run_tasks(
        InOrder([Act(name) for name in "abc"]), processes=2, threads=1
    )
    next(found)
    assert active_children()
    found.close()  # type: ignore[attr-defined]
    wait_for(lambda: not active_children())
