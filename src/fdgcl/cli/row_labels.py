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

    from fdgcl.cli.source import Data, Reading
    from fdgcl.graphs import Splits, Targets

    Ids: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Truth:
    """What is known of some rows of an embedding.

    Attributes:
        name: Where it comes from.
        rows: Which rows.
        targets: Their classes, values, or several labels at once.
        splits: How they are split, if that is known.
        level: What a row stands for.
        lines: What was taken, to be told, a line each.
    """

    name: str
    rows: npt.NDArray[np.int64]
    targets: Targets
    splits: Splits | None = None
    level: Level = "node"
    lines: tuple[str, ...] = ()

    def split_at_random(self, seed: int) -> Truth:
        """Return it with ten random splits, 10 / 10 / 80 % of what has a label."""
        from fdgcl.evaluation.tasks import draw_splits

        return replace(self, splits=draw_splits(self.targets, seed))


def targets_of(data: Data) -> Targets | None:
    """Return what a graph's nodes, or graphs, are labelled with; None for nothing."""
    from fdgcl.graphs import Graph, Targets

    if data.y is not None:
        names = data.class_names
        numbered = (f"class {code}" for code in range(data.num_classes))
        return Targets("classes", names or tuple(numbered), codes=data.y)
    return data.targets if isinstance(data, Graph) else None


def check_task(task: str, targets: Targets, name: str) -> None:
    """Refuse a task that is not that of labels which are what they are.

    Raises:
        InputError: It is for other labels.
    """
    from fdgcl.evaluation.tasks import task_of

    if task not in ("auto", task_of(targets)):
        message = f"--task {task} does not fit the labels of {name}: {targets}"
        raise InputError(message)


def from_dataset(
    name: str, root: Path | None, ids: Ids, file: Path, task: str = "auto"
) -> Truth:
    """Take labels and splits from a dataset or a compact file, of nodes or of graphs.

    Raises:
        InputError: It has no labels, or others than the task is for, or its nodes or
            graphs are not those of the embedding.
    """
    from fdgcl.graphs import GraphDataset
    from fdgcl.graphs.ids import from_values, positions

    data = load_named(name, root)
    targets = targets_of(data)
    if targets is None:
        message = f"{name} ({data.source}) has no labels to score {file} against"
        raise InputError(message)
    check_task(task, targets, name)
    many = isinstance(data, GraphDataset)
    units = "graphs" if many else "nodes"
    here, there = from_values(ids), from_values(data.ids)
    rows = positions(there, here)
    _refuse(data.ids[rows < 0], f"{units} of {name} are not in {file}")
    strange = positions(here, there) < 0
    _refuse(ids[strange], f"ids in {file} are not {units} of {name}")
    title = f"{data.name} ({data.source})"
    if isinstance(data, GraphDataset):
        return Truth(title, rows, targets, level="graph")
    return Truth(title, rows, targets, data.splits)


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


def from_file(reading: Reading, ids: Ids, file: Path, level: Level = "node") -> Truth:
    """Take labels from a table; rows of the embedding may lack one.

    Args:
        reading: Which table, which columns of it, which task.
        ids: Those of the embedding.
        file: The embedding.
        level: What a row stands for.

    Raises:
        InputError: The table has labels of ids that the embedding does not have.
    """
    import numpy as np

    from fdgcl.graphs.files.labels import read_label_table
    from fdgcl.graphs.files.roles import Known
    from fdgcl.graphs.ids import from_values

    assert reading.labels is not None
    options, known = reading.tables, from_values(ids)
    table = read_label_table(
        reading.labels, Known(known, str(file), partial=True), options
    )
    where = f"the ids of {file}"
    targets, lines = table.for_ids(known, where, options.missing_labels)
    title = str(reading.labels)
    return Truth(title, np.arange(len(ids)), targets, level=level, lines=lines)


def _refuse(ids: Ids, what: str) -> None:
    if len(ids):
        examples = ", ".join(repr(value) for value in ids[:3].tolist())
        message = f"{len(ids):,} {what}, such as {examples}"
        raise InputError(message)
