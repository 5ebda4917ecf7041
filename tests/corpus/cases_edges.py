"""Edge lists: which columns are taken, weights, types, self-loops."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from scipy import sparse

from .case import Group
from .making import IDS, NUMBERS, N, edges, features, ring, text

group = Group("edges")
good, bad = group.good, group.bad
PARTS = list(range(500, 500 + 2 * N))


def paid(**more: object) -> dict[str, list[object]]:
    """Payments: an id of their own, who paid, who was paid."""
    return {"transaction_id": PARTS, **edges(IDS, ("payer_id", "payee_id")), **more}


AMOUNTS = [round(0.5 + i / 4, 2) for i in range(2 * N)]
DATES = ["2024-01-02", "2024-02-03"] * N

# The columns that are taken.
for suffix in ("csv", "parquet"):
    good(
        f"transactions-{suffix}",
        {f"e.{suffix}": paid(amount=AMOUNTS, date=DATES)},
        "edges: payer_id -> payee_id",
        "ignored: transaction_id, amount, date",
        counts=(24, 48),
    )
    good(
        f"transactions-with-a-weight-{suffix}",
        {f"e.{suffix}": paid(amount=AMOUNTS)},
        "edges: payer_id -> payee_id, weight amount; ignored: transaction_id",
        more="--weight-column amount",
        counts=(24, 48),
    )
    good(
        f"unnamed-index-{suffix}",
        {f"e.{suffix}": {"Unnamed: 0": PARTS, **edges()}},
        "edges: source -> target; ignored: Unnamed: 0",
        counts=(24, 48),
    )
    good(
        f"empty-name-of-an-index-{suffix}",
        {f"e.{suffix}": {"": PARTS, **edges()}},
        "edges: source -> target; ignored: (without a name)",
        counts=(24, 48),
    )
    good(
        f"index-beside-unknown-names-{suffix}",
        {f"e.{suffix}": {"Unnamed: 0": PARTS, **edges(IDS, ("left", "right"))}},
        "edges: left -> right; ignored: Unnamed: 0",
        counts=(24, 48),
    )
    good(
        f"only-two-can-be-ids-{suffix}",
        {f"e.{suffix}": {"km": AMOUNTS, **edges(IDS, ("left", "right"))}},
        "edges: left -> right; ignored: km",
        counts=(24, 48),
    )
    good(
        f"only-two-share-ids-{suffix}",
        {f"e.{suffix}": {"order": PARTS, **edges(NUMBERS, ("left", "right"))}},
        "edges: left -> right; ignored: order",
        counts=(24, 48),
    )
    bad(
        f"three-share-ids-{suffix}",
        {f"e.{suffix}": {"third": [*NUMBERS, *NUMBERS], **edges(NUMBERS, ("p", "q"))}},
        f"e.{suffix}",
        "--source-column",
        "--target-column",
        "'third'",
    )
    bad(
        f"two-known-pairs-{suffix}",
        {f"e.{suffix}": {**edges(IDS), **edges(IDS, ("from", "to"))}},
        f"e.{suffix}",
        "--source-column",
        "'from'",
    )
    good(
        f"two-known-pairs-said-{suffix}",
        {f"e.{suffix}": {**edges(IDS), **edges(IDS, ("from", "to"))}},
        "edges: from -> to",
        more="--source-column from --target-column to",
        counts=(24, 48),
    )
    good(
        f"one-end-said-{suffix}",
        {f"e.{suffix}": {"order": PARTS, **edges(NUMBERS, ("p", "q"))}},
        "edges: p -> q",
        more="--source-column p --target-column q",
        counts=(24, 48),
    )
    bad(
        f"one-end-said-of-three-{suffix}",
        {f"e.{suffix}": {"x1": PARTS, "x2": PARTS, "x3": PARTS}},
        "--target-column",
        more="--source-column x1",
    )
good(
    "index-level-of-pandas",
    {"e.parquet": {**edges(), "__index_level_0__": PARTS}},
    "edges: source -> target; ignored: __index_level_0__",
    counts=(24, 48),
)
good(
    "ends-turned-around",
    {"e.csv": edges(IDS, ("target", "source"))},
    "edges: source -> target",
    counts=(24, 48),
)
good(
    "columns-in-any-order",
    {
        "e.csv": {
            "weight": AMOUNTS,
            "target": edges()["target"],
            "source": edges()["source"],
        }
    },
    "edges: source -> target, weight weight",
    counts=(24, 48),
)
bad(
    "same-column-twice",
    {"e.csv": edges()},
    "same column",
    "'source'",
    more="--source-column source --target-column source",
)
bad(
    "unknown-source",
    {"e.csv": edges()},
    "e.csv",
    "'sorce'",
    '"source"',
    more="--source-column sorce",
)
bad(
    "unknown-weight",
    {"e.csv": edges(weight=[1])},
    "'wieght'",
    '"weight"',
    more="--weight-column wieght",
)
bad(
    "unknown-type",
    {"e.csv": edges(kind=["a"])},
    "'knd'",
    '"kind"',
    more="--edge-type-column knd",
)
bad("one-column-parquet", {"e.parquet": {"source": IDS}}, "e.parquet", "two columns")
bad(
    "no-rows-parquet",
    {
        "e.parquet": pa.table(
            {"source": pa.array([], pa.string()), "target": pa.array([], pa.string())}
        )
    },
    "e.parquet",
    "rows",
)
bad("no-columns-parquet", {"e.parquet": pa.table({})}, "e.parquet", "columns")
bad(
    "repeated-name",
    {"e.csv": "source,target,target\n" + text(edges(third=IDS), header=False)},
    "e.csv",
    "several columns named 'target'",
)
bad(
    "repeated-name-parquet",
    {
        "e.parquet": pa.Table.from_arrays(
            [pa.array(column) for column in (*edges().values(), edges()["source"])],
            names=["source", "target", "target"],
        )
    },
    "e.parquet",
    "several columns named 'target'",
)
good(
    "unicode-names",
    {"e.csv": edges(IDS, ("Käufer", "Verkäufer"))},
    "edges: Käufer -> Verkäufer",
    counts=(24, 48),
)
good(
    "very-long-name",
    {"e.csv": edges(**{"n" * 5000: ["x"]})},
    "edges: source -> target",
    counts=(24, 48),
)
good(
    "names-with-blanks-and-newlines",
    {"e.parquet": edges(IDS, ("source id", "target id"), **{"a\nb\tc": [1]})},
    "edges: source id -> target id; ignored: a b c",
    counts=(24, 48),
)

# Weights.
good(
    "weights", {"e.csv": edges(weight=[1, 2.5, 0.5])}, "weight weight", counts=(24, 48)
)
good("weights-value", {"e.csv": edges(value=[3])}, "weight value", counts=(24, 48))
good("weights-zero-for-some", {"e.csv": edges(w=[0, 1])}, "weight w", counts=(24, 24))
good(
    "weights-as-text-in-parquet",
    {"e.parquet": edges(weight=["1", "2.5"])},
    "weight weight",
)
good(
    "weights-decimal",
    {
        "e.parquet": {
            **edges(),
            "weight": pa.array([i + 1 for i in range(2 * N)], pa.decimal128(9, 2)),
        }
    },
    "weight weight",
)
good("weights-boolean", {"e.parquet": edges(weight=[True, False])}, counts=(24, 24))
good(
    "weights-repeated-edges-add-up",
    {"e.csv": "source,target,weight\na,b,1\na,b,2\n"},
    "weight weight",
    counts=(2, 1),
)
good(
    "repeated-edges-count-once",
    {"e.csv": "source,target\na,b\na,b\nb,a\n"},
    counts=(2, 2),
)
for name, value, says in (
    ("negative", -2, "-2"),
    ("nan", "nan", "nan"),
    ("inf", "inf", "inf"),
    ("minus-inf", "-inf", "-inf"),
    ("text", "heavy", "'heavy'"),
    ("empty", "", "no number"),
    ("na", "NA", "no number"),
    ("date", "2024-01-02", "2024"),
    ("comma-decimal", '"1,5"', "1,5"),
    ("currency", "$5", "$5"),
    ("huge", "1e300", "inf"),
):
    weights = [1, 1, 1, value, 1, 1]
    bad(f"weight-{name}", {"e.csv": edges(weight=weights)}, "e.csv", "row 4", says)
bad("weight-null", {"e.parquet": edges(weight=[1.0, None])}, "e.parquet", "row 2")
bad("weight-negative-parquet", {"e.parquet": edges(weight=[1.0, -1.0])}, "row 2", "-1")
bad(
    "weight-timestamp",
    {"e.parquet": {**edges(), "weight": pa.array([0] * 48, pa.timestamp("s"))}},
    "'weight'",
)
bad("weight-list", {"e.parquet": edges(weight=[[1.0]])}, "'weight'")
bad("weight-all-zero", {"e.csv": edges(weight=[0])}, "e.csv", "0 edges")
bad(
    "weight-is-target",
    {"e.csv": edges()},
    "'target'",
    "ids",
    more="--weight-column target",
)
bad(
    "weight-is-source",
    {"e.csv": edges(NUMBERS)},
    "'source'",
    "ids",
    more="--weight-column source",
)
bad(
    "weight-overflows-when-added",
    {"e.csv": "source,target,weight\na,b,3e38\na,b,3e38\nb,a,1\n"},
    "weight",
)

# Types.
for name in ("type", "edge_type", "relation", "rel", "etype"):
    good(
        f"type-named-{name}",
        {"e.csv": edges(**{name: ["likes", "knows"]})},
        f"type {name}",
        counts=(24, 48),
    )
good(
    "type-said",
    {"e.csv": edges(how=["likes", "knows"])},
    "type how",
    more="--edge-type-column how",
    counts=(24, 48),
)
good(
    "type-and-weight",
    {"e.parquet": edges(type=["a", "b"], weight=[1.0, 2.0])},
    "weight weight, type type",
    counts=(24, 48),
)
good(
    "type-whole-numbers",
    {"e.parquet": edges(type=[0, 1, 2])},
    "type type",
    counts=(24, 48),
)
good(
    "type-category",
    {"e.parquet": {**edges(), "type": pa.array(["a", "b"] * N).dictionary_encode()}},
    "type type",
    counts=(24, 48),
)
good("type-only-one", {"e.csv": edges(type=["likes"])}, "type type", counts=(24, 48))
bad("type-null", {"e.parquet": edges(type=["a", None])}, "e.parquet", "'type'")
bad("type-empty", {"e.csv": edges(type=["a", ""])}, "e.csv", "'type'")
bad(
    "type-is-source",
    {"e.csv": edges()},
    "--edge-type-column",
    more="--edge-type-column source",
)
good(
    "several-types-of-one-pair",
    {"e.csv": "source,target,type\na,b,likes\na,b,knows\nb,a,likes\n"},
    "type type",
)

# Shapes of graphs.
loops = {"source": IDS, "target": IDS}
bad("only-self-loops", {"e.csv": loops}, "e.csv", "self-loops")
bad("only-self-loops-parquet", {"e.parquet": loops}, "e.parquet", "self-loops")
bad(
    "only-self-loops-with-features", {"e.csv": loops, "x.csv": features()}, "self-loops"
)
bad("one-self-loop", {"e.csv": {"source": ["a"], "target": ["a"]}}, "e.csv")
good(
    "self-loops-among-others",
    {"e.csv": {"source": [*IDS, *IDS], "target": [*IDS, *IDS[1:], IDS[0]]}},
    counts=(24, 48),
)
good(
    "bipartite",
    {"e.csv": {"user": IDS, "item": [f"i{i % 5}" for i in range(N)]}},
    "edges: user -> item",
    counts=(29, 24),
)
good("star", {"e.csv": {"source": ["hub"] * N, "target": IDS}}, counts=(25, 24))

# Archives with a whole graph.
ones = np.ones(2 * N)
rows, cols = np.array(ring(NUMBERS)).T
good(
    "scipy-matrix",
    {"e.npz": sparse.csr_array((ones, (rows, cols)), shape=(N, N))},
    counts=(24, 48),
)
good(
    "scipy-matrix-and-features",
    {
        "e.npz": sparse.coo_array((ones, (rows, cols)), shape=(N, N)),
        "x.csv": features(NUMBERS),
    },
    "features: 2 columns by id",
    counts=(24, 48, 2),
)
bad("scipy-matrix-not-square", {"e.npz": sparse.csr_array(np.eye(3, 4))}, "e.npz")
bad("scipy-matrix-negative", {"e.npz": sparse.csr_array(-np.ones((3, 3)))}, "e.npz")
bad("scipy-matrix-nan", {"e.npz": sparse.csr_array(np.full((3, 3), np.nan))}, "e.npz")
