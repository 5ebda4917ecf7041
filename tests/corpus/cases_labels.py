"""Labels: classes, values, several at once; whose labels they are."""

from __future__ import annotations

import datetime

import pyarrow as pa

from .case import Group
from .making import IDS, NUMBERS, N, edges, features, labels, text

group = Group("labels")
bad = group.bad
E = {"e.csv": edges()}


def good(name: str, files: dict, *says: str, **more: object) -> None:
    """The ring with labels: no node is added."""
    group.good(name, {**E, **files}, *says, counts=(N, 48), **more)  # type: ignore[arg-type]


# What they are.
good("words", {"y.csv": labels()}, "labels: label by id, 3 classes")
good("words-parquet", {"y.parquet": labels()}, "labels: label by id, 3 classes")
good(
    "category",
    {"y.parquet": {"id": IDS, "label": pa.array(["u", "v"] * 12).dictionary_encode()}},
    "2 classes",
)
group.good(
    "also-a-feature",
    {**E, "x.csv": features(risk=[1, 2, 4, 7])},
    "labels: risk is also among the features",
    "--drop risk",
    more="--labels x.csv --label-column risk",
    counts=(N, 48, 3),
)
group.good(
    "also-a-feature-dropped",
    {**E, "x.csv": features(risk=[1, 2, 4, 7])},
    "ignored: risk",
    more="--labels x.csv --label-column risk --drop risk",
    counts=(N, 48, 2),
    never=("also among",),
)
good("whole-numbers", {"y.csv": labels(values=[0, 1, 2, 3])}, "4 classes")
good("whole-floats", {"y.parquet": labels(values=[0.0, 1.0, 2.0])}, "3 classes")
good("booleans", {"y.parquet": labels(values=[True, False])}, "2 classes")
good("booleans-csv", {"y.csv": labels(values=["true", "false"])}, "2 classes")
good("leading-zeros", {"y.csv": labels(values=["007", "7", "07"])}, "3 classes")
good("minus-one-is-none", {"y.csv": labels(values=[-1, 0, 1])}, "2 classes")
good("empty-is-none", {"y.csv": labels(values=["u", "", "v"])}, "2 classes")
good("null-is-none", {"y.parquet": labels(values=["u", None, "v"])}, "2 classes")
good("nan-is-none", {"y.parquet": labels(values=[0.0, float("nan"), 1.0])}, "2 classes")
good("all-empty", {"y.csv": labels(values=[""])}, "labels: label by id")
good("single-class", {"y.csv": labels(values=["only"])}, "1 class")
good("continuous", {"y.csv": labels(values=[i / 7 for i in range(N)])}, "continuous")
good(
    "continuous-decimal",
    {
        "y.parquet": {
            "id": IDS,
            "label": pa.array([i + 1 for i in range(N)], pa.decimal128(9, 2)),
        },
    },
    "label",
    more="--task regress",
)
good(
    "continuous-asked-for",
    {"y.csv": labels(values=[1, 2, 3])},
    "continuous",
    more="--task regress",
)
good(
    "dates",
    {
        "y.parquet": labels(
            values=[datetime.date(2024, 1, 1), datetime.date(2024, 5, 1)]
        )
    },
    "2 classes",
)
good("html", {"y.csv": labels(values=["<script>", "&"])}, "2 classes")
good("emoji", {"y.csv": labels(values=["🦀", "🐍"])}, "2 classes")
good("bytes", {"y.parquet": labels(values=[b"u", b"v"])}, "2 classes")
good("lists", {"y.parquet": labels(values=[["u"], ["u", "v"], []])}, "2 labels")
good(
    "vectors-of-0-and-1",
    {"y.parquet": labels(values=[[0, 1, 1], [1, 0, 0]])},
    "3 labels",
)
SEVERAL = {"id": IDS, "p": [0, 1] * 12, "q": [1, 1, 0] * 8}
good(
    "several-columns",
    {"y.csv": SEVERAL},
    "2 labels",
    more="--label-column p --label-column q",
)
bad(
    "several-columns-unsaid",
    {**E, "y.csv": SEVERAL},
    "y.csv",
    "--label-column",
    "'p'",
    "'q'",
)
bad(
    "several-columns-of-words",
    {**E, "y.csv": {**SEVERAL, "q": ["u", "v"] * 12}},
    "y.csv",
    "'q'",
    "row 1",
    more="--label-column p --label-column q",
)
bad(
    "several-columns-partly-empty",
    {**E, "y.csv": {**SEVERAL, "q": ["", 1] * 12}},
    "y.csv",
    "'q'",
    more="--label-column p --label-column q",
)
bad(
    "same-column-twice",
    {**E, "y.csv": labels()},
    "twice",
    more="--label-column label --label-column label",
)
many = [f"m{i:03}" for i in range(300)]
bad(
    "whole-numbers-either",
    {"e.csv": edges(many), "y.csv": labels(many, list(range(40)))},
    "--task classify",
    "--task regress",
)
group.good(
    "whole-numbers-either-said",
    {"e.csv": edges(many), "y.csv": labels(many, list(range(40)))},
    "40 classes",
    more="--task classify",
)
group.good(
    "whole-numbers-many",
    {"e.csv": edges(many), "y.csv": labels(many, list(range(200)))},
    "continuous",
)
bad(
    "all-different",
    {**E, "y.csv": labels(values=[f"w{i}" for i in range(N)])},
    "y.csv",
    "24 classes",
)
bad("features-as-labels", {**E, "y.csv": features()}, "y.csv", "--label-column")
bad(
    "infinite", {**E, "y.csv": labels(values=[0.5, 1.5, 2.25, "inf"])}, "y.csv", "row 4"
)
bad("words-to-regress", {**E, "y.csv": labels()}, "'low'", more="--task regress")
bad("words-to-multilabel", {**E, "y.csv": labels()}, "y.csv", more="--task multilabel")
bad("vectors", {**E, "y.parquet": labels(values=[[0.5, 0.2], [0.1, 0.9]])}, "y.parquet")
bad("struct", {**E, "y.parquet": labels(values=[{"p": 1}, {"p": 2}])}, "y.parquet")
bad("minus-one-and-one", {**E, "y.csv": labels(values=[-1, 1])}, "-1")

# Whose they are.
good(
    "customer-risk",
    {"y.csv": labels(names=("customer_id", "risk"))},
    "labels: risk by customer_id, 3 classes",
)
good(
    "customer-risk-said",
    {"y.csv": labels(names=("customer_id", "risk"))},
    "labels: risk by customer_id, 3 classes",
    more="--id-column customer_id",
)
good(
    "customer-risk-with-features",
    {"x.csv": features(), "y.csv": labels(names=("customer_id", "risk"))},
    "labels: risk by customer_id, 3 classes",
)
good(
    "customer-risk-with-features-said",
    {"x.csv": features(), "y.csv": labels(names=("customer_id", "risk"))},
    "features: 2 columns by id",
    "labels: risk by customer_id",
    more="--id-column customer_id",
)
good("headerless", {"y.csv": text(labels(), header=False)}, "labels: 2 by 1, 3 classes")
good(
    "headerless-numbers",
    {"e.csv": edges(NUMBERS), "y.csv": text(labels(NUMBERS, [0, 1, 2]), header=False)},
    "labels: 2 by 1, 3 classes",
)
good(
    "label-first",
    {"y.csv": {"label": ["u", "v"] * 12, "id": IDS}},
    "labels: label by id",
)
good("shuffled", {"y.csv": labels([IDS[(7 * i) % N] for i in range(N)])}, "3 classes")
good("fewer", {"y.csv": labels(IDS[:9])}, "3 classes")
good(
    "index-of-pandas",
    {"y.csv": {"Unnamed: 0": list(range(100, 124)), **labels()}},
    "labels: label by id, 3 classes",
)
good("extra-columns", {"y.csv": {**labels(), "note": ["x"] * N}}, "labels: label by id")
UNKNOWN = {"y.csv": labels([*IDS, "x1", "x2"])}
bad("unknown-ids", {**E, **UNKNOWN}, "y.csv", "'x1'", "--missing-labels drop")
bad(
    "unknown-ids-with-features",
    {**E, "x.csv": features(), **UNKNOWN},
    "'x1'",
    "--missing-labels",
)
good("unknown-ids-dropped", UNKNOWN, "left out", more="--missing-labels drop")
bad("all-unknown", {**E, "y.csv": labels([f"z{i}" for i in range(N)])}, "y.csv")
bad(
    "all-unknown-dropped",
    {**E, "y.csv": labels([f"z{i}" for i in range(N)])},
    "y.csv",
    more="--missing-labels drop",
)
bad("repeated-ids", {**E, "y.csv": labels([*IDS, IDS[3]])}, "y.csv", "repeats", "'n03'")
bad("one-column", {**E, "y.csv": "label\n" + "u\nv\n" * 12}, "y.csv", "one column")
bad("id-is-label", {**E, "y.csv": labels()}, "'id'", more="--label-column id")
bad(
    "unknown-column",
    {**E, "y.csv": labels()},
    "'lable'",
    '"label"',
    more="--label-column lable",
)
bad("empty-file", {**E, "y.csv": ""}, "y.csv", "empty")
bad("only-a-header", {**E, "y.csv": "id,label\n"}, "y.csv", "rows")
bad("npy", {**E, "y.npy": "0\n1\n"}, "y.npy")
bad(
    "two-columns-of-words",
    {**E, "y.csv": {"id": IDS, "p": ["u", "v"] * 12, "q": ["w", "z"] * 12}},
    "--label-column",
)
