"""Scores of the trained embedding beside those of what needs no training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.report import numerals
from fdgcl.workflows.labels import check_task, targets_of

if TYPE_CHECKING:
    from fdgcl._bars import Bars
    from fdgcl.embedder import GraphEmbedder
    from fdgcl.evaluation.results import FoldScores
    from fdgcl.evaluation.tasks import Measured, Result
    from fdgcl.graphs import Graph, GraphDataset, Splits
    from fdgcl.workflows.source import InMemory


@dataclass(frozen=True)
class Row:
    """A line of the table: what one method scored over seeds and splits.

    Attributes:
        name: The method.
        test: The measure that validation chose by, on test nodes. Of graphs, each is
            the mean over the folds of one repeat.
        val: The same on validation nodes.
        measure: Which it is.
        others: Further measures.
    """

    name: str
    test: tuple[float, ...]
    val: tuple[float, ...]
    measure: str = "accuracy"
    others: tuple[Measured, ...] = ()

    @classmethod
    def over(cls, name: str, results: Iterable[Result]) -> Row:
        """Collect the results of one method, one per seed."""
        from fdgcl.evaluation.tasks import Measured, measures

        first, *others = (
            Measured(
                same[0].name,
                tuple(value for one in same for value in one.test),
                tuple(value for one in same for value in one.val or ()),
            )
            for same in zip(*map(measures, results), strict=True)
        )
        assert first.val is not None
        return cls(name, first.test, first.val, first.name, tuple(others))

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
            "measure": self.measure,
            "test_mean": fmean(self.test),
            "test_std": pstdev(self.test),
            "val_mean": fmean(self.val),
            "val_std": pstdev(self.val),
            "test": list(self.test),
            "val": list(self.val),
            "others": {one.name: one.to_dict() for one in self.others},
        }


@dataclass(frozen=True)
class ScoreTable:
    """The scores of an embedding beside those of what needs no training.

    Attributes:
        rows: The trained embedding's first.
        caption: What was measured, over how many trainings and splits.
        judge: What was fitted to the embeddings, in words.
    """

    rows: tuple[Row, ...]
    caption: str
    judge: str


def score_runs(
    models: Sequence[GraphEmbedder],
    embeddings: Iterable[Any],
    data: InMemory,
    bars: Bars,
) -> ScoreTable:
    """Score trained embeddings of one graph or of many, and what needs no training.

    Args:
        models: The models, one per training.
        embeddings: What they made of the data.
        data: With labels and, where it is one graph, with splits.
        bars: Told of the progress.
    """
    from fdgcl.evaluation.tasks import judge_of
    from fdgcl.graphs import Graph

    name, count = "trained embedding", len(models)
    if not isinstance(data, Graph):
        row = score_graphs(name, embeddings, data, bars)
        rows = (row, *graph_baselines(models, data, bars))
        return ScoreTable(rows, _caption_of_graphs(count), "SVM")
    device = models[0].check().torch_device
    row = score(name, embeddings, data, bars, device)
    targets = targets_of(data)
    assert targets is not None
    assert data.splits is not None
    caption = _caption(data.splits, count, row)
    return ScoreTable((row, *baselines(models, data, bars)), caption, judge_of(targets))


def _caption_of_graphs(trainings: int) -> str:
    return (
        f"accuracy in %, mean ± standard deviation over {trainings} "
        f"training{'s'[: trainings > 1]} and 5 repeats of 10 folds; a support vector "
        "machine, every choice made inside the fold"
    )


def _caption(splits: Splits, seeds: int, row: Row) -> str:
    count = len(splits)
    unit = "" if row.measure in numerals.PLAIN else " in %"
    return (
        f"{row.measure}{unit}, mean ± standard deviation over {seeds} "
        f"seed{'s'[: seeds > 1]} and {count} split{'s'[: count > 1]} "
        f"({splits.name}); every choice is made on validation"
    )


def with_splits(graph: Graph, task: str = "auto") -> tuple[Graph, tuple[str, ...]]:
    """Return the graph with splits, and what is to be told: task, and splits drawn.

    Raises:
        InputError: There are no labels to split, or they say nothing, or others than
            the task is for.
    """
    from fdgcl.evaluation.tasks import check_parts, draw_splits, task_line

    targets = targets_of(graph)
    if targets is None:
        message = (
            f"`evaluate` needs labels, and {graph.name} ({graph.source}) has none: "
            "name a file with them by `labels`"
        )
        raise InputError(message)
    check_task(task, targets, graph.name)
    targets.refuse_trivial(graph.name)
    line = task_line(targets)
    if graph.splits is not None:
        check_parts(targets, graph.splits)
        return graph, (line,)
    splits = draw_splits(targets)
    check_parts(targets, splits)
    kind = splits.name.split()[0]  # random or stratified
    notice = (
        f"{graph.name} has labels but no splits: scored on ten {kind} splits of its "
        "labelled nodes, 10 % to train, 10 % to choose, 80 % to test (seed 0)"
    )
    return replace(graph, splits=splits), (line, notice)


def need_graph_labels(dataset: GraphDataset) -> None:
    """Refuse to score graphs without labels, or with too few, before training."""
    from fdgcl.evaluation.folds import check_classes

    if dataset.y is None:
        message = (
            f"`evaluate` needs labels of graphs, and {dataset.name} ({dataset.source}) "
            "has none: name a file with them by `labels`"
        )
        raise InputError(message)
    check_classes(dataset.y[dataset.y >= 0])


def shown(measure: str, values: Sequence[float]) -> str:
    """Return mean and standard deviation of a measure as tables have them."""
    spread = pstdev(values) if len(values) > 1 else None
    return numerals.score(measure, fmean(values), spread)


def score(
    name: str, embeddings: Iterable[Any], graph: Graph, bars: Bars, device: Any
) -> Row:
    """Probe the embeddings of one method, one per seed, on the device given."""
    from fdgcl.evaluation.tasks import probe

    targets = targets_of(graph)
    assert targets is not None
    assert graph.splits is not None
    bars.part(name)
    results = [
        probe(
            embedding,
            targets,
            graph.splits,
            device=device,
            progress=partial(bars, "probe"),
        )
        for embedding in embeddings
    ]
    return Row.over(name, results)


def baselines(models: Sequence[GraphEmbedder], graph: Graph, bars: Bars) -> list[Row]:
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
    models: Sequence[GraphEmbedder], dataset: GraphDataset, bars: Bars
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
