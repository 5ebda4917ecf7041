"""A process that does units of work, one after the other, for the one that writes."""

from __future__ import annotations

import json
import os
import signal
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import connection, parent_process
from typing import Any

import torch

from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.machine import Meter
from fdgcl.experiments.measures import build_measure
from fdgcl.experiments.measures.base import Record, Unit
from fdgcl.graphs import Graph, GraphDataset, load_dataset, load_graphs
from fdgcl.graphs.catalogue import CATALOGUE


@dataclass(frozen=True)
class Task:
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


@dataclass(frozen=True)
class Answer:
    """What came of a task: records, or what went wrong.

    Attributes:
        records: What was measured.
        seconds: How long it took.
        warnings: What the project's own code warned of.
        error: What went wrong, in one line; None when nothing did.
        trace: The traceback of it.
    """

    records: list[Record] = field(default_factory=list)
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    error: str | None = None
    trace: str = ""


def serve(tasks: connection.Connection[Any, Any], threads: int | None) -> None:
    """Do tasks until there are no more, or the parent is gone."""
    _follow_parent()
    if threads is not None:
        torch.set_num_threads(threads)
    while True:
        try:
            tasks.send(perform(tasks.recv()))
        except (EOFError, BrokenPipeError):
            return


def perform(task: Task) -> Answer:
    """Do one task; whatever it raises becomes part of the answer."""
    with _own_warnings() as heard:
        try:
            graph = _graph(task.experiment.dataset, task.data_root)
            measure = build_measure(task.measure)
            with Meter(task.device) as meter:
                found = measure.run(task.experiment, task.unit, graph, task.device)
            if not found:
                message = f"{task.unit} gave no records"
                raise ValueError(message)
            records = [{**meter.to_dict(), **record} for record in found]
            # What JSON cannot hold is this unit's failure, not the writer's.
            json.dumps(records, allow_nan=False)
        except Exception as error:
            return Answer(
                error=f"{type(error).__name__}: {error}".partition("\n")[0],
                trace=traceback.format_exc(),
                warnings=tuple(heard),
            )
    return Answer(records, meter.seconds, tuple(heard))


@lru_cache(maxsize=1)
def _graph(name: str, data_root: str | None) -> Graph | GraphDataset:
    if CATALOGUE[name].graphs > 1:
        return load_graphs(name, data_root)
    return load_dataset(name, data_root)


def _follow_parent() -> None:
    """End with the parent, however it ends; Ctrl-C is the parent's to answer."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
