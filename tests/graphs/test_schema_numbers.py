"""Numbers of a table: how they are scaled, and to what."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl.graphs.schema import FeatureSchema, Overrides, fit_schema
from tolerances import assert_agree, assert_within, gamma

RNG = np.random.default_rng(5)
ROWS = 400


def fit(
    columns: dict[str, object], /, typed: bool = True, **asked: object
) -> FeatureSchema:
    overrides = Overrides(**asked)  # type: ignore[arg-type]
    table = pa.table(columns)
    return fit_schema(table, typed=typed, overrides=overrides, where="x.csv")


def encoded(columns: dict[str, object], **asked: object) -> NDArray[np.float32]:
    schema = fit(columns, **asked)
    table = pa.table(columns)
    wanted, _ = schema.match(table.column_names, "x.csv")
    return schema.encode([table[name] for name in wanted]).values


def encodings(schema: FeatureSchema) -> dict[str, str]:
    return {column.name: column.encoding for column in schema.columns}


def test_unlike_spreads_are_standardised() -> None:
    age, income = RNG.normal(40, 15, ROWS), RNG.normal(30_000, 9_000, ROWS)
    schema = fit({"age": age, "income": income})
    assert encodings(schema) == {"age": "standard", "income": "standard"}
    for column, values in zip(schema.columns, (age, income), strict=True):
        scaled = (values - column.statistics["mean"]) / column.statistics["std"]
        assert_agree(scaled.mean(), 0, size=1)
        assert_agree(scaled.var(), 1)
    x = encoded({"age": age, "income": income})
    expected = (age - age.mean()) / age.std()
    assert_agree(x[:, 0], expected)


def test_unix_time_keeps_its_digits() -> None:
    seconds = np.arange(1_700_000_000, 1_700_000_000 + ROWS)
    x = encoded({"time": seconds, "good": RNG.normal(size=ROWS)})
    # In float32 seconds of today are known to 128 only. What is scaled before it is
    # rounded has three roundings here: of both numbers, and of their difference.
    step = np.full(ROWS - 1, 1 / seconds.std())
    bound = gamma(3, np.float32) * np.abs(x[:, 0]).max()
    assert_within(np.diff(x[:, 0]), step, bound)


def test_an_embedding_stays_as_it_is() -> None:
    values = RNG.normal(size=(ROWS, 6)).astype(np.float32) * [1, 2, 3, 4, 5, 9]
    columns = {f"e{place}": values[:, place] for place in range(6)}
    schema = fit(columns)
    assert set(encodings(schema).values()) == {"as-is"}
    np.testing.assert_array_equal(encoded(columns), values.astype(np.float32))


def test_an_offset_is_no_embedding() -> None:
    columns = {"a": RNG.normal(size=ROWS), "b": RNG.normal(size=ROWS) + 100}
    assert set(encodings(fit(columns)).values()) == {"standard"}


def test_numbers_beside_categories_are_compared_with_one() -> None:
    age = RNG.normal(40, 15, ROWS)
    assert encodings(fit({"age": age}))["age"] == "as-is"
    beside = {"age": age, "city": ["Rome", "Oslo"] * (ROWS // 2)}
    assert encodings(fit(beside))["age"] == "standard"
    beside = {"age": age, "paid": np.arange(ROWS) % 2 == 0}
    assert encodings(fit(beside))["age"] == "standard"


@pytest.mark.parametrize(("columns", "expected"), [(16, "as-is"), (15, "standard")])
def test_counts_stay_as_they_are_from_16_columns_on(
    columns: int, expected: str
) -> None:
    rare = RNG.poisson(0.02, (ROWS, columns)) + (np.arange(ROWS) == 3)[:, None]
    rare[::5, 0] += 30
    rare[::7, 1] += 30
    rare[::6, 2] += 30
    found = fit({f"word{place}": rare[:, place] for place in range(columns)})
    assert encodings(found)["word0"] == expected


def test_one_column_that_has_most_of_the_variance_is_no_count() -> None:
    counts = RNG.poisson(0.3, (ROWS, 20))
    counts[::5, 0] += 1000
    found = fit({f"word{place}": counts[:, place] for place in range(20)})
    assert encodings(found)["word0"] != "as-is"


def test_zero_and_one_stay() -> None:
    flag = np.arange(ROWS) % 2
    for scaling in ("auto", "none", "standard", "robust"):
        columns = {"flag": flag, "big": RNG.normal(1e6, 1e5, ROWS)}
        schema = fit(columns, scaling=scaling)
        assert schema.columns[0].encoding == "as-is"
        assert schema.columns[0].reason == "0 and 1"
        np.testing.assert_array_equal(encoded(columns, scaling=scaling)[:, 0], flag)


def test_heavy_tails_are_bent() -> None:
    income = np.exp(RNG.normal(0, 3, ROWS))
    columns = {"income": income, "age": RNG.normal(40, 2, ROWS)}
    schema = fit(columns)
    assert encodings(schema) == {"income": "robust", "age": "standard"}
    low, median, high = np.quantile(income, [0.25, 0.5, 0.75])
    expected = np.arcsinh((income - median) / ((high - low) / 1.349))
    assert_agree(encoded(columns)[:, 0], expected)


def test_scaling_as_asked() -> None:
    columns = {"a": RNG.normal(3, 1, ROWS), "b": RNG.normal(0, 1000, ROWS)}
    for scaling, encoding in [("none", "as-is"), ("robust", "robust")]:
        assert set(encodings(fit(columns, scaling=scaling)).values()) == {encoding}
    with pytest.raises(InputError, match=r"unknown column scaling 'robsut'.*robust"):
        Overrides(scaling="robsut")


def test_robust_without_distance_between_quartiles_uses_the_spread() -> None:
    values = np.zeros(ROWS)
    values[:10] = 500
    schema = fit({"a": values}, scaling="robust")
    assert schema.columns[0].statistics["scale"] == pytest.approx(values.std())


def test_all_types_of_numbers() -> None:
    columns = {
        "u": pa.array([1, 2, 4], pa.uint8()),
        "h": pa.array(np.array([1, 2, 4], np.float16)),
        "d": pa.array([Decimal("1.00"), Decimal("2.00"), Decimal("4.00")]),
        "s": pa.array([dt.timedelta(seconds=s) for s in (1, 2, 4)]),
        "t": pa.array(["1", " +2.0", "4e0"]),
        "c": pa.chunked_array([[1], [2, 4]]),
        "w": pa.array([1.0, 2.0, 4.0]).dictionary_encode(),
    }
    x = encoded(columns, scaling="none")
    np.testing.assert_array_equal(x, np.repeat([[1], [2], [4]], 7, axis=1))


def test_missing_numbers() -> None:
    schema = fit({"a": [1.0, None, 5.0, float("nan")]}, scaling="none")
    assert schema.feature_names == ("a", "a missing")
    values = schema.encode([pa.array([1.0, None, float("nan")])]).values
    np.testing.assert_array_equal(values, [[1, 0], [3, 1], [3, 1]])


@pytest.mark.parametrize("scaling", ["standard", "robust"])
def test_missing_numbers_are_zero_after_scaling(scaling: str) -> None:
    schema = fit({"a": [1.0, None, 5.0, 9.0]}, scaling=scaling)
    values = schema.encode([pa.array([None], pa.float64())]).values
    np.testing.assert_array_equal(values, [[0, 1]])


def test_missing_numbers_in_text() -> None:
    schema = fit({"a": ["1", "NA", "5", "nan", ""]}, typed=False, scaling="none")
    assert schema.columns[0].statistics["missing"] == 3


def test_text_of_numbers_in_a_typed_table_is_told() -> None:
    assert (
        "a as they are (numbers written as text)"
        in fit({"a": ["1", "2"]}).describe()[0]
    )
    untold = fit({"a": ["1", "2"]}, typed=False).describe()
    assert untold == ("features: a as they are (spreads alike)",)


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_infinity_is_refused(value: float) -> None:
    columns = {"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, value]}
    message = f"x.csv has {value} in row 3, column 'b', where a finite number"
    with pytest.raises(InputError, match=message):
        fit(columns)
    with pytest.raises(InputError, match=message):
        fit({"b": ["1", "2", str(value)]})


def test_numbers_too_large() -> None:
    with pytest.raises(InputError, match="too large to compute with in the column 'a'"):
        fit({"a": [1e300, -1e300, 0.0]})
    schema = fit({"a": [1.0, 2.0]})
    with pytest.raises(InputError, match="row 1, column 'a', that is too large"):
        schema.encode([pa.array([1e60])])


def test_tiny_differences_are_no_constant() -> None:
    schema = fit({"a": [0.0, 1e-200]}, scaling="standard")
    values = schema.encode([pa.array([0.0, 1e-200])]).values
    assert values[0, 0] < values[1, 0]
