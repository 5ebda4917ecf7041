"""What labels are: classes, values, or several labels at once; decided by the values.

The rule for one column, where no task is given:

- text and booleans are classes;
- numbers that are not all whole are values;
- whole numbers are classes up to 20 distinct ones; up to 50, or 5 % of the rows if that
  is more, where there are ten rows or more for each and, above 50, they count from 0 or
  1 without a gap; values above that. What lies between is refused, with both readings.

A column of lists, or several columns of 0 and 1, are several labels at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fdgcl._checks import InputError, choose
from fdgcl.graphs.files.options import TASKS
from fdgcl.graphs.labels import encode_labels

if TYPE_CHECKING:
    import pyarrow as pa

    from fdgcl.graphs.target_columns import TargetColumn

Kind: TypeAlias = Literal["classes", "values", "multilabel"]

_FEW = 20  # distinct whole numbers that are classes, however many rows there are
_MANY, _SHARE = 50, 0.05  # distinct whole numbers, of rows, above which they are values
_MEMBERS = 10  # rows for each whole number, at least, where these may be values
_LEAST = 10  # labels from which on "all different" is no accident


@dataclass(frozen=True, eq=False, repr=False)
class Targets:
    """What is to be predicted of each node, or of each graph.

    Attributes:
        kind: Which one of `codes`, `values` and `matrix` there is.
        names: The classes, the column of the values, or the labels.
        codes: (N,) int64 class codes, -1 for no label.
        values: (N,) float64, NaN for no label.
        matrix: (N, L) int8, 1 where a label applies and 0 where not; rows of -1 have
            no label at all.

    Example:
        >>> from fdgcl.graphs import Targets
        >>> targets = Targets("values", ("price",), values=[3.5, float("nan"), 2.0])
        >>> len(targets), targets.num_labelled
        (3, 2)
    """

    kind: Kind
    names: tuple[str, ...]
    codes: npt.NDArray[np.int64] | None = None
    values: npt.NDArray[np.float64] | None = None
    matrix: npt.NDArray[np.int8] | None = None

    def __post_init__(self) -> None:
        part, dtype, axes = choose("kind of targets", self.kind, _PARTS)
        given = [
            name for name, _, _ in _PARTS.values() if getattr(self, name) is not None
        ]
        if given != [part]:
            message = (
                f"targets of the kind {self.kind!r} must have {part} alone, got "
                f"{' and '.join(given) or 'nothing'}"
            )
            raise InputError(message)
        array = np.asarray(getattr(self, part))
        if array.ndim != axes or array.dtype.kind not in "biuf":
            message = (
                f"{part} must be numbers in {axes} dimension{'s'[: axes > 1]}, got "
                f"{array.dtype} of shape {array.shape}"
            )
            raise InputError(message)
        _check(part, array, len(self.names))
        view: npt.NDArray[Any] = array.astype(dtype, copy=False).view()
        view.flags.writeable = False
        object.__setattr__(self, part, view)

    @property
    def array(self) -> npt.NDArray[Any]:
        """The one array there is, a row for each node."""
        array: npt.NDArray[Any] = getattr(self, _PARTS[self.kind][0])
        return array

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """(N,) which rows have a label."""
        return has_label(self.array)

    @property
    def num_labelled(self) -> int:
        """How many rows have a label."""
        return int(self.labelled.sum())

    def __len__(self) -> int:
        return len(self.array)

    def __str__(self) -> str:
        """`4 classes`, `continuous, 0.3 to 17`, `12 labels, 1.8 per node`."""
        known = self.array[self.labelled]
        if self.kind == "classes":
            return f"{len(self.names)} classes"
        if self.kind == "values":
            return f"continuous, {known.min():.4g} to {known.max():.4g}"
        return f"{len(self.names)} labels, {known.sum() / len(known):.2g} per node"

    def __repr__(self) -> str:
        return f"Targets({self}; {self.num_labelled:,} of {len(self):,} rows)"

    def placed(self, places: npt.NDArray[np.int64], count: int) -> Targets:
        """Return `count` rows, row `places[i]` that of row i here; -1 is left out.

        Rows that are named by none have no label.
        """
        array = self.array
        empty = np.nan if self.kind == "values" else -1
        result = np.full((count, *array.shape[1:]), empty, array.dtype)
        result[places[places >= 0]] = array[places >= 0]
        return self._with(result)

    def rows(self, index: Any) -> Targets:
        """Return some of the rows, by their numbers or a mask."""
        return self._with(self.array[index])

    def need_classes(self, where: str) -> None:
        """Refuse anything but classes, where nothing else can be done with it.

        Raises:
            InputError: These are values, or several labels at once.
        """
        if self.kind != "classes":
            message = (
                f"classes are needed here, but the labels of {where} are not: {self} "
                "(--task classify takes each of them as a class)"
            )
            raise InputError(message)

    def refuse_trivial(self, where: str) -> None:
        """Refuse labels whose prediction would mean nothing.

        Args:
            where: What has these labels, for the message.

        Raises:
            InputError: No label, one class or value alone, or a class for each row.
        """
        known = self.array[self.labelled]
        if len(known) == 0:
            message = f"{where} has no labels to score against: all of them are empty"
            raise InputError(message)
        if (known == known[0]).all():
            only = self.names[int(known[0])] if self.kind == "classes" else known[0]
            what = "class" if self.kind == "classes" else "value"
            message = (
                f"all {len(known):,} labels of {where} are the same {what}, {only}: "
                "a score would say nothing"
            )
            raise InputError(message)
        if self.kind == "classes" and len(np.unique(known)) == len(known) >= _LEAST:
            message = (
                f"{where} has {len(known):,} classes for {len(known):,} labels, each "
                "of them once: there is nothing to learn them from"
            )
            raise InputError(message)

    def _with(self, array: npt.NDArray[Any]) -> Targets:
        parts: dict[str, Any] = {_PARTS[self.kind][0]: array}
        return Targets(self.kind, self.names, **parts)


_PARTS: dict[str, tuple[str, type, int]] = {
    "classes": ("codes", np.int64, 1),
    "values": ("values", np.float64, 1),
    "multilabel": ("matrix", np.int8, 2),
}


def _check(part: str, array: npt.NDArray[Any], names: int) -> None:
    """Refuse an array that does not fit its part, or the names."""
    problem = ""
    if part == "codes" and array.size and not -1 <= array.min() <= array.max() < names:
        problem = f"codes must lie between -1 and {names - 1}, the last of the classes"
    elif part == "values" and (names != 1 or np.isinf(array).any()):
        problem = "values must be finite, or NaN for no label, and have one name"
    elif part == "matrix":
        fine = np.isin(array, (0, 1)).all(axis=1) | (array == -1).all(axis=1)
        if array.shape[1] != names or not fine.all():
            problem = (
                f"matrix must have {names} columns of 0 and 1, and -1 throughout a row "
                "without labels"
            )
    if problem:
        raise InputError(problem)


def has_label(array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Say which rows of codes, of values, or of a matrix of labels have a label."""
    if array.ndim == 2:
        return np.asarray((array >= 0).all(axis=1), np.bool_)
    known = ~np.isnan(array) if array.dtype.kind == "f" else array >= 0
    return np.asarray(known, np.bool_)


def find_targets(
    columns: Sequence[pa.ChunkedArray],
    names: Sequence[str],
    task: str = "auto",
    where: str = "",
) -> Targets:
    """Find out what labels are, by the rule at the top of this file.

    Args:
        columns: One column, or several of 0 and 1.
        names: What the columns are called.
        task: `classify`, `regress` or `multilabel`, where the rule is not to decide.
        where: The file the columns come from, for messages.

    Raises:
        InputError: They may be read in two ways, or not as the task says.

    Example:
        >>> import pyarrow as pa
        >>> from fdgcl.graphs import find_targets
        >>> find_targets([pa.chunked_array([[3.5, 2.0, 9.25]])], ["price"]).kind
        'values'
    """
    from fdgcl.graphs.target_columns import TargetColumn, indicators, listed_labels

    choose("task", task, dict.fromkeys(TASKS))
    of = f" of {where}" if where else ""
    if len(columns) > 1:
        shown = ", ".join(names)
        if task in ("classify", "regress"):
            message = (
                f"--task {task} takes one label column, got {len(columns)}{of}: {shown}"
            )
            raise InputError(message)
        titles = [f"the column {name!r}{of}" for name in names]
        return Targets("multilabel", tuple(names), matrix=indicators(columns, titles))
    what = f"the column {names[0]!r}{of}"
    column = TargetColumn.of(columns[0], what)
    if column.is_list:
        if task in ("classify", "regress"):
            message = (
                f"{what} holds lists, where --task {task} expects one label in each row"
            )
            raise InputError(message)
        matrix, labels = listed_labels(column.values, what)
        return Targets("multilabel", labels, matrix=matrix)
    if task == "multilabel":
        message = (
            f"{what} holds one label in each row: --task multilabel takes several "
            "columns of 0 and 1, or a column of lists in a Parquet file"
        )
        raise InputError(message)
    kind = _decide(column, what) if task == "auto" else task
    if kind == "regress":
        return Targets("values", (names[0],), values=column.need_numbers())
    codes, classes = encode_labels(column.for_classes())
    return Targets("classes", classes, codes=codes)


def _decide(column: TargetColumn, what: str) -> Literal["classify", "regress"]:
    if column.numbers is None:
        _refuse_ids(column, what)
        return "classify"
    known = column.numbers[~np.isnan(column.numbers)]
    if (known != np.rint(known)).any():
        return "regress"
    classes = known[known != -1]
    found = np.unique(classes)
    rows, distinct = len(classes), len(found)
    if distinct > max(_MANY, _SHARE * rows):
        return "regress"
    single = distinct == rows >= _LEAST
    if distinct <= _FEW and not single:
        return "classify"
    counted = found[0] in (0, 1) and found[-1] - found[0] == distinct - 1
    if rows >= _MEMBERS * distinct and (distinct <= _MANY or counted):
        return "classify"
    message = (
        f"{what} has {distinct:,} different whole numbers in {rows:,} rows, which may "
        f"be {distinct:,} classes of {rows / distinct:.2g} rows each (--task "
        f"classify) or values from {found[0]:.6g} to {found[-1]:.6g} (--task regress)"
    )
    raise InputError(message)


def _refuse_ids(column: TargetColumn, what: str) -> None:
    """Refuse words that are nearly all different: no classes, but ids or text."""
    words = column.words()
    known = words[words != ""]
    rows, distinct = len(known), len(np.unique(known))
    all_differ = distinct == rows >= _LEAST
    if all_differ or (distinct > _MANY and 2 * distinct > rows):
        message = (
            f"{what} has {distinct:,} classes for {rows:,} nodes, which looks like ids "
            "or text: name the column of labels by --label-column, or say --task "
            "classify"
        )
        raise InputError(message)
