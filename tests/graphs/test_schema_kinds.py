"""Kinds of columns other than numbers: what becomes of their values."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pyarrow as pa
import pytest
from schema_fitting import fit, only, words

from fdgcl._checks import InputError
from fdgcl.graphs.schema.hashing import signed_hashes
from tolerances import assert_agree, assert_within, gamma


@pytest.mark.parametrize(
    "pair", [("no", "Yes"), ("f", "T"), ("FALSE", "true"), ("N", "Y")]
)
def test_words_for_true_and_false(pair: tuple[str, str]) -> None:
    schema = fit({"paid": [*pair, *pair, None]})
    assert schema.columns[0].encoding == "boolean"
    values = schema.encode([pa.array([*pair, None])]).values
    np.testing.assert_array_equal(values, [[0, 0], [1, 0], [0.5, 1]])


def test_booleans_in_other_dress() -> None:
    schema = fit({"paid": [True, False]})
    for given in ([True, False], [1, 0], [1.0, 0.0], ["yes", "N"], ["1", "0"]):
        np.testing.assert_array_equal(
            schema.encode([pa.array(given)]).values, [[1], [0]]
        )
    for wrong in ([1, 7], ["yes", "perhaps"]):
        with pytest.raises(
            InputError, match=r"row 12, column 'paid', where true or fal"
        ):
            schema.encode([pa.array(wrong)], first=10, where="y.csv")


def test_a_word_alone_is_no_boolean() -> None:
    schema = fit({"paid": ["yes", None, "yes", None]})
    assert schema.feature_names == ("paid=yes", "paid missing")


def test_categories_are_sorted() -> None:
    schema = fit({"city": ["Rome", "Oslo", "Ämari", " Oslo ", "Rome", "Ämari"]})
    assert schema.feature_names == ("city=Oslo", "city=Rome", "city=Ämari")
    found = schema.encode([pa.array(["Rome", "Oslo", None])])
    np.testing.assert_array_equal(found.values, [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert found.surprises.notices() == (
        "city: 1 value missing, where training had none",
    )


def test_missing_categories_have_a_column() -> None:
    schema = fit({"city": ["Rome", "Oslo", None, "Rome", "Oslo", "NA"]})
    found = schema.encode([pa.array(["N/A", "Oslo", None, "Bari", "Bari"])])
    np.testing.assert_array_equal(
        found.values, [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    )
    assert found.surprises.notices() == (
        "city: 2 values that training did not have, such as 'Bari'",
    )


@pytest.mark.parametrize(
    ("count", "encoding"),
    [(64, "one-hot"), (65, "hashed"), (80, "hashed"), (81, "none")],
)
def test_many_categories(count: int, encoding: str) -> None:
    assert only({"zip": words(count)})[0] == encoding


def test_few_rows_make_no_categories() -> None:
    assert only({"city": ["a", "b", "a", "c"]}) == ("none", "text")
    assert only({"city": ["a", "b", "a", "c"]}, categorical=("city",))[0] == "one-hot"
    declared = pa.array(["a", "b", "a", "c"]).dictionary_encode()
    assert only({"city": declared})[0] == "one-hot"


def test_sentences_are_text() -> None:
    assert only({"t": words(70, form="this is number {}")})[0] == "none"
    assert only({"t": words(70, form="x" * 50 + "{}")})[0] == "none"
    assert only({"t": words(70, form="New York {}")})[0] == "hashed"


def test_hashed_columns_by_hand() -> None:
    values = words(70, 700)
    values[0] = "w1"
    schema = fit({"zip": values})
    assert len(schema.feature_names) == 33
    found = schema.encode([pa.array([*values, "new", None])])
    counts = {word: values.count(word) for word in values}
    often = np.array([math.log1p(counts[word]) for word in values])
    expected = (often - often.mean()) / often.std()
    assert_agree(found.values[:-2, 0], expected)
    signs = signed_hashes(["w7", "new"])
    np.testing.assert_array_equal(found.values[[7, -2], 1:], signs)
    np.testing.assert_array_equal(found.values[-1], 0)
    assert found.values[-2, 0] < expected.min()
    assert found.surprises.unseen == {"zip": 1}
    assert_agree(np.linalg.norm(signs, axis=1), np.ones(2))


def test_the_hash_never_changes() -> None:
    bits = signed_hashes(["fdgcl"])[0] > 0
    assert np.packbits(bits, bitorder="little").tobytes().hex() == "a92da74d"


def test_equal_frequencies_say_nothing() -> None:
    schema = fit({"zip": words(70, 700)})
    values = schema.encode([pa.array(words(70, 700))]).values
    np.testing.assert_array_equal(values[:, 0], 0)


def test_whole_numbers_are_categories_only_if_asked() -> None:
    codes = [7, 30, 7, 30]
    assert only({"code": codes})[0] == "standard"
    schema = fit({"code": codes}, categorical=("code",))
    assert schema.feature_names == ("code=30", "code=7")
    for given in ([7, 30], [7.0, 30.0], ["7", "30.0"], pa.array([7, 30], pa.int8())):
        found = schema.encode([pa.array(given)])
        np.testing.assert_array_equal(found.values, [[0, 1], [1, 0]])
    assert fit({"z": ["007", "7"] * 2}, categorical=("z",)).width == 2


def test_other_types_as_categories() -> None:
    columns = {
        "f": [0.5, 2.0, float("nan"), 0.5],
        "b": [True, False, True, False],
        "d": [dt.date(2024, 5, 1), dt.date(2024, 5, 2)] * 2,
        "s": [dt.timedelta(seconds=3), None] * 2,
    }
    schema = fit(columns, categorical=("f", "b", "d", "s"))
    assert schema.feature_names == (
        *("f=0.5", "f=2", "f missing", "b=false", "b=true"),
        *("d=2024-05-01", "d=2024-05-02", "s=3", "s missing"),
    )


def test_too_many_categories_to_ask_for() -> None:
    columns = {"name": words(10_001, 10_001)}
    assert only(columns) == ("none", "text")
    with pytest.raises(
        InputError, match=r"more than 10,000 distinct values.*--drop name"
    ):
        fit(columns, categorical=("name",))


def test_text_that_is_nearly_all_numbers_is_refused() -> None:
    values = [str(place) for place in range(20)]
    values[12] = "12a"
    message = (
        "x.csv has '12a' in row 13, column 'age', where a number is expected .19 of 20 "
        "values are numbers: correct it, or choose --categorical age or --drop age."
    )
    with pytest.raises(InputError, match=message):
        fit({"age": values})
    with pytest.raises(
        InputError, match=r"'12a' in row 13, column 'age'.*--numeric asks"
    ):
        fit({"age": values}, numeric=("age",))
    assert only({"age": values}, categorical=("age",))[0] == "one-hot"
    assert only({"age": values}, drop=("age",)) == ("none", "dropped")
    values[3:6] = ["x", "y", "z"]
    assert only({"age": values}) == ("none", "text")


def test_dates_by_hand() -> None:
    days = [dt.date(2023, 1, 1), dt.date(2024, 7, 1), dt.date(2024, 2, 29)]
    schema = fit({"date": days})
    assert schema.feature_names == (
        "date elapsed",
        *("date week sin", "date week cos", "date year sin", "date year cos"),
    )
    values = schema.encode([pa.array(days)]).values
    elapsed = np.array([(day - days[0]).days for day in days])
    assert_agree(values[:, 0], (elapsed - elapsed.mean()) / elapsed.std())
    for row, day in enumerate(days):
        week = 2 * math.pi * day.weekday() / 7
        length = 366 if day.year == 2024 else 365
        year = 2 * math.pi * (day.timetuple().tm_yday - 1) / length
        expected = [math.sin(week), math.cos(week), math.sin(year), math.cos(year)]
        # A year of another length would be 0.003 off by the end of February.
        assert_agree(values[row, 1:], expected, size=1)


def test_times_of_day() -> None:
    hours = [dt.time(0), dt.time(6), dt.time(12), dt.time(18)]
    schema = fit({"at": hours})
    assert schema.feature_names == ("at elapsed", "at day sin", "at day cos")
    values = schema.encode([pa.array(hours)]).values
    assert_agree(values[:, 1], [0, 1, 0, -1])
    assert_agree(values[:, 2], [1, 0, -1, 0])


@pytest.mark.parametrize(
    ("hours", "cycles"),
    [
        (24 * 5, []),
        (24 * 8, ["week"]),
        (24 * 366, ["week", "year"]),
        (5, ["day"]),
        (24 * 366 + 1, ["day", "week", "year"]),
    ],
)
def test_cycles_that_the_span_covers(hours: int, cycles: list[str]) -> None:
    start = dt.datetime(2024, 1, 1, 12)
    schema = fit({"at": [start, start + dt.timedelta(hours=hours)]})
    assert schema.columns[0].statistics["cycles"] == cycles


@pytest.mark.parametrize(
    "texts",
    [
        ["2024-05-01", "2024-05-03"],
        ["2024-05-01T00:00:00Z", "2024-05-03T00:00:00Z"],
        ["2024-05-01 00:00", "2024-05-03 00:00"],
        ["2024-05-01T02:00:00+02:00", "2024-05-02T22:00:00.000000001-0200"],
        ["2024-05-01 00:00Z", "2024-05-03"],
    ],
)
def test_dates_in_text(texts: list[str]) -> None:
    schema = fit({"date": texts * 2}, typed=False)
    days = [dt.datetime(2024, 5, 1), dt.datetime(2024, 5, 3)]
    for given in (
        pa.array(texts),
        pa.array(days, pa.timestamp("ns")),
        pa.array(days, pa.timestamp("s", "Europe/Paris")),
        pa.array([day.date() for day in days]),
    ):
        values = schema.encode([given]).values
        # In float64, then rounded to float32: a second would be 1.2e-5 off.
        assert_within(values, [[-1], [1]], gamma(2, np.float32))


def test_dates_that_are_none() -> None:
    assert only({"date": ["2024-02-30", "2024-05-01"] * 4})[0] == "one-hot"
    schema = fit({"date": ["2024-05-01", "2024-05-03", None]})
    with pytest.raises(
        InputError, match=r"'2024-02-30' in row 2, column 'date', where a d"
    ):
        schema.encode([pa.array(["2024-05-01", "2024-02-30"])], where="y.csv")
    with pytest.raises(
        InputError, match=r"'int64' in row 1, column 'date', where a date"
    ):
        schema.encode([pa.array([1])], where="y.csv")
    values = schema.encode([pa.array([None, None], pa.null())]).values
    np.testing.assert_array_equal(values, [[0, 1], [0, 1]])


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.int64(), 2)])
def test_vectors(kind: pa.DataType) -> None:
    schema = fit({"v": pa.array([None, [1, 2], [3, 6]], kind), "n": [5, 600, 9]})
    assert schema.feature_names == ("v 1", "v 2", "v missing", "n")
    found = schema.encode([pa.array([[7, 8], None], kind), pa.array([5, 5])])
    np.testing.assert_array_equal(found.values[:, :3], [[7, 8, 0], [2, 4, 1]])


def test_vectors_of_two_lengths_are_refused() -> None:
    message = (
        r"x.csv has a list of 3 numbers in row 3, column 'v', where 2 are expected"
    )
    with pytest.raises(InputError, match=message):
        fit({"v": [[1, 2], None, [1, 2, 3]]})
    schema = fit({"v": [[1, 2], [3, 4]]})
    with pytest.raises(InputError, match=r"list of 1 numbers in row 8, column 'v'"):
        schema.encode([pa.array([[1, 2], [1]])], first=6)


@pytest.mark.parametrize(
    ("unit", "far"), [("s", 2**60), ("us", 2**62), ("us", -(2**62))]
)
def test_dates_that_are_too_far(unit: str, far: int) -> None:
    column = pa.array([0, None, far, far], pa.timestamp(unit))
    message = "x.csv has a date in row 3, column 'at', that is too far from now"
    with pytest.raises(InputError, match=message):
        fit({"at": column})
