"""A unit of an experiment as a task of an executor."""

from __future__ import annotations

import json
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from fdgcl.executors import Task
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.machine import Meter
from fdgcl.experiments.measures import build_measure
from fdgcl.experiments.measures.base import Record, Unit
from fdgcl.graphs import Graph, GraphDataset, load_dataset, load_graphs
from fdgcl.graphs.catalogue import CATALOGUE


@dataclass(frozen=True)
class Answer:
    """What came of a unit: records, or what went wrong.

    Attributes:
        records: What was measured.
        seconds: How long it took.
        warnings: What the project's own code warned of.
        error: What went wrong, in one line; None when nothing did.
        trace: The traceback of it.

    Example:
        >>> Answer(error="ValueError: odd").records
        []
    """

    records: list[Record] = field(default_factory=list)
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    error: str | None = None
    trace: str = ""

    @classmethod
    def of_error(cls, error: Exception, trace: str, heard: Iterable[str] = ()) -> Self:
        """Tell of an exception.

        Args:
            error: The exception.
            trace: The traceback of it.
            heard: What was warned of before.
        """
        text = f"{type(error).__name__}: {error}".partition("\n")[0]
        return cls(error=text, trace=trace, warnings=tuple(heard))


@dataclass(frozen=True)
class UnitTask(Task[Answer]):
    """A unit, and all that another process needs to do it.

    Attributes:
        experiment: The experiment.
        unit: The unit of it.
        measure: Where the measure is, as `module:class`.
        device: `cpu` or `cuda`.
        data_root: Folder with the datasets.
    """

    experiment: Experiment
    unit: Unit
    measure: str
    device: str
    data_root: str | None

    @property
    def key(self) -> str:
        """What to call it."""
        unit = self.unit
        return f"{unit.experiment} {unit.part}, seed {unit.seed}"

    def run(self) -> Answer:
        """Do it; whatever is raised becomes part of the answer."""
        with _own_warnings() as heard:
            try:
                graph = _graph(self.experiment.dataset, self.data_root)
                measure = build_measure(self.measure)
                with Meter(self.device) as meter:
                    found = measure.run(self.experiment, self.unit, graph, self.device)
                if not found:
                    message = f"{self.unit} gave no records"
                    raise ValueError(message)
                records = [{**meter.to_dict(), **record} for record in found]
                # What JSON cannot hold is this unit's failure, not the writer's.
                json.dumps(records, allow_nan=False)
            except Exception as error:
                return Answer.of_error(error, traceback.format_exc(), heard)
        return Answer(records, meter.seconds, tuple(heard))


@lru_cache(maxsize=1)
def _graph(name: str, data_root: str | None) -> Graph | GraphDataset:
    if name not in CATALOGUE:
        return load_dataset(Path(data_root or "") / f"{name}.npz")
    if CATALOGUE[name].graphs > 1:
        return load_graphs(name, data_root)
    return load_dataset(name, data_root)


@contextmanager
def _own_warnings() -> Iterator[list[str]]:
    heard: list[str] = []

    def note(
        message: Warning | str, category: type[Warning], *_: Any, **__: Any
    ) -> None:
        if (
            category.__module__.partition(".")[0] == "fdgcl"
            and str(message) not in heard
        ):
            heard.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        yield heard
