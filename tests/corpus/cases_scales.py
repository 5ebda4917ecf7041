"""Columns of features: scales, vectors and nested types, names."""

from __future__ import annotations

import pyarrow as pa

from .case import Group
from .cases_columns import INF, E, x
from .making import IDS, N, features

group = Group("columns")


def good(
    name: str, files: dict, *says: str, width: int | None = None, **more: object
) -> None:
    """A graph of 24 nodes."""
    group.good(name, files, *says, counts=(N, 48, width), **more)  # type: ignore[arg-type]


bad = group.bad

# Scales.
good(
    "one-dominates-unix-time",
    x(c=[1.6e9 + 86400.0 * i for i in range(N)]),
    "c",
    "standardised",
    width=3,
)
good(
    "one-dominates-csv",
    x("x.csv", c=[1600000000 + 86400 * i for i in range(N)]),
    "standardised",
    width=3,
)
good(
    "heavy-tail",
    x(c=[*[float(i % 7) for i in range(N - 1)], 1e9]),
    "quartiles",
    width=3,
)
good("spreads-alike", E | {"x.csv": features()}, "as they are", width=2)
good(
    "counts",
    {
        **E,
        "x.parquet": {
            "id": IDS,
            **{
                f"w{k}": [
                    int((i * k) % 7 == 0) + int((i + k) % 11 == 0) for i in range(N)
                ]
                for k in range(1, 41)
            },
        },
    },
    "counts",
    width=40,
)
good(
    "tf-idf",
    {
        **E,
        "x.parquet": {
            "id": IDS,
            **{
                f"w{k}": [0.31 * ((i * k) % 5 == 0) for i in range(N)]
                for k in range(1, 41)
            },
        },
    },
    "features",
)
for scaling in ("none", "standard", "robust"):
    good(
        f"scaling-{scaling}",
        x(c=[1.6e9 + i for i in range(N)]),
        "features",
        width=3,
        more=f"--column-scaling {scaling}",
    )

# Vectors and nested types.
VECTORS = [[i / 8, 1 - i / 8, (i % 5) / 4] for i in range(N)]
good("vectors", x(v=VECTORS), "v as vectors", width=5)
good(
    "vectors-float32",
    x(v=pa.array(VECTORS, pa.list_(pa.float32()))),
    "v as vectors",
    width=5,
)
good(
    "vectors-fixed",
    x(v=pa.array(VECTORS, pa.list_(pa.float32(), 3))),
    "v as vectors",
    width=5,
)
good(
    "vectors-large",
    x(v=pa.array(VECTORS, pa.large_list(pa.float64()))),
    "v as vectors",
    width=5,
)
good(
    "vectors-alone",
    {**E, "x.parquet": {"id": IDS, "v": VECTORS}},
    "v as vectors",
    width=3,
)
good("vectors-null", x(v=[*VECTORS[:-1], None]), "v")
bad("vectors-ragged", x(v=[*VECTORS[:-1], [1.0]]), "x.parquet", "'v'", "row 24")
bad("vectors-inf", x(v=[*VECTORS[:-1], [1.0, INF, 2.0]]), "x.parquet", "'v'")
good("vectors-empty", x(v=[[] for _ in range(N)]), "v (", width=2)
good("vectors-of-text", x(v=[["u", "v"]] * N), "v (", width=2)
good("struct", x(v=[{"p": i} for i in range(N)]), "v (", width=2)
good(
    "map",
    x(v=pa.array([[("p", i)] for i in range(N)], pa.map_(pa.string(), pa.int64()))),
    "v (",
    width=2,
)
good("bytes", x(v=[bytes([i, 255]) for i in range(N)]), "v (", width=2)

# Names.
for name in ("label", "y", "class", "target", "Label"):
    good(
        f"named-{name}",
        x(**{name: [0, 1] * 12}),
        f"{name} (looks like labels)",
        width=2,
    )
good("named-label-asked-for", x(label=[0, 1] * 12), width=3, more="--numeric label")
good(
    "index-level",
    x(__index_level_0__=list(range(N))),
    "__index_level_0__ (index",
    width=2,
)
good(
    "unnamed-index",
    x("x.csv", **{"Unnamed: 0": list(range(N))}),
    "Unnamed: 0 (index",
    width=2,
)
good(
    "empty-name", {**E, "x.csv": {"": list(range(N)), **features()}}, "(index", width=2
)
good(
    "another-id",
    x(account_id=[9000 + i for i in range(N)]),
    "account_id (looks like ids)",
    width=2,
)
good(
    "another-id-text",
    x(account_id=[f"q{i}" for i in range(N)]),
    "account_id (looks like ids)",
    width=2,
)
bad(
    "repeated-name",
    {**E, "x.csv": "id,a,a\n" + "".join(f"{i},1,{k}\n" for k, i in enumerate(IDS))},
    "x.csv",
    "'a'",
)
bad(
    "repeated-id",
    {**E, "x.csv": "id,id,a\n" + "".join(f"{i},{i},{k}\n" for k, i in enumerate(IDS))},
    "x.csv",
    "'id'",
)
good("unicode-name", x(**{"größe 📏": [i / 3 for i in range(N)]}), width=3)
good("long-name", x(**{"n" * 3000: [i / 3 for i in range(N)]}), width=3)
good(
    "name-of-an-equals-sign", x(**{"c=u": [1.0, 2.0] * 12}, c=["u", "v"] * 12), width=5
)
good("columns", x(c=[1.0, 2.0] * 12), "2 columns", width=2, more="--columns a,c")
good("drop", x(c=[1.0, 2.0] * 12), "dropped", width=2, more="--drop c")
