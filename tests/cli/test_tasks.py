"""Labels that are classes, values or several at once, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from smallgraph import NODES, SMALL, Command, everything

from fdgcl.embeddings import write_embeddings

ROWS = 400


@pytest.fixture
def z(folder: Path) -> np.ndarray:
    """An embedding of 400 nodes, z.parquet, and labels of all three kinds by id."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((ROWS, 4))
    order = rng.permutation(ROWS)
    ids = np.array([f"u{i}" for i in range(ROWS)], object)
    write_embeddings("z.parquet", ids[order], z[order])
    age = 30 + 5 * z[:, 0] + rng.standard_normal(ROWS)
    columns = {
        "user": ids,
        "age": age.tolist(),
        "fraud": ["yes" if one else "no" for one in z[:, 1] > 1.2],
        "red": (z[:, 2] > 0.5).astype(int),
        "blue": (z[:, 3] > 0).astype(int),
        "tags": [[name for name, one in zip("xy", row, strict=True) if one > 0]
                 for row in z[:, :2]],
        "years": rng.integers(0, 40, ROWS) // 1,
        "same": ["a"] * ROWS,
    }  # fmt: skip
    pq.write_table(pa.table(columns), folder / "people.parquet")
    return z


def evaluate(fdgcl: Command, *options: str):
    labels = ("--labels", "people.parquet", "--id-column", "user")
    return fdgcl("evaluate", "z.parquet", *labels, *options)


def told(fdgcl: Command, *options: str):
    result = evaluate(fdgcl, *options, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


class TestEvaluate:
    def test_values(self, fdgcl: Command, z: np.ndarray) -> None:
        """Of the variance, 25 of 26 parts can be told."""
        found = told(fdgcl, "--label-column", "age")
        assert found["task"] == "regress"
        assert 0.93 < found["probe"]["test_mean"] < 0.97
        assert found["probe"]["test_mae_mean"] == pytest.approx(0.8, abs=0.1)
        assert 0.3 < found["knn"]["test_mean"] < found["probe"]["test_mean"]
        assert found["kmeans"] is None
        assert found["splits"] == {"name": "random 10/10/80, seed 0", "count": 10}
        assert found["notices"][0].startswith("labels: age by user, continuous, ")
        assert found["notices"][1].startswith("task: regress (continuous, ")

    def test_the_table_of_values(self, fdgcl: Command, z: np.ndarray) -> None:
        result = evaluate(fdgcl, "--label-column", "age")
        for words in ("ridge regression, R²", "MAE", "nearest neighbours, R²", "0.9"):
            assert words in result.stdout
        assert "k-means" not in result.stdout
        assert "%" not in result.stdout
        assert "task: regress" in result.stderr

    def test_quiet_shows_the_result_only(self, fdgcl: Command, z: np.ndarray) -> None:
        result = evaluate(fdgcl, "--label-column", "age", "--quiet")
        assert "ridge regression" in result.stdout
        assert result.stderr == ""

    @pytest.mark.parametrize(
        ("options", "count"),
        [
            (("--label-column", "red", "--label-column", "blue"), 2),
            (("--label-column", "tags"), 2),
        ],
    )
    def test_several_labels(
        self, fdgcl: Command, z: np.ndarray, options: tuple[str, ...], count: int
    ) -> None:
        found = told(fdgcl, *options)
        assert found["task"] == "multilabel"
        assert found["probe"]["labels"] == count
        assert found["probe"]["test_mean"] > 0.95
        assert found["probe"]["test_micro_f1_mean"] > 0.8
        assert found["knn"] is None
        result = evaluate(fdgcl, *options)
        for words in ("ROC-AUC", "micro F1", "macro F1", "one-vs-rest probe"):
            assert words in result.stdout

    def test_a_rare_class(self, fdgcl: Command, z: np.ndarray) -> None:
        found = told(fdgcl, "--label-column", "fraud")
        assert found["task"] == "classify"
        assert found["splits"]["name"] == "stratified 10/10/80, seed 0"
        assert np.mean(found["probe"]["test_auc"]) > 0.95
        assert found["kmeans"] is not None
        result = evaluate(fdgcl, "--label-column", "fraud")
        assert "linear probe, ROC-AUC" in result.stdout
        assert "linear probe, accuracy" in result.stdout

    def test_the_task_decides_what_is_ambiguous(
        self, fdgcl: Command, z: np.ndarray
    ) -> None:
        result = evaluate(fdgcl, "--label-column", "years")
        # 40 numbers of ten rows each on average are classes; 39 fewer rows are not.
        assert result.exit_code == 0, result.output
        table = pq.read_table("people.parquet").slice(0, 200)
        pq.write_table(table, "people.parquet")
        result = evaluate(fdgcl, "--label-column", "years")
        assert result.exit_code == 2
        for words in ("--task classify", "--task regress", "'years'", "people.parquet"):
            assert words in result.stderr
        found = told(fdgcl, "--label-column", "years", "--task", "regress")
        assert found["labelled"] == 200
        assert found["probe"]["test_mean"] < 0.1

    def test_labels_of_unknown_ids(
        self, fdgcl: Command, folder: Path, z: np.ndarray
    ) -> None:
        table = pq.read_table("people.parquet")
        ghosts = table.slice(0, 3).set_column(0, "user", pa.array(["g1", "g2", "g3"]))
        pq.write_table(pa.concat_tables([table, ghosts]), "people.parquet")
        result = evaluate(fdgcl, "--label-column", "age")
        assert result.exit_code == 2
        assert "--missing-labels drop" in result.stderr
        found = told(fdgcl, "--label-column", "age", "--missing-labels", "drop")
        assert found["labelled"] == ROWS
        assert any("3 of 403" in notice for notice in found["notices"])

    def test_three_thousand_values_take_seconds(self, fdgcl: Command) -> None:
        rng = np.random.default_rng(0)
        z = rng.standard_normal((3000, 64)).astype(np.float32)
        write_embeddings("z.parquet", np.arange(3000), z)
        lines = [f"{i},{value:.6f}" for i, value in enumerate(z[:, 0] ** 2)]
        Path("y.csv").write_text("id,label\n" + "\n".join(lines) + "\n")
        result = fdgcl("evaluate", "z.parquet", "--labels", "y.csv", "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["labelled"] == 3000


BAD = {
    "one class": (("--label-column", "same"), ("people.parquet", "same class, a")),
    "ids as labels": (
        ("--id-column", "age", "--label-column", "user"),
        ("400 classes for 400 nodes", "ids or text"),
    ),
    "words to regress": (
        ("--label-column", "fraud", "--task", "regress"),
        ("'fraud'", "row 1", "--task regress"),
    ),
    "several columns that are no labels": (
        ("--label-column", "red", "--label-column", "age"),
        ("'age'", "row 1", "0 and 1"),
    ),
    "unknown task": (("--task", "rank"), ("rank", "classify", "regress")),
    "unknown choice": (("--missing-labels", "keep"), ("keep", "drop")),
    "values of graphs": (
        ("--label-column", "age", "--level", "graph"),
        ("classes are needed", "continuous"),
    ),
    "several labels of one column": (
        ("--label-column", "red", "--task", "multilabel"),
        ("--task multilabel", "several columns"),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, fdgcl: Command, folder: Path, z: np.ndarray) -> None:
    if name == "ids as labels":
        table = pq.read_table("people.parquet")
        ages = pa.array([f"u{i}" for i in range(ROWS)])
        pq.write_table(table.set_column(1, "age", ages), "people.parquet")
    arguments, words = BAD[name]
    before = everything(folder)
    result = evaluate(fdgcl, *arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    for word in words:
        assert word in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert everything(folder) == before


def test_repeated_ids_are_refused(fdgcl: Command, folder: Path) -> None:
    write_embeddings("z.parquet", ["n0", "n1", "n0"], np.eye(3))
    result = fdgcl("evaluate", "z.parquet", "--labels", "y.csv")
    assert result.exit_code == 2
    assert "z.parquet repeats 1 ids, such as 'n0'" in result.stderr
    lines = (folder / "y.csv").read_text().splitlines()
    (folder / "y.csv").write_text("\n".join([*lines, lines[1]]) + "\n")
    write_embeddings("z.parquet", [f"n{i}" for i in range(NODES)], np.eye(NODES))
    result = fdgcl("evaluate", "z.parquet", "--labels", "y.csv")
    assert result.exit_code == 2
    assert "y.csv repeats 1 ids" in result.stderr


def test_a_dataset_is_what_it_is(fdgcl: Command) -> None:
    from fdgcl.graphs import load_dataset

    ids = load_dataset("cora-bundled").ids
    write_embeddings("z.parquet", ids, np.zeros((len(ids), 2)))
    dataset = ("--dataset", "cora-bundled", "--task", "regress")
    result = fdgcl("evaluate", "z.parquet", *dataset)
    assert result.exit_code == 2
    assert "--task regress does not fit the labels of cora-bundled: 7" in result.stderr


@pytest.fixture
def labels(folder: Path) -> list[str]:
    """y.parquet for the small graph: values, and two columns of 0 and 1."""
    table = pq.read_table("x.parquet")
    x = np.column_stack([table[f"f{k}"] for k in range(2)])
    columns = {
        "id": table["id"],
        "age": x[:, 0] + 0.25,
        "red": (x[:, 0] > 1).astype(int),
        "blue": (x[:, 1] > 1).astype(int),
        "same": [1.5] * NODES,
    }
    pq.write_table(pa.table(columns), "y.parquet")
    return ["edges.csv", "--features", "x.parquet", "--labels", "y.parquet", *SMALL]


ROWS_FREE = ("the untrained encoder", "A²X", "X, the features")


class TestEmbed:
    def test_values_beside_what_needs_no_training(
        self, fdgcl: Command, folder: Path, labels: list[str]
    ) -> None:
        arguments = ("embed", *labels, "--label-column", "age", "--evaluate")
        result = fdgcl(*arguments, "--run", "runs/a")
        assert result.exit_code == 0, result.output
        for words in ("ridge regression on", "test R²", "test MAE", *ROWS_FREE):
            assert words in result.stdout
        assert "labels: age by id, continuous" in result.stderr
        assert "task: regress" in result.stderr
        report = fdgcl("report", "runs/a")
        assert report.exit_code == 0, report.output
        page = (folder / "runs/a/report.html").read_text()
        assert "test R²" in page
        assert "ridge regression" in page
        anew = ("--labels", "y.parquet", "--label-column", "age")
        again = fdgcl("report", "runs/a", *anew)
        assert again.exit_code == 0, again.output

    def test_several_labels_beside_what_needs_no_training(
        self, fdgcl: Command, folder: Path, labels: list[str]
    ) -> None:
        columns = ("--label-column", "red", "--label-column", "blue")
        arguments = ("embed", *labels, *columns, "--evaluate", "--run", "runs/a")
        result = fdgcl(*arguments, "--json")
        assert result.exit_code == 0, result.output
        rows = json.loads(result.stdout)["evaluation"]
        assert [row["measure"] for row in rows] == ["ROC-AUC"] * 4
        assert set(rows[0]["others"]) == {"micro F1", "macro F1"}
        assert rows[3]["name"].startswith("X, the features")
        assert rows[3]["test_mean"] > 0.7
        report = fdgcl("report", "runs/a")
        assert report.exit_code == 0, report.output
        assert "ROC-AUC" in (folder / "runs/a/report.html").read_text()

    def test_what_comes_next_says_how_labels_are_read(
        self, fdgcl: Command, labels: list[str]
    ) -> None:
        columns = ("--label-column", "age", "--task", "regress")
        result = fdgcl("embed", *labels, *columns, "-o", "z.parquet")
        assert result.exit_code == 0, result.output
        line = next(line for line in result.stdout.split("\n") if "next" in line)
        assert line.endswith("--labels y.parquet --label-column age --task regress")
        again = fdgcl(*line.split()[2:])
        assert again.exit_code == 0, again.output

    def test_what_says_nothing_is_refused_before_training(
        self, fdgcl: Command, folder: Path, labels: list[str]
    ) -> None:
        before = everything(folder)
        result = fdgcl("embed", *labels, "--label-column", "same", "--evaluate")
        assert result.exit_code == 2
        assert "the same value, 1.5" in result.stderr
        assert everything(folder) == before

    def test_tune_needs_classes(self, fdgcl: Command, labels: list[str]) -> None:
        result = fdgcl("tune", *labels[:5], "--label-column", "age")
        assert result.exit_code == 2
        assert "classes are needed here" in result.stderr
