"""Many graphs on the command line: one vector each, own files, scores, refusals."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from smallgraph import SMALL, Command, everything

from fdgcl import evaluation
from fdgcl.embeddings import read_embeddings
from fdgcl.graphs import load_graphs
from fdgcl.workflows.records import read_record
from tolerances import assert_agree

GRAPHS = 24
OWN = ("edges.csv", "--features", "x.csv", "--graph-ids", "g.csv")


def write_graphs(folder: Path) -> None:
    """Write rings and paths; rows of the files are shuffled, ids are strings."""
    rng = np.random.default_rng(0)
    edges, owners, x, y = [], [], [], []
    for graph in range(GRAPHS):
        nodes, ring = int(rng.integers(3, 7)), graph % 2
        for node in range(nodes):
            owners.append(f"{graph}-{node},m{graph}")
            value = rng.normal() + 3 * ring
            x.append(f"{graph}-{node},{value:.4f},{rng.normal():.4f}")
            if node < nodes - 1 or ring:
                edges.append(f"{graph}-{node},{graph}-{(node + 1) % nodes}")
        y.append(f"m{graph},{('path', 'ring')[ring]}")
    for name, header, lines in (
        ("edges", "source,target", edges),
        ("g", "node,graph", owners),
        ("x", "id,a,b", x),
        ("y", "graph_id,label", y),
    ):
        text = "\n".join([header, *rng.permutation(lines).tolist()]) + "\n"
        (folder / f"{name}.csv").write_text(text, "utf-8")


@pytest.fixture(autouse=True)
def quick_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """One cost and one normalisation to choose from, on as many folds."""
    quick = partial(evaluation.graph_svm, costs=(1.0,), normalizations=("global",))
    monkeypatch.setattr(evaluation, "graph_svm", quick)


@pytest.fixture
def graphs(folder: Path) -> Path:
    write_graphs(folder)
    return folder


def add(file: Path, line: str) -> None:
    file.write_text(file.read_text("utf-8") + line + "\n", "utf-8")


def means_by_hand(folder: Path, node_file: str) -> dict[str, Any]:
    """The mean of each graph's node vectors, found by the names in the ids."""
    ids, z = read_embeddings(folder / node_file)
    rows: dict[str, list[Any]] = {}
    for name, row in zip(ids.tolist(), z, strict=True):
        rows.setdefault(name.split(":")[0], []).append(row)
    return {name: np.mean(found, axis=0) for name, found in rows.items()}


def test_one_vector_per_graph_is_the_mean_of_its_nodes(
    fdgcl: Command, graphs: Path
) -> None:
    result = fdgcl("embed", *OWN, *SMALL, "-o", "z.parquet")
    assert result.exit_code == 0, result.output
    assert f"({GRAPHS} graphs x 8)" in result.stdout
    assert f"edges: {GRAPHS} graphs, " in result.stderr
    ids, z = read_embeddings(graphs / "z.parquet")
    assert set(ids.tolist()) == {f"m{graph}" for graph in range(GRAPHS)}
    nodes = fdgcl("embed", *OWN, *SMALL, "-o", "n.parquet", "--level", "node")
    assert nodes.exit_code == 0, nodes.output
    expected = means_by_hand(graphs, "n.parquet")
    assert set(expected) == set(ids.tolist())
    for name, row in zip(ids.tolist(), z, strict=True):
        assert_agree(row, expected[name])


def test_node_ids_say_graph_and_node(fdgcl: Command, graphs: Path) -> None:
    fdgcl("embed", *OWN, *SMALL, "-o", "n.parquet", "--level", "node")
    ids, _ = read_embeddings(graphs / "n.parquet")
    assert "m3:3-0" in ids.tolist()
    assert fdgcl("data", "convert", *OWN, "-o", "own.npz").exit_code == 0
    with np.load(graphs / "own.npz") as archive:
        arrays = {name: archive[name] for name in archive.files if name != "node_ids"}
    np.savez(graphs / "bare.npz", **arrays)
    fdgcl("embed", "bare.npz", *SMALL, "-o", "c.parquet", "--level", "node")
    counted, _ = read_embeddings(graphs / "c.parquet")
    sizes = np.diff(arrays["ptr"])
    names = arrays["ids"].tolist()
    assert counted.tolist() == [
        f"{name}:{at}"
        for name, size in zip(names, sizes, strict=True)
        for at in range(size)
    ]


def test_evaluate_shows_every_row_and_json_says_the_same(
    fdgcl: Command, graphs: Path
) -> None:
    result = fdgcl(
        "embed", *OWN, *SMALL, "--labels", "y.csv", "--evaluate", "--run", "r", "--json"
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["graphs"], told["dim"]) == (GRAPHS, 8)
    names = [row["name"] for row in told["evaluation"]]
    assert names == [
        "trained embedding",
        "the untrained encoder",
        "A²X, mean over nodes",
        "X, mean over nodes",
    ]
    assert [len(row["test"]) for row in told["evaluation"]] == [5] * 4
    assert told["evaluation"][3]["test_mean"] > 0.9  # rings have another mean
    record = read_record(graphs / "r")
    assert record is not None
    assert record.level == "graph"
    assert record.reading.graph_ids == graphs / "g.csv"
    assert "10 folds" in record.scored


def test_the_table_names_its_judge(fdgcl: Command, graphs: Path) -> None:
    result = fdgcl("embed", *OWN, *SMALL, "--labels", "y.csv", "--evaluate")
    assert result.exit_code == 0, result.output
    assert "SVM on" in result.stdout
    assert "every choice" in result.stdout
    assert "linear probe" not in result.stdout
    assert "--graph-ids NEW_GRAPH_IDS" in result.stdout


def test_a_compact_file_gives_the_same(fdgcl: Command, graphs: Path) -> None:
    wrote = fdgcl("data", "convert", *OWN, "--labels", "y.csv", "-o", "own.npz")
    assert f"{GRAPHS} graphs" in wrote.stdout
    # Without the tables, nobody knows that their columns were looked at already.
    given = (*SMALL, "--feature-scaling", "columns")
    fdgcl("embed", *OWN, *given, "-o", "a.parquet")
    result = fdgcl("embed", "own.npz", *given, "-o", "b.parquet", "--run", "r")
    assert "fdgcl evaluate b.parquet --dataset own.npz" in result.stdout
    (ids, z), (others, same) = (
        read_embeddings(graphs / f"{name}.parquet") for name in "ab"
    )
    assert ids.tolist() == others.tolist()
    assert np.array_equal(z, same)
    again = fdgcl("transform", "r", "own.npz", "-o", "c.parquet")
    assert f"({GRAPHS} graphs x 8" in again.stdout
    assert_agree(read_embeddings(graphs / "c.parquet")[1], z)
    files = fdgcl("transform", "r", *OWN, "-o", "d.parquet", "--level", "node")
    assert files.exit_code == 0, files.output
    assert means_by_hand(graphs, "d.parquet").keys() == set(ids.tolist())


def test_evaluate_scores_graphs(fdgcl: Command, graphs: Path) -> None:
    fdgcl("data", "convert", *OWN, "--labels", "y.csv", "-o", "own.npz")
    fdgcl("embed", *OWN, *SMALL, "-o", "z.parquet")
    shown = fdgcl("evaluate", "z.parquet", "--dataset", "own.npz")
    assert shown.exit_code == 0, shown.output
    assert "support vector machine, rbf kernel" in shown.stdout
    assert "k-means, NMI (all labelled graphs)" in shown.stdout
    told = json.loads(
        fdgcl(
            *("evaluate", "z.parquet", "--labels", "y.csv", "--level", "graph"),
            "--json",
        ).stdout
    )
    assert np.shape(told["svm"]["rbf"]["test"]) == (5, 10)
    assert told["svm"]["linear"]["kernel"] == "linear"
    # Without saying so, labels of a file are those of nodes, split at random.
    nodes = fdgcl("evaluate", "z.parquet", "--labels", "y.csv", "--json")
    assert "probe" in json.loads(nodes.stdout)


def test_dry_run_writes_nothing(fdgcl: Command, graphs: Path) -> None:
    before = everything(graphs)
    result = fdgcl("embed", *OWN, "--dry-run", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["graph"]["graphs"] == GRAPHS
    assert everything(graphs) == before


@pytest.mark.parametrize("kind", ["degree", "random"])
def test_works_without_features(fdgcl: Command, graphs: Path, kind: str) -> None:
    words = ("edges.csv", "--graph-ids", "g.csv", "--features", kind)
    result = fdgcl("embed", *words, *SMALL, "-o", "z.parquet")
    assert result.exit_code == 0, result.output
    assert len(read_embeddings(graphs / "z.parquet")[0]) == GRAPHS


def test_readouts_stand_side_by_side(fdgcl: Command, graphs: Path) -> None:
    result = fdgcl("embed", *OWN, *SMALL, "--readout", "mean,max", "-o", "z.parquet")
    assert result.exit_code == 0, result.output
    assert read_embeddings(graphs / "z.parquet")[1].shape == (GRAPHS, 16)


def test_the_graph_column_may_be_named(fdgcl: Command, graphs: Path) -> None:
    text = (graphs / "g.csv").read_text("utf-8").replace("node,graph", "node,owner")
    lines = [f"{line},{at}" for at, line in enumerate(text.splitlines()[1:])]
    (graphs / "g.csv").write_text("\n".join(["node,owner,label", *lines]) + "\n")
    result = fdgcl("embed", *OWN, *SMALL, "--graph-column", "owner", "-o", "z.parquet")
    assert result.exit_code == 0, result.output
    assert len(read_embeddings(graphs / "z.parquet")[0]) == GRAPHS


def test_isolated_nodes_come_with_the_graph_ids(fdgcl: Command, folder: Path) -> None:
    (folder / "e.csv").write_text("source,target\n1,2\n3,4\n")
    (folder / "g.csv").write_text("node,graph\n1,7\n2,7\n3,5\n4,5\n9,5\n")
    words = ("--graph-ids", "g.csv", "-o", "own.npz")
    assert fdgcl("data", "convert", "e.csv", *words).exit_code == 0
    dataset = load_graphs(folder / "own.npz")
    assert dataset.ids.tolist() == [5, 7]
    assert dataset.graph.ids.tolist() == [3, 4, 9, 1, 2]
    assert dataset.ptr.tolist() == [0, 3, 5]


@pytest.mark.parametrize(
    ("change", "words", "sentence"),
    [
        (("edges.csv", "0-0,1-0"), (), "from node 0-0 of graph m0 to node 1-0 of"),
        (("x.csv", "new,1,2"), (), "1 nodes have no graph in g.csv, such as 'new'"),
        (("g.csv", "new,m1"), (), "1 nodes of g.csv have no features, such as 'new'"),
        (("g.csv", "0-0,m1"), (), "repeats 1 ids, such as '0-0'"),
        (("y.csv", "m99,ring"), ("--labels", "y.csv"), "labels of 1 ids .* 'm99'"),
        ((), ("--graph-column", "owner"), "owner"),
        ((), ("--level", "graphs"), 'did you mean "graph"'),
        ((), ("--level", "node", "--evaluate", "--labels", "y.csv"), "leave out"),
        ((), ("--evaluate",), "--evaluate needs labels"),
        ((), ("--readout", "median"), "median"),
    ],
)
def test_files_that_do_not_fit(
    fdgcl: Command,
    graphs: Path,
    change: tuple[str, str] | tuple[()],
    words: tuple[str, ...],
    sentence: str,
) -> None:
    if change:
        add(graphs / change[0], change[1])
    result = fdgcl("embed", *OWN, *SMALL, *words)
    assert result.exit_code == 2, result.output
    [line] = [x for x in result.stderr.splitlines() if x.startswith("error: ")]
    assert re.search(sentence, line), line


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("embed", "cora-bundled", "--level", "graph"), "needs many graphs, but cora"),
        (("embed", "edges.csv", "--graph-ids", "no.csv"), "--graph-ids: no.csv is not"),
        (("embed", "edges.csv", "--graph-column", "g"), "goes with --graph-ids"),
        (("embed", "proteins", "--graph-ids", "g.csv"), "a dataset with its own"),
        (("embed", "own.npz", "--graph-ids", "g.csv"), "many graphs with their own"),
        (("embed", "proteins"), "proteins is not there"),
        (("tune", "own.npz", "--trials", "1"), "needs one graph, but own is many"),
        (
            ("evaluate", "z.parquet", "--dataset", "own.npz", "--splits", "random"),
            "graphs are scored on folds",
        ),
        (
            ("evaluate", "z.parquet", "--dataset", "own.npz", "--level", "node"),
            "has graphs",
        ),
        (
            ("evaluate", "n.parquet", "--dataset", "own.npz"),
            "24 graphs of own.npz are not in n.parquet",
        ),
    ],
)
def test_words_that_do_not_fit(
    fdgcl: Command, graphs: Path, words: tuple[str, ...], sentence: str
) -> None:
    fdgcl("data", "convert", *OWN, "--labels", "y.csv", "-o", "own.npz")
    if words[0] == "evaluate":
        level = ("--level", "node") if words[1] == "n.parquet" else ()
        fdgcl("embed", *OWN, *SMALL, "--epochs", 0, "-o", words[1], *level)
    result = fdgcl(*words)
    assert result.exit_code == 2, result.output
    assert sentence in result.stderr.replace("\n", " ")


def test_too_few_graphs_of_a_class_are_refused_before_training(
    fdgcl: Command, graphs: Path
) -> None:
    lines = (graphs / "y.csv").read_text("utf-8").splitlines()
    (graphs / "y.csv").write_text("\n".join(lines[:12]) + "\n")
    before = everything(graphs)
    result = fdgcl("embed", *OWN, *SMALL, "--labels", "y.csv", "--evaluate")
    assert result.exit_code == 2
    assert "10 folds need at least 10 graphs of every class" in result.stderr
    assert everything(graphs) == before


def test_a_report_is_of_graphs(fdgcl: Command, graphs: Path) -> None:
    words = ("embed", *OWN, *SMALL, "--labels", "y.csv", "--run", "r")
    assert fdgcl(*words).exit_code == 0
    result = fdgcl("report", "r")
    assert result.exit_code == 0, result.output
    page = (graphs / "r" / "report.html").read_text("utf-8")
    assert f"{GRAPHS} graphs of " in page
    assert "a support vector machine scores" in page
    assert f"All {GRAPHS} graphs" in page
    (graphs / "edges.csv").unlink()
    lost = fdgcl("report", "r", "--labels", "y.csv", "-o", "lost.html")
    assert lost.exit_code == 0, lost.output
    assert "a support vector machine" in (graphs / "lost.html").read_text("utf-8")


@pytest.mark.dataset
def test_proteins_by_name(fdgcl: Command, folder: Path, data_root: Path) -> None:
    if not (data_root / "proteins.npz").is_file():
        pytest.skip("no proteins.npz in the benchmark data")
    root = ("--data-root", data_root)
    plain = ("--combine", "sum", "--readout", "mean")
    words = ("embed", "proteins", *root, *SMALL, *plain, "-o", "z.parquet")
    result = fdgcl(*words, "--run", "r")
    assert result.exit_code == 0, result.output
    assert "proteins: 1,113 graphs, 43,471 nodes, 162,088 edges" in result.stderr
    assert "fdgcl evaluate z.parquet --dataset proteins" in result.stdout
    ids, z = read_embeddings(folder / "z.parquet")
    assert ids.tolist() == list(range(1113))
    assert z.shape == (1113, 8)
    told = json.loads(fdgcl("data", "info", "proteins", *root, "--json").stdout)
    assert told["measured"]["class_sizes"] == [663, 450]
    words = ("data", "convert", "proteins", *root, "-o", "p.npz")
    assert fdgcl(*words).exit_code == 0
    for attributes in (False, True):
        stored = load_graphs(folder / "p.npz", attributes=attributes).graph.features
        known = load_graphs("proteins", data_root, attributes=attributes).graph.features
        assert np.array_equal(stored.toarray(), known.toarray())
