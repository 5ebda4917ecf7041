"""Accuracy against epochs under each of the losses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from fdgcl._checks import InputError, check_count
from fdgcl.evaluation import linear_probe
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.experiments.measures.losses_page import curves_page
from fdgcl.graphs import Graph
from fdgcl.training import (
    EpochRecord,
    NonFiniteLossError,
    TrainingWarning,
    effective_rank,
    sampled_rows,
)

# Where training still moves fast the curve is drawn finely.
EPOCHS = (0, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500)


@final
class LossCurves(Measure):
    """One curve for each seed: a record at each of some epochs.

    Options:
        epochs: How long to train, beyond what the settings say.
        splits: How many of the dataset's splits are scored, from the first; 0 for all.
    """

    options: Mapping[str, Any] = {"epochs": 100, "splits": 0}

    show = staticmethod(curves_page)

    def units(self, experiment: Experiment, seeds: int) -> list[Unit]:
        """One for each seed."""
        return [Unit(experiment.name, "curve", seed) for seed in range(seeds)]

    def run(
        self, experiment: Experiment, unit: Unit, graph: Graph, device: str
    ) -> list[Record]:
        """Train once; probe the embedding before the first and after some epochs."""
        options = {**self.options, **experiment.options}
        epochs = check_count("epochs", options["epochs"])
        score = _scorer(_labelled(graph, options["splits"]), device)
        wanted = grid(epochs)
        changed = {"seed": unit.seed, "device": device}
        untrained = experiment.model(**changed, epochs=0).fit_transform(graph)
        records = [score(0, untrained)]

        def on_epoch(
            record: EpochRecord, embed: Callable[[], NDArray[np.float32]]
        ) -> None:
            if record.epoch in wanted:
                records.append(score(record.epoch, embed()) | _watched(record))

        model = experiment.model(**changed, epochs=epochs)
        with warnings.catch_warnings():
            # Whether a loss collapses is what the records show.
            warnings.simplefilter("ignore", TrainingWarning)
            try:
                model.fit(graph, on_epoch=on_epoch)
            except (NonFiniteLossError, InputError) as error:
                # The settings are sound, the untrained encoder has shown it: training
                # left the finite numbers, or those that the probe can square.
                last = len(model.history_)
                records.append({"epoch": last, "failure": str(error)})
        return records


def grid(epochs: int) -> tuple[int, ...]:
    """The epochs at which a curve of that length is measured, the last among them."""
    return (*(epoch for epoch in EPOCHS if epoch < epochs), epochs)


def _labelled(graph: Graph, count: int) -> Graph:
    if graph.y is None or graph.splits is None:
        message = f"{graph.name} has no labels or no splits: nothing to score by"
        raise InputError(message)
    return replace(graph, splits=graph.splits.first(count))


def _scorer(graph: Graph, device: str) -> Callable[[int, NDArray[np.float32]], Record]:
    assert graph.splits is not None
    splits = graph.splits

    def score(epoch: int, z: NDArray[np.float32]) -> Record:
        result = linear_probe(z, graph.y, splits, measure="accuracy", device=device)
        rows = torch.from_numpy(np.ascontiguousarray(z[sampled_rows(len(z))]))
        return {
            "epoch": epoch,
            "test": list(result.test),
            "val": list(result.val),
            "rank": effective_rank(rows),
        }

    return score


def _watched(record: EpochRecord) -> Record:
    """What training itself saw in the epoch, before its update."""
    values = record.to_dict()
    return {name: values[name] for name in values if name not in ("epoch", "seconds")}
