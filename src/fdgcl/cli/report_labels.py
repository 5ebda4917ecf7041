"""Labels for the rows of a report: what to colour by, and what to score against."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError
from fdgcl.cli.level import Level, row_ids

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fdgcl.cli.progress import Bars
    from fdgcl.cli.source import Data
    from fdgcl.graphs import Splits
    from fdgcl.report.accuracy import Score
    from fdgcl.report.embedding_map import Groups
    from fdgcl.report.run_page import Embedded


@dataclass(frozen=True)
class Labelled:
    """The labels of an embedding's rows.

    Attributes:
        name: Where they come from.
        y: Class codes, -1 for none.
        class_names: What the codes stand for.
        splits: How the rows are split, if that is known.
        level: What a row stands for.
    """

    name: str
    y: npt.NDArray[np.int64]
    class_names: tuple[str, ...]
    splits: Splits | None = None
    level: Level = "node"

    @property
    def groups(self) -> Groups:
        """The labels as groups of a map."""
        from fdgcl.report.embedding_map import Groups

        return Groups(self.y, self.class_names, f"label, of {self.name}")

    def with_splits(self) -> Splits:
        """The splits; without any, ten random ones, 10 / 10 / 80 % of the labelled."""
        from fdgcl.graphs import random_splits

        if self.splits is not None:
            return self.splits
        return random_splits(self.y, train=0.1, val=0.1, count=10, seed=0)

    def score(self, z: Any, bars: Bars) -> tuple[Score, str]:
        """Score an embedding: nodes by a linear probe, graphs by an SVM on folds.

        Returns:
            The score, and what it was measured on.

        Raises:
            InputError: The labels do not suffice.
        """
        from fdgcl.evaluation import graph_svm, linear_probe
        from fdgcl.report.accuracy import Score

        name = "this embedding"
        if self.level == "graph":
            folds = graph_svm(z, self.y, progress=partial(bars, "folds"))
            caption = (
                f"Labels of {self.name}; {len(folds.test)} dealings of "
                f"{len(folds.test[0])} folds. Every choice is made inside the fold."
            )
            return Score(name, folds.mean, folds.std, folds.val_mean), caption
        splits = self.with_splits()
        result = linear_probe(z, self.y, splits, progress=partial(bars, "probe"))
        count = len(splits)
        caption = (
            f"Labels of {self.name}; {count} split{'s'[: count > 1]} ({splits.name}). "
            "Every choice is made on validation nodes."
        )
        spread = result.test_std if count > 1 else None
        return Score(name, result.test_mean, spread, result.val_mean), caption


def from_graph(data: Data) -> Labelled:
    """Take the labels of a graph, or of graphs, that have some."""
    from fdgcl.graphs import GraphDataset

    assert data.y is not None
    names = data.class_names or tuple(f"class {i}" for i in range(data.num_classes))
    title = f"{data.name} ({data.source})"
    if isinstance(data, GraphDataset):
        return Labelled(title, data.y, names, level="graph")
    return Labelled(title, data.y, names, data.splits)


def from_labels(
    path: Path,
    id_column: str | None,
    label_column: str | None,
    ids: Any,
    level: Level = "node",
) -> Labelled:
    """Take labels from a table; rows of the embedding may lack one.

    Raises:
        InputError: The table has labels of ids that the embedding does not have.
    """
    from fdgcl.graphs.files.labels import read_label_table
    from fdgcl.graphs.files.table import existing_file
    from fdgcl.graphs.ids import from_values

    table = read_label_table(existing_file(path, "labels"), id_column, label_column)
    y = table.for_ids(from_values(ids), "those of the embedding")
    return Labelled(str(path), y, table.class_names, level=level)


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
