"""Seconds of the linear probe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fdgcl._checks import InputError
from fdgcl.benchmark.clock import now
from fdgcl.evaluation import linear_probe
from fdgcl.evaluation.normalization import NORMALIZATIONS
from fdgcl.evaluation.probe import WEIGHT_DECAYS
from fdgcl.graphs import Graph
from fdgcl.graphs.splits import random_splits
from fdgcl.methods.fdgcl.settings import Settings

SPLITS = 10


@dataclass(frozen=True)
class Probed:
    """What the probe takes.

    Attributes:
        seconds: Of all splits together.
        splits: The graph's own where it has so many, else random ones of 10/10/80
            percent of the labelled nodes.
        weight_decays: To choose from on validation nodes.
        normalizations: Likewise.
        accuracy: Mean over the splits, on test nodes.
    """

    seconds: float
    splits: int
    weight_decays: int
    normalizations: int
    accuracy: float


def time_probe(embedding: Any, graph: Graph, settings: Settings) -> Probed:
    """Time the probe as `fdgcl evaluate` runs it, on the model's device.

    Raises:
        InputError: The graph has no labels.
    """
    if graph.y is None:
        message = f"{graph.name} has no labels to probe"
        raise InputError(message)
    device = settings.torch_device
    splits = graph.splits
    if splits is None or len(splits.train) != SPLITS:
        splits = random_splits(
            graph.y, train=0.1, val=0.1, count=SPLITS, seed=settings.seed
        )
    started = now(device)
    found = linear_probe(embedding, graph.y, splits, measure="accuracy", device=device)
    seconds = now(device) - started
    return Probed(
        seconds,
        SPLITS,
        len(WEIGHT_DECAYS),
        len(NORMALIZATIONS),
        sum(found.test) / len(found.test),
    )
