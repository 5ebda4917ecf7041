"""A schema is kept as JSON, and applied to other tables."""

from __future__ import annotations

import copy
import datetime as dt
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs.schema import (
    Encoded,
    FeatureSchema,
    Overrides,
    Surprises,
    fit_matrix,
    fit_schema,
)

ROWS = 700


def table() -> pa.Table:
    """One column of every kind."""
    rng = np.random.default_rng(1)
    start = dt.datetime(2023, 1, 1)
    hours = rng.integers(0, 9000, ROWS).tolist()
    age = rng.normal(40, 10, ROWS)
    age[::9] = np.nan
    return pa.table(
        {
            "age": age,
            "income": np.exp(rng.normal(0, 3, ROWS)),
            "flag": rng.integers(0, 2, ROWS),
            "paid": rng.integers(0, 2, ROWS) > 0,
            "city": [("Rome", "Oslo", None)[i] for i in rng.integers(0, 3, ROWS)],
            "zip": [f"z{i}" for i in rng.integers(0, 100, ROWS)],
            "joined": [start + dt.timedelta(hours=hour) for hour in hours],
            "v": list(rng.normal(size=(ROWS, 3))),
            "name": [f"n{i}" for i in range(ROWS)],
        }
    )


def fitted(given: pa.Table | None = None) -> FeatureSchema:
    return fit_schema(given or table(), typed=True, where="x.parquet")


def encode(schema: FeatureSchema, given: pa.Table) -> Encoded:
    wanted, _ = schema.match(given.column_names, "y.parquet")
    return schema.encode([given[name] for name in wanted], where="y.parquet")


def saved() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(json.dumps(fitted().to_dict(), allow_nan=False))
    return result


def test_every_kind_comes_back_from_json() -> None:
    schema = fitted()
    kinds = {column.encoding for column in schema.columns}
    assert kinds == {
        *("as-is", "standard", "robust", "boolean", "one-hot", "hashed", "time"),
        *("vector", "none"),
    }
    again = FeatureSchema.from_dict(saved())
    assert again == schema
    np.testing.assert_array_equal(
        encode(again, table()).values, encode(schema, table()).values
    )


@pytest.mark.parametrize("scaling", ["none", "standard", "robust"])
def test_matrices_come_back_from_json(scaling: str) -> None:
    x = np.random.default_rng(0).normal(size=(30, 4))
    x[3, 2] = np.nan
    schema = fit_matrix(x, Overrides(scaling=scaling), "x.npy")
    assert FeatureSchema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


def _damages() -> list[tuple[str, Any]]:
    """Places in a saved schema, each with what must not stand there."""
    damages: list[tuple[str, Any]] = []
    for place, column in enumerate(saved()["columns"]):
        for key in column:
            damages += [(f"columns.{place}.{key}", None), (f"columns.{place}.{key}", 7)]
        for key, value in column["statistics"].items():
            path = f"columns.{place}.statistics.{key}"
            wrong = [None, "x", -1.5, float("nan"), []]
            if isinstance(value, list):
                wrong += [value + value, [None, *value[1:]]]
            if key in ("mean", "median", "origin"):
                wrong.remove(-1.5)
            if key == "origin":
                wrong.append(2**63)
            if key == "cycles":
                wrong.remove([])
                wrong.append(["hour"])
            damages += [(path, bad) for bad in wrong]
    return damages


def test_any_damage_is_found() -> None:
    whole = saved()
    for path, bad in _damages():
        damaged = copy.deepcopy(whole)
        at: Any = damaged
        *keys, last = path.split(".")
        for key in keys:
            at = at[int(key)] if key.isdecimal() else at[key]
        at[last] = bad
        with pytest.raises(InputError, match="run1 is damaged: its column"):
            FeatureSchema.from_dict(damaged, "run1")
        del at[last]
        with pytest.raises(InputError, match="run1 is damaged: its column"):
            FeatureSchema.from_dict(damaged, "run1")


@pytest.mark.parametrize(
    "wrong", [None, [], {}, {"format": "fdgcl-features-2", "columns": []}]
)
def test_other_formats_are_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="where 'fdgcl-features-1' is expected"):
        FeatureSchema.from_dict(wrong, "run1")


def test_a_schema_without_features_or_with_a_column_twice_is_refused() -> None:
    whole = saved()
    for columns, message in [
        (None, "no list of columns"),
        (whole["columns"][-1:], "no features"),
        (whole["columns"][:1] * 2, "a column twice"),
    ]:
        with pytest.raises(InputError, match=message):
            FeatureSchema.from_dict({**whole, "columns": columns})


def test_columns_are_found_by_name_in_any_order() -> None:
    given = table()
    schema = fitted(given)
    turned = given.select(given.column_names[::-1]).append_column("new", given["age"])
    wanted, notices = schema.match(turned.column_names, "y.parquet")
    assert wanted == given.column_names[:-1]
    assert notices == ("y.parquet: ignored, because training did not have it: new",)
    np.testing.assert_array_equal(
        encode(schema, turned).values, encode(schema, given).values
    )


def test_columns_that_were_ignored_may_be_missing() -> None:
    wanted, notices = fitted().match(table().column_names[:-1], "y.parquet")
    assert (len(wanted), notices) == (8, ())


def test_missing_columns_are_named() -> None:
    names = ["Age " if name == "age" else name for name in table().column_names]
    message = "y.csv lacks the column of the training: 'age'; did you mean \"Age \""
    with pytest.raises(InputError, match=message):
        fitted().match(names, "y.csv")
    with pytest.raises(
        InputError, match=r"lacks 7 columns .*: 'age', 'income', 'flag'"
    ):
        fitted().match(["v"], "y.csv")


def test_repeated_columns_are_refused() -> None:
    with pytest.raises(InputError, match=r"y.csv has 2 columns named 'v'"):
        fitted().match([*table().column_names, "v"], "y.csv")


def test_the_number_of_columns_is_checked() -> None:
    with pytest.raises(ValueError, match="8 columns expected, got 1"):
        fitted().encode([pa.array([1.0])])


def test_results_can_be_written_to_an_array() -> None:
    given, schema = table(), fitted()
    out = np.full((ROWS, schema.width), np.nan, np.float32)
    wanted, _ = schema.match(given.column_names, "")
    found = schema.encode([given[name] for name in wanted], out=out)
    assert found.values is out
    np.testing.assert_array_equal(out, encode(schema, given).values)


def test_the_same_values_in_text_are_the_same_features() -> None:
    given = table().drop_columns(["v"])
    schema = fitted(given)
    written = pa.table(
        {name: given[name].cast(pa.string()) for name in given.schema.names}
    )
    np.testing.assert_array_equal(
        encode(schema, written).values, encode(schema, given).values
    )


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("age", ["1", "x"], "'x' in row 6, column 'age', where a number is expected"),
        ("age", [1.0, np.inf], "inf in row 6, column 'age', where a finite number"),
        ("age", [dt.date(2024, 1, 1)] * 2, "'date32.*row 5, column 'age', where a num"),
        ("city", [[1], [2]], "'list<.*row 5, column 'city', where a category"),
        ("v", [1.0, 2.0], "'double' in row 5, column 'v', where a list of numbers"),
        ("v", [[0.0] * 3, [0.0, np.inf, 0.0]], "inf in row 6, column 'v'"),
    ],
)
def test_values_that_cannot_be_encoded(column: str, values: Any, message: str) -> None:
    given = table().slice(0, 2)
    place = given.column_names.index(column)
    given = given.set_column(place, column, pa.array(values))
    schema = fitted()
    wanted, _ = schema.match(given.column_names, "y.csv")
    with pytest.raises(InputError, match=f"y.csv has {message}"):
        schema.encode([given[name] for name in wanted], first=4, where="y.csv")


def test_missing_values_that_training_did_not_have() -> None:
    given = table()
    nothing = pa.table(
        {name: pa.nulls(3, given[name].type) for name in given.schema.names}
    )
    found = encode(fitted(), nothing)
    assert found.surprises.missing == dict.fromkeys(
        ("income", "flag", "paid", "zip", "joined", "v"), 3
    )
    assert np.isfinite(found.values).all()
    assert found.surprises.notices()[0] == (
        "income: 3 values missing, where training had none"
    )


def test_surprises_add_up() -> None:
    parts = [Surprises({"a": 2}, {"b": 1}, {"a": "x"}), Surprises({"a": 1, "c": 4})]
    both = parts[0] + parts[1]
    assert (both.unseen, both.missing) == ({"a": 3, "c": 4}, {"b": 1})
    assert Surprises() + parts[0] == parts[0]
