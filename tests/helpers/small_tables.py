"""Small tables in files, to be imported by tests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

NODES = 90


def ring(nodes: int = NODES, name: Callable[[int], Any] = int) -> dict[str, Any]:
    """Each node and the next one, in another order than 0, 1, 2, ..."""
    order = np.random.default_rng(9).permutation(nodes).tolist()
    ends = [(i + 1) % nodes for i in order]
    return {"source": [*map(name, order)], "target": [*map(name, ends)]}


def columns_of_every_kind(nodes: int = NODES) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    day = dt.datetime(2023, 1, 1, 6, tzinfo=dt.UTC)
    words = [f"word{i}" for i in range(80)]

    def holes(values: list[Any], every: int) -> list[Any]:
        return [None if i % every == 3 else v for i, v in enumerate(values)]

    income = rng.lognormal(9, 3, nodes)
    return {
        "income": holes(income.tolist(), 7),
        "age": rng.integers(18, 90, nodes),
        "score": rng.standard_normal(nodes).astype(np.float32),
        "unix": 1.7e9 + rng.integers(0, 10**8, nodes),
        "price": [Decimal(int(n)) / 100 for n in rng.integers(1, 9999, nodes)],
        "member": holes([bool(i % 3) for i in range(nodes)], 11),
        "answer": ["yes" if i % 4 else "no" for i in range(nodes)],
        "city": holes([("Oslo", "Rome", "Bern")[i % 3] for i in range(nodes)], 5),
        "shop": pa.array([words[i % 80] for i in range(nodes)]).dictionary_encode(),
        "joined": [
            day + dt.timedelta(hours=int(h)) for h in rng.integers(0, 9000, nodes)
        ],
        "born": [dt.date(1950, 1, 1) + dt.timedelta(days=37 * i) for i in range(nodes)],
        "taste": [rng.standard_normal(11).tolist() for _ in range(nodes)],
        "remark": [f"the {i}th remark, of some length" for i in range(nodes)],
        "label": [i % 2 for i in range(nodes)],
        "same": [1.0] * nodes,
        "empty": pa.nulls(nodes, pa.float64()),
        "raw": [bytes([i, 255 - i]) for i in range(nodes)],
    }


def as_parquet(path: Path, columns: dict[str, Any]) -> Path:
    path = path.with_suffix(".parquet")
    pq.write_table(pa.table(columns), path, row_group_size=17)
    return path


def as_csv(path: Path, columns: dict[str, Any]) -> Path:
    path = path.with_suffix(".csv")
    table = pa.table(columns)
    flat = [
        name
        for name, kind in zip(table.column_names, table.schema.types, strict=True)
        if not (pa.types.is_nested(kind) or pa.types.is_binary(kind))
    ]
    table = table.select(flat)
    for place, kind in enumerate(table.schema.types):
        if pa.types.is_dictionary(kind) or pa.types.is_decimal(kind):
            text = table.column(place).cast(pa.string())
            table = table.set_column(place, table.column_names[place], text)
    pacsv.write_csv(table, path)
    return path


def keyed(columns: dict[str, Any], name: Callable[[int], Any] = int) -> dict[str, Any]:
    return {"user_id": [*map(name, range(NODES))], **columns}
