"""Schemas of small tables, for tests."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from fdgcl.graphs.schema import FeatureSchema, Overrides, fit_schema

ROWS = 400


def fit(columns: object, /, typed: bool = True, **asked: object) -> FeatureSchema:
    overrides = Overrides(**asked)  # type: ignore[arg-type]
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    return fit_schema(table, typed=typed, overrides=overrides, where="x.csv")


def only(columns: dict[str, object], /, **asked: object) -> tuple[str, str]:
    """The encoding and reason of the first column, beside one that is a feature."""
    rows = len(next(iter(columns.values())))  # type: ignore[arg-type]
    beside = {"beside": np.arange(rows) % 2 == 0}
    first = fit({**columns, **beside}, **asked).columns[0]
    return first.encoding, first.reason


def words(count: int, rows: int = ROWS, form: str = "w{}") -> list[str]:
    return [form.format(place % count) for place in range(rows)]
