"""Features in one table, or in several: one for each type of nodes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from fdgcl._checks import InputError, nearest
from fdgcl.graphs import ids as node_ids
from fdgcl.graphs.files.features import (
    FeatureTable,
    open_features,
    read_feature_table,
)
from fdgcl.graphs.files.opening import is_array_file
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.files.roles import Known
from fdgcl.graphs.node_types import padded
from fdgcl.graphs.schema import FeatureSchema, Schemas

#: No features, a table, several tables, or tables by type.
FeatureSources: TypeAlias = Any

_CHOICES = ("columns", "drop", "categorical", "numeric")


def read_features(
    sources: FeatureSources,
    known: Known,
    options: TableOptions,
    schema: Schemas | None = None,
    *,
    id_may_lack: bool = False,
) -> FeatureTable | None:
    """Read features from no table, one or several; `read_graph` says how.

    Several tables are blocks of one matrix: a node has numbers in the columns of its
    own table and zeros in those of others, and one column per table marks its nodes.

    Args:
        sources: None, a table, several tables, or tables by the name of their type.
        known: Ids of the edges, to recognise columns of ids by.
        options: How to read them.
        schema: How columns become numbers, as fitted on another graph.
        id_may_lack: Whether another table may have the column `id_column` instead.
    """
    tables = _by_type(sources)
    if len(tables) < 2:
        if isinstance(schema, Mapping):
            message = (
                f"the features this was fitted on were {len(schema)} tables, one for "
                f"each type of nodes ({', '.join(schema)}), and there "
                f"{'is one' if tables else 'are none'} now"
            )
            raise InputError(message)
        one = next(iter(tables.values()), None)
        if one is None:
            return None
        return read_feature_table(one, known, options, schema, id_may_lack=id_may_lack)
    schemas, notes = _schemas(list(tables), schema)
    read = [
        _read_one(source, known, *own)
        for source, own in zip(
            tables.values(), _restricted(tables, options, schemas), strict=True
        )
    ]
    return _joined(dict(zip(schemas, read, strict=True)), notes, options.id_column)


def _by_type(sources: FeatureSources) -> dict[str, Any]:
    if sources is None:
        return {}
    if isinstance(sources, Mapping):
        return {str(name): table for name, table in sources.items()}
    if isinstance(sources, list | tuple):
        named: dict[str, Any] = {}
        for number, table in enumerate(sources, start=1):
            name = _type_name(table, number)
            if name in named:
                message = (
                    f"two tables of features are called {name!r}: name their types, as "
                    "in --features user=a/x.csv --features item=b/x.csv"
                )
                raise InputError(message)
            named[name] = table
        return named
    return {_type_name(sources, 1): sources}


def _type_name(table: Any, number: int) -> str:
    if isinstance(table, str | os.PathLike):
        return Path(table).name.split(".")[0] or f"type{number}"
    return f"type{number}"


def _schemas(
    types: Sequence[str], given: Schemas | None
) -> tuple[dict[str, FeatureSchema | None], list[str]]:
    """Return how each table becomes numbers, by type, and lines to report."""
    if given is None:
        return dict.fromkeys(types), []
    if not isinstance(given, Mapping) or len(given) != len(types):
        count = len(given) if isinstance(given, Mapping) else 1
        message = (
            f"{len(types)} tables of features are given ({', '.join(types)}), and what "
            f"they are to fit was made of {count}"
        )
        raise InputError(message)
    if set(given) == set(types):
        return {name: given[name] for name in types}, []
    pairs = ", ".join(f"{a} for {b}" for a, b in zip(types, given, strict=True))
    return dict(given), [f"tables of features are taken in their order: {pairs}"]


def _restricted(
    tables: Mapping[str, Any],
    options: TableOptions,
    schemas: Mapping[str, FeatureSchema | None],
) -> list[tuple[TableOptions, FeatureSchema | None]]:
    """Each table's own options: of the columns named, those that it has."""
    if options.by_order:
        message = "--by-order goes with one table of features; several need ids"
        raise InputError(message)
    held: list[Sequence[str]] = []
    for name, table in tables.items():
        if is_array_file(table):
            message = (
                f"{table} has no ids; several tables of features ({name}) need them"
            )
            raise InputError(message)
        held.append(open_features(table, options).names)
    every = [name for names in held for name in names]
    for choice in _CHOICES:
        for name in getattr(options, choice) or ():
            if name not in every:
                message = (
                    f"no table of features has a column {name!r}{nearest(name, every)} "
                    f"(asked for by {choice})"
                )
                raise InputError(message)
    return [
        (_own(options, names), schema)
        for names, schema in zip(held, schemas.values(), strict=True)
    ]


def _own(options: TableOptions, names: Sequence[str]) -> TableOptions:
    own: dict[str, Any] = {
        choice: [name for name in getattr(options, choice) or () if name in names]
        for choice in _CHOICES
    }
    own["columns"] = own["columns"] or None
    key = options.id_column
    own["id_column"] = key if isinstance(key, int) or key in names else None
    return replace(options, **own)


def _read_one(
    source: Any, known: Known, options: TableOptions, schema: FeatureSchema | None
) -> FeatureTable:
    table = read_feature_table(source, replace(known, partial=True), options, schema)
    if table.ids is None:
        message = (
            f"{table.where} has no column with ids of {known.what}, which each of "
            "several tables of features needs: name it by --id-column (id_column)"
        )
        raise InputError(message)
    return table


def _joined(
    tables: Mapping[str, FeatureTable], notes: Sequence[str], id_name: Any
) -> FeatureTable:
    first, *others = tables.values()
    ids = first.ids
    for other in others:
        ids = node_ids.joined(ids, other.ids)
    listed = " and ".join(table.where for table in tables.values())
    node_ids.refuse_repeated(ids, f"the ids of {listed}, together,")
    values, names = padded(
        {name: table.values for name, table in tables.items()},
        {name: table.names for name, table in tables.items()},
    )
    reading = [
        f"{name}: {line}" for name, table in tables.items() for line in table.reading
    ]
    counts = ", ".join(
        f"{len(table.ids or ()):,} {name}" for name, table in tables.items()
    )
    reading.append(
        f"node types: {counts}; features are zero outside their type's columns"
    )
    return FeatureTable(
        listed,
        ids,
        values,
        names,
        {name: _single(table.schema) for name, table in tables.items()},
        (*notes, *reading),
        next(
            (t.id_name for t in tables.values() if t.id_name == id_name), first.id_name
        ),
    )


def _single(schema: Schemas) -> FeatureSchema:
    assert isinstance(schema, FeatureSchema)
    return schema
