"""Which row of features is which node's; matrices in NumPy and SciPy files."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .case import Group
from .making import IDS, NUMBERS, N, edges, features, matrix, npy, npz, text

group = Group("alignment")
good, bad = group.good, group.bad
E = {"e.csv": edges()}
COUNTED = {"e.csv": edges(NUMBERS)}
SHUFFLED = [IDS[(7 * i) % N] for i in range(N)]
BY = "features: 2 columns by"

# Keyed by id.
for key in ("id", "node_id", "Node", "vertex", "user_id", "customer", "whatever"):
    for suffix in ("csv", "parquet"):
        good(
            f"key-{key}-{suffix}",
            {**E, f"x.{suffix}": features(IDS, key)},
            f"{BY} {key}",
            counts=(24, 48, 2),
        )
good(
    "key-shuffled",
    {**E, "x.csv": features(SHUFFLED, "user_id")},
    f"{BY} user_id",
    counts=(24, 48, 2),
)
good(
    "key-last-column",
    {**E, "x.csv": {**features(None), "user_id": SHUFFLED}},
    f"{BY} user_id",
    counts=(24, 48, 2),
)
good(
    "key-said",
    {**E, "x.csv": {**features(SHUFFLED, "p"), "q": IDS}},
    f"{BY} p",
    more="--id-column p --drop q",
    counts=(24, 48, 2),
)
bad(
    "two-keys",
    {**E, "x.csv": {**features(SHUFFLED, "p"), "q": IDS}},
    "x.csv",
    "'p'",
    "'q'",
    "--id-column",
)
good(
    "more-rows",
    {**E, "x.csv": features([*IDS, "x1", "x2"], "user_id")},
    f"{BY} user_id",
    counts=(26, 48, 2),
)
for suffix in ("csv", "parquet"):
    bad(
        f"one-id-missing-{suffix}",
        {**E, f"x.{suffix}": features(IDS[1:], "user_id")},
        f"x.{suffix}",
        "'n00'",
        "--missing",
    )
    bad(
        f"more-rows-and-one-id-missing-{suffix}",
        {**E, f"x.{suffix}": features([*IDS[1:], "x1", "x2"], "user_id")},
        f"x.{suffix}",
        "'n00'",
        "--missing",
    )
    numbers = [*range(1, N), 90, 91]
    bad(
        f"numbers-more-rows-and-one-id-missing-{suffix}",
        {"e.csv": edges(NUMBERS), f"x.{suffix}": features(numbers, "user_id")},
        f"x.{suffix}",
        "--missing",
    )
LESS = {**E, "x.csv": features(IDS[2:], "user_id")}
good(
    "missing-drop-edges",
    LESS,
    "left out",
    more="--missing drop-edges",
    counts=(22, None, 2),
)
good("missing-zero", LESS, "zeros", more="--missing zero", counts=(24, 48, 2))
good("missing-mean", LESS, "mean", more="--missing mean", counts=(24, 48, 2))
bad(
    "missing-drops-all",
    {**E, "x.csv": features(["q1", "q2"], "id")},
    "x.csv",
    more="--missing drop-edges",
)
bad(
    "no-common-id",
    {**E, "x.csv": features([f"z{i}" for i in range(N)])},
    "x.csv",
    "--id-column",
)
bad(
    "no-common-id-unknown-name",
    {**E, "x.csv": features([f"z{i}" for i in range(N)], "user_id")},
    "x.csv",
    "user_id",
    "--id-column",
)
bad(
    "repeated-ids",
    {**E, "x.csv": features([*IDS, IDS[3]])},
    "x.csv",
    "repeats",
    "'n03'",
)
bad(
    "repeated-ids-unknown-name",
    {**E, "x.csv": features([*IDS, IDS[3]], "user_id")},
    "x.csv",
    "user_id",
)
bad(
    "unknown-id-column",
    {**E, "x.csv": features()},
    "x.csv",
    "'ID2'",
    more="--id-column ID2",
)
bad("id-column-without-tables", E, "--id-column", more="--id-column user_id")
bad("edges-as-features", {**E, "x.csv": edges()}, "x.csv")
bad("same-file-for-both", E, "e.csv", more="--features e.csv")
bad("upper-case-ids", {**E, "x.csv": features([i.upper() for i in IDS])}, "x.csv")
good(
    "blanks-around-ids-csv",
    {**E, "x.csv": text(features([f" {i} " for i in IDS]))},
    f"{BY} id",
    counts=(24, 48, 2),
)

# By order.
good(
    "by-order",
    {**COUNTED, "x.csv": features(None, rows=N)},
    "by order",
    counts=(24, 48, 2),
)
good(
    "by-order-without-header",
    {**COUNTED, "x.csv": text(features(None, rows=N), header=False)},
    "by order",
    counts=(24, 48, 2),
)
bad(
    "by-order-one-row-less",
    {**COUNTED, "x.csv": features(None, rows=N - 1)},
    "x.csv",
    "--by-order",
)
bad(
    "by-order-one-row-more",
    {**COUNTED, "x.csv": features(None, rows=N + 1)},
    "x.csv",
    "--by-order",
)
good(
    "by-order-one-row-more-said",
    {**COUNTED, "x.csv": features(None, rows=N + 1)},
    "by order",
    more="--by-order",
    counts=(25, 48, 2),
)
bad(
    "by-order-one-row-less-said",
    {**COUNTED, "x.csv": features(None, rows=N - 1)},
    "x.csv",
    more="--by-order",
)
bad("by-order-of-words", {**E, "x.csv": features(None, rows=N)}, "x.csv", "--id-column")
bad(
    "by-order-of-words-said",
    {**E, "x.csv": features(None, rows=N)},
    "not among",
    more="--by-order",
)
bad(
    "by-order-and-id-column",
    {**COUNTED, "x.csv": features(NUMBERS)},
    "--by-order",
    "--id-column",
    more="--by-order --id-column id",
)
bad(
    "by-order-ids-from-one",
    {"e.csv": edges(list(range(1, N + 1))), "x.csv": features(None, rows=N)},
    "x.csv",
    "--by-order",
)
bad(
    "by-order-negative-ids",
    {"e.csv": edges([-1, *range(N - 1)]), "x.csv": features(None, rows=N)},
    "x.csv",
)
bad(
    "foreign-id-column-and-fitting-rows",
    {**COUNTED, "x.csv": features([f"z{i}" for i in range(N)], "user_id")},
    "x.csv",
    "user_id",
    "--by-order",
)
good(
    "foreign-id-column-by-order-said",
    {**COUNTED, "x.csv": features([f"z{i}" for i in range(N)], "user_id")},
    "by order",
    more="--by-order",
    counts=(24, 48, 2),
)

# Arrays.
M = matrix()
good("npy", {**COUNTED, "x.npy": M}, "4 columns of x.npy by order", counts=(24, 48, 4))
for kind in ("float32", "float16", "int64", "int8", "uint8"):
    good(
        f"npy-{kind}",
        {**COUNTED, "x.npy": (M * 8).astype(kind)},
        "4 columns",
        counts=(24, 48, 4),
    )
good("npy-bool", {**COUNTED, "x.npy": M > 0}, "4 columns", counts=(24, 48, 4))
good(
    "npy-fortran",
    {**COUNTED, "x.npy": npy(np.asfortranarray(M))},
    "4 columns",
    counts=(24, 48, 4),
)
good(
    "npy-big-endian",
    {**COUNTED, "x.npy": M.astype(">f8")},
    "4 columns",
    counts=(24, 48, 4),
)
good("npz-one", {**COUNTED, "x.npz": npz(x=M)}, "4 columns", counts=(24, 48, 4))
good(
    "npz-sparse",
    {**COUNTED, "x.npz": sparse.csr_array(np.where(M > 1, M, 0))},
    "4 columns",
    counts=(24, 48, 4),
)
good(
    "npz-sparse-coo",
    {**COUNTED, "x.npz": sparse.coo_array(np.where(M > 1, M, 0))},
    "4 columns",
    counts=(24, 48, 4),
)
good(
    "npy-dominating-column",
    {**COUNTED, "x.npy": np.column_stack([M, 1.6e9 + M[:, 0]])},
    "standardised",
    counts=(24, 48, 5),
)
for name, value in (("nan", np.nan), ("inf", np.inf)):
    broken = np.where(np.arange(4 * N).reshape(N, 4) == 9, value, M)
    if name == "inf":
        bad("npy-inf", {**COUNTED, "x.npy": broken}, "x.npy", "row 3")
    else:
        good("npy-nan", {**COUNTED, "x.npy": broken}, "missing", counts=(24, 48, 5))
for name, content in (
    ("rows-less", M[:-1]),
    ("rows-more", np.vstack([M, M[:1]])),
    ("one-dimension", M[:, 0]),
    ("three-dimensions", M[None]),
    ("complex", M.astype(complex)),
    ("text", M.astype(str)),
    ("dates", np.array([["2024-01-01"]] * N, "datetime64[D]")),
    ("no-rows", M[:0]),
    ("no-columns", M[:, :0]),
    ("all-zero", np.zeros((N, 4))),
    ("constant", np.ones((N, 4))),
    ("structured", np.zeros(N, [("a", "f4"), ("b", "f4")])),
):
    bad(f"npy-{name}", {**COUNTED, "x.npy": content}, "x.npy")
bad(
    "npy-objects",
    {**COUNTED, "x.npy": npy(np.array([[{}]], object), allow_pickle=True)},
    "x.npy",
)
bad("npz-objects", {**COUNTED, "x.npz": npz(x=np.array([[{}]], object))}, "x.npz")
bad("npz-several", {**COUNTED, "x.npz": npz(p=M, q=M)}, "x.npz", "p, q")
bad("npz-none", {**COUNTED, "x.npz": npz()}, "x.npz")
bad(
    "npz-sparse-inf",
    {**COUNTED, "x.npz": sparse.csr_array(np.where(M > 1, np.inf, 0))},
    "x.npz",
)
bad(
    "npy-columns-asked-for",
    {**COUNTED, "x.npy": M},
    "x.npy",
    "names",
    more="--columns a",
)
bad("npy-id-column", {**COUNTED, "x.npy": M}, "x.npy", "names", more="--id-column id")
bad("npy-ids-that-are-words", {**E, "x.npy": M}, "x.npy")
whole = npy(M)
bad("npy-truncated", {**COUNTED, "x.npy": whole[:-9]}, "x.npy")
bad("npy-header-only", {**COUNTED, "x.npy": whole[:128]}, "x.npy")
bad("npy-header-cut", {**COUNTED, "x.npy": whole[:40]}, "x.npy")
bad("npy-magic-only", {**COUNTED, "x.npy": whole[:6]}, "x.npy")
bad(
    "npy-lies-about-rows",
    {**COUNTED, "x.npy": whole.replace(b"(24, 4)", b"(9**9,4)"[:7])},
    "x.npy",
)
bad(
    "npy-lies-in-size",
    {**COUNTED, "x.npy": whole.replace(b"(24, 4), ", b"(99999999999, 4), "[:18])},
    "x.npy",
)
bad(
    "npy-lies-hugely",
    {**COUNTED, "x.npy": whole.replace(b"(24, 4), }         ", b"(9999999999, 4), } ")},
    "x.npy",
    "damaged",
)
bad(
    "npy-negative-shape",
    {**COUNTED, "x.npy": whole.replace(b"(24, 4), } ", b"(-24, 4), }")},
    "x.npy",
)
bad("npy-is-text", {**COUNTED, "x.npy": text(features(NUMBERS))}, "x.npy")
bad("npy-is-a-pickle", {**COUNTED, "x.npy": pickle.dumps([1.0])}, "x.npy", "pickle")
bad("npz-truncated", {**COUNTED, "x.npz": npz(x=M)[:-30]}, "x.npz")
bad("npz-changed", {**COUNTED, "x.npz": npz(x=M).replace(b"NUMPY", b"NUMPX")}, "x.npz")


def _sparse(**changed: Any) -> bytes:
    """A sparse matrix as SciPy saves it, one of its arrays changed."""
    x = sparse.csr_array(np.where(M > 1, M, 0))
    arrays = {"data": x.data, "indices": x.indices, "indptr": x.indptr}
    return npz(**{**arrays, "shape": x.shape, "format": b"csr", **changed})


def _backwards(*, last: int) -> bytes:
    x = sparse.csr_array(np.where(M > 1, M, 0))
    indptr = x.indptr.astype(np.int64)
    indptr[-2:] = 2**62 if last < 0 else 8_388_623, last
    return _sparse(indptr=indptr)


for last in (0, 7, -(2**62) - 5):
    bad(
        f"npz-sparse-rows-end-before-they-begin-{last}",
        {**COUNTED, "x.npz": _backwards(last=last)},
        "x.npz",
        "damaged",
    )
bad("npz-sparse-short", {**COUNTED, "x.npz": _sparse(data=M[0])}, "x.npz", "damaged")


def _bomb(path: Path) -> None:
    """A header of a hundred gigabytes, and next to nothing behind it."""
    header = npy(np.zeros((1, 4))).replace(
        b"(1, 4), }             ", b"(3333333333, 4), }    "
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", header)


bad("npz-bomb", {**COUNTED, "x.npz": _bomb}, "x.npz")
