"""A tiny problem, a tiny space, and an objective that needs no training."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fdgcl import FDGCL, Graph, block_model
from fdgcl.presets import paper_defaults
from fdgcl.tuning import Budget, Problem, Space
from fdgcl.tuning.plan import Plan
from fdgcl.tuning.search import Search
from fdgcl.tuning.spacefile import parse_space
from fdgcl.tuning.study import open_study

SPACE = b"""
[search]
lr = { low = 0.001, high = 1.0, log = true }
beta = { low = 0.0, high = 1.0 }
dim = { low = 4, high = 12 }
activation = { choices = ["relu", "linear"] }
"""


def tiny_graph(splits: int = 2, seed: int = 3) -> Graph:
    return block_model(
        60, 2, degree=6, num_features=5, signal=2.0, num_splits=splits, seed=seed
    )


def tiny_start(**changes: Any) -> dict[str, Any]:
    quick = {"dim": 8, "epochs": 2, "time": 2.0, "step": 1.0, "device": "cpu"}
    settings = {**paper_defaults(), **quick, **changes}
    return dict(FDGCL(**settings).get_params())


def tiny_space(text: bytes = SPACE) -> Space:
    return parse_space(text, "space.toml")


@dataclass
class Fake:
    """Scores settings by a formula: best at lr 0.1 and beta 0.7."""

    problem: Problem
    seconds: float = 0.0  # that each call takes, really
    ticks: float = 0.0  # that each call takes, by the clock below
    now: float = 0.0
    before: Callable[[dict[str, Any], int], None] = lambda settings, seed: None
    calls: list[tuple[dict[str, Any], int]] = field(default_factory=list)

    def scores(
        self, settings: dict[str, Any], seed: int, tick: Callable[[], None]
    ) -> Iterator[tuple[float, ...]]:
        self.calls.append((dict(settings), seed))
        self.before(settings, seed)
        time.sleep(self.seconds)
        self.now += self.ticks
        for group in self.problem.groups():
            tick()
            count = group.stop - group.start
            yield (worth(settings) + 0.001 * (seed % 3),) * count

    def clock(self) -> float:
        return self.now


def worth(settings: dict[str, Any]) -> float:
    from math import log10

    lost = abs(log10(settings["lr"]) + 1) / 5 + abs(settings["beta"] - 0.7) / 2
    return 0.9 - lost


def tiny_plan(problem: Problem, **changes: Any) -> Plan:
    start = tiny_start(beta=0.1, lr=0.01)
    del start["device"]
    values = {
        "data": "tiny",
        "fingerprint": problem.fingerprint(),
        "space": tiny_space(),
        "start": start,
        "seeds": (0, 1),
    }
    return Plan(**{**values, **changes})


def run_search(
    folder: Path, objective: Any, plan: Plan | None = None, **budget: Any
) -> list[Any]:
    """Search with an objective of one's own; return the records."""
    with open_study(folder, plan or tiny_plan(objective.problem)) as study:
        clock = objective.clock if getattr(objective, "ticks", 0) else time.monotonic
        Search(study, objective, Budget(**budget), clock=clock).run()
        return study.records()
