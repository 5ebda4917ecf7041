"""What an embedding is worth for a known set of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fdgcl._checks import InputError, choose
from fdgcl.workflows.evaluation import Evaluation
from fdgcl.workflows.feedback import OnNotice, ProgressArgument, feedback
from fdgcl.workflows.labels import (
    RowLabels,
    check_task,
    labels_given,
    labels_in,
    labels_of,
    rows_by_id,
)
from fdgcl.workflows.reading import new_reading
from fdgcl.workflows.rows import LEVELS, Level
from fdgcl.workflows.source import load_named

if TYPE_CHECKING:
    import numpy.typing as npt

    from fdgcl.graphs.files.options import TableOptions
    from fdgcl.workflows.labels import Ids
    from fdgcl.workflows.source import InMemory

SPLITS = ("dataset", "random")


def evaluate(
    embedding: str | Path | npt.NDArray[Any],
    *,
    ids: Sequence[Any] | None = None,
    dataset: str | InMemory | None = None,
    labels: str | Path | Sequence[Any] | None = None,
    tables: TableOptions | None = None,
    level: str | None = None,
    splits: str | None = None,
    data_root: str | Path | None = None,
    seed: int = 0,
    progress: ProgressArgument = None,
    on_notice: OnNotice | None = None,
) -> Evaluation:
    """Score an embedding: linear probe, nearest neighbours, k-means.

    Ids in the embedding are matched to those of the labels. Labels may be classes,
    values (scored by ridge regression) or several at once (one classifier for each).
    Every choice is made on validation nodes; test nodes are scored once. Graphs are
    scored by support vector machines on ten folds, every choice made inside the fold.

    Args:
        embedding: What `embed` wrote, or (N, dim) numbers.
        ids: (N,) ids of the rows of numbers; without any, the rows are in the order of
            the dataset, or are numbered from 0.
        dataset: Labels and splits: a dataset by name, a compact file, or a graph.
        labels: A file of labels instead, or one label for each row.
        tables: How that file is understood, and which task labels are for.
        level: Whether the labels of a file are those of nodes (`node`) or of graphs.
        splits: `dataset` for the dataset's own, `random` for ten random ones.
        data_root: The folder of datasets.
        seed: Of random splits and k-means.
        progress: Whether to show a bar, or a function of stage, done and total.
        on_notice: Called with each notice as soon as it is known.

    Raises:
        InputError: Embedding and labels do not belong together, or do not suffice.

    Example:
        >>> import fdgcl
        >>> from fdgcl.workflows import evaluate
        >>> graph = fdgcl.load_dataset("cora-bundled")
        >>> found = evaluate(graph.features.toarray(), dataset=graph)
        >>> found.lines[0].name, round(found.lines[0].mean, 1)
        ('linear probe, accuracy', 0.6)
    """
    if (dataset is None) == (labels is None):
        message = "say where the labels are: either `dataset=NAME` or `labels=FILE`"
        raise InputError(message)
    if splits is not None:
        choose("kind of splits", splits, dict.fromkeys(SPLITS))
    if level is not None:
        choose("level", level, dict.fromkeys(LEVELS))
    values = None if isinstance(labels, str | Path) else labels
    file = labels if isinstance(labels, str | Path) else None
    reading = new_reading(labels=file, tables=tables, data_root=data_root)
    reading.check()
    task = reading.tables.task
    with feedback(progress, on_notice) as told:
        with told.bars.waiting("read"):
            rows = _rows(embedding, ids)
            wanted: Level = "graph" if level == "graph" else "node"
            if dataset is not None:
                rows, found = _of_dataset(rows, dataset, reading.data_root, task)
            elif values is not None:
                found = labels_given(values, len(rows.z), wanted, task)
            else:
                assert reading.labels is not None
                found = labels_in(
                    reading.labels, reading.tables, rows.known, rows.name, wanted
                )
        _check_level(found, level, splits)
        found.targets.refuse_trivial(found.name)
        if found.level == "node":
            found = _split(found, splits, seed)
        told.notice(*_told(found))
        return Evaluation.of(rows.z, rows.name, found, seed, told)


@dataclass(frozen=True, eq=False)
class _Rows:
    """An embedding: its rows, their ids where they are known, and what it is called."""

    z: npt.NDArray[Any]
    ids: Ids | None
    name: str

    @property
    def known(self) -> Ids:
        """The ids, or else numbers from 0."""
        import numpy as np

        return np.arange(len(self.z)) if self.ids is None else self.ids


def _rows(embedding: str | Path | npt.NDArray[Any], ids: Sequence[Any] | None) -> _Rows:
    import numpy as np

    if isinstance(embedding, str | Path):
        from fdgcl.embeddings import read_embeddings

        names, z = read_embeddings(embedding)
        return _Rows(z, names, str(embedding))
    z = np.asarray(embedding)
    known = None if ids is None else np.asarray(ids)
    if z.ndim != 2 or (known is not None and known.shape != (len(z),)):
        shape = "" if known is None else f" and ids of shape {known.shape}"
        message = (
            "`embedding` must be a file or (N, dim) numbers with one id per row, got "
            f"shape {z.shape}{shape}"
        )
        raise InputError(message)
    return _Rows(z, known, "the embedding")


def _of_dataset(
    rows: _Rows, dataset: str | InMemory, root: Path | None, task: str
) -> tuple[_Rows, RowLabels]:
    """The rows in the order of a dataset, or of its graphs, and their labels.

    Raises:
        InputError: It has no labels, or others than the task is for, or its nodes or
            graphs are not those of the embedding.
    """
    named = isinstance(dataset, str)
    data = load_named(dataset, root) if isinstance(dataset, str) else dataset
    name = str(dataset) if named else data.name
    found = labels_of(data)
    if found is None:
        message = f"{name} ({data.source}) has no labels to score {rows.name} against"
        raise InputError(message)
    check_task(task, found.targets, name)
    ids = data.ids if rows.ids is None and len(rows.z) == len(data.ids) else rows.known
    places = rows_by_id(data.ids, ids, f"{found.level}s of {name}", rows.name)
    return _Rows(rows.z[places], data.ids, rows.name), found


def _split(labels: RowLabels, splits: str | None, seed: int) -> RowLabels:
    if splits == "random":
        return labels.split_at_random(seed)
    if splits == "dataset" and labels.splits is None:
        message = f"{labels.name} has no splits of its own: use `splits='random'`"
        raise InputError(message)
    return labels.with_splits(seed)


def _told(labels: RowLabels) -> list[str]:
    """What was taken; graphs have classes, and no other task."""
    from fdgcl.evaluation.tasks import task_line

    graphs = labels.level == "graph"
    return [*labels.lines, *([] if graphs else [task_line(labels.targets)])]


def _check_level(labels: RowLabels, level: str | None, splits: str | None) -> None:
    if level is not None and level != labels.level:
        message = f"`level={level}` does not fit: {labels.name} has {labels.level}s"
        raise InputError(message)
    if labels.level == "graph":
        labels.targets.need_classes(labels.name)
    if labels.level == "graph" and splits is not None:
        message = (
            f"`splits={splits}` goes with nodes; graphs are scored on folds, dealt by "
            "seed"
        )
        raise InputError(message)
