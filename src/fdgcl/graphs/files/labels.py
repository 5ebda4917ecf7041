"""Labels in tables: a column of ids and columns of labels of any type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fdgcl._checks import InputError, choose
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.files.names import LABELS, find_first, is_pandas_index, names_labels
from fdgcl.graphs.files.opening import open_table
from fdgcl.graphs.files.options import MISSING_LABELS, TableOptions
from fdgcl.graphs.files.roles import Known, find_id_column
from fdgcl.graphs.files.table import Table
from fdgcl.graphs.ids import ArrowIds
from fdgcl.graphs.targets import Targets, find_targets


@dataclass(frozen=True)
class LabelTable:
    """Labels as they stand in a table.

    Attributes:
        where: The table, for messages.
        ids: One id per row, none of them twice.
        targets: What is said of each row.
        id_name: The column of ids.
        label_names: The columns of labels.
    """

    where: str
    ids: ArrowIds
    targets: Targets
    id_name: str
    label_names: tuple[str, ...]

    def for_ids(
        self, known: ArrowIds, where: str, missing: str = "error"
    ) -> tuple[Targets, tuple[str, ...]]:
        """Return the targets in the order of `known`; an id may have no label.

        Args:
            known: The ids wanted.
            where: What they are, for the message: "the ids of z.parquet".
            missing: `drop` leaves out labels of ids that are not known.

        Returns:
            The targets, and what was taken and left out, a line each.

        Raises:
            InputError: There are labels of ids that are not known, and they are not
                to be dropped or nothing is left.
        """
        choose("choice of missing labels", missing, dict.fromkeys(MISSING_LABELS))
        places = node_ids.positions(self.ids, known)
        unknown = node_ids.unknown(self.ids, places)
        nothing = (places < 0).all()
        if len(unknown) and (missing == "error" or nothing):
            hint = "" if nothing else "; --missing-labels drop leaves them out"
            message = (
                f"{self.where} has labels of {len(unknown)} ids that are not among "
                f"{where}, such as {node_ids.examples(unknown)}{hint}"
            )
            raise InputError(message)
        targets = self.targets.placed(places, len(known))
        lines = [self._taken(targets)]
        if len(unknown):
            lines.append(
                f"labels: {len(unknown):,} of {len(self.ids):,} are of ids that are "
                f"not among {where}, such as {node_ids.examples(unknown)}, and were "
                "left out"
            )
        return targets, tuple(lines)

    def _taken(self, targets: Targets) -> str:
        names = ", ".join(self.label_names)
        what = str(targets) if targets.num_labelled else "all of them empty"
        return f"labels: {names} by {self.id_name}, {what}"


def read_label_table(
    source: Any, known: Known, options: TableOptions, *, id_may_lack: bool = False
) -> LabelTable:
    """Read labels from a table; `read_graph` says how.

    Args:
        source: A file or a table in memory.
        known: The ids that labels are wanted of, to recognise their column by.
        options: How to read it.
        id_may_lack: Whether to find out, too, when there is no column `id_column`.
    """
    wanted = _listed(options.label_column)
    keys = () if id_may_lack else (options.id_column,)
    table = open_table(source, "labels", names_labels, (*keys, *wanted), options.header)
    key, labels = label_columns(table, known, options, wanted, id_may_lack=id_may_lack)
    columns, _ = table.read([key, *labels])
    ids = read_keys(table, key, columns[0], options)
    names = tuple(table.names[label] for label in labels)
    targets = find_targets(columns[1:], names, options.task, table.where)
    return LabelTable(table.where, ids, targets, table.names[key], names)


def read_keys(table: Table, key: int, column: Any, options: TableOptions) -> ArrowIds:
    """Return a column of ids, none of which may come twice."""
    ids: ArrowIds = table.ids([column], [key], allow_null=options.allow_null_ids)[0]
    node_ids.refuse_repeated(ids, f"the column {table.names[key]!r} of {table.where}")
    return ids


def label_columns(
    table: Table,
    known: Known,
    options: TableOptions,
    wanted: Sequence[str | int],
    *,
    id_may_lack: bool = False,
    names: Sequence[str] = LABELS,
    option: str = "--label-column (label_column)",
) -> tuple[int, list[int]]:
    """Find the column of ids, and that of labels or whatever is said of each id.

    Raises:
        InputError: A column is not there, or several may be meant.
    """
    if len(table.names) < 2:
        message = (
            f"{table.where} must have a column of ids and one of labels, but has one "
            f"column ({table.columns_found()})"
        )
        raise InputError(message)
    labels = [table.find(column) for column in wanted]
    if len(set(labels)) < len(labels):
        message = f"a column of {table.where} is named twice by {option}"
        raise InputError(message)
    key = find_id_column(table, _own_id(table, options, id_may_lack), known)
    if key is None:
        message = (
            f"no column of {table.where} holds ids of {known.what}, such as "
            f"{node_ids.examples(known.ids)}: name it by --id-column (id_column); "
            f"{table.columns_found()}"
        )
        raise InputError(message)
    if not labels:
        labels = [_label(table, key, names, option)]
    if key in labels:
        message = (
            f"the column {table.names[key]!r} of {table.where} cannot hold both ids "
            f"and labels: name another by --id-column or {option}"
        )
        raise InputError(message)
    return key, labels


def _own_id(table: Table, options: TableOptions, may_lack: bool) -> Any:
    given = options.id_column
    if may_lack and isinstance(given, str) and given not in table.names:
        return None
    return given


def _label(table: Table, key: int, names: Sequence[str], option: str) -> int:
    """The column of labels: by its name, or the only one that there is."""
    named = find_first(table.names, names) if table.named else None
    if named is not None and named != key:
        return named
    others = [
        number
        for number, name in enumerate(table.names)
        if number != key and not (table.named and is_pandas_index(name))
    ]
    if len(others) == 1:
        return others[0]
    shown = ", ".join(repr(table.names[number]) for number in others[:10])
    message = (
        f"it is not clear which column of {table.where} holds the labels: name it by "
        f"{option}; candidates: {shown}"
    )
    raise InputError(message)


def _listed(label_column: Any) -> list[str | int]:
    if label_column is None:
        return []
    if isinstance(label_column, str | int):
        return [label_column]
    return list(label_column)
