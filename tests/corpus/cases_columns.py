"""Columns of features: types, missing values, what is left out, scaling."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pyarrow as pa

from .case import Group
from .making import IDS, N, edges, features

group = Group("columns")
E = {"e.csv": edges()}
INF, NAN = float("inf"), float("nan")
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=17 * i) for i in range(N)]
TIMES = [
    datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=31 * i) for i in range(N)
]
MANY = [f"m{i:03}" for i in range(480)]


def x(file: str = "x.parquet", **more: object) -> dict[str, object]:
    """The edges, and features with more columns."""
    return {**E, file: {**features(), **more}}


def good(
    name: str, files: dict, *says: str, width: int | None = None, **more: object
) -> None:
    """A graph of 24 nodes."""
    group.good(name, files, *says, counts=(N, 48, width), **more)  # type: ignore[arg-type]


bad = group.bad

# Nulls.
good("null", x(c=[1.0, None, 3.0] * 8), "c missing", "a column that says so", width=4)
good("null-csv", x("x.csv", c=["1.5", "", "2"] * 8), "c missing", width=4)
for word in ("NA", "N/A", "null", "None"):
    good(
        f"null-{word.replace('/', '-')}-csv",
        x("x.csv", c=["1", word, "2"] * 8),
        "c missing",
        width=4,
    )
good("nan", x(c=[1.0, NAN, 3.0] * 8), "c missing", width=4)
good("nan-csv", x("x.csv", c=["1", "nan", "3"] * 8), "c missing", width=4)
good("null-category", x(c=["u", None, "v"] * 8), "c missing", width=5)
good("null-truth", x(c=[True, None, False] * 8), "c", width=4)
good("null-date", x(c=[*DAYS[:-1], None]), "c")
good("all-null", x(c=pa.nulls(N)), "c (empty)", width=2)
good("all-null-float", x(c=pa.nulls(N, pa.float64())), "c (empty)", width=2)
good("all-empty-csv", x("x.csv", c=[""] * N), "c (empty)", width=2)
good("one-value-else-null", x(c=[1.0, *[None] * (N - 1)]), "c (constant", width=2)

# Infinite.
for name, value in (("inf", INF), ("minus-inf", -INF)):
    bad(f"{name}", x(c=[*[1.0] * 5, value, *[2.0] * 18]), "x.parquet", "'c'", "row 6")
    bad(
        f"{name}-csv",
        x("x.csv", c=[*[1.0] * 5, value, *[2.0] * 18]),
        "x.csv",
        "'c'",
        "row 6",
    )
bad("overflow-csv", x("x.csv", c=[1, "1e999"] * 12), "x.csv", "'c'", "row 2")
bad(
    "larger-than-float32",
    x(c=[1e300, -1e300, 5e299] * 8),
    "x.parquet",
    "'c'",
    "too large",
)
good("tiny", x(c=[1e-300, 2e-300, 5e-300] * 8), "features", width=3)

# Booleans.
good("truth", x(c=[True, False, False] * 8), "c as 0 and 1", width=3)
for pair in (
    ("true", "false"),
    ("True", "False"),
    ("TRUE", "FALSE"),
    ("yes", "no"),
    ("Y", "N"),
):
    good(f"truth-{pair[0]}-csv", x("x.csv", c=[*pair, pair[1]] * 8), "c ")
good("truth-01", x("x.csv", c=[0, 1, 1] * 8), "c", width=3)

# Categories and text.
good("category-text", x(c=["u", "v", "w"] * 8), "c one-hot (3 categories)", width=5)
good(
    "category-csv",
    x("x.csv", c=["u", "v", "w"] * 8),
    "c one-hot (3 categories)",
    width=5,
)
good(
    "category-dictionary",
    x(c=pa.array(["u", "v", "w"] * 8).dictionary_encode()),
    "c one-hot (3 categories)",
    width=5,
)
good(
    "category-large-string",
    x(c=pa.array(["u", "v"] * 12, pa.large_string())),
    "one-hot",
    width=4,
)
good(
    "category-said-of-numbers",
    x(c=[1, 2, 3] * 8),
    "c one-hot (3 categories)",
    width=5,
    more="--categorical c",
)
good("text-left-out", x(name=[f"Ann {i}" for i in range(N)]), "name (text)", width=2)
good(
    "text-left-out-csv",
    x("x.csv", name=[f"Ann {i}" for i in range(N)]),
    "name (text)",
    width=2,
)
good(
    "sentences-left-out",
    x(note=["this is a long sentence, " * 4 + str(i) for i in range(N)]),
    "note (text)",
    width=2,
)
group.good(
    "category-many",
    {
        "e.csv": edges(MANY),
        "x.parquet": features(MANY, c=[f"city{(i * i) % 90}" for i in range(480)]),
    },
    "features",
    counts=(480, 960),
)
group.good(
    "category-many-said",
    {
        "e.csv": edges(MANY),
        "x.parquet": features(MANY, c=[f"city{i % 160}" for i in range(480)]),
    },
    "c by frequency and hash",
    more="--categorical c",
)
good("category-same-word-cases", x(c=["u", "U", "u "] * 8), "2 categories", width=4)
good("category-html", x(c=["<b>", "&amp;", "'"] * 8), "3 categories", width=5)
good(
    "type-column-is-a-category", x(type=["user", "item"] * 12), "type one-hot", width=4
)

# Numbers written in other ways.
good("numbers-as-text", x(c=[str(i / 2) for i in range(N)]), "c", width=3)
bad(
    "numbers-with-a-word-said",
    x(c=["1", "2", "many"] * 8),
    "x.parquet",
    "'many'",
    "row 3",
    more="--numeric c",
)
good("decimal", x(c=[decimal.Decimal(i) / 4 for i in range(N)]), "features", width=3)
good("float16", x(c=pa.array(np.arange(N, dtype=np.float16) / 8)), "features", width=3)
good("int8", x(c=pa.array(range(N), pa.int8())), "features", width=3)
good("uint64", x(c=pa.array([2**63 + i for i in range(N)], pa.uint64())), "features")
good("decimal-comma-is-text", x("x.csv", c=['"1,5"', '"2,5"', '"3,5"'] * 8), "c ")
good(
    "currency-is-text",
    x("x.csv", c=[f"${i}.00" for i in range(N)]),
    "c (text)",
    width=2,
)
good("percent-is-text", x("x.csv", c=[f"{i}%" for i in range(N)]), "c (text)", width=2)
good(
    "thousands-is-text",
    x("x.csv", c=[f'"{i + 1},000"' for i in range(N)]),
    "c (text)",
    width=2,
)

# Dates and times.
good("date", x(c=DAYS), "c as elapsed time")
good("date-csv", x("x.csv", c=DAYS), "c as elapsed time")
good("timestamp", x(c=TIMES), "c as elapsed time")
good("timestamp-csv", x("x.csv", c=TIMES), "c as elapsed time")
good(
    "timestamp-zone",
    x(c=pa.array(TIMES, pa.timestamp("us", "Europe/Zurich"))),
    "c as elapsed",
)
good("timestamp-ns", x(c=pa.array(TIMES, pa.timestamp("ns"))), "c as elapsed time")
good(
    "timestamp-z-csv",
    x("x.csv", c=[f"{t.isoformat()}Z" for t in TIMES]),
    "c as elapsed time",
)
good(
    "time-of-day",
    x(c=pa.array([datetime.time(i % 24) for i in range(N)], pa.time64("us"))),
    "c",
)
good("duration", x(c=pa.array([datetime.timedelta(hours=i) for i in range(N)])), "c")
good(
    "dates-mixed-with-words",
    x("x.csv", c=["2024-01-02", "soon"] * 12),
    "c one-hot",
    width=4,
)
good(
    "american-dates-are-text",
    x("x.csv", c=[f"{i % 12 + 1}/5/2{i:03}" for i in range(N)]),
    "c (text)",
)
good(
    "date-far-away",
    x(c=pa.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31)] * 12)),
    "c",
)

# Nothing to tell from.
good("constant", x(c=[4.0] * N), "c (constant)", width=2)
good("constant-text", x(c=["x"] * N), "c (constant)", width=2)
good("all-zero-column", x(c=[0] * N), "c (constant)", width=2)
bad(
    "all-constant",
    {**E, "x.parquet": {"id": IDS, "c": [1.0] * N}},
    "x.parquet",
    "constant",
)
bad(
    "all-zero",
    {**E, "x.csv": {"id": IDS, "c": [0] * N, "d": [0] * N}},
    "x.csv",
    "constant",
)
bad(
    "only-text",
    {**E, "x.csv": {"id": IDS, "c": [f"w{i}x" for i in range(N)]}},
    "x.csv",
    "c (text)",
)
bad("only-ids", {**E, "x.csv": {"id": IDS}}, "x.csv", "features")
bad(
    "only-a-label",
    {**E, "x.csv": {"id": IDS, "label": ["a", "b"] * 12}},
    "x.csv",
    "labels",
)
