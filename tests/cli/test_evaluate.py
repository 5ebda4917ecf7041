"""`fdgcl evaluate`: labels matched by id, scores that mean something."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from smallgraph import NODES, Command, everything

from fdgcl.embeddings import write_embeddings
from fdgcl.graphs import load_dataset


@pytest.fixture
def ids(folder: Path) -> list[str]:
    """The ids of y.csv, with an embedding that tells the two classes apart."""
    rows = [line.split(",") for line in (folder / "y.csv").read_text().split()[1:]]
    names = [name for name, _ in rows]
    sides = np.array([1.0 if label == "a" else -1.0 for _, label in rows])
    noise = np.random.default_rng(0).standard_normal((NODES, 3)) / 10
    order = np.random.default_rng(1).permutation(NODES)
    z = np.column_stack([sides, noise])
    write_embeddings(folder / "z.parquet", np.array(names, object)[order], z[order])
    return names


def test_labels_are_matched_by_id(fdgcl: Command, ids: list[str]) -> None:
    result = fdgcl("evaluate", "z.parquet", "--labels", "y.csv", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    # Four training nodes: now and then all of one class. By row it would be chance.
    assert told["probe"]["test_mean"] > 0.8
    assert told["knn"]["test_mean"] > 0.8
    assert told["splits"]["count"] == 10
    assert told["labelled"] == NODES


def test_the_table_has_every_score(fdgcl: Command, ids: list[str]) -> None:
    result = fdgcl("evaluate", "z.parquet", "--labels", "y.csv")
    assert result.exit_code == 0, result.output
    for words in ("linear probe", "nearest neighbours", "NMI", "ARI", "validation"):
        assert words in result.stdout
    assert "10 splits (random 10/10/80, seed 0)" in " ".join(result.stdout.split())


def test_nodes_without_a_label_are_left_out(
    fdgcl: Command, folder: Path, ids: list[str]
) -> None:
    lines = (folder / "y.csv").read_text().splitlines()
    (folder / "some.csv").write_text("\n".join(lines[:31]) + "\n")
    result = fdgcl("evaluate", "z.parquet", "--labels", "some.csv", "--json")
    assert json.loads(result.stdout)["labelled"] == 30


def test_labels_of_missing_nodes_are_counted(
    fdgcl: Command, folder: Path, ids: list[str]
) -> None:
    with (folder / "y.csv").open("a") as file:
        file.write("ghost,a\nspook,b\n")
    before = everything(folder)
    result = fdgcl("evaluate", "z.parquet", "--labels", "y.csv")
    assert result.exit_code == 2
    for word in ("2 ids", "'ghost'", "'spook'", "z.parquet"):
        assert word in result.stderr
    assert result.stdout == ""
    assert everything(folder) == before


def test_dataset_nodes_must_all_be_there(fdgcl: Command, folder: Path) -> None:
    graph = load_dataset("cora-bundled")
    z = np.zeros((graph.num_nodes, 2), np.float32)
    write_embeddings("z.parquet", graph.ids[2:], z[2:])
    result = fdgcl("evaluate", "z.parquet", "--dataset", "cora-bundled")
    assert result.exit_code == 2
    assert "2 nodes of cora-bundled are not in z.parquet" in result.stderr
    assert f"such as {graph.ids[0]}, {graph.ids[1]}" in result.stderr


def test_ids_that_are_not_in_the_dataset(fdgcl: Command) -> None:
    ids = np.append(load_dataset("cora-bundled").ids, -5)
    write_embeddings("z.parquet", ids, np.zeros((len(ids), 2), np.float32))
    result = fdgcl("evaluate", "z.parquet", "--dataset", "cora-bundled")
    assert result.exit_code == 2
    assert "1 ids in z.parquet are not nodes of cora-bundled, such as -5" in (
        result.stderr
    )


def test_a_dataset_brings_its_splits(fdgcl: Command) -> None:
    graph = load_dataset("cora-bundled")
    assert graph.y is not None
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    z = np.eye(7, dtype=np.float32)[graph.y][order]
    write_embeddings("z.parquet", graph.ids[order], z)
    result = fdgcl("evaluate", "z.parquet", "--dataset", "cora-bundled", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["probe"]["test_mean"] == 1
    assert graph.splits is not None
    assert told["splits"] == {"name": graph.splits.name, "count": 1}
    assert told["kmeans"]["nmi_mean"] > 0.9


BAD = {
    "nothing to compare with": (("z.parquet",), ("--dataset", "--labels")),
    "two sources of labels": (
        ("z.parquet", "--dataset", "cora", "--labels", "y.csv"),
        ("either",),
    ),
    "no such embedding": (("no.parquet", "--labels", "y.csv"), ("no.parquet",)),
    "not an embedding": (
        ("x.parquet", "--labels", "y.csv"),
        ("x.parquet", "embedding"),
    ),
    "not a Parquet file": (("y.csv", "--labels", "y.csv"), ("y.csv", "Parquet")),
    "no such labels": (("z.parquet", "--labels", "no.csv"), ("--labels", "no.csv")),
    "unknown dataset": (("z.parquet", "--dataset", "coar"), ("coar", '"cora"')),
    "unknown splits": (
        ("z.parquet", "--labels", "y.csv", "--splits", "mine"),
        ("mine", "random"),
    ),
    "labels have no splits": (
        ("z.parquet", "--labels", "y.csv", "--splits", "dataset"),
        ("y.csv", "--splits random"),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, fdgcl: Command, folder: Path, ids: list[str]) -> None:
    arguments, words = BAD[name]
    before = everything(folder)
    result = fdgcl("evaluate", *arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    for word in words:
        assert word in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert everything(folder) == before
