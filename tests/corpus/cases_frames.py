"""Tables in memory: pandas, Arrow, and whatever hands out Arrow data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from fdgcl import Graph
from fdgcl.graphs import read_graph

from .case import Group
from .making import IDS, NUMBERS, N, edges, features, labels, table

group = Group("frames")


class Stream:
    """What Polars and DuckDB have in common: a stream of Arrow data."""

    def __init__(self, columns: Any) -> None:
        self._table = table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


KINDS = {
    "pandas": lambda columns: pd.DataFrame(dict(columns)),
    "arrow": table,
    "reader": lambda columns: table(columns).to_reader(5),
    "batch": lambda columns: pa.RecordBatch.from_pydict(dict(columns)),
    "stream": Stream,
}


def good(
    name: str, e: Any, *says: str, x: Any = None, y: Any = None, **more: Any
) -> None:
    """Tables that make a graph."""
    counts = more.pop("counts", ())
    group.call(
        name,
        lambda: read_graph(_made(e), _made(x), _made(y), **more),
        *says,
        counts=counts,
    )


def bad(
    name: str, e: Any, *says: str, x: Any = None, y: Any = None, **more: Any
) -> None:
    """Tables that are refused."""
    group.call(
        name,
        lambda: read_graph(_made(e), _made(x), _made(y), **more),
        *says,
        refused=True,
    )


def _made(value: Any) -> Any:
    """What can be read only once is made anew."""
    return value() if callable(value) else value


for kind, make in KINDS.items():

    def later(columns: Any, make: Any = make) -> Any:
        return lambda: make(columns)

    good(f"{kind}-edges", later(edges()), "edges: source -> target", counts=(24, 48, 0))
    good(
        f"{kind}-features",
        later(edges()),
        "features: 2 columns by id",
        x=later(features()),
        counts=(24, 48, 2),
    )
    good(
        f"{kind}-labels",
        later(edges()),
        "labels: label by id, 3 classes",
        y=later(labels()),
        counts=(24, 48),
    )
    good(
        f"{kind}-transactions",
        later(
            {
                "transaction_id": list(range(500, 548)),
                **edges(IDS, ("payer_id", "payee_id")),
            }
        ),
        "edges: payer_id -> payee_id",
        "transaction_id",
        counts=(24, 48),
    )
    good(
        f"{kind}-mixed-types",
        later(edges()),
        "c one-hot",
        x=later(features(c=["u", "v", None])),
        counts=(24, 48, 5),
    )
    bad(
        f"{kind}-one-id-missing",
        later(edges()),
        "'n00'",
        "missing",
        x=later(features(IDS[1:], "user_id")),
    )
    bad(
        f"{kind}-repeated-ids",
        later(edges()),
        "'n03'",
        x=later(features([*IDS, "n03"])),
    )
    bad(f"{kind}-unknown-column", later(edges()), "'sorce'", source="sorce")
    bad(f"{kind}-no-rows", later({"source": [], "target": []}), "rows")
    bad(
        f"{kind}-ambiguous",
        later({"p": NUMBERS, "q": NUMBERS, "r": NUMBERS}),
        "source, target",
    )

frame = pd.DataFrame(features())
E = pd.DataFrame(edges())
good(
    "index-of-ids",
    E,
    "features: 2 columns by id",
    x=frame.set_index("id"),
    counts=(24, 48, 2),
)
good(
    "index-of-ids-without-name",
    E,
    "features: 2 columns by",
    x=frame.set_index("id").rename_axis(None),
    counts=(24, 48, 2),
)
good("index-that-numbers", E.iloc[::-1], "edges: source -> target", counts=(24, 48))
good(
    "index-after-a-filter",
    E[E.index % 2 == 0],
    "edges: source -> target",
    counts=(24, 24),
)
good(
    "features-after-a-sort",
    E,
    "features: 2 columns by id",
    x=frame.sort_values("a"),
    counts=(24, 48, 2),
)
good(
    "features-after-reset-index",
    E,
    "2 columns by id",
    x=frame.sort_values("a").reset_index(),
    counts=(24, 48, 2),
)
good(
    "multi-index",
    E,
    "features: 2 columns by id",
    x=frame.set_index(["id", "a"]).assign(p=1),
)
bad(
    "columns-of-two-levels",
    pd.DataFrame(
        np.zeros((3, 2)), columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    ),
)
good(
    "number-names",
    pd.DataFrame({0: NUMBERS, 1: NUMBERS[1:] + NUMBERS[:1]}),
    "edges: 0 -> 1",
    counts=(24, 24),
)
bad("repeated-names", pd.concat([E, E], axis=1))
good("category", E.astype("category"), counts=(24, 48))
good(
    "category-feature",
    E,
    "c one-hot (2 categories)",
    x=frame.assign(c=pd.Categorical(["u", "v"] * 12)),
    counts=(24, 48, 4),
)
good(
    "nullable-integers",
    E,
    "c missing",
    x=frame.assign(c=pd.array([1, None, 3] * 8, "Int64")),
    counts=(24, 48, 4),
)
good(
    "nullable-boolean",
    E,
    "c",
    x=frame.assign(c=pd.array([True, None, False] * 8, "boolean")),
    counts=(24, 48, 4),
)
good(
    "datetime",
    E,
    "c as elapsed time",
    x=frame.assign(c=pd.date_range("2024", periods=N)),
)
good(
    "datetime-zone",
    E,
    "c as elapsed time",
    x=frame.assign(c=pd.date_range("2024", periods=N, tz="Europe/Zurich")),
)
good(
    "nat",
    E,
    "c missing",
    x=frame.assign(c=[pd.NaT, *pd.date_range("2024", periods=N - 1)]),
)
good(
    "object-numbers",
    E,
    "c",
    x=frame.assign(c=pd.Series(range(N), dtype=object)),
    counts=(24, 48, 3),
)
bad("mixed-7-and-'7'", pd.DataFrame({"source": [7, "7", 8], "target": [8, 8, "7"]}))
bad(
    "object-of-everything",
    E,
    x=frame.assign(c=pd.Series([1, "x", None, 2.5] * 6, dtype=object)),
)
good(
    "vectors",
    E,
    "v as vectors",
    x=frame.assign(v=[[i / 4, 1.0] for i in range(N)]),
    counts=(24, 48, 4),
)
good(
    "numpy-vectors",
    E,
    "v as vectors",
    x=frame.assign(v=[np.array([i / 4, 1.0]) for i in range(N)]),
    counts=(24, 48, 4),
)
bad(
    "nan-id",
    pd.DataFrame({"source": ["a", None, "b"], "target": ["b", "b", "a"]}),
    "row 2",
)
bad(
    "float-ids-with-nan",
    pd.DataFrame({"source": [1.0, np.nan], "target": [2.0, 1.0]}),
    "row 2",
)
good(
    "float-ids",
    pd.DataFrame({"source": [1.0, 2.0], "target": [2.0, 1.0]}),
    counts=(2, 2),
)
bad("no-columns", pd.DataFrame(), "columns")
bad("a-series", pd.Series([1, 2]))
bad("a-list", [1, 2, 3], "list")
bad("a-dict", {"source": [1]}, "dict")
bad("none", None)
bad("an-array", np.zeros((3, 2)), "ndarray")
bad("a-number", 7, "int")
bad("features-list-of-numbers", E, x=[1, 2, 3])
bad("unknown-keyword", E, "weigth", "weight", weigth="w")
bad("header-value", E, "header", header="maybe")
bad("columns-as-one-word", E, "columns", x=frame, columns="a")
bad("missing-value", E, "missing", missing="ignore")
bad("by-order-value", E, "by_order", x=frame, by_order="yes")
good(
    "by-order",
    pd.DataFrame(edges(NUMBERS)),
    "by order",
    x=frame[["a", "b"]],
    by_order=True,
    counts=(24, 48, 2),
)
good(
    "types-by-name",
    E,
    "12 user, 12 item",
    x={"user": frame[:12], "item": frame[12:]},
    counts=(24, 48, 6),
)
good(
    "types-in-a-list",
    E,
    "12 type1, 12 type2",
    x=[frame[:12], frame[12:]],
    counts=(24, 48, 6),
)
good("weights", E.assign(amount=2.5), "weight amount", weight="amount", counts=(24, 48))
group.call(
    "from-pandas",
    lambda: Graph.from_pandas(E, frame),
    "features: 2 columns by id",
    counts=(24, 48, 2),
)
group.call(
    "from-pandas-labels",
    lambda: Graph.from_pandas(E, frame, pd.DataFrame(labels())),
    "labels: label by id",
    counts=(24, 48, 2),
)
group.call("from-pandas-of-no-frame", lambda: Graph.from_pandas([(1, 2)]), refused=True)
group.call(
    "from-edges-of-a-frame",
    lambda: Graph.from_edges(E),
    "edges: source -> target",
    counts=(24, 48),
)
good(
    "uuid-extension",
    lambda: pa.table(
        {
            name: pa.array([i.to_bytes(16, "big") for i in column], pa.binary(16)).cast(
                pa.uuid()
            )
            for name, column in edges(NUMBERS).items()
        }
    ),
    counts=(24, 48),
)
good(
    "string-view",
    lambda: pa.table(
        {name: pa.array(column, pa.string_view()) for name, column in edges().items()}
    ),
    counts=(24, 48),
)
good(
    "run-end-encoded-feature",
    E,
    x=lambda: table(
        {**features(), "c": pa.RunEndEncodedArray.from_arrays([12, 24], [1.0, 2.0])}
    ),
)
good(
    "chunks",
    lambda: pa.concat_tables([table(edges()).slice(0, 7), table(edges()).slice(7)]),
    counts=(24, 48),
)
good(
    "empty-chunks",
    lambda: pa.concat_tables([table(edges()).slice(0, 0), table(edges())]),
    counts=(24, 48),
)
