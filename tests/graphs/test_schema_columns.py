"""Which columns of a table are features, and why the others are not."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from schema_fitting import fit, only, words

from fdgcl._checks import InputError


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (pa.nulls(4), "empty"),
        (pa.array([None] * 4, pa.string()), "empty"),
        (pa.array([None] * 4, pa.float64()), "empty"),
        (pa.array([None] * 4, pa.list_(pa.float64())), "empty"),
        (pa.array(["", "NA", "nan", None]), "empty"),
        (pa.array([b"a"] * 4), "binary"),
        (
            pa.array([(1, 2, 3)] * 4, pa.month_day_nano_interval()),
            "of the type month_day_nano_interval",
        ),
        (pa.array([{"a": 1}] * 4), "nested"),
        (pa.array([["a"]] * 4), "lists of other than numbers"),
        (pa.array([2.5] * 4), "constant"),
        (pa.array(["a"] * 4), "constant"),
        (pa.array([True] * 4), "constant"),
        (pa.array([dt.date(2024, 5, 1)] * 4), "constant"),
        (pa.array([[1, 2]] * 4), "constant"),
        (pa.array([3, None, 3, 3]), "constant where not missing"),
        (pa.array(list("abcd")), "text"),
    ],
)
def test_what_is_left_out(column: pa.Array, reason: str) -> None:
    assert only({"a": column}) == ("none", reason)


@pytest.mark.parametrize("name", ["label", "Class", "y", "__index_level_0__", ""])
def test_names_of_what_is_no_feature(name: str) -> None:
    values = [1, 2, 1, 2]
    expected = "looks like labels" if name[:1] not in ("_", "") else "index of pandas"
    assert only({name: values}) == ("none", expected)
    assert only({name: values}, columns=(name, "beside"))[0] == "as-is"
    assert only({name: values}, numeric=(name,))[0] == "as-is"
    assert only({name: values}, categorical=(name,))[0] == "one-hot"


@pytest.mark.parametrize("name", ["id", "account_id", "userId", "Row Index", "UUID"])
def test_ids(name: str) -> None:
    assert only({name: [9, 4, 7, 2]}) == ("none", "looks like ids")
    assert only({name: [9.0, 4.0, None, 2.0]}) == ("none", "looks like ids")
    assert only({name: ["a", "b", "a", "b"]}) == ("none", "looks like ids")
    assert only({name: [9, 4, 7, 4]})[0] != "none"
    assert only({name: [0.5, 0.4, 0.7, 0.2]})[0] != "none"
    assert only({name: [9, 4, 7, 2]}, columns=(name, "beside"))[0] != "none"


@pytest.mark.parametrize("name", ["humid", "paid", "index_fund", "keyed"])
def test_names_that_only_look_like_ids(name: str) -> None:
    assert only({name: [9, 4, 7, 2]})[0] != "none"


def test_ids_beyond_2_to_the_53_are_told_apart() -> None:
    big = [2**60 + place for place in range(20_000)]
    assert only({"id": big}) == ("none", "looks like ids")


def test_only_the_columns_asked_for() -> None:
    columns = {"a": [1, 2, 3], "b": [1, 5, 3], "c": ["x", "y", "x"]}
    schema = fit(columns, columns=("b",), categorical=("c",))
    assert schema.feature_names == ("b", "c=x", "c=y")
    assert schema.ignored() == (("a", "not asked for"),)


@pytest.mark.parametrize("option", ["columns", "drop", "categorical", "numeric"])
def test_unknown_columns(option: str) -> None:
    message = (
        f"x.csv has no column 'agee', which --{option} names; did you mean \"age\""
    )
    with pytest.raises(InputError, match=message):
        fit({"age": [1, 2]}, **{option: ("agee",)})


@pytest.mark.parametrize(
    "options", [("drop", "columns"), ("drop", "numeric"), ("categorical", "numeric")]
)
def test_columns_asked_for_in_two_ways(options: tuple[str, str]) -> None:
    one, other = options
    message = f"the column 'age' is named by --{one} and by --{other}: choose one"
    with pytest.raises(InputError, match=message):
        fit({"age": [1, 2]}, **dict.fromkeys(options, ("age",)))


def test_types_that_cannot_be_as_asked() -> None:
    with pytest.raises(InputError, match=r"date32.*column 'd'.*as --numeric says"):
        fit({"d": [dt.date(2024, 5, 1)]}, numeric=("d",))
    with pytest.raises(InputError, match=r"list<.*column 'v'.*as --categorical says"):
        fit({"v": [[1.0]]}, categorical=("v",))


def test_repeated_names() -> None:
    table = pa.Table.from_arrays([pa.array([1, 2])] * 3, ["a", "b", "a"])
    with pytest.raises(InputError, match=r"x.csv has 2 columns named 'a'"):
        fit(table)


def test_nothing_left() -> None:
    columns = {f"c{place}": [1, 1] for place in range(12)}
    with pytest.raises(
        InputError, match=r"can be a feature: c0 \(constant\).*and 2 more"
    ):
        fit(columns)
    with pytest.raises(InputError, match=r"x.csv has no rows"):
        fit({"a": pa.array([], pa.float64())})
    with pytest.raises(InputError, match=r"x.csv has no columns"):
        fit(pa.table({}))


def test_extension_types_are_what_they_store() -> None:
    uuids = pa.array([bytes([place] * 16) for place in range(4)], pa.binary(16))
    assert only({"u": pa.ExtensionArray.from_storage(pa.uuid(), uuids)})[1] == "binary"


def test_description() -> None:
    rng = np.random.default_rng(0)
    income = rng.normal(3e4, 1e4, 200)
    income[:6] = np.nan
    schema = fit(
        {
            "age": rng.normal(40, 10, 200),
            "income": income,
            "city": [*words(12, 199), None],
            "joined": [
                dt.date(2020, 1, 1) + dt.timedelta(days=9 * i) for i in range(200)
            ],
            "paid": rng.integers(0, 2, 200) > 0,
            "name": [f"n{i}" for i in range(200)],
        }
    )
    assert schema.describe() == (
        "features: age and income standardised; city one-hot (12 categories); joined "
        "as elapsed time, week and year cycles; paid as 0 and 1",
        "3 % of income missing: set to the mean, with a column that says so",
        "0.5 % of city missing: no category, with a column that says so",
    )
