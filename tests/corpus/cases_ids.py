"""Ids of every kind, within a table and across tables."""

from __future__ import annotations

import datetime
import decimal
import uuid

import numpy as np
import pyarrow as pa

from .case import Group
from .making import IDS, NUMBERS, N, edges, features, labels, text

group = Group("ids")
good, bad = group.good, group.bad
UUIDS = [
    uuid.UUID(int=(i + 1) * 0x1234_5678_9ABC_DEF0_1234_5678_9ABC) for i in range(N)
]
DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(N)]
TIMES = [datetime.datetime(2024, 1, 1, i, 30) for i in range(N)]


def typed(ids: list[object], kind: pa.DataType) -> dict[str, pa.Array]:
    """The ring with ids of an Arrow type."""
    return {name: pa.array(column, kind) for name, column in edges(ids).items()}


def keyed(ids: list[object], kind: pa.DataType, key: str = "id") -> dict[str, object]:
    """Features with ids of an Arrow type."""
    return {**features(ids, key), key: pa.array(ids, kind)}


KINDS: dict[str, tuple[list, pa.DataType]] = {
    "int64": (NUMBERS, pa.int64()),
    "int8": (NUMBERS, pa.int8()),
    "uint32": (NUMBERS, pa.uint32()),
    "negative": ([-i for i in NUMBERS], pa.int64()),
    "int64-large": ([2**62 + i for i in NUMBERS], pa.int64()),
    "int64-smallest": ([-(2**63) + i for i in NUMBERS], pa.int64()),
    "uint64": ([2**63 + i for i in NUMBERS], pa.uint64()),
    "uint64-largest": ([2**64 - 1 - i for i in NUMBERS], pa.uint64()),
    "uint64-small": (NUMBERS, pa.uint64()),
    "float-whole": ([float(i) for i in NUMBERS], pa.float64()),
    "float32-whole": ([float(i) for i in NUMBERS], pa.float32()),
    "decimal-whole": ([decimal.Decimal(i) for i in NUMBERS], pa.decimal128(12, 0)),
    "decimal-scale": ([decimal.Decimal(i) for i in NUMBERS], pa.decimal128(12, 2)),
    "decimal-38-digits": (
        [decimal.Decimal(10**37 + i) for i in NUMBERS],
        pa.decimal128(38, 0),
    ),
    "uuid-text": ([str(one) for one in UUIDS], pa.string()),
    "uuid-bytes": ([one.bytes for one in UUIDS], pa.binary(16)),
    "string": (IDS, pa.string()),
    "large-string": (IDS, pa.large_string()),
    "bytes": ([one.encode() for one in IDS], pa.binary()),
    "large-bytes": ([one.encode() for one in IDS], pa.large_binary()),
    "bytes-not-utf8": ([bytes([255, i]) for i in NUMBERS], pa.binary()),
    "date32": (DAYS, pa.date32()),
    "date64": (DAYS, pa.date64()),
    "timestamp-s": (TIMES, pa.timestamp("s")),
    "timestamp-us": (TIMES, pa.timestamp("us")),
    "timestamp-ns": (TIMES, pa.timestamp("ns")),
    "timestamp-utc": (TIMES, pa.timestamp("us", "UTC")),
    "dictionary": (IDS, pa.dictionary(pa.int32(), pa.string())),
    "dictionary-numbers": (NUMBERS, pa.dictionary(pa.int8(), pa.int64())),
}
for name, (ids, kind) in KINDS.items():
    good(f"{name}-edges", {"e.parquet": typed(ids, kind)}, counts=(24, 48, 0))
    good(
        f"{name}-with-features",
        {"e.parquet": typed(ids, kind), "x.parquet": keyed(ids, kind)},
        "features: 2 columns by id",
        counts=(24, 48, 2),
    )
good(
    "uuid-bytes-against-text",
    {
        "e.parquet": typed([u.bytes for u in UUIDS], pa.binary(16)),
        "x.csv": features([str(one) for one in UUIDS]),
    },
    "by id",
    counts=(24, 48, 2),
)
good("feather", {"e.feather": edges(), "x.arrow": features()}, counts=(24, 48, 2))

bad(
    "float-fractions",
    {"e.parquet": typed([i + 0.5 for i in NUMBERS], pa.float64())},
    "e.parquet",
)
bad(
    "float-nan",
    {"e.parquet": typed([*map(float, NUMBERS), float("nan")], pa.float64())},
    "no id in row",
)
bad(
    "float-inf",
    {"e.parquet": typed([*map(float, NUMBERS), float("inf")], pa.float64())},
    "ids",
)
bad(
    "float-beyond-exact",
    {"e.parquet": typed([2.0**70 + 2.0**40 * i for i in NUMBERS], pa.float64())},
    "e.parquet",
)
bad(
    "decimal-fractions-with-whole-ids",
    {
        "e.csv": edges(NUMBERS),
        "x.parquet": keyed(
            [decimal.Decimal(i) + decimal.Decimal("0.5") for i in NUMBERS],
            pa.decimal128(9, 1),
        ),
    },
    "x.parquet",
)
bad("boolean", {"e.parquet": typed([True, False, True], pa.bool_())}, "ids")
bad("list", {"e.parquet": typed([[1], [2], [3]], pa.list_(pa.int64()))}, "e.parquet")
bad(
    "struct",
    {"e.parquet": typed([{"a": 1}, {"a": 2}], pa.struct({"a": pa.int64()}))},
    "e.parquet",
)
bad("null-type", {"e.parquet": typed([None, None], pa.null())}, "e.parquet")
bad(
    "null-among-ids",
    {"e.parquet": typed(["a", "b", None], pa.string())},
    "no id in row 5",
)
bad(
    "null-among-numbers",
    {"e.parquet": typed([1, 2, None], pa.int64())},
    "no id in row 5",
)
bad(
    "null-in-features",
    {"e.csv": edges(), "x.parquet": keyed([*IDS, None], pa.string())},
    "x.parquet",
    "row 25",
)
bad(
    "time-of-day",
    {"e.parquet": typed([datetime.time(i) for i in NUMBERS[:9]], pa.time32("s"))},
    "e.parquet",
)

# Words that are written for a missing value.
for word in ("nan", "NaN", "NA", "N/A", "null", "NULL", "None", "<NA>", "NaT"):
    files = {"e.csv": text(edges([*IDS, word]))}
    bad(
        f"word-{word.replace('/', '-').replace('<', 'angle-').strip('>')}",
        files,
        f"'{word}'",
        "--allow-null-ids",
    )
good(
    "words-allowed",
    {"e.csv": text(edges([*IDS, "NA", "nan"]))},
    more="--allow-null-ids",
    counts=(26, 52),
)
bad("empty-cell", {"e.csv": text(edges([*IDS, ""]))}, "e.csv", "no id in row")
bad(
    "empty-cell-allowed-or-not",
    {"e.csv": text(edges([*IDS, ""]))},
    "no id in row",
    more="--allow-null-ids",
)
bad("blank-cell", {"e.csv": text(edges([*IDS, "  "]))}, "e.csv", "no id in row")
bad(
    "word-in-features",
    {"e.csv": edges(), "x.csv": features([*IDS, "NaN"])},
    "x.csv",
    "--allow-null-ids",
)
bad(
    "word-in-labels",
    {"e.csv": edges(), "y.csv": labels([*IDS, "NA"])},
    "y.csv",
    "--allow-null-ids",
)
good(
    "words-that-contain-them",
    {"e.csv": text(edges(["nana", "NANCY", "nullify", "none-x", "a", "b"]))},
    counts=(6, 12),
)

# As they are written.
good(
    "leading-zeros",
    {
        "e.csv": text(edges([f"{i:05}" for i in NUMBERS])),
        "x.csv": text(features([f"{i:05}" for i in NUMBERS])),
    },
    counts=(24, 48, 2),
)
bad(
    "leading-zeros-in-one-table",
    {
        "e.csv": text(edges([f"{i:05}" for i in range(100, 124)])),
        "x.csv": text(features(list(range(100, 124)))),
    },
    "x.csv",
)
good("plus-signs", {"e.csv": text(edges([f"+{i}" for i in NUMBERS]))}, counts=(24, 48))
good(
    "1.0-as-text", {"e.csv": text(edges([f"{i}.0" for i in NUMBERS]))}, counts=(24, 48)
)
bad(
    "1.0-against-1",
    {
        "e.csv": text(edges([f"{i}.0" for i in NUMBERS])),
        "x.csv": text(features(NUMBERS)),
    },
    "x.csv",
)
good(
    "numbers-against-text",
    {
        "e.csv": text(edges(NUMBERS)),
        "x.parquet": keyed([str(i) for i in NUMBERS], pa.string()),
    },
    "compared as they are written",
    counts=(24, 48, 2),
)
good(
    "text-against-numbers",
    {"e.parquet": edges([str(i) for i in NUMBERS]), "x.parquet": features(NUMBERS)},
    "compared as they are written",
    counts=(24, 48, 2),
)
good("numbers-and-words", {"e.csv": text(edges([*NUMBERS, "x"]))}, counts=(25, 50))
good(
    "source-numbers-target-text",
    {"e.parquet": {"source": NUMBERS, "target": [str((i + 1) % N) for i in NUMBERS]}},
    counts=(24, 24),
)
good(
    "400-digits",
    {"e.csv": text(edges([str(10**399 + i) for i in NUMBERS]))},
    counts=(24, 48),
)
good(
    "19-digits",
    {"e.csv": text(edges([str(10**18 + i) for i in NUMBERS]))},
    counts=(24, 48),
)
good(
    "beyond-64-bits-text",
    {"e.csv": text(edges([str(2**64 + i) for i in NUMBERS]))},
    counts=(24, 48),
)
good("emoji", {"e.csv": text(edges([*IDS, "🦀", "👩‍🚀", "🇨🇭"]))}, counts=(27, 54))
good("nul-in-parquet", {"e.parquet": edges([*IDS, "a\0b", "a"])}, counts=(26, 52))
good(
    "newline-in-parquet",
    {"e.parquet": edges([*IDS, "a\nb", "a\r\nb"])},
    counts=(26, 52),
)
good(
    "commas-and-quotes-in-parquet",
    {"e.parquet": edges([*IDS, 'a,"b"', ","])},
    counts=(26, 52),
)
good(
    "blanks-in-parquet-count",
    {"e.parquet": edges(["a", " a", "a ", "b", "c", "d"])},
    counts=(6, 12),
)
good(
    "case-counts",
    {"e.csv": text(edges(["Ann", "ann", "ANN", "Bo", "Cy", "Di"]))},
    counts=(6, 12),
)
good(
    "composed-and-decomposed-differ",
    {"e.parquet": edges(["é", "e\u0301", "b"])},
    counts=(3, 6),
)
good(
    "html", {"e.csv": text(edges([*IDS, "<script>alert(1)</script>"]))}, counts=(25, 50)
)
good("formula", {"e.csv": text(edges([*IDS, "=1+1", "@x"]))}, counts=(26, 52))
good(
    "numpy-unsigned-in-float",
    {"e.parquet": typed(list(np.arange(6.0)), pa.float16())},
    counts=(6, 12),
)
good(
    "right-to-left",
    {"e.csv": text(edges(["שלום", "مرحبا", "a", "b", "c", "d"]))},
    counts=(6, 12),
)
good(
    "scientific-text",
    {"e.csv": text(edges([f"1e{i}" for i in NUMBERS]))},
    counts=(24, 48),
)
good(
    "dates-as-text", {"e.csv": text(edges(DAYS, ("source", "target")))}, counts=(24, 48)
)
