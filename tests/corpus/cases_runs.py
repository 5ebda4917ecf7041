"""What comes after reading: transform, evaluate, report, import."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .case import Group
from .making import IDS, NUMBERS, N, edges, features, labels, matrix

group = Group("runs")
run = group.run
X = features(c=["u", "v", "w"], d=[1.0, 2.0, 4.0])
FILES = {"e.csv": edges(), "x.csv": X, "y.csv": labels()}
SMALL = "--dim 4 --epochs 1 --time 1 --step 1"
TRAIN = f"embed e.csv --features x.csv -o z.parquet --run r {SMALL}"
APPLY = "transform r e.csv --features x2.csv -o z2.parquet"


def transform(
    name: str, x2: dict, *says: str, refused: bool = False, more: str = ""
) -> None:
    """Train on x.csv, then transform with x2.csv."""
    run(
        f"transform-{name}",
        {**FILES, "x2.csv": x2},
        f"{APPLY} {more}",
        *says,
        refused=refused,
        before=(TRAIN,),
    )


def _without(*names: str) -> dict:
    return {name: column for name, column in X.items() if name not in names}


transform("same", X, "embedding")
transform(
    "reordered", {name: X[name] for name in ("d", "c", "id", "b", "a")}, "embedding"
)
transform(
    "shuffled-rows", {name: column[::-1] for name, column in X.items()}, "embedding"
)
transform("missing-column", _without("d"), "x2.csv", "'d'", refused=True)
transform("missing-two", _without("a", "c"), "x2.csv", "'a'", "'c'", refused=True)
transform("near-miss", {**_without("d"), "D": X["d"]}, "x2.csv", "'d'", refused=True)
transform("extra-column", {**X, "zz": list(range(N))}, "zz")
transform("extra-label", {**X, "label": [0, 1] * 12}, "label")
transform("new-category", {**X, "c": ["u", "q"] * 12}, "'q'")
transform("nulls", {**X, "d": [1.0, None] * 12}, "d")
transform(
    "numbers-became-words",
    {**X, "d": ["one", "two"] * 12},
    "x2.csv",
    "'d'",
    refused=True,
)
transform("infinite", {**X, "d": [1.0, "inf"] * 12}, "x2.csv", "'d'", refused=True)
transform("constant-now", {**X, "d": [1.0] * N}, "embedding")
transform("other-id-name", {"who": IDS, **_without("id")}, "embedding")
transform(
    "more-nodes", features([*IDS, "k1", "k2"], c=["u", "v"], d=[1.0, 3.0]), "embedding"
)
transform(
    "fewer-nodes", features(IDS[1:], c=["u", "v"], d=[1.0, 3.0]), "'n00'", refused=True
)
run(
    "transform-without-features",
    FILES,
    "transform r e.csv -o z2.parquet",
    "features",
    refused=True,
    before=(TRAIN,),
)
run(
    "transform-of-nothing",
    FILES,
    "transform nowhere e.csv -o z2.parquet",
    "nowhere",
    refused=True,
)
run(
    "transform-of-a-file",
    FILES,
    "transform e.csv e.csv -o z2.parquet",
    "e.csv",
    refused=True,
)
run(
    "transform-array-for-table",
    {**FILES, "e2.csv": edges(NUMBERS), "x.npy": matrix(N, 4)},
    "transform r e2.csv --features x.npy -o z2.parquet",
    "x.npy",
    refused=True,
    before=(TRAIN,),
)
run(
    "transform-array",
    {"e.csv": edges(NUMBERS), "x.npy": matrix()},
    "transform r e.csv --features x.npy -o z2.parquet",
    "embedding",
    before=(f"embed e.csv --features x.npy -o z.parquet --run r {SMALL}",),
)
run(
    "transform-array-other-width",
    {"e.csv": edges(NUMBERS), "x.npy": matrix(), "x2.npy": matrix(N, 5)},
    "transform r e.csv --features x2.npy -o z2.parquet",
    "5",
    "4",
    refused=True,
    before=(f"embed e.csv --features x.npy -o z.parquet --run r {SMALL}",),
)

# Scores.
Z = {
    "id": IDS,
    **{f"z{k}": [float((i * (k + 3)) % 7) for i in range(N)] for k in range(3)},
}
VECTORS = {
    "id": IDS,
    "embedding": pa.array(
        matrix(N, 3).astype(np.float32).tolist(), pa.list_(pa.float32())
    ),
}


def evaluate(
    name: str, y: object, *says: str, refused: bool = False, more: str = ""
) -> None:
    """Score a fixed embedding by labels."""
    run(
        f"evaluate-{name}",
        {"z.parquet": VECTORS, "y.csv": y},
        f"evaluate z.parquet --labels y.csv {more}",
        *says,
        refused=refused,
    )


evaluate("one-class", labels(values=["only"]), "same class", "only", refused=True)
evaluate(
    "all-different", labels(values=[f"w{i}" for i in range(N)]), "24", refused=True
)
evaluate("all-empty", labels(values=[""]), "y.csv", refused=True)
evaluate("unknown-ids", labels([*IDS, "x1"]), "'x1'", refused=True)
evaluate("repeated-ids", labels([*IDS, IDS[0]]), "repeats", refused=True)
evaluate("no-common-id", labels([f"q{i}" for i in range(N)]), "y.csv", refused=True)
evaluate("not-a-table", '{"a": 1}', "JSON", refused=True)
evaluate("empty", "", "empty", refused=True)
evaluate(
    "unknown-column", labels(), "'lable'", refused=True, more="--label-column lable"
)
evaluate("unknown-task", labels(), "task", refused=True, more="--task rank")
run(
    "evaluate-neither",
    {"z.parquet": VECTORS},
    "evaluate z.parquet",
    "--labels",
    refused=True,
)
run(
    "evaluate-not-there",
    {},
    "evaluate z.parquet --dataset cora",
    "z.parquet",
    refused=True,
)
run(
    "evaluate-of-a-csv",
    {"z.parquet": "id,a\n1,2\n"},
    "evaluate z.parquet --dataset cora",
    "z.parquet",
    refused=True,
)
run(
    "evaluate-features-as-embedding",
    {"z.parquet": Z, "y.csv": labels()},
    "evaluate z.parquet --labels y.csv",
    "z.parquet",
    refused=True,
)
run("report-of-nothing", {}, "report nowhere", "nowhere", refused=True)
run("report-of-a-file", {"r": "x"}, "report r", "r", refused=True)
run("report-of-a-folder", {"r/x.txt": "x"}, "report r", "r", refused=True)

# Files of a run, changed.
for file in ("config.json", "job.json", "model.safetensors"):
    for name, content in (
        ("empty", ""),
        ("cut", "{"),
        ("list", "[]"),
        ("binary", bytes(64)),
    ):
        run(
            f"transform-{file.split('.')[0]}-{name}",
            {**FILES, "x2.csv": X, f"bad/{file}": content},
            "transform bad e.csv --features x2.csv -o z2.parquet",
            "bad",
            refused=True,
        )
