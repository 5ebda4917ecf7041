"""A schema fitted some columns at a time is the one of all columns together."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs.schema import Overrides, SchemaFitter, fit_matrix, fit_schema
from tolerances import assert_within, sum_bound

ROWS = 20_000


def table(rows: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(0)
    day = dt.date(2020, 1, 1)
    return pa.table(
        {
            "a": rng.lognormal(0, 3, rows),
            "city": [("Oslo", "Rome")[i % 2] for i in range(rows)],
            "b": rng.standard_normal(rows).astype(np.float32),
            "row_id": range(rows),
            "c": pa.array(rng.standard_normal(rows), mask=rng.random(rows) < 0.1),
            "day": [day + dt.timedelta(days=i % 900) for i in range(rows)],
            "text": [f"{i / 8}" for i in range(rows)],
            "x": pa.FixedSizeListArray.from_arrays(rng.standard_normal(rows * 3), 3),
            "d": rng.integers(0, 2, rows),
        }
    )


def fitter(data: pa.Table, overrides: Overrides | None = None) -> SchemaFitter:
    return SchemaFitter(
        data.column_names,
        data.schema.types,
        typed=True,
        overrides=overrides or Overrides(),
        where="x.parquet",
    )


@pytest.mark.parametrize("step", [1, 2, 4, 8])
@pytest.mark.parametrize("rows", [997, 30_000])
def test_some_columns_at_a_time(step: int, rows: int) -> None:
    data = table()
    expected = fit_schema(data, typed=True, where="x.parquet")
    found = fitter(data)
    for start in range(0, data.num_columns, step):
        places = range(start, min(start + step, data.num_columns))
        for first in range(0, ROWS, rows):
            part = data.slice(first, rows)
            found.update([part.column(place) for place in places], first, places)
    assert found.finish() == expected


def feed(found: SchemaFitter, data: pa.Table, places: Any, first: int = 0) -> None:
    found.update([data.column(place) for place in places], first, places)


def test_columns_that_do_not_follow() -> None:
    data = table(10)
    with pytest.raises(ValueError, match="the columns 0 on must follow"):
        feed(fitter(data), data, range(1, 3))
    found = fitter(data)
    feed(found, data, range(3))
    with pytest.raises(ValueError, match="the columns 3 on must follow"):
        feed(found, data, range(4, 9))
    with pytest.raises(ValueError, match="the columns 3 on are missing"):
        found.finish()
    with pytest.raises(ValueError, match="rows 10 on of 3 columns must follow"):
        feed(found, data, range(3))


def test_a_table_that_grows_meanwhile() -> None:
    data = table(10)
    found = fitter(data)
    feed(found, data, range(4))
    feed(found, data, range(4, 9))
    feed(found, data, range(4, 9), 10)
    with pytest.raises(InputError, match="had 10 rows, and has 20: was it changed"):
        found.finish()


@pytest.mark.parametrize("at_once", [1, 3, 8, 100])
def test_a_matrix_some_columns_at_a_time(at_once: int) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((ROWS, 11)) * 10.0 ** np.arange(11)
    x[7, 4] = np.nan
    expected = fit_matrix(x, Overrides(), "x.npy")
    assert fit_matrix(x, Overrides(), "x.npy", at_once) == expected


@pytest.mark.parametrize("width", [1, 700, 5000])
def test_long_vectors_by_batches(width: int) -> None:
    """Of long vectors few rows are looked at together, always the same ones."""
    rng = np.random.default_rng(1)
    x = pa.FixedSizeListArray.from_arrays(rng.standard_normal(300 * width), width)
    data = pa.table({"x": x})
    expected = fit_schema(data, typed=True, where="x")
    found = fitter(data)
    for first in range(0, 300, 71):
        found.update(data.slice(first, 71).columns, first)
    assert found.finish() == expected
    mean = np.asarray(expected.columns[0].statistics["mean"])
    values = np.stack(x.to_numpy(zero_copy_only=False))
    # Two means of the same 300 numbers, each rounded in its own way.
    bound = 2 * sum_bound(values, np.float64) / len(values)
    assert_within(mean, values.mean(axis=0), bound)
