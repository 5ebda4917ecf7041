"""`fdgcl data import`: the same tables, read by parts."""

from __future__ import annotations

import gzip

import pyarrow as pa

from .case import Group
from .making import IDS, NUMBERS, edges, features, labels, matrix, text

group = Group("import")
E = {"e.csv": edges()}


def good(name: str, files: dict, *says: str, more: str = "") -> None:
    """Files that become a store."""
    group.run(name, files, f"data import {_given(files)} {more} --store G", *says)


def bad(name: str, files: dict, *says: str, more: str = "") -> None:
    """Files that are refused."""
    command = f"data import {_given(files)} {more} --store G"
    group.run(name, files, command, *says, refused=True)


def _given(files: dict) -> str:
    words = [name for name in files if name[0] == "e"]
    words += [f"--features {name}" for name in files if name[0] == "x"]
    return " ".join(words)


for suffix in ("csv", "parquet"):
    good(f"edges-{suffix}", {f"e.{suffix}": edges()}, "edges: source -> target")
    good(
        f"features-{suffix}",
        {**E, f"x.{suffix}": features()},
        "features: 2 columns by id",
    )
    good(
        f"unknown-key-{suffix}",
        {**E, f"x.{suffix}": features(IDS, "user_id")},
        "by user_id",
    )
    good(
        f"transactions-{suffix}",
        {
            f"e.{suffix}": {
                "transaction_id": list(range(500, 548)),
                **edges(IDS, ("payer_id", "payee_id")),
            }
        },
        "edges: payer_id -> payee_id",
        "ignored: transaction_id",
    )
    good(
        f"index-{suffix}",
        {f"e.{suffix}": {"Unnamed: 0": list(range(500, 548)), **edges()}},
        "ignored: Unnamed: 0",
    )
    good(
        f"categories-{suffix}",
        {**E, f"x.{suffix}": features(c=["u", "v"])},
        "c one-hot",
    )
    good(
        f"nulls-{suffix}",
        {**E, f"x.{suffix}": features(c=[1.5, None, 2.5])},
        "c missing",
    )
    bad(
        f"one-id-missing-{suffix}",
        {**E, f"x.{suffix}": features([*IDS[1:], "x1", "x2"], "user_id")},
        "'n00'",
    )
    bad(
        f"repeated-ids-{suffix}",
        {**E, f"x.{suffix}": features([*IDS, IDS[3]])},
        "'n03'",
    )
    bad(
        f"self-loops-{suffix}",
        {f"e.{suffix}": {"source": IDS, "target": IDS}},
        "between two nodes",
    )
    bad(
        f"infinite-{suffix}",
        {**E, f"x.{suffix}": features(c=[1.0, float("inf")])},
        "'c'",
        "row 2",
    )
    bad(
        f"negative-weight-{suffix}",
        {f"e.{suffix}": edges(weight=[1.0, -1.0])},
        "row 2",
        "-1",
    )
    bad(
        f"unknown-column-{suffix}",
        {f"e.{suffix}": edges()},
        "'sorce'",
        more="--source-column sorce",
    )
good("npy", {"e.csv": edges(NUMBERS), "x.npy": matrix()}, "by order")
bad("npy-rows", {"e.csv": edges(NUMBERS), "x.npy": matrix(23)}, "x.npy")
bad("empty", {"e.csv": ""}, "e.csv", "empty")
bad("only-a-header", {"e.csv": "source,target\n"}, "e.csv", "rows")
bad(
    "ambiguous-header",
    {"e.csv": text(edges(["ada", "bob", "cy", "dee"], ("p", "q")))},
    "--header",
)
bad("gzip-as-csv", {"e.csv": gzip.compress(text(edges()).encode(), mtime=0)}, "gzip")
bad("noise", {"e.csv": bytes((37 * i * i + 11) % 256 for i in range(4096))}, "binary")
bad("utf16", {"e.csv": text(edges()).encode("utf-16")}, "UTF-16")
bad("null-word", {"e.csv": text(edges([*IDS, "nan"]))}, "'nan'", "--allow-null-ids")
bad("ragged", {"e.csv": text(edges()) + "a,b,c\n"}, "3 values")
bad("parquet-cut", {"e.parquet": b"PAR1" + bytes(40)}, "e.parquet")
bad(
    "lists-as-ids",
    {"e.parquet": {"source": pa.array([[1]]), "target": pa.array([[2]])}},
    "e.parquet",
)
bad("edges-as-features", {**E, "x.csv": edges()}, "x.csv")
bad("labels-as-features", {**E, "x.csv": labels()}, "x.csv", "label")
