"""Options for reading tables, for what a table itself leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from fdgcl._checks import InputError, check_flag, choose, nearest

Column: TypeAlias = str | int | None
Header: TypeAlias = bool | Literal["auto"]

MISSING_FEATURES = ("error", "drop-edges", "zero", "mean")
MISSING_LABELS = ("error", "drop")
SCALINGS = ("auto", "none", "standard", "robust")
TASKS = ("auto", "classify", "regress", "multilabel")
# Options that say something of features or of labels alone.
_ABOUT = {
    "features": (
        *("by_order", "columns", "drop", "categorical", "numeric"),
        *("column_scaling", "missing"),
    ),
    "labels": ("label_column", "missing_labels", "task"),
}


@dataclass(frozen=True)
class TableOptions:
    """How tables of edges, features and labels are to be understood.

    Columns are asked for by name or, from 0, by number; those of a text file without
    header are named "1", "2", ... What is left open is found out, and refused where two
    readings are plausible.

    Attributes:
        source: Column where edges start.
        target: Column where edges end.
        weight: Column of weights.
        edge_type: Column of edge types.
        shared_ids: Whether an id is the same node in a column of users and in one of
            items.
        id_column: Column of node ids in the features and in the labels.
        label_column: Column of labels; several for several labels per node.
        header: Whether text files have a header; `auto` finds out for each.
        by_order: Whether row i of the features belongs to the node i.
        columns: Take these columns as features and no other.
        drop: Leave these columns out.
        categorical: Columns to encode as categories.
        numeric: Columns to read as numbers.
        column_scaling: Of numbers: `auto`, `none`, `standard` or `robust`.
        missing: What becomes of edges whose node has no features: `error`,
            `drop-edges`, or the node's features are `zero` or the `mean` of the others.
        missing_labels: What becomes of labels of unknown ids: `error` or `drop`.
        allow_null_ids: Whether words such as `nan` and `NA` may be ids.
        task: What labels are: `auto`, `classify`, `regress` or `multilabel`.

    Example:
        >>> TableOptions(source="payer", target="payee", drop=["note"]).drop
        ('note',)
    """

    source: Column = None
    target: Column = None
    weight: Column = None
    edge_type: Column = None
    shared_ids: bool = False
    id_column: Column = None
    label_column: Column | Sequence[str] = None
    header: Header = "auto"
    by_order: bool = False
    columns: Sequence[str] | None = None
    drop: Sequence[str] = field(default=())
    categorical: Sequence[str] = field(default=())
    numeric: Sequence[str] = field(default=())
    column_scaling: str = "auto"
    missing: str = "error"
    missing_labels: str = "error"
    allow_null_ids: bool = False
    task: str = "auto"

    def __post_init__(self) -> None:
        if self.header not in (True, False, "auto"):
            message = f"header must be True, False or 'auto', got {self.header!r}"
            raise InputError(message)
        for name, known in (
            ("column_scaling", SCALINGS),
            ("missing", MISSING_FEATURES),
            ("missing_labels", MISSING_LABELS),
            ("task", TASKS),
        ):
            choose(name, getattr(self, name), dict.fromkeys(known))
        for name in ("shared_ids", "by_order", "allow_null_ids"):
            check_flag(name, getattr(self, name))
        for name in ("columns", "drop", "categorical", "numeric"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
        if not isinstance(self.label_column, str | int | None):
            labels = _names("label_column", self.label_column)
            object.__setattr__(self, "label_column", labels)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TableOptions:
        """Return options given as keywords; an unknown one is refused by name."""
        known = [one.name for one in fields(cls)]
        for name in given:
            if name not in known:
                message = (
                    f"unknown option {name!r}{nearest(name, known)} "
                    f"(known: {', '.join(known)})"
                )
                raise InputError(message)
        return cls(**given)

    def refuse_unused(self, features: Any, labels: Any) -> None:
        """Refuse options about tables that are not there: they would do nothing."""
        if self.id_column is not None and features is None and labels is None:
            message = (
                f"--id-column {self.id_column} (id_column) goes with a table of "
                "features or labels, and there is none; the ends of edges are named by "
                "--source-column and --target-column"
            )
            raise InputError(message)
        defaults = TableOptions()
        for table, given in (("features", features), ("labels", labels)):
            for name in _ABOUT[table] if given is None else ():
                if getattr(self, name) != getattr(defaults, name):
                    message = (
                        f"--{name.replace('_', '-')} ({name}) goes with a table of "
                        f"{table}, and there is none"
                    )
                    raise InputError(message)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for a file."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }


def _names(name: str, value: Any) -> tuple[str, ...] | None:
    if value is None and name == "columns":
        return None
    if isinstance(value, str) or not isinstance(value, Sequence):
        message = f"{name} must be a list of column names, got {value!r}"
        raise InputError(message)
    return tuple(map(str, value))
