"""What the two views look like: maps of classes, components, distances of classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError, check_count, choose
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.experiments.measures.separation import separation
from fdgcl.experiments.measures.spread import (
    Rows,
    core_ratio,
    joint_map,
)
from fdgcl.experiments.measures.views_page import views_page
from fdgcl.graphs import Graph
from fdgcl.report.principal import principal
from fdgcl.training import EpochRecord, TrainingWarning

FIGURES = ("maps", "components", "separation")
COMPONENTS = 30  # principal ones that are drawn


@final
class Views(Measure):
    """Train once; look at both views, and at the embedding while it trains.

    Options:
        figures: Which of maps, components and separation.
        every: Epochs between two looks at the distances of classes.
        first_class: The class whose map is shown first.
    """

    options: Mapping[str, Any] = {
        "figures": list(FIGURES),
        "every": 1,
        "first_class": 0,
    }

    show = staticmethod(views_page)

    def units(self, experiment: Experiment, seeds: int) -> list[Unit]:
        """One for each seed."""
        return [Unit(experiment.name, "views", seed) for seed in range(seeds)]

    def run(
        self, experiment: Experiment, unit: Unit, graph: Graph, device: str
    ) -> list[Record]:
        """Train once and look."""
        options = {**self.options, **experiment.options}
        figures = options["figures"]
        for name in figures:
            choose("figure", name, dict.fromkeys(FIGURES))
        y = _labels(graph)
        every = check_count("every", options["every"])
        changed = {"seed": unit.seed, "device": device}
        untrained = experiment.model(**changed, epochs=0).fit(graph)
        model = experiment.model(**changed)
        place = model.check().torch_device
        records: list[Record] = []
        if "separation" in figures:
            records.append(_ratios(0, separation(graph.features, y, place)))

        def on_epoch(
            record: EpochRecord, embed: Callable[[], NDArray[np.float32]]
        ) -> None:
            due = record.epoch % every == 0 or record.epoch in (1, model.epochs)
            if "separation" in figures and due:
                ratios = separation(embed(), y, place)
                records.append(_ratios(record.epoch, ratios))

        with warnings.catch_warnings():
            # A collapse shows in the figures.
            warnings.simplefilter("ignore", TrainingWarning)
            model.fit(graph, on_epoch=on_epoch)
        for stage, fitted in (("untrained", untrained), ("trained", model)):
            pair = _by_order(fitted.check().orders, fitted.views(graph))
            if "components" in figures:
                records += [_components(stage, o, z) for o, z in pair]
            if "maps" in figures:
                codes = _ordered(np.unique(y[y >= 0]).tolist(), options["first_class"])
                records += [_cores(stage, pair, y, code) for code in codes]
        if "maps" in figures:
            records += [_map(pair, y, code, unit.seed) for code in codes]
        return records


Pair = list[tuple[float, Rows]]


def _labels(graph: Graph) -> NDArray[np.int64]:
    if graph.y is None or graph.features is None:
        message = f"{graph.name} has no labels or no features: nothing to look at"
        raise InputError(message)
    return graph.y


def _by_order(orders: Sequence[float], views: Sequence[Rows]) -> Pair:
    """The views with their orders, the smaller order first."""
    return sorted(zip(orders, views, strict=True), key=lambda entry: entry[0])


def _ordered(classes: list[int], first: int) -> list[int]:
    if first not in classes:
        message = f"first_class must be one of {classes}, got {first!r}"
        raise InputError(message)
    return [first, *(code for code in classes if code != first)]


def _ratios(epoch: int, ratios: list[float]) -> Record:
    return {"what": "separation", "epoch": epoch, "ratios": ratios}


def _components(stage: str, order: float, z: Rows) -> Record:
    found = principal(z)
    return {
        "what": "components",
        "stage": stage,
        "order": order,
        "shares": found.shares[:COMPONENTS].tolist(),
        "effective": found.effective_rank,
    }


def _cores(stage: str, pair: Pair, y: NDArray[np.int64], code: int) -> Record:
    return {
        "what": "cores",
        "stage": stage,
        "class": code,
        "orders": [order for order, _ in pair],
        "ratios": [core_ratio(z[y == code]) for _, z in pair],
    }


def _map(pair: Pair, y: NDArray[np.int64], code: int, seed: int) -> Record:
    rows = np.flatnonzero(y == code)
    first, second = (z[rows] for _, z in pair)
    points = joint_map(first, second, seed)
    return {
        "what": "map",
        "class": code,
        "nodes": rows.tolist(),
        "orders": [order for order, _ in pair],
        "points": [np.round(part, 2).tolist() for part in points],
        "ratios": [core_ratio(part) for part in points],
    }
