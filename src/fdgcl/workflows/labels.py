"""Labels for the rows of an embedding, matched by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fdgcl._checks import InputError
from fdgcl.workflows.rows import Level

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from fdgcl.graphs import Splits, Targets
    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.workflows.source import Data

    Ids: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class RowLabels:
    """What the rows of an embedding are labelled with.

    Attributes:
        name: Where the labels come from.
        targets: Classes, values, or several labels at once.
        splits: How the rows are split, if that is known.
        level: What a row stands for.
        lines: What was taken, to be told, a line each.
    """

    name: str
    targets: Targets
    splits: Splits | None = None
    level: Level = "node"
    lines: tuple[str, ...] = ()

    def with_splits(self, seed: int = 0) -> RowLabels:
        """The same with splits: its own, or ten random ones, 10 / 10 / 80 %."""
        return self if self.splits is not None else self.split_at_random(seed)

    def split_at_random(self, seed: int) -> RowLabels:
        """The same with ten random splits, 10 / 10 / 80 % of what has a label."""
        from fdgcl.evaluation.tasks import draw_splits

        return replace(self, splits=draw_splits(self.targets, seed))


def targets_of(data: Data) -> Targets | None:
    """Return what a graph's nodes, or graphs, are labelled with; None for nothing."""
    from fdgcl.graphs import Graph, Targets
    from fdgcl.graphs.store.store import Store

    if isinstance(data, Store):
        return None
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
        message = f"`task={task}` does not fit the labels of {name}: {targets}"
        raise InputError(message)


def labels_of(data: Data) -> RowLabels | None:
    """The labels and splits of a graph, or of graphs, in their order; None for none."""
    from fdgcl.graphs import GraphDataset
    from fdgcl.graphs.store.store import Store

    targets = targets_of(data)
    if targets is None or isinstance(data, Store):
        return None
    title = f"{data.name} ({data.source})"
    if isinstance(data, GraphDataset):
        return RowLabels(title, targets, level="graph")
    return RowLabels(title, targets, data.splits)


def labels_in(
    table: Path, options: TableOptions, ids: Ids, where: str, level: Level = "node"
) -> RowLabels:
    """The labels in a table, by the ids of rows; rows may lack one.

    Args:
        table: The file.
        options: Which columns of it, which task.
        ids: Those of the rows.
        where: The embedding, for messages: "z.parquet".
        level: What a row stands for.

    Raises:
        InputError: The table has labels of ids that are not among those.
    """
    from fdgcl.graphs.files.labels import read_label_table
    from fdgcl.graphs.files.roles import Known
    from fdgcl.graphs.ids import from_values

    known = from_values(ids)
    found = read_label_table(table, Known(known, where, partial=True), options)
    targets, lines = found.for_ids(known, f"the ids of {where}", options.missing_labels)
    return RowLabels(str(table), targets, level=level, lines=lines)


def labels_given(
    values: Sequence[Any], rows: int, level: Level = "node", task: str = "auto"
) -> RowLabels:
    """Labels in memory, one for each row, read as a column of a table would be.

    Raises:
        InputError: There are more or fewer of them than rows, or they are not what
            the task is for.
    """
    import pyarrow as pa

    from fdgcl.graphs.targets import find_targets

    if len(values) != rows:
        message = f"`labels` must be one for each of {rows:,} rows, got {len(values):,}"
        raise InputError(message)
    column = pa.chunked_array([pa.array(values)])
    return RowLabels("labels", find_targets([column], ["labels"], task), level=level)


def rows_by_id(wanted: Ids, ids: Ids, units: str, where: str) -> npt.NDArray[np.int64]:
    """Where each of the ids wanted stands among the ids of rows, which are the same.

    Args:
        wanted: The ids in the order of the rows to be.
        ids: Those of the rows as they are.
        units: What is wanted, for messages: "nodes of cora".
        where: Where the rows are: "z.parquet".

    Raises:
        InputError: There are others on either side.
    """
    from fdgcl.graphs.ids import from_values, positions

    here, there = from_values(ids), from_values(wanted)
    kinds = ""
    if here.type != there.type:
        kinds = f" (its ids are {here.type}, those of the {units} {there.type})"
    rows = positions(there, here)
    _refuse(wanted[rows < 0], f"{units} are not in {where}", kinds)
    _refuse(ids[positions(here, there) < 0], f"ids in {where} are not {units}", kinds)
    return rows


def _refuse(ids: Ids, what: str, kinds: str) -> None:
    if len(ids):
        examples = ", ".join(repr(value) for value in ids[:3].tolist())
        message = f"{len(ids):,} {what}, such as {examples}{kinds}"
        raise InputError(message)
