"""Commands that are suggested work when pasted, whatever was typed before."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from smallgraph import NODES, SMALL, Command

from fdgcl.cli.suggestions import free_path, option_words, path_word, resumed
from fdgcl.embeddings import read_embeddings
from tolerances import assert_agree

FEATURES = ("--features", "x.parquet")
LABELS = ("--labels", "y.csv")
LINKED = ("--labels", "linked.csv")  # of nodes that have an edge


def prepare(folder: Path) -> None:
    """More files of the same graph: other names of columns, other names of files."""
    edges = (folder / "edges.csv").read_text()
    (folder / "my edges.csv").write_text(edges)
    (folder / "it's.csv").write_text(edges)
    (folder / "-dash.csv").write_text(edges)
    (folder / "bare.csv").write_text(edges.partition("\n")[2])
    columns = edges.replace("source,target", "buyer,seller,n", 1).splitlines()
    rows = [columns[0], *(f"{line},2" for line in columns[1:])]
    (folder / "trade.csv").write_text("\n".join(rows) + "\n")
    x = pq.read_table(folder / "x.parquet")
    pq.write_table(x.rename_columns(["who", *x.column_names[1:]]), folder / "w.parquet")
    labels = (folder / "y.csv").read_text()
    ends = set(edges.replace("\n", ",").split(","))
    known = [line for line in labels.splitlines() if line.split(",")[0] in ends]
    (folder / "linked.csv").write_text("\n".join(["id,label", *known]) + "\n")
    (folder / "w.csv").write_text(labels.replace("id,label", "who,-kind", 1))
    ids = x["id"].to_pylist()
    owners = [f"g{place % 20}" for place in range(NODES)]
    pq.write_table(pa.table({"id": ids, "in": owners}), folder / "owners.parquet")
    inside = dict(zip(ids, owners, strict=True))
    pairs = [line.split(",") for line in edges.splitlines()[1:]]
    kept = [f"{a},{b}" for a, b in pairs if inside[a] == inside[b]]
    both = [f"{a},{b}" for a in ids for b in ids if inside[a] == inside[b] and a < b]
    lines = ["source,target", *dict.fromkeys([*kept, *both])]
    (folder / "many.csv").write_text("\n".join(lines) + "\n")
    graphs = ["id,label", *(f"g{i},{'ab'[i % 2]}" for i in range(20))]
    (folder / "graph labels.csv").write_text("\n".join(graphs) + "\n")
    (folder / "z2.parquet").write_bytes(b"something else")


TRADE = ("trade.csv", "--source-column", "buyer", "--target-column", "seller")
WHO = ("--features", "w.parquet", "--id-column", "who")
MANY = ("many.csv", *FEATURES, "--graph-ids", "owners.parquet", "--graph-column", "in")
CASES = {
    "features": ("edges.csv", *FEATURES),
    "labels": ("edges.csv", *FEATURES, *LABELS),
    "no features": ("edges.csv",),
    "no features, scored": ("edges.csv", *LINKED, "--evaluate"),
    "degrees": ("edges.csv", "--features", "degree"),
    "random": ("edges.csv", "--features", "random"),
    "spectral": ("edges.csv", "--features", "spectral", *LINKED),
    "scored": ("edges.csv", *FEATURES, *LABELS, "--evaluate"),
    "blank": ("my edges.csv", *FEATURES),
    "quote": ("it's.csv", *FEATURES, "--run", "it's a run"),
    "dash": (*FEATURES, "-o", "-z.parquet", "--run", "-run", "--", "-dash.csv"),
    "dash, labels": (*LINKED, "-o", "-z.parquet", "--", "-dash.csv"),
    "columns": (*TRADE, "--weight-column", "n", *WHO),
    "header": ("bare.csv", "--no-header", *FEATURES),
    "label column": (*TRADE, *WHO, "--labels", "w.csv", "--label-column", "-kind"),
    "many": MANY,
    "many, labels": (*MANY, "--labels", "graph labels.csv"),
    "many, nodes": (*MANY, "--labels", "graph labels.csv", "--level", "node"),
    "compact": ("one.npz",),
    "compact, labels": ("labelled.npz",),
    "compact, degrees": ("one.npz", "--features", "degree"),
    "compact, many": ("many.npz",),
    "dataset": ("cora-bundled", "--seed", "1"),
}
FILLED = {
    "NEW_EDGES": "",  # the graph of the case
    "NEW_FEATURES": "",
    "NEW_GRAPH_IDS": "owners.parquet",
    "NEW_GRAPH.npz": "one.npz",
    "NEW_GRAPHS.npz": "many.npz",
    "LABELS": "linked.csv",
}


def fill(words: list[str], case: tuple[str, ...]) -> list[str]:
    """Replace what is in capitals by the files of the training."""
    edges = next(
        (w for w in case if w.endswith((".csv", ".npz")) and w not in LINKED), ""
    )
    features = [word for word in case if word in ("x.parquet", "w.parquet")]
    own = {"NEW_EDGES": f"./{edges}", "NEW_FEATURES": next(iter(features), "")}
    return [own.get(word) or FILLED.get(word, word) for word in words]


def ran(fdgcl: Command, words: list[str]) -> None:
    assert words[0] == "fdgcl"
    assert not [word for word in words if word in FILLED], "all is filled in"
    result = fdgcl(*words[1:])
    assert result.exit_code == 0, (words, result.output)


@pytest.mark.parametrize("name", CASES)
def test_what_embed_suggests_works(fdgcl: Command, folder: Path, name: str) -> None:
    prepare(folder)
    case = CASES[name]
    if ".npz" in case[0]:
        one = ("edges.csv", *FEATURES)
        made = {
            "one.npz": one,
            "labelled.npz": (*one, *LABELS),
            "many.npz": MANY,
        }
        for target in {case[0], *([] if case[0] == "many.npz" else ["one.npz"])}:
            assert fdgcl("data", "convert", *made[target], "-o", target).exit_code == 0
    result = fdgcl("embed", *SMALL, "--json", *case)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    ran(fdgcl, fill(shlex.split(told["next"]), case))
    assert (folder / "z2.parquet").read_bytes() == b"something else"
    if "transform" in told["next"]:
        again = read_embeddings(folder / "z22.parquet")
        before = read_embeddings(folder / told["embedding"])
        assert again[0].tolist() == before[0].tolist()
        assert_agree(again[1], before[1])


def test_the_report_that_is_suggested_works(fdgcl: Command, folder: Path) -> None:
    run = ("--run", "-it's a run")
    result = fdgcl("embed", "edges.csv", *FEATURES, *SMALL, *run)
    [look] = [line for line in result.stdout.splitlines() if line.startswith("look")]
    ran(fdgcl, shlex.split(look.removeprefix("look")))


def test_a_graph_without_features_is_not_to_be_transformed(
    fdgcl: Command, folder: Path
) -> None:
    prepare(folder)
    assert "transform" not in fdgcl("embed", "edges.csv", *SMALL).stdout
    scored = ("edges.csv", *LINKED, "--evaluate", *SMALL)
    assert "--features degree" in fdgcl("embed", *scored).stdout


@pytest.mark.parametrize(
    "words",
    [
        ("edges.csv", *FEATURES),
        (*FEATURES, "-o", "z.parquet", "--", "-dash.csv"),
        ("my edges.csv", *FEATURES, "--run", "a b"),
    ],
    ids=str,
)
def test_an_interrupted_run_says_how_to_go_on(
    fdgcl: Command,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    prepare(folder)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("fdgcl.run_folder.RunFolder.write_model", stop)
        stopped = fdgcl("embed", *SMALL, *words)
    assert stopped.exit_code == 130, stopped.output
    ran(fdgcl, shlex.split(stopped.stderr.partition("stopped with: ")[2]))


def test_importing_diffusing_and_training(fdgcl: Command, folder: Path) -> None:
    """From one suggestion to the next, in a folder with a blank and a dash."""
    result = fdgcl("data", "generate", "--nodes", 80, "--edges", 300, "-o", "-big one")
    following = result.stdout.partition("next: ")[2]
    result = fdgcl(*shlex.split(following)[1:])
    assert result.exit_code == 0, result.output
    train = shlex.split(result.stdout.partition("next: ")[2])
    settings = ("--time", "2", "--step", "1", "--orders", "0.5,1", "--memory", "2GB")
    result = fdgcl("diffuse", train[2], *settings)
    assert result.exit_code == 0, result.output
    other = shlex.split(result.stdout.partition("next ")[2])
    for words in (train, other):
        trained = fdgcl(*words[1:], "--dim", "8", "--epochs", "2")
        assert trained.exit_code == 0, trained.output
    evaluate = shlex.split(trained.stdout.partition("next ")[2])
    ids, _ = read_embeddings(evaluate[2])
    labels = [f"{name},{int(name) % 2}" for name in ids]
    (folder / "y2.csv").write_text("\n".join(["id,label", *labels]) + "\n")
    ran(fdgcl, ["y2.csv" if word == "LABELS" else word for word in evaluate])
    # The folders that were suggested are taken now, and are not suggested again.
    again = fdgcl("diffuse", train[2], *settings)
    assert shlex.split(again.stdout.partition("next ")[2])[4] != other[4]


def test_names_are_made_so_that_shells_and_parsers_leave_them(folder: Path) -> None:
    assert path_word(Path("-x.csv")) == "./-x.csv"
    assert path_word(Path("a b/x.csv")) == "a b/x.csv"
    assert option_words("--id-column", "-who") == ["--id-column=-who"]
    assert option_words("--labels", Path("-y.csv")) == ["--labels", "./-y.csv"]
    assert option_words("--labels", None) == []
    assert free_path(Path("new.parquet")) == Path("new.parquet")
    for name in ("new.parquet", "new2.parquet"):
        Path(name).write_text("")
    assert free_path(Path("new.parquet")) == Path("new3.parquet")
    assert resumed("fdgcl embed -- -x.csv", Path("r")) == (
        "fdgcl embed --run r --resume -- -x.csv"
    )
