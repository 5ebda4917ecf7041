"""Labels beside a graph's files: codes, names, columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fdgcl.graphs import read_graph, read_labels


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "y", "names"),
    [
        ("id,label\nb,x\na,y\n", [1, 0, -1], ("x", "y")),
        ("a,10\nb,9\n", [1, 0, -1], ("9", "10")),
        ("a,1\nb,\nc,0\n", [1, -1, 0], ("0", "1")),
        ("a,1\nb,-1\nc,0\n", [1, -1, 0], ("0", "1")),
        ("y,node\nspam,c\nham,a\n", [0, -1, 1], ("ham", "spam")),
        ("who,team,class\na,1,x\nb,2,z\n", [0, 1, -1], ("x", "z")),
    ],
)
def test_labels(
    tmp_path: Path, text: str, y: list[int], names: tuple[str, ...]
) -> None:
    edges = write(tmp_path / "e.csv", "a,b\nb,c\n")
    labels = write(tmp_path / "y.csv", text)
    graph = read_graph(edges, labels=labels)
    assert graph.y.tolist() == y
    assert graph.class_names == names
    found = read_labels(labels, ["c", "b", "a"])
    assert found.codes.tolist() == y[::-1]
    assert found.names == names


def test_labels_from_parquet_with_columns_given(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "1,2\n")
    table = {"x": [0, 0], "paper": ["2", "1"], "field": [None, 2.0]}
    pq.write_table(pa.table(table), tmp_path / "y.parquet")
    graph = read_graph(
        edges, labels=tmp_path / "y.parquet", id_column="paper", label_column="field"
    )
    assert graph.y.tolist() == [0, -1]
    assert graph.class_names == ("2",)


def test_the_id_column_of_the_features_need_not_be_in_the_labels(
    tmp_path: Path,
) -> None:
    edges = write(tmp_path / "e.csv", "a,b\n")
    features = write(tmp_path / "x.csv", "size,paper\n1,a\n2,b\n")
    labels = write(tmp_path / "y.csv", "id,label\na,0\n")
    graph = read_graph(edges, features, labels, id_column="paper")
    assert graph.features.tolist() == [[1.0], [2.0]]
    assert graph.y.tolist() == [0, -1]
