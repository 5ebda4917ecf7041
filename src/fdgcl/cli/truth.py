"""Labels for the rows of an embedding, matched by id."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fdgcl._checks import InputError
from fdgcl.cli.level import Level

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fdgcl.cli.source import Data
    from fdgcl.graphs import Splits

    Ids: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Truth:
    """What is known of some rows of an embedding.

    Attributes:
        name: Where it comes from.
        rows: Which rows.
        y: Their class codes, -1 for none.
        splits: How they are split, if that is known.
        level: What a row stands for.
    """

    name: str
    rows: npt.NDArray[np.int64]
    y: npt.NDArray[np.int64]
    splits: Splits | None = None
    level: Level = "node"

    def split_at_random(self, seed: int) -> Truth:
        """Return it with ten random splits, 10 / 10 / 80 % of what has a label."""
        from fdgcl.graphs import random_splits

        splits = random_splits(self.y, train=0.1, val=0.1, count=10, seed=seed)
        return replace(self, splits=splits)


def from_dataset(name: str, root: Path | None, ids: Ids, file: Path) -> Truth:
    """Take labels and splits from a dataset or a compact file, of nodes or of graphs.

    Raises:
        InputError: It has no labels, or its nodes or graphs are not those of the
            embedding.
    """
    from fdgcl.graphs import GraphDataset
    from fdgcl.graphs.ids import from_values, positions

    data = load_named(name, root)
    if data.y is None:
        message = f"{name} ({data.source}) has no labels to score {file} against"
        raise InputError(message)
    many = isinstance(data, GraphDataset)
    units = "graphs" if many else "nodes"
    here, there = from_values(ids), from_values(data.ids)
    rows = positions(there, here)
    _refuse(data.ids[rows < 0], f"{units} of {name} are not in {file}")
    strange = positions(here, there) < 0
    _refuse(ids[strange], f"ids in {file} are not {units} of {name}")
    title = f"{data.name} ({data.source})"
    if isinstance(data, GraphDataset):
        return Truth(title, rows, data.y, level="graph")
    return Truth(title, rows, data.y, data.splits)


def load_named(name: str, root: Path | None) -> Data:
    """Return a dataset, or what a compact file holds: one graph or many.

    Raises:
        InputError: It is not there.
    """
    from fdgcl.graphs import load_dataset, load_graphs
    from fdgcl.graphs.compact_graphs import holds_graphs
    from fdgcl.graphs.datasets import dataset_info, is_compact_path

    if is_compact_path(name):
        return load_graphs(name) if holds_graphs(name) else load_dataset(name)
    many = dataset_info(name).graphs > 1
    return load_graphs(name, root) if many else load_dataset(name, root)


def from_file(
    path: Path,
    id_column: str | None,
    label_column: str | None,
    ids: Ids,
    file: Path,
    level: Level = "node",
) -> Truth:
    """Take labels from a table; rows of the embedding may lack one.

    Raises:
        InputError: The table has labels of ids that the embedding does not have.
    """
    import numpy as np

    from fdgcl.graphs.files.labels import read_label_table
    from fdgcl.graphs.files.table import existing_file
    from fdgcl.graphs.ids import from_values

    table = read_label_table(existing_file(path, "labels"), id_column, label_column)
    y = table.for_ids(from_values(ids), f"the ids of {file}")
    return Truth(str(path), np.arange(len(ids)), y, level=level)


def _refuse(ids: Ids, what: str) -> None:
    if len(ids):
        examples = ", ".join(repr(value) for value in ids[:3].tolist())
        message = f"{len(ids):,} {what}, such as {examples}"
        raise InputError(message)
