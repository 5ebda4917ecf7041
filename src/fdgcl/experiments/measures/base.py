"""What a table has to say of itself: its units of work, and how it is shown."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from fdgcl.experiments.experiment import Experiment
from fdgcl.report.page import Section

Record = dict[str, Any]
#: Takes a table's experiments in reading order, their records (some, or all, of an
#: experiment's may be missing), and why a dataset is not here, by its name.
Show: TypeAlias = (
    "staticmethod[[Sequence[Experiment], Sequence[Record], Mapping[str, str]], "
    "list[Section]]"
)


@dataclass(frozen=True)
class Unit:
    """A piece of work that is done completely or not at all, alone in a process.

    Attributes:
        experiment: The experiment's name.
        part: What of it: a row such as `trained`, or a figure's name.
        seed: Of everything random in it.
    """

    experiment: str
    part: str
    seed: int


class Measure(abc.ABC):
    """How the experiments of one kind of table are measured and shown."""

    #: What the options of an experiment may name, with their defaults.
    options: Mapping[str, Any] = {}
    #: Those of them that change no measurement, only which there are and how they show.
    beside: frozenset[str] = frozenset({"parts"})
    #: What is found so far as tables and figures.
    show: ClassVar[Show]

    def needs_settings(self, experiment: Experiment) -> bool:  # noqa: ARG002
        """Whether what is measured of an experiment depends on its settings."""
        return True

    @abc.abstractmethod
    def units(self, experiment: Experiment, seeds: int) -> list[Unit]:
        """The units of work of an experiment."""

    @abc.abstractmethod
    def run(
        self, experiment: Experiment, unit: Unit, graph: Any, device: str
    ) -> list[Record]:
        """Do a unit. Each record becomes one line of JSON.

        The graph is a `Graph`, or a `GraphDataset` where the dataset is one of graphs.

        The runner adds to each line what all have in common: experiment, part, seed,
        settings, versions, commit, hardware, date, and, unless the record has them,
        seconds and peak memory of the unit.
        """
