"""Which columns of a table are what: ends of edges, weights, types, ids.

What the user named is taken; else what the names say and the values do not
contradict; else what only one reading of the values allows. Where there are several,
the table is refused with the candidates and the option that decides.

Only the first rows are looked at, the same whether a table is read at once or by parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.files.names import (
    EDGE_TYPES,
    WEIGHTS,
    are_two_kinds,
    find_first,
    find_id,
    is_pandas_index,
    known_ends,
    plain,
)
from fdgcl.graphs.files.options import Column, TableOptions
from fdgcl.graphs.files.table import HEAD_ROWS, Table
from fdgcl.graphs.ids import ArrowIds

#: A column holds the ids of a graph when it has at least this share of them.
_SHARE = 0.5


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of an edge list, by number."""

    source: int
    target: int
    weight: int | None
    edge_type: int | None

    def describe(self, table: Table) -> str:
        """Return the line that says what was taken, and what not."""
        names = [_shown(name) for name in table.names]
        text = f"edges: {names[self.source]} -> {names[self.target]}"
        if self.weight is not None:
            text += f", weight {names[self.weight]}"
        if self.edge_type is not None:
            text += f", type {names[self.edge_type]}"
        used = {self.source, self.target, self.weight, self.edge_type}
        return text + ignored(name for i, name in enumerate(names) if i not in used)


def ignored(names: Any) -> str:
    """Return `; ignored: ...`, or nothing where nothing is."""
    listed = list(names)
    if not listed:
        return ""
    more = len(listed) - 10
    return f"; ignored: {', '.join(listed[:10])}" + (f" and {more} more" * (more > 0))


def find_edge_columns(table: Table, options: TableOptions) -> EdgeColumns:
    """Find the columns of an edge list.

    Raises:
        InputError: A column asked for is not there, or several readings are plausible.
    """
    weight = None if options.weight is None else table.find(options.weight)
    kind = None if options.edge_type is None else table.find(options.edge_type)
    first, second = _ends(table, options, {weight, kind} - {None})
    for option, column in (("--weight-column", weight), ("--edge-type-column", kind)):
        if column in (first, second):
            message = (
                f"{option}: {table.names[column]!r} is a column of ids in {table.where}"
                f", where edges {'start' if column == first else 'end'}"
            )
            raise InputError(message)
    if table.named and not options.shared_ids:
        _refuse_shared(table, first, second)
    used = {first, second}
    if weight is None and options.weight is None and table.named:
        weight = _free(find_first(table.names, WEIGHTS), used)
    used.add(-1 if weight is None else weight)
    if kind is None and table.named:
        kind = _free(find_first(table.names, EDGE_TYPES), used)
    return EdgeColumns(first, second, weight, kind)


def _refuse_shared(table: Table, first: int, second: int) -> None:
    """Refuse users and items that have ids in common: 7 and 7 may be two nodes."""
    names = table.names[first], table.names[second]
    if not are_two_kinds(*names):
        return
    left, right = (_as_text(column) for column in table.head([first, second]))
    shared = left.filter(pc.is_in(left, value_set=right))
    if len(shared):
        example = shared[0].as_py()
        message = (
            f"the columns {names[0]!r} and {names[1]!r} of {table.where} have ids in "
            f"common, such as {example!r}: if it is the same node in both, say "
            "--shared-ids (shared_ids); if not, write them apart, such as "
            f"'{names[0][:1]}{example}' and '{names[1][:1]}{example}'"
        )
        raise InputError(message)


def _free(column: int | None, used: set[int]) -> int | None:
    return None if column in used else column


def _ends(table: Table, options: TableOptions, taken: Any) -> tuple[int, int]:
    if len(table.names) < 2:
        message = (
            f"{table.where} must have two columns of ids, one edge per row, but has "
            f"one ({table.columns_found()})"
        )
        raise InputError(message)
    given = [
        None if column is None else table.find(column)
        for column in (options.source, options.target)
    ]
    if None not in given:
        if given[0] == given[1]:
            message = (
                f"edges of {table.where} cannot start and end in the same column "
                f"{table.names[given[0] or 0]!r}"
            )
            raise InputError(message)
        return given[0], given[1]  # type: ignore[return-value]
    pairs = [
        pair
        for pair in _plausible_pairs(table, taken)
        if all(g is None or g == end for g, end in zip(given, pair, strict=True))
    ]
    if len(pairs) == 1:
        return pairs[0]
    if given != [None, None]:
        return _other_end(table, given, taken)
    raise _ambiguous_ends(table, taken)


def _plausible_pairs(table: Table, taken: Any) -> list[tuple[int, int]]:
    """The pairs of columns that the ends of edges can be; the first rule that fits."""
    named = known_ends(table.names) if table.named else []
    if len(named) > 1:
        fit = [p for p in named if all(table.kind(c) == "ids" for c in p)]
        named = fit or named
    if named:
        return named
    if len(table.names) == 2:
        return [(0, 1)]
    candidates = _id_like(table, taken)
    if len(candidates) == 2:
        return [(candidates[0], candidates[1])]
    return _sharing(table, candidates)


def _id_like(table: Table, taken: Any) -> list[int]:
    """Columns that can be ends: ids by their kind, not named as something else."""
    other = {*WEIGHTS, *EDGE_TYPES} if table.named else set()
    return [
        number
        for number, name in enumerate(table.names)
        if number not in taken
        and plain(name) not in other
        and not (table.named and is_pandas_index(name))
        and table.kind(number) == "ids"
    ]


def _sharing(table: Table, candidates: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs among which ids come in both columns."""
    if len(candidates) < 2 or len(candidates) > 20:
        return []
    distinct = [_as_text(column) for column in table.head(candidates)]
    return [
        (candidates[a], candidates[b])
        for a, b in combinations(range(len(candidates)), 2)
        if pc.any(pc.is_in(distinct[a], value_set=distinct[b])).as_py()
    ]


def _other_end(
    table: Table, given: Sequence[int | None], taken: Any
) -> tuple[int, int]:
    """The column that goes with the one the user named."""
    known = next(column for column in given if column is not None)
    others = [c for c in _id_like(table, taken) if c != known]
    if len(others) != 1:
        lacking = "source" if given[0] is None else "target"
        found = ", ".join(repr(table.names[c]) for c in others) or "none"
        message = (
            f"{table.where} has no column that is known as the {lacking} of an edge: "
            f"name it with --{lacking}-column ({lacking}); candidates: {found}"
        )
        raise InputError(message)
    return (others[0], known) if given[0] is None else (known, others[0])


def _ambiguous_ends(table: Table, taken: Any) -> InputError:
    candidates = _id_like(table, taken) or range(len(table.names))
    for start, end in known_ends(table.names) if table.named else ():
        table.refuse_repeated_name(start)
        table.refuse_repeated_name(end)
    shown = ", ".join(repr(_shown(table.names[c])) for c in candidates[:10])
    return InputError(
        f"it is not clear which columns of {table.where} are the ends of an edge: name "
        f"them with --source-column and --target-column (source, target); candidates: "
        f"{shown}"
    )


@dataclass(frozen=True)
class Known:
    """The ids of a graph, or a sample of them, to recognise a column of ids by.

    Attributes:
        ids: Distinct ids.
        what: What they are the ids of: "the edges", "the graph".
        partial: Whether a table may hold some of the ids alone: those of one type of
            nodes, or those that have a label.
    """

    ids: ArrowIds
    what: str = "the edges"
    partial: bool = False

    def share_in(self, table: Table, column: int) -> float:
        """Return which share of the ids comes in a column, read by parts.

        Where some of the ids will do: which share of the column is among them, if that
        is more.
        """
        known = self.ids.cast(pa.string())
        seen = np.zeros(len(known), bool)
        rows = hits = 0
        for batch in table.batches([column], rows=HEAD_ROWS, skip=0):
            places = node_ids.positions(_as_text(batch.as_is[0]), known)
            seen[places[places >= 0]] = True
            rows, hits = rows + len(places), hits + int((places >= 0).sum())
        share = float(seen.mean()) if len(seen) else 0.0
        return max(share, hits / max(rows, 1)) if self.partial else share


def find_id_column(
    table: Table, given: Column, known: Known, otherwise: str = ""
) -> int | None:
    """Find the column of ids in a table of features or labels; None where none is.

    Args:
        table: The table.
        given: The column that the user named, if any.
        known: The ids of the graph.
        otherwise: What else a user may do where there is no such column.

    Raises:
        InputError: Several columns may be, or the one that the name says is not.
    """
    if given is not None:
        return table.find(given)
    named = find_id(table.names) if table.named else None
    if named is not None:
        table.refuse_repeated_name(named)
        # Ids that come twice are refused later; they are no reason to take another.
        if _holds(table, named, known):
            return named
    matching = _matching(table, known)
    # A pandas index may number the rows, beside the column that holds the ids.
    proper = [c for c in matching if not is_pandas_index(table.names[c])]
    matching = proper or matching
    if len(matching) == 1:
        return matching[0]
    if matching:
        shown = ", ".join(repr(_shown(table.names[c])) for c in matching[:10])
        message = (
            f"several columns of {table.where} hold the ids of {known.what}: {shown}; "
            "say which by --id-column (id_column)"
        )
        raise InputError(message)
    if named is not None and known.share_in(table, named) == 0:
        message = (
            f"the column {table.names[named]!r} of {table.where} has none of the ids "
            f"of {known.what}, such as {node_ids.examples(known.ids)}, and no other "
            f"column has: name the column of ids by --id-column (id_column){otherwise}"
        )
        raise InputError(message)
    return named


def _holds(table: Table, column: int, known: Known) -> bool:
    """Whether a column holds at least half of the known ids."""
    return table.kind(column) == "ids" and known.share_in(table, column) >= _SHARE


def _matching(table: Table, known: Known) -> list[int]:
    """Columns without repeated values that hold at least half of the known ids."""
    likely = [c for c in range(len(table.names)) if table.kind(c) == "ids"]
    if not likely:
        return []
    heads = table.head(likely)
    unique = [
        column
        for column, head in zip(likely, heads, strict=True)
        if head.null_count == 0 and len(_as_text(head)) == len(head)
    ]
    return [one for one in unique if _holds(table, one, known)]


def looks_like_ids(table: Table) -> str | None:
    """Return the name of a column that must be ids by its name or its text."""
    if table.named:
        for name in table.names:
            last = plain(name)
            if last in ("id", "uuid", "guid") or name.lower().endswith(("_id", " id")):
                return name
    return None


def _as_text(column: Any) -> pa.Array:
    """Return the distinct ids of a column as text, whatever they are."""
    values = pc.unique(column).drop_null()
    if pa.types.is_string(values.type):
        values = values.filter(pc.not_equal(values, ""))
    return node_ids.from_column(values, "a column", allow_null=True).cast(pa.string())


def _shown(name: str) -> str:
    return " ".join(name.split()) or "(without a name)"
