"""Accuracy of a support vector machine on embeddings of whole graphs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, final

from fdgcl._checks import InputError, choose
from fdgcl.evaluation import graph_svm
from fdgcl.evaluation.folds import KERNELS
from fdgcl.experiments import baselines
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.experiments.measures.graphs_page import graph_sections
from fdgcl.graphs import GraphDataset
from fdgcl.model import FDGCL

Embed = Callable[[FDGCL, GraphDataset], Any]


def _trained(model: FDGCL, dataset: GraphDataset) -> Any:
    return model.fit_transform(dataset, level="graph")


def _features(model: FDGCL, dataset: GraphDataset) -> Any:
    return baselines.pooled_features(dataset, model.readout, model=model)


def _mean_features(model: FDGCL, dataset: GraphDataset) -> Any:
    return _features(_by_mean(model), dataset)


def _mean_smoothed(model: FDGCL, dataset: GraphDataset) -> Any:
    return baselines.pooled_smoothed(_by_mean(model), dataset)


def _by_mean(model: FDGCL) -> FDGCL:
    return type(model)(**{**model.get_params(), "readout": ("mean",)})


PARTS: dict[str, Embed] = {
    "trained": _trained,
    "untrained": baselines.untrained,
    "smoothed": _mean_smoothed,
    "features": _mean_features,
    # By the model's own readout: what the encoder adds to it.
    "smoothed-alike": baselines.pooled_smoothed,
    "features-alike": _features,
}


@final
class GraphAccuracy(Measure):
    """Embeds all graphs, then scores by a support vector machine on ten folds.

    A seed is that of the encoder and of the folds: one record a fold.
    """

    options: Mapping[str, Any] = {"parts": ["trained"], "kernel": "rbf"}

    show = staticmethod(graph_sections)

    def units(self, experiment: Experiment, seeds: int) -> list[Unit]:
        """See the base class; what is not random is scored on other folds each time."""
        choose("kernel", experiment.options["kernel"], KERNELS)
        for part in experiment.options["parts"]:
            choose("part", part, PARTS)
        return [
            Unit(experiment.name, part, seed)
            for part in experiment.options["parts"]
            for seed in range(seeds)
        ]

    def run(
        self, experiment: Experiment, unit: Unit, graph: GraphDataset, device: str
    ) -> list[Record]:
        """See the base class."""
        if graph.y is None:
            message = f"{graph.name} has no labels to score by"
            raise InputError(message)
        model = experiment.model(seed=unit.seed, device=device)
        start = time.perf_counter()
        embedding = PARTS[unit.part](model, graph)
        embedded = time.perf_counter()
        kernel = experiment.options["kernel"]
        found = graph_svm(embedding, graph.y, kernel=kernel, seeds=[unit.seed])
        scored = time.perf_counter()
        return [
            {
                "fold": fold,
                "val": found.val[0][fold],
                "test": found.test[0][fold],
                "cost": found.cost[0][fold],
                "normalization": found.normalization[0][fold],
                "graphs": graph.num_graphs,
                "train_seconds": round(embedded - start, 3),
                "probe_seconds": round(scored - embedded, 3),
            }
            for fold in range(len(found.test[0]))
        ]
