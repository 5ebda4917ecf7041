"""Options: unknown, near misses, contradictions, bounds; several feature tables."""

from __future__ import annotations

from .case import Group
from .making import IDS, NUMBERS, N, edges, features, labels, matrix, text

group = Group("options")
good, bad, run = group.good, group.bad, group.run
E = {"e.csv": edges()}
F = {**E, "x.csv": features(c=["u", "v"], d=[1.0, 2.0, 4.0])}
Y = {**F, "y.csv": labels()}
EMBED = "embed e.csv --features x.csv -o z.parquet --dim 4 --epochs 1 --time 1 --step 1"

for option in ("columns", "drop", "categorical", "numeric"):
    bad(f"{option}-unknown", F, "x.csv", "'zz'", more=f"--{option} zz")
    bad(
        f"{option}-near-miss",
        {**E, "x.csv": features(income=[1, 5, 2])},
        "'incme'",
        '"income"',
        more=f"--{option} incme",
    )
bad("drop-and-columns", F, "'c'", "--drop", "--columns", more="--drop c --columns a,c")
bad(
    "drop-and-categorical",
    F,
    "'c'",
    "--drop",
    "--categorical",
    more="--drop c --categorical c",
)
bad(
    "numeric-and-categorical",
    F,
    "'d'",
    "--numeric",
    "--categorical",
    more="--numeric d --categorical d",
)
bad("numeric-of-words", F, "x.csv", "'u'", "row 1", more="--numeric c")
bad("drop-everything", F, "x.csv", more="--drop a,b,c,d")
good("columns-one", F, "1 column by id", more="--columns d", counts=(24, 48, 1))
good(
    "columns-repeated-option",
    F,
    "2 columns by id",
    more="--columns a --columns d",
    counts=(24, 48, 2),
)
good(
    "columns-with-blanks",
    F,
    "2 columns by id",
    more=("--columns", "a, d"),
    counts=(24, 48, 2),
)
good("categorical-number", F, "d one-hot (3 categories)", more="--categorical d")
good(
    "columns-takes-what-was-left-out",
    {**E, "x.csv": features(label=[0, 1])},
    "1 column by id",
    more="--columns label",
    counts=(24, 48, 1),
)
for option, value in (
    ("missing", "drop"),
    ("missing-labels", "ignore"),
    ("task", "classification"),
    ("column-scaling", "minmax"),
):
    bad(f"{option}-unknown-value", Y, value, more=f"--{option} {value}")
bad("unknown-option", E, "--heder", "--header", more="--heder")
run(
    "option-without-value",
    E,
    "data convert e.csv -o g.npz --source-column",
    "--source-column",
    refused=True,
)
bad(
    "header-and-no-header-last-counts",
    E,
    "e.csv",
    more="--header --no-header --source-column source",
)
run("output-is-no-npz", E, "data convert e.csv -o g.csv", ".npz", refused=True)
bad("features-made-in-convert", E, "--features", more="--features degree")
bad(
    "labels-of-a-compact-dataset",
    {},
    "--labels",
    "cora",
    more="cora-bundled --labels y.csv",
)
bad("id-column-in-neither", Y, "'who'", more="--id-column who")
bad("label-column-without-labels", E, "--label-column", more="--label-column label")
bad("by-order-without-features", E, "--by-order", more="--by-order")
bad("columns-without-features", E, "--columns", more="--columns a")
bad(
    "missing-labels-without-labels", E, "--missing-labels", more="--missing-labels drop"
)
bad("task-without-labels", E, "--task", more="--task regress")
bad("empty-column-name", E, "e.csv", more=("--source-column", ""))
bad("negative-column-number", E, "'-1'", more=("--source-column", "-1"))

# Several tables of features.
USERS, ITEMS = IDS[:12], IDS[12:]
TYPES = {
    **E,
    "x1.csv": features(USERS),
    "x2.csv": features(ITEMS, price=[1.0, 3.0, 9.0]),
}
good("two-types", TYPES, "12 x1, 12 x2", counts=(24, 48, 7))
good(
    "two-types-named",
    {**E, "u.csv": features(USERS), "i.csv": features(ITEMS)},
    "12 user, 12 item",
    more="--features user=u.csv --features item=i.csv",
    counts=(24, 48, 6),
)
bad(
    "two-types-same-name",
    {**E, "u/x.csv": features(USERS), "v/x.csv": features(ITEMS)},
    "'x'",
    more="--features u/x.csv --features v/x.csv",
)
bad(
    "two-types-share-an-id",
    {**E, "x1.csv": features(USERS), "x2.csv": features([*ITEMS, "n03"])},
    "'n03'",
)
bad(
    "two-types-by-order",
    {
        "e.csv": edges(NUMBERS),
        "x1.csv": features(NUMBERS[:12]),
        "x2.csv": features(NUMBERS[12:]),
    },
    "--by-order",
    more="--by-order",
)
bad(
    "two-types-npy",
    {"e.csv": edges(NUMBERS), "x1.csv": features(NUMBERS[:12]), "x2.npy": matrix(12)},
    "x2.npy",
)
bad(
    "two-types-one-missing",
    {**E, "x1.csv": features(USERS), "x2.csv": features(ITEMS[1:])},
    "'n12'",
)
bad("two-types-unknown-drop", TYPES, "'prize'", '"price"', more="--drop prize")
good(
    "two-types-drop-in-one",
    TYPES,
    "12 x1, 12 x2",
    more="--drop price",
    counts=(24, 48, 6),
)
bad(
    "two-types-no-ids",
    {**E, "x1.csv": features(USERS), "x2.csv": features(None, rows=12)},
    "x2.csv",
)

# The command that trains.
run("dry-run", F, f"{EMBED} --dry-run", "features")
run(
    "dry-run-tells-the-columns",
    F,
    f"{EMBED} --dry-run",
    "edges: source -> target",
    "by id",
)
run(
    "embed-tells-the-columns", F, f"{EMBED} --run r", "edges: source -> target", "by id"
)
run(
    "embed-no-features",
    E,
    "embed e.csv -o z.parquet --dim 4 --epochs 1 --run r",
    "edges: source",
)
run(
    "embed-degree",
    E,
    "embed e.csv --features degree -o z.parquet --dim 2 --epochs 1 --run r",
    "edges: source",
)
for name, words, says in (
    ("dim-zero", "--dim 0", "dim"),
    ("dim-negative", "--dim -3", "dim"),
    ("dim-huge", "--dim 99999999999", "dim"),
    ("dim-text", "--dim wide", "--dim"),
    ("epochs-negative", "--epochs -1", "epochs"),
    ("epochs-fraction", "--epochs 1.5", "epochs"),
    ("seed-huge", "--seed 100000000000000000000", "seed"),
    ("seed-negative", "--seed -1", "seed"),
    ("step-zero", "--step 0", "step"),
    ("step-above-time", "--step 9", "step"),
    ("order-zero", "--orders 0,1", "order"),
    ("order-nan", "--orders nan,1", "order"),
    ("time-inf", "--time inf", "time"),
    ("lr-nan", "--learning-rate nan", "learning"),
    ("batch-zero", "--batch-size 0", "batch"),
    ("seeds-zero", "--seeds 0", "--seeds"),
    ("device-unknown", "--device tpu9", "device"),
    ("loss-unknown", "--loss cosmaen", "cosmean"),
    ("output-csv", "-o z.csv", "z.csv"),
    ("output-folder", "-o .", "Parquet"),
    ("output-nowhere", "-o /proc/z.parquet", "/proc"),
    ("evaluate", "--evaluate", "--labels"),
    ("resume-nothing", "--resume --run r", "--resume"),
    ("level-unknown", "--level edge", "level"),
    ("preset-unknown", "--preset coral", "coral"),
    ("column-unknown", "--drop zz", "'zz'"),
    ("weight-is-target", "--weight-column target", "'target'"),
):
    run(f"embed-{name}", F, f"{EMBED} {words}", says, refused=True)
run(
    "embed-empty-graph-argument",
    F,
    ("embed", "", "-o", "z.parquet"),
    "GRAPH",
    refused=True,
)
run("embed-blank-graph-argument", F, ("embed", " ", "-o", "z.parquet"), refused=True)
run("embed-unknown-dataset", F, "embed coraa -o z.parquet", '"cora"', refused=True)
run("unknown-command", F, "embedd e.csv", "embed", refused=True)
run("no-arguments", F, "embed", "GRAPH", refused=True)
TWO = f"{EMBED} --run r"
run(
    "output-of-another-run",
    F,
    f"{EMBED} --run r2",
    "z.parquet",
    "--overwrite",
    refused=True,
    before=(TWO,),
)
run(
    "output-of-another-run-overwritten",
    F,
    f"{EMBED} --run r2 --overwrite",
    "embedding",
    before=(TWO,),
)
run("run-folder-taken", F, f"{EMBED} --run r", "--resume", refused=True, before=(TWO,))
_ = text, N
