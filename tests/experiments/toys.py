"""A measure whose units do what their part says: return, raise, die, or take long.

It is imported by name in the processes of a run.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.experiments.runner import Run
from fdgcl.graphs import Graph
from fdgcl.model import FDGCL
from fdgcl.report.page import Figure, Section, Series, Table
from fdgcl.training import TrainingWarning

TOY = "toys:Toy"
LINES = 3
LAST, NAP = 5, 60.0  # the seed that sleeps, and seconds, where there is a file "nap"


def toy(*parts: str, variant: str = "toy", **options: Any) -> Experiment:
    """An experiment on the bundled graph with these parts."""
    return Experiment(
        table="toys",
        dataset="cora-bundled",
        variant=variant,
        label=variant,
        settings=FDGCL().get_params(),
        options={**Toy.options, "parts": list(parts), **options},
    )


class Toy(Measure):
    """What is asked for, three lines a unit; each unit leaves its process's number."""

    options: Mapping[str, Any] = {"parts": ["quick"], "seconds": 0.0, "pids": ""}

    def units(self, experiment: Experiment, seeds: int) -> list[Unit]:
        return [
            Unit(experiment.name, part, seed)
            for part in experiment.options["parts"]
            for seed in range(seeds)
        ]

    def run(
        self, experiment: Experiment, unit: Unit, graph: Graph, device: str
    ) -> list[Record]:
        if experiment.options["pids"]:
            pids = Path(experiment.options["pids"])
            (pids / str(os.getpid())).touch()
            if unit.seed == LAST and pids.with_name("nap").exists():
                time.sleep(NAP)
        time.sleep(experiment.options["seconds"])
        value: float = graph.num_nodes + unit.seed
        match unit.part:
            case "bad":
                message = "this toy is broken\nin two lines"
                raise RuntimeError(message)
            case "deadly":
                os.kill(os.getpid(), signal.SIGKILL)
            case "nothing":
                return []
            case "nan":
                value = float("nan")
            case "warns":
                warnings.warn("a toy is not a tool", TrainingWarning, stacklevel=1)
                warnings.warn("for developers", DeprecationWarning, stacklevel=1)
            case "threads":
                import torch

                value = torch.get_num_threads()
        return [{"split": split, "value": value} for split in range(LINES)]

    def show(
        self,
        experiments: Sequence[Experiment],
        records: Sequence[Record],
        absent: Mapping[str, str],
    ) -> list[Section]:
        rows = [[r["experiment"], r["part"], str(r["seed"])] for r in records]
        missing = [[name, "not here", reason] for name, reason in absent.items()]
        table = Table(["experiment", "part", "seed"], [*rows, *missing])
        figure = Figure("toy", "A toy", [Series("line", [0.0, 1.0], [1.0, 2.0])])
        return [Section("Toys", [table, figure])]


def slow_run(folder: Path, pids: Path, processes: int) -> Run:
    """Twelve units of a quarter of a second each."""
    options = {"seconds": 0.25, "pids": str(pids)}
    experiments = [toy("slow", variant=variant, **options) for variant in ("a", "b")]
    return Run(folder, experiments, TOY, LAST + 1, "cpu", None, processes)


if __name__ == "__main__":
    try:
        slow_run(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])).go()
    except KeyboardInterrupt:
        print("stopped")
