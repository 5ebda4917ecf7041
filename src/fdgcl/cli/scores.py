"""The table of scores: the trained embedding beside what needs no training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.experiments.measures.scores import percent

if TYPE_CHECKING:
    from rich.table import Table

    from fdgcl.cli.progress import Bars
    from fdgcl.evaluation.results import FoldScores, SplitScores
    from fdgcl.graphs import Graph, GraphDataset
    from fdgcl.model import FDGCL


@dataclass(frozen=True)
class Row:
    """A line of the table: accuracies of one method over seeds and splits.

    Of graphs, each is the mean over the folds of one dealing.
    """

    name: str
    test: tuple[float, ...]
    val: tuple[float, ...]

    @classmethod
    def over(cls, name: str, results: Iterable[SplitScores]) -> Row:
        """Collect the results of one method, one per seed."""
        found = list(results)
        return cls(
            name,
            tuple(value for result in found for value in result.test),
            tuple(value for result in found for value in result.val),
        )

    @classmethod
    def over_folds(cls, name: str, results: Iterable[FoldScores]) -> Row:
        """Collect the results of one method on graphs, one per training."""
        found = list(results)
        return cls(
            name,
            tuple(fmean(row) for result in found for row in result.test),
            tuple(fmean(row) for result in found for row in result.val),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return names and numbers, ready for JSON."""
        return {
            "name": self.name,
            "test_mean": fmean(self.test),
            "test_std": pstdev(self.test),
            "val_mean": fmean(self.val),
            "val_std": pstdev(self.val),
            "test": list(self.test),
            "val": list(self.val),
        }


def with_splits(graph: Graph) -> tuple[Graph, str | None]:
    """Return the graph with splits, and a notice when they had to be drawn.

    Raises:
        InputError: There are no labels to split.
    """
    from fdgcl.graphs import random_splits

    if graph.y is None:
        message = (
            f"--evaluate needs labels, and {graph.name} ({graph.source}) has none: "
            "name a file with them by --labels"
        )
        raise InputError(message)
    if graph.splits is not None:
        return graph, None
    splits = random_splits(graph.y, train=0.1, val=0.1, count=10, seed=0)
    notice = (
        f"{graph.name} has labels but no splits: scored on ten random splits of its "
        "labelled nodes, 10 % to train, 10 % to choose, 80 % to test (seed 0)"
    )
    return replace(graph, splits=splits), notice


def need_graph_labels(dataset: GraphDataset) -> None:
    """Refuse to score graphs without labels, or with too few, before training."""
    from fdgcl.evaluation.folds import check_classes

    if dataset.y is None:
        message = (
            f"--evaluate needs labels of graphs, and {dataset.name} ({dataset.source}) "
            "has none: name a file with them by --labels"
        )
        raise InputError(message)
    check_classes(dataset.y[dataset.y >= 0])


def score_table(
    rows: Sequence[Row], caption: str, judge: str = "linear probe"
) -> Table:
    """Return the rows as a table: accuracies in percent, the best test score bold."""
    from rich.table import Table

    table = Table(caption=caption, caption_justify="left", caption_style="dim")
    table.add_column(f"{judge} on")
    table.add_column("test accuracy", justify="right")
    table.add_column("validation", justify="right")
    best = max(fmean(row.test) for row in rows)
    for row in rows:
        style = "bold" if fmean(row.test) == best else None
        table.add_row(row.name, percent(row.test), percent(row.val), style=style)
    return table


def score(
    name: str, embeddings: Iterable[Any], graph: Graph, bars: Bars, device: Any
) -> Row:
    """Probe the embeddings of one method, one per seed, on the device given."""
    from fdgcl.evaluation import linear_probe

    assert graph.splits is not None
    bars.part(name)
    results = [
        linear_probe(
            embedding,
            graph.y,
            graph.splits,
            device=device,
            progress=partial(bars, "probe"),
        )
        for embedding in embeddings
    ]
    return Row.over(name, results)


def baselines(models: Sequence[FDGCL], graph: Graph, bars: Bars) -> list[Row]:
    """Return the rows that need no training: untrained encoder, A^2 X, and X."""
    from fdgcl.experiments.baselines import features, smoothed, untrained

    rows: dict[str, Iterable[Any]] = {
        "the untrained encoder": (untrained(model, graph) for model in models),
        "A²X, features smoothed twice": [smoothed(models[0], graph)],
        "X, the features themselves": [features(models[0], graph)],
    }
    device = models[0].check().torch_device
    return [score(name, found, graph, bars, device) for name, found in rows.items()]


def score_graphs(
    name: str, embeddings: Iterable[Any], dataset: GraphDataset, bars: Bars
) -> Row:
    """Score the embeddings of graphs by one method, one per training."""
    from fdgcl.evaluation import graph_svm

    bars.part(name)
    results = [
        graph_svm(embedding, dataset.y, progress=partial(bars, "folds"))
        for embedding in embeddings
    ]
    return Row.over_folds(name, results)


def graph_baselines(
    models: Sequence[FDGCL], dataset: GraphDataset, bars: Bars
) -> list[Row]:
    """Return the rows of graphs that need no training: untrained, A^2 X, and X."""
    from fdgcl.experiments.baselines import (
        pooled_features,
        pooled_smoothed,
        untrained,
    )

    model = models[0]
    how = " and ".join(model.readout)
    rows: dict[str, Iterable[Any]] = {
        "the untrained encoder": (untrained(one, dataset) for one in models),
        f"A²X, {how} over nodes": [pooled_smoothed(model, dataset)],
        f"X, {how} over nodes": [pooled_features(dataset, model.readout, model=model)],
    }
    return [score_graphs(name, found, dataset, bars) for name, found in rows.items()]
