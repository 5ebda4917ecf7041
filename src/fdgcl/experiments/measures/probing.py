"""One embedding made and scored by the linear probe: a record a split."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

from fdgcl._checks import InputError
from fdgcl.evaluation import linear_probe
from fdgcl.evaluation.tasks import measures
from fdgcl.experiments.measures.base import Record
from fdgcl.graphs import Graph


def probed(
    embed: Callable[[], Any],
    graph: Graph,
    device: str,
    *,
    measure: Literal["auto", "accuracy"],
) -> list[Record]:
    """Embed and score on each of the graph's splits.

    Args:
        embed: Makes the embedding; its time is that of training.
        graph: Has the labels and splits.
        device: Where the probe computes.
        measure: `accuracy`, or `auto` for ROC-AUC where one of two classes is rare.
    """
    if graph.y is None or graph.splits is None:
        message = f"{graph.name} has no labels and splits to score by"
        raise InputError(message)
    start = time.perf_counter()
    embedding = embed()
    embedded = time.perf_counter()
    found = linear_probe(
        embedding, graph.y, graph.splits, measure=measure, device=device
    )
    scored = time.perf_counter()
    by = measures(found)[0]
    assert by.val is not None
    return [
        {
            "split": split,
            "val": by.val[split],
            "test": by.test[split],
            "measure": by.name,
            "weight_decay": found.weight_decay[split],
            "normalization": found.normalization[split],
            "step": found.step[split],
            "splits": graph.splits.name,
            "columns": int(embedding.shape[1]),
            "train_seconds": round(embedded - start, 3),
            "probe_seconds": round(scored - embedded, 3),
        }
        for split in range(len(graph.splits))
    ]
