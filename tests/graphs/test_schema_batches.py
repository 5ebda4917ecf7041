"""By batches or at once: the same schema to the bit, the same features."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fdgcl._checks import InputError
from fdgcl.graphs.schema import FeatureSchema, Overrides, SchemaFitter, fit_schema
from fdgcl.graphs.schema import statistics as module
from fdgcl.graphs.schema.statistics import (
    DistinctNumbers,
    Moments,
    RowSample,
    block_rows,
)
from tolerances import assert_within, gamma, sum_bound

CALM = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def by_batches(
    table: pa.Table, sizes: list[int], overrides: Overrides
) -> FeatureSchema:
    fitter = SchemaFitter(
        table.column_names,
        table.schema.types,
        typed=True,
        overrides=overrides,
        where="x",
    )
    first = 0
    for turn in range(table.num_rows):
        if first >= table.num_rows:
            break
        part = table.slice(first, sizes[turn % len(sizes)])
        columns = (
            part.combine_chunks().to_batches()[0].columns if turn % 2 else part.columns
        )
        fitter.update(columns, first)
        first += part.num_rows
    return fitter.finish()


def at_once(table: pa.Table, overrides: Overrides) -> FeatureSchema:
    return fit_schema(table, typed=True, overrides=overrides, where="x")


def outcome(fit: Callable[[], FeatureSchema]) -> FeatureSchema | str:
    """What was decided, or the sentence that says why nothing was."""
    try:
        return fit()
    except InputError as error:
        return str(error)


numbers = st.one_of(
    st.none(),
    st.floats(-1e12, 1e12),
    st.floats(-1, 1),
    st.integers(-3, 3).map(float),
    st.just(float("nan")),
)
words = st.one_of(
    st.none(), st.sampled_from(["a", "b", " b", "NA", "yes", "No", "2024-05-01", "7"])
)
moments = st.one_of(
    st.none(), st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))
)


@st.composite
def tables(draw: Any) -> pa.Table:
    rows = draw(st.integers(1, 40))

    def column(values: Any) -> Any:
        return draw(st.lists(values, min_size=rows, max_size=rows))

    return pa.table(
        {
            "a": pa.array(column(numbers), pa.float64()),
            "b": pa.array(column(numbers), pa.float64()),
            "word": pa.array(column(words), pa.string()),
            "kind": pa.array(column(words), pa.string()).dictionary_encode(),
            "digits": [str(i) for i in column(st.integers(0, 9))],
            "at": pa.array(column(moments), pa.timestamp("us")),
            "true": pa.array(column(st.sampled_from([None, True, False])), pa.bool_()),
            "row_id": pa.array(column(st.integers(0, 30))),
            "v": pa.array(
                column(st.one_of(st.none(), st.lists(numbers, min_size=2, max_size=2))),
                pa.list_(pa.float64()),
            ),
        }
    )


@CALM
@given(
    tables(),
    st.lists(st.integers(1, 17), min_size=1, max_size=4),
    st.sampled_from(["auto", "robust"]),
)
def test_batches_of_any_size(
    monkeypatch: pytest.MonkeyPatch, table: pa.Table, sizes: list[int], scaling: str
) -> None:
    # Small blocks and samples, so that a few rows fill many of them.
    monkeypatch.setattr(module, "_BLOCK_ROWS", 8)
    monkeypatch.setattr(module, "SAMPLE_ROWS", 12)
    overrides = Overrides(scaling=scaling)
    whole = outcome(lambda: at_once(table, overrides))
    parts = outcome(lambda: by_batches(table, sizes, overrides))
    if isinstance(whole, str) or isinstance(parts, str):
        assert parts == whole
        return
    assert parts.to_dict() == whole.to_dict()
    columns = [table[column.name] for column in whole.features]
    values = whole.encode(columns).values
    assert np.isfinite(values).all()
    first, told = 0, 0
    for turn in range(table.num_rows):
        size = sizes[turn % len(sizes)]
        part = [column.slice(first, size) for column in columns]
        if not len(part[0]):
            break
        found = whole.encode(part, first=first)
        np.testing.assert_array_equal(found.values, values[first : first + size])
        first, told = first + size, told + len(found.surprises.notices())
    assert told == 0


@pytest.mark.parametrize("sizes", [[1000], [8192], [8191, 3, 20_000]])
def test_more_rows_than_a_block_and_than_the_sample(sizes: list[int]) -> None:
    rng = np.random.default_rng(3)
    rows = 30_000
    tail = np.exp(rng.normal(0, 2, rows))
    tail[rng.integers(0, rows, 500)] = np.nan
    table = pa.table(
        {
            "tail": tail,
            "far": rng.normal(1e9, 1, rows),
            "word": [f"w{i}" for i in rng.integers(0, 900, rows)],
            "number": [f"{value:.3f}" for value in rng.normal(0, 1e3, rows)],
            "id": rng.permutation(rows),
        }
    )
    whole = at_once(table, Overrides())
    assert by_batches(table, sizes, Overrides()) == whole
    encodings = [column.encoding for column in whole.columns]
    assert encodings == ["robust", "standard", "hashed", "standard", "none"]
    far = whole.columns[1].statistics
    # Squares of 1e9 would leave no digit of a spread of 1. The mean of a block is off
    # by what its sum may be, and by little when blocks are merged; deviations from it,
    # and those of the blocks from each other, are off by as much at most.
    off = gamma(block_rows(table.num_columns) + 16, np.float64) * 1.01e9
    exactly = table["far"].to_numpy() - 1e9  # no rounding: 1e9 is near to all of them
    assert_within(far["mean"], 1e9 + exactly.mean(), off)
    assert_within(far["std"], exactly.std(), 2 * off)
    assert 2 * off < 2e-3
    exact = np.nanquantile(tail, 0.5)
    # The median of 10,000 of them is off by 0.5 / sqrt(10,000) of the ranks or so.
    low, high = np.nanquantile(tail, [0.48, 0.52])
    assert low < whole.columns[0].statistics["median"] < high
    assert whole.columns[0].statistics["median"] != exact


def test_a_null_first_is_no_other_type() -> None:
    rows = 9000
    table = pa.table(
        {
            "number": [None] * (rows - 3) + ["1", "2", "300"],
            "date": [None] * (rows - 2) + ["2024-05-01", "2024-05-09"],
            "v": pa.array([None] * (rows - 2) + [[1.0, 2.0], [3.0, 5.0]]),
        }
    )
    found = {c.name: c.encoding for c in at_once(table, Overrides()).columns}
    assert found == {"number": "standard", "date": "time", "v": "vector"}


def test_mistakes_are_named_by_their_row_in_the_table() -> None:
    values = [str(place) for place in range(20_000)]
    values[15_000] = "oops"
    table = pa.table({"age": values})
    for sizes in ([20_000], [777]):
        with pytest.raises(InputError, match="'oops' in row 15001, column 'age'"):
            by_batches(table, sizes, Overrides())


def test_rows_must_follow() -> None:
    fitter = SchemaFitter(
        ["a"], [pa.int64()], typed=True, overrides=Overrides(), where="x"
    )
    fitter.update([pa.array([1, 2])], 0)
    with pytest.raises(ValueError, match="rows 2 on of 1 columns must follow"):
        fitter.update([pa.array([3])], 3)


def test_moments_and_quartiles_are_numpys() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(3, 500)) * [[1], [1e6], [1e-6]] + [[0], [1e9], [1]]
    x[1, ::7] = np.nan
    found, sample = Moments(3), RowSample(3)
    for start in range(0, 500, 64):
        found.update(x[:, start : start + 64])
        sample.update(x[:, start : start + 64], start)
    summary = found.summary(sample.quartiles())
    # By how much a mean of a row may be off, and so the deviations from it: NumPy's,
    # ours, and in ours the means of blocks from each other.
    counts = 500 - np.isnan(x).sum(axis=1)
    off = sum_bound(np.nan_to_num(x).T, np.float64) / counts
    assert_within(summary.mean, np.nanmean(x, axis=1), 2 * off)
    std = np.nanstd(x, axis=1)
    # Sums of squares of two such deviations, and a root.
    squares = 2 * gamma(500 + 8, np.float64) * std
    assert_within(summary.std, std, 3 * off + squares)
    np.testing.assert_array_equal(summary.low, np.nanmin(x, axis=1))
    np.testing.assert_array_equal(summary.high, np.nanmax(x, axis=1))
    quartiles = np.nanquantile(x, [0.25, 0.5, 0.75], axis=1)
    # Between two numbers of the row: a few roundings, of numbers as large as they are.
    bound = gamma(8, np.float64) * np.nanmax(np.abs(x), axis=1)
    assert_within(summary.quartiles, quartiles, np.tile(bound, (3, 1)))


@pytest.mark.parametrize("step", [100, 8192, 50_000])
def test_a_repeat_among_kept_numbers_is_found(step: int) -> None:
    numbers = np.arange(50_000)
    for repeats, distinct in [(0, True), (5_000, False)]:
        values = np.concatenate([numbers, numbers[:repeats]])
        found = DistinctNumbers()
        for start in range(0, len(values), step):
            found.update(values[start : start + step])
        assert found.distinct is distinct


@pytest.mark.parametrize(
    ("width", "rows"), [(0, 8192), (1, 8192), (2048, 8192), (2049, 4096), (10**6, 128)]
)
def test_blocks_of_wide_tables_have_fewer_rows(width: int, rows: int) -> None:
    assert block_rows(width) == rows
