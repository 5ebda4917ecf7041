"""Labels for the rows of a report: what to colour by, and what to score against."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.cli.level import Level, row_ids
from fdgcl.cli.row_labels import targets_of

if TYPE_CHECKING:
    from fdgcl._bars import Bars
    from fdgcl.cli.source import Data
    from fdgcl.graphs import Splits, Targets
    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.report.accuracy import Score
    from fdgcl.report.embedding_map import Groups
    from fdgcl.report.run_page import Embedded


@dataclass(frozen=True)
class Labelled:
    """The labels of an embedding's rows.

    Attributes:
        name: Where they come from.
        targets: Classes, values, or several labels at once.
        splits: How the rows are split, if that is known.
        level: What a row stands for.
    """

    name: str
    targets: Targets
    splits: Splits | None = None
    level: Level = "node"

    @property
    def groups(self) -> Groups | None:
        """The labels as groups of a map; None where a node has several."""
        from fdgcl.report.embedding_map import Groups, fifths

        if self.targets.kind == "multilabel":
            return None
        if self.targets.values is not None:
            return fifths(self.targets.values, f"fifth of the labels of {self.name}")
        assert self.targets.codes is not None
        what = f"label, of {self.name}"
        return Groups(self.targets.codes, self.targets.names, what)

    def with_splits(self) -> Splits:
        """The splits; without any, ten random ones, 10 / 10 / 80 % of the labelled."""
        from fdgcl.evaluation.tasks import draw_splits

        return self.splits or draw_splits(self.targets)

    def score(self, z: Any, bars: Bars) -> tuple[Score, str]:
        """Score an embedding: nodes by the probe that fits, graphs by an SVM on folds.

        Returns:
            The score, and what it was measured on.

        Raises:
            InputError: The labels do not suffice.
        """
        from fdgcl.evaluation import graph_svm
        from fdgcl.evaluation.tasks import measures, probe
        from fdgcl.report.accuracy import Score

        name = "this embedding"
        self.targets.refuse_trivial(self.name)
        if self.level == "graph":
            self.targets.need_classes(self.name)
            folds = graph_svm(z, self.targets.codes, progress=partial(bars, "folds"))
            caption = (
                f"Labels of {self.name}; {len(folds.test)} dealings of "
                f"{len(folds.test[0])} folds. Every choice is made inside the fold."
            )
            return Score(name, folds.mean, folds.std, folds.val_mean), caption
        splits = self.with_splits()
        result = probe(z, self.targets, splits, progress=partial(bars, "probe"))
        first = measures(result)[0]
        count = len(splits)
        caption = (
            f"Labels of {self.name}; {count} split{'s'[: count > 1]} ({splits.name}). "
            "Every choice is made on validation nodes."
        )
        assert first.val is not None
        spread = pstdev(first.test) if count > 1 else None
        score = Score(name, fmean(first.test), spread, fmean(first.val), first.name)
        return score, caption


def from_graph(data: Data) -> Labelled:
    """Take the labels of a graph, or of graphs, that have some."""
    from fdgcl.graphs import GraphDataset

    targets = targets_of(data)
    assert targets is not None
    title = f"{data.name} ({data.source})"
    if isinstance(data, GraphDataset):
        return Labelled(title, targets, level="graph")
    return Labelled(title, targets, data.splits)


def from_labels(
    path: Path,
    options: TableOptions,
    ids: Any,
    level: Level = "node",
) -> tuple[Labelled, tuple[str, ...]]:
    """Take labels from a table; rows of the embedding may lack one.

    Returns:
        The labels, and what was taken, a line each.

    Raises:
        InputError: The table has labels of ids that the embedding does not have.
    """
    from fdgcl.graphs.files.labels import read_label_table
    from fdgcl.graphs.files.roles import Known
    from fdgcl.graphs.ids import from_values

    known = from_values(ids)
    table = read_label_table(path, Known(known, "the embedding", partial=True), options)
    where = "those of the embedding"
    targets, lines = table.for_ids(known, where, options.missing_labels)
    return Labelled(str(path), targets, level=level), lines


def in_order_of(
    data: Data, embedded: Embedded, name: str, level: Level = "node"
) -> Embedded:
    """The embedding with its rows in the order of the nodes, or of the graphs.

    Raises:
        InputError: Its ids are not those of the nodes, or of the graphs.
    """
    from fdgcl.graphs.ids import from_values, positions
    from fdgcl.report.run_page import Embedded

    ids = row_ids(data, level)
    here, there = from_values(embedded.ids), from_values(ids)
    if here.type != there.type:
        message = (
            f"the embedding is not one of {name}: its ids are {here.type}, those of "
            f"the {level}s {there.type}"
        )
        raise InputError(message)
    rows = positions(there, here)
    if (rows < 0).any() or len(here) != len(there):
        missing = ids[rows < 0]
        examples = ", ".join(repr(value) for value in missing[:3].tolist())
        message = (
            f"the embedding is not one of {name}: {len(missing):,} of its {level}s are "
            f"not in it, such as {examples}"
        )
        raise InputError(message)
    return Embedded(ids, embedded.z[rows])
