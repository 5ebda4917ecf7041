"""A table's experiments, done unit by unit into a run folder, and what came of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from fdgcl._checks import InputError
from fdgcl._files import LEDGER, explain
from fdgcl.executors.outcomes import Died, Done, Failed, Outcome
from fdgcl.executors.pool import run_tasks
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.machine import environment
from fdgcl.experiments.measures import build_measure
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.experiments.records import Journal
from fdgcl.experiments.task_queue import TaskQueue, kind_of
from fdgcl.experiments.unit_task import Answer, UnitTask

RECORDS, FAILURES, REPORT = "records.jsonl", "failures.jsonl", "report.html"


@dataclass(frozen=True)
class State:
    """How far a run is, for a progress bar.

    Attributes:
        done: Units done, in this run or before.
        total: Units in all.
        seconds_left: What the rest will take; None when nothing is known.
        latest: The last unit that was done, in words.
    """

    done: int
    total: int
    seconds_left: float | None = None
    latest: str = ""


@dataclass
class Result:
    """What a run folder holds of the experiments asked for.

    Attributes:
        records: The measurements, by experiment in reading order.
        failures: Units that could not be done, with the reason.
        warnings: What the project's own code warned of.
        done_before: Units that were there already.
        done_now: Units done by this run.
    """

    records: list[Record] = field(default_factory=list)
    failures: list[Record] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    done_before: int = 0
    done_now: int = 0


@dataclass(frozen=True)
class Run:
    """Experiments of one table, to be done into a folder.

    Attributes:
        folder: The run folder.
        experiments: What to do; only those whose datasets are here.
        measure: Where the table's measure is, as `module:class`.
        seeds: Seeds of whatever is random.
        device: `cpu` or `cuda`.
        data_root: Folder with the datasets.
        processes: How many units to do at once.
    """

    folder: Path
    experiments: Sequence[Experiment]
    measure: str
    seeds: int
    device: str
    data_root: str | None
    processes: int

    @property
    def threads(self) -> int | None:
        """One thread a process on the CPU: numbers do not depend on the cores then."""
        return 1 if self.device == "cpu" else None

    @cached_property
    def units(self) -> list[tuple[Experiment, Unit]]:
        """Everything there is to do, in reading order."""
        return [
            (experiment, unit)
            for experiment in self.experiments
            for unit in self._measure.units(experiment, self.seeds)
        ]

    def go(self, tell: Callable[[State], None] = lambda _: None) -> Result:
        """Do what is not done yet. Stop it at any moment; it goes on where it was.

        Args:
            tell: Called before the first unit and after each.

        Raises:
            InputError: The folder holds something else, or a run on another device.
        """
        self._check_folder()
        result = Result()
        with Journal(self.folder / RECORDS, self._measure) as journal:
            self._check_device(journal)
            queue = self._queue(journal)
            result.done_before = len(self.units) - len(queue)
            tell(State(result.done_before, len(self.units)))
            if len(queue):
                self._work(queue, journal, result, tell)
            for experiment, unit in self.units:
                result.records += journal.find(experiment, unit) or []
        return result

    @cached_property
    def _measure(self) -> Measure:
        return build_measure(self.measure)

    def _queue(self, journal: Journal) -> TaskQueue:
        tasks, known = [], []
        for experiment, unit in self.units:
            task = UnitTask(experiment, unit, self.measure, self.device, self.data_root)
            found = journal.find(experiment, unit)
            if found is None:
                tasks.append(task)
            else:
                known.append((kind_of(task), float(found[0]["seconds"])))
        return TaskQueue(tasks, known)

    def _work(
        self,
        queue: TaskQueue,
        journal: Journal,
        result: Result,
        tell: Callable[[State], None],
    ) -> None:
        place = environment(self.device, self.threads)
        processes = min(self.processes, len(queue))
        outcomes = run_tasks(queue, processes=processes, threads=self.threads)
        # Not left to the garbage collector: the processes must end with this run.
        with closing(outcomes):
            for task, outcome in outcomes:
                answer = _answer(outcome)
                queue.finish(task, None if answer.error else answer.seconds)
                new = [text for text in answer.warnings if text not in result.warnings]
                result.warnings += new
                if answer.error is None:
                    journal.add(task.experiment, task.unit, answer.records, place)
                    result.done_now += 1
                else:
                    result.failures.append(self._fail(task, answer))
                state = State(
                    result.done_before + result.done_now + len(result.failures),
                    len(self.units),
                    queue.seconds_left(processes),
                    task.key,
                )
                tell(state)

    def _fail(self, task: UnitTask, answer: Answer) -> Record:
        failure = {
            **asdict(task.unit),
            "error": answer.error,
            "traceback": answer.trace,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        path = self.folder / FAILURES
        try:
            with path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(failure, ensure_ascii=False) + "\n")
        except OSError as error:
            raise explain(error, path) from error
        return failure

    def _check_folder(self) -> None:
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        # What was written elsewhere stays this run's, when all else is forgotten.
        taken = any(path.name != LEDGER for path in found)
        if taken and not (self.folder / RECORDS).is_file():
            message = (
                f"the run folder {self.folder} holds something else: it has no "
                f"{RECORDS}; name another folder"
            )
            raise InputError(message)

    def _check_device(self, journal: Journal) -> None:
        for other in journal.devices():
            if other != self.device:
                message = (
                    f"the run in {self.folder} was made on {other!r}, and this one is "
                    f"to be made on {self.device!r}: times would not compare; name "
                    "another folder, or start afresh"
                )
                raise InputError(message)


def _answer(outcome: Outcome) -> Answer:
    """What came of a unit; that its process died is an answer as well."""
    match outcome:
        case Done(Answer() as answer):
            return answer
        case Died(how):
            return Answer(error=how)
        case Failed(error, trace):
            return Answer.of_error(error, trace)
    raise AssertionError(outcome)


def start_afresh(folder: Path) -> None:
    """Remove what an earlier run of a table left in a folder."""
    for name in (RECORDS, FAILURES, REPORT):
        (folder / name).unlink(missing_ok=True)
