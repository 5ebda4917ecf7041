"""Features in tables: keyed by id, or in the order of the nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.files.arrays import read_matrix
from fdgcl.graphs.files.names import names_features
from fdgcl.graphs.files.opening import is_array_file, open_table
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.files.roles import Known, find_id_column, looks_like_ids
from fdgcl.graphs.files.table import Table, existing_file
from fdgcl.graphs.files.telling import OR_BY_ORDER, array_line, table_line
from fdgcl.graphs.ids import ArrowIds
from fdgcl.graphs.schema import (
    CATEGORIES,
    FeatureSchema,
    Overrides,
    Schemas,
    encode_matrix,
    fit_matrix,
    fit_schema,
)


@dataclass(frozen=True)
class FeatureTable:
    """Features as they stand in a table, encoded as numbers.

    Attributes:
        where: The table, for messages.
        ids: One id per row; None when rows follow the nodes 0, 1, 2, ...
        values: (N, F) float32, dense or sparse, finite.
        names: One name per column, or None.
        schema: How columns became numbers; of several tables, by type.
        reading: What was taken, and what was decided, in sentences.
        id_name: The column of ids, if there is one.
    """

    where: str
    ids: ArrowIds | None
    values: Any
    names: tuple[str, ...] | None
    schema: Schemas
    reading: tuple[str, ...]
    id_name: str | None = None

    def with_more_rows(self, ids: ArrowIds, how: str) -> FeatureTable:
        """Return it with rows for more ids, of zeros or of the columns' means."""
        assert self.ids is not None
        values = self.values
        row = values.mean(axis=0) if how == "mean" else np.zeros(values.shape[1])
        more = np.tile(np.asarray(row, np.float32), (len(ids), 1))
        if sparse.issparse(values):
            stacked: Any = sparse.vstack([values, sparse.csr_array(more)], format="csr")
        else:
            stacked = np.concatenate([values, more])
        return replace(self, ids=node_ids.joined(self.ids, ids), values=stacked)


def overrides_of(options: TableOptions, *, beside_units: bool = False) -> Overrides:
    """What the user asked for in features."""
    return Overrides(
        columns=None if options.columns is None else tuple(options.columns),
        drop=tuple(options.drop),
        categorical=tuple(options.categorical),
        numeric=tuple(options.numeric),
        scaling=options.column_scaling,
        beside_units=beside_units,
    )


def open_features(source: Any, options: TableOptions) -> Table:
    """Open a table of features."""
    given = (options.id_column, *(options.columns or ()), *options.drop)
    given = (*given, *options.categorical, *options.numeric)
    table = open_table(source, "features", names_features, given, options.header)
    table.texts = frozenset(options.categorical)
    return table


def read_feature_table(
    source: Any,
    known: Known,
    options: TableOptions,
    schema: FeatureSchema | None = None,
    *,
    id_may_lack: bool = False,
) -> FeatureTable:
    """Read features from a table or an array; `read_graph` says how.

    Args:
        source: A file or a table in memory.
        known: The ids of the edges, to recognise a column of ids by.
        options: How to read it.
        schema: How columns become numbers; None to find out.
        id_may_lack: Whether to find out, too, when there is no column `id_column`.
    """
    if is_array_file(source):
        return _read_array(existing_file(source, "features"), options, schema)
    table = open_features(source, options)
    if id_may_lack and isinstance(options.id_column, str):
        has = options.id_column in table.names
        options = options if has else replace(options, id_column=None)
    key = key_column(table, options, known)
    # One table of several: columns that say whose a node is stand beside its own.
    overrides = overrides_of(options, beside_units=known.partial)
    return _read_table(table, key, options, overrides, schema)


def key_column(table: Table, options: TableOptions, known: Known) -> int | None:
    """Return the column of ids, or None where rows go by order.

    Raises:
        InputError: It is not clear which column holds the ids, or whether one does.
    """
    if options.by_order:
        if options.id_column is not None:
            message = (
                "--by-order says that there is no column of ids, and --id-column names "
                "one: choose"
            )
            raise InputError(message)
        return None
    key = find_id_column(table, options.id_column, known, OR_BY_ORDER)
    if key is None:
        refuse_unclear_order(table, known)
    return key


def refuse_unclear_order(table: Table, known: Known) -> None:
    """Refuse rows by order where a column looks like ids, but not of this graph."""
    looks = looks_like_ids(table)
    if looks is not None:
        message = (
            f"{table.where} has a column {looks!r}, but it does not hold the ids of "
            f"{known.what} (such as {node_ids.examples(known.ids)}), each once: name "
            f"the column that does by --id-column (id_column){OR_BY_ORDER}"
        )
        raise InputError(message)


def columns_but(table: Table, key: int | None) -> list[int]:
    """Return the columns that may be features: all but the ids.

    Raises:
        InputError: There are none.
    """
    others = [number for number in range(len(table.names)) if number != key]
    if not others:
        message = f"{table.where} has no features ({table.columns_found()})"
        raise InputError(message)
    return others


def refuse_names(path: Path, options: TableOptions) -> None:
    """Refuse options that name columns of a file which has no names."""
    for option in ("id_column", "columns", "drop", "categorical", "numeric"):
        if getattr(options, option) not in (None, ()):
            message = (
                f"{path} has no names of columns, so it cannot have {option} "
                f"{getattr(options, option)!r}"
            )
            raise InputError(message)


def _read_array(
    path: Path, options: TableOptions, schema: FeatureSchema | None
) -> FeatureTable:
    refuse_names(path, options)
    values = read_matrix(path)
    decided = schema or fit_matrix(values, overrides_of(options), str(path))
    encoded = encode_matrix(decided, values, str(path))
    line = array_line(path.name, values.shape[1])
    said = decided.describe() if schema is None else ()
    return FeatureTable(str(path), None, encoded, None, decided, (line, *said))


def _read_table(
    table: Table,
    key: int | None,
    options: TableOptions,
    overrides: Overrides,
    schema: FeatureSchema | None,
) -> FeatureTable:
    others = columns_but(table, key)
    decided, columns, notes = _schema(table, key, others, overrides, schema)
    keys = None
    if key is not None:
        first = columns.pop(0)
        keys = table.ids([first], [key], allow_null=options.allow_null_ids)[0]
        node_ids.refuse_repeated(
            keys, f"the column {table.names[key]!r} of {table.where}"
        )
    encoded = decided.encode(columns, where=table.where)
    id_name = None if key is None else table.names[key]
    line = table_line(decided, id_name)
    said = decided.describe() if schema is None else notes
    return FeatureTable(
        table.where,
        keys,
        encoded.values,
        decided.feature_names if table.named else None,
        decided,
        (line, *said, *encoded.surprises.notices()),
        id_name,
    )


def _schema(
    table: Table,
    key: int | None,
    others: list[int],
    overrides: Overrides,
    schema: FeatureSchema | None,
) -> tuple[FeatureSchema, list[Any], tuple[str, ...]]:
    """Return how to encode, the key and the columns to encode in order, and notices."""
    names = [table.names[number] for number in others]
    keys = [] if key is None else [key]
    if schema is not None:
        wanted, notes = schema.match(names, table.where)
        places = [others[names.index(name)] for name in wanted]
        table.texts |= {c.name for c in schema.features if c.encoding in CATEGORIES}
        return schema, table.columns([*keys, *places], as_is=keys), notes
    columns = table.columns([*keys, *others], as_is=keys)
    ids, columns = columns[: len(keys)], columns[len(keys) :]
    fitted = fit_schema(
        pa.Table.from_arrays(columns, names=names),
        typed=table.typed,
        overrides=overrides,
        where=table.where,
    )
    kept = [
        column
        for column, found in zip(columns, fitted.columns, strict=True)
        if found.role == "feature"
    ]
    return fitted, [*ids, *kept], ()
