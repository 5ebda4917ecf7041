"""Seconds and memory of an epoch, by each of the ways to diffuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, final

import numpy as np
import torch

from fdgcl._checks import check_count
from fdgcl.benchmark.fresh import in_fresh_process
from fdgcl.benchmark.timing import WAYS, alone, time_training
from fdgcl.executors.base import cores
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.measures.base import Measure, Record, Unit
from fdgcl.experiments.measures.cost_page import cost_page
from fdgcl.graphs import Graph
from fdgcl.methods.fdgcl.preparation import prepare
from fdgcl.methods.fdgcl.settings import Settings


@final
class Cost(Measure):
    """Each way once, in a process of its own that has all cores to itself.

    Options:
        epochs: Epochs to time.
        warmup: Epochs before them that are not timed.
        loop_epochs: The same for the ways that diffuse in every epoch.
        loop_warmup: Likewise.
        features: Columns of random features for a graph that has none.
        paper_mib: The paper's memory; its seconds are the experiment's paper number.
    """

    options: Mapping[str, Any] = {
        "epochs": 5,
        "warmup": 1,
        "loop_epochs": 5,
        "loop_warmup": 1,
        "features": 128,
        "paper_mib": 0,
    }

    show = staticmethod(cost_page)

    def units(
        self,
        experiment: Experiment,
        seeds: int,  # noqa: ARG002
    ) -> list[Unit]:
        """One for each way: time does not depend on the seed."""
        return [Unit(experiment.name, way, 0) for way in WAYS]

    def run(
        self, experiment: Experiment, unit: Unit, graph: Graph, device: str
    ) -> list[Record]:
        """Train for some epochs, watched."""
        options = {**self.options, **experiment.options}
        prefix = "" if unit.part == "precomputed" else "loop_"
        epochs = check_count("epochs", options[f"{prefix}epochs"])
        warmup = check_count("warmup", options[f"{prefix}warmup"], minimum=0)
        generated = graph.features is None
        if generated:
            graph = graph.with_features(_noise(graph.num_nodes, options["features"]))
        settings = experiment.model(
            device=device, seed=unit.seed, batch_size=None
        ).check()
        threads = cores()
        with alone():
            found = in_fresh_process(
                measure, threads, graph, settings, unit.part, epochs, warmup
            )
        return [
            {
                "way": unit.part,
                **found,
                "epochs": epochs,
                "warmup": warmup,
                "cores_used": threads,
                "generated_features": generated,
            }
        ]


def measure(
    graph: Graph, settings: Settings, way: str, epochs: int, warmup: int
) -> Record:
    """What one way takes on a graph, after a warm-up on a small one."""
    rehearsal = _small(graph, settings)
    small = replace(settings, dim=8, hidden=None)
    time_training(prepare(rehearsal, small), way, epochs=1)
    timed = time_training(prepare(graph, settings), way, epochs=epochs, warmup=warmup)
    return {
        "once_seconds": timed.precompute_seconds,
        "epoch_seconds": timed.epoch_seconds,
        "peak_mib": timed.peak_bytes / 2**20,
        "loss": timed.loss,
        "torch_threads": torch.get_num_threads(),
    }


def _small(graph: Graph, settings: Settings) -> Graph:
    """A ring of a few nodes that wakes up threads and kernels."""
    nodes = np.arange(16)
    edges = np.stack([nodes, np.roll(nodes, 1)], axis=1)
    assert graph.features is not None
    features = np.random.default_rng(settings.seed).standard_normal((16, 4))
    return Graph.from_edges(edges, features=features.astype(graph.features.dtype))


def _noise(nodes: int, columns: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    generator = np.random.default_rng(0)
    return generator.standard_normal((nodes, columns), dtype=np.float32)
