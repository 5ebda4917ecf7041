"""What estimators give on any graph, beside the rows that need no training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, final

from fdgcl._checks import InputError, choose
from fdgcl.evaluation.tasks import draw_splits
from fdgcl.experiments import baselines
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.experiments.measures.defaults_page import FREE_NAMES, defaults_page
from fdgcl.experiments.measures.probing import probed
from fdgcl.graphs import Graph, Splits, Targets
from fdgcl.graphs.catalogue import CATALOGUE

FREE: Mapping[str, Callable[[Graph], Any]] = {
    "features": lambda graph: graph.features,
    "smoothed-once": lambda graph: baselines.smoothed_plainly(graph, 1),
    "smoothed": lambda graph: baselines.smoothed_plainly(graph, 2),
    "out": lambda graph: baselines.neighbour_mean(graph, "out"),
    "in": lambda graph: baselines.neighbour_mean(graph, "in"),
}
PARTS = ("trained", "untrained", *FREE_NAMES)
_OF_DIRECTED = ("out", "in")


@final
class Defaults(Measure):
    """Embeds, then scores by the probe as `fdgcl evaluate` does: one record a split.

    Options:
        parts: What is measured; the rows without training belong to one experiment.
        splits: How many of the dataset's splits are scored, from the first; 0 for all.
        candidate: Whether the settings may be chosen for a dataset by the others.
        always: Whether it is measured whatever variants are asked for.
        without: Datasets that are left out of a second line of sums.
    """

    options: Mapping[str, Any] = {
        "parts": ["trained", "untrained"],
        "splits": 0,
        "candidate": False,
        "always": False,
        "without": [],
    }
    beside = frozenset({"parts", "candidate", "always", "without"})
    show = staticmethod(defaults_page)

    def needs_settings(self, experiment: Experiment) -> bool:
        """Rows without training do not: other defaults leave them as they are."""
        return not set(experiment.options["parts"]) <= set(FREE)

    def units(self, experiment: Experiment, seeds: int) -> list[Unit]:
        """See the base class; what is not random is measured once."""
        units = []
        for part in experiment.options["parts"]:
            choose("part", part, dict.fromkeys(PARTS))
            count = 1 if part in FREE else seeds
            units += [Unit(experiment.name, part, seed) for seed in range(count)]
        return units

    def run(
        self, experiment: Experiment, unit: Unit, graph: Graph, device: str
    ) -> list[Record]:
        """See the base class; a row that an undirected graph lacks is a record too."""
        if unit.part in _OF_DIRECTED and graph.is_symmetric:
            return [{"left_out": "the edges are undirected"}]
        splits = splits_of(graph).first(experiment.options["splits"])
        graph = replace(graph, splits=splits)

        def embed() -> Any:
            if unit.part in FREE:
                return FREE[unit.part](graph)
            model = experiment.model(seed=unit.seed, device=device)
            if unit.part == "untrained":
                return baselines.untrained(model, graph)
            return model.fit_transform(graph)

        return probed(embed, graph, device, measure="auto")


def splits_of(graph: Graph) -> Splits:
    """The splits of a graph's file; ten random ones, 10/10/80 %, where it has none.

    Those that the catalogue draws itself are none of the file's.
    """
    if graph.y is None:
        message = f"{graph.name} has no labels to score by"
        raise InputError(message)
    entry = CATALOGUE.get(graph.name)
    drawn = entry.split.name if entry and entry.split.train is not None else None
    if graph.splits is not None and graph.splits.name != drawn:
        return graph.splits
    names = tuple(map(str, range(graph.num_classes)))
    return draw_splits(Targets("classes", names, codes=graph.y))
