"""What labels are: classes, values, several at once; the rule and its refusals."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fdgcl._checks import InputError
from fdgcl.graphs import (
    Graph,
    GraphDataset,
    Targets,
    find_targets,
    read_compact,
    read_graph,
    read_graphs,
    read_labels,
    write_compact,
)


def find(*columns: object, task: str = "auto", kind: pa.DataType | None = None):
    arrays = [pa.chunked_array([pa.array(column, kind)]) for column in columns]
    names = [f"c{number}" for number in range(len(columns))]
    return find_targets(arrays, names, task, "y.csv")


def spread(distinct: int, rows: int, start: int = 0, step: int = 1) -> list[int]:
    """`rows` whole numbers, `distinct` of them different."""
    return [start + step * (row % distinct) for row in range(rows)]


class TestOneColumn:
    @pytest.mark.parametrize(
        ("column", "codes", "names"),
        [
            (["x", "y", None, "x"], [0, 1, -1, 0], ("x", "y")),
            ([True, False, None], [1, 0, -1], ("False", "True")),
            (["10", "9", ""], [1, 0, -1], ("9", "10")),
            (["1.0", "2.0"], [0, 1], ("1", "2")),
            (["007", "7"], [0, 1], ("007", "7")),
            ([1.0, 2.0, float("nan")], [0, 1, -1], ("1", "2")),
            ([3, -1, 5], [0, -1, 1], ("3", "5")),
            ([Decimal("1"), Decimal("2")], [0, 1], ("1", "2")),
            (
                [datetime.date(2020, 1, 2), datetime.date(2019, 1, 2)],
                [1, 0],
                ("2019-01-02", "2020-01-02"),
            ),
        ],
    )
    def test_classes(self, column, codes, names):
        found = find(column)
        assert found.kind == "classes"
        assert found.codes.tolist() == codes
        assert found.names == names

    def test_categories_are_classes(self):
        column = pa.array(["b", "a", "b"]).dictionary_encode()
        found = find_targets([pa.chunked_array([column])], ["c"])
        assert found.codes.tolist() == [1, 0, 1]

    @pytest.mark.parametrize(
        "column",
        [
            [0.25, 3.0, None],
            ["0.25", "3", ""],
            ["2.5e-1", "+3", "NaN"],
            [Decimal("0.25"), Decimal("3"), None],
        ],
    )
    def test_fractions_are_values(self, column):
        found = find(column)
        assert found.kind == "values"
        np.testing.assert_array_equal(found.values, [0.25, 3.0, np.nan])
        assert found.names == ("c0",)
        assert found.labelled.tolist() == [True, True, False]

    @pytest.mark.parametrize(
        ("distinct", "rows", "kind"),
        [
            (20, 21, "classes"),
            (50, 500, "classes"),
            (51, 1000, "values"),
            (3000, 3000, "values"),
            (100, 2000, "classes"),
            (101, 2000, "values"),
        ],
    )
    def test_whole_numbers_by_how_many_there_are(self, distinct, rows, kind):
        assert find(spread(distinct, rows)).kind == kind

    @pytest.mark.parametrize(
        "column",
        [
            spread(21, 209),  # fewer than ten of each
            spread(10, 10),  # all different
            spread(60, 2000, start=1950),  # years
            spread(60, 2000, step=3),
        ],
    )
    def test_what_may_be_both_is_refused_with_both_readings(self, column):
        with pytest.raises(InputError, match=r"'c0' of y\.csv has .* whole numb") as e:
            find(column)
        distinct = len(set(column))
        assert f"{distinct} classes of" in str(e.value)
        assert f"values from {min(column)} to {max(column)}" in str(e.value)
        assert "--task classify" in str(e.value)
        assert "--task regress" in str(e.value)
        assert len(find(column, task="classify").names) == distinct
        assert find(column, task="regress").values.tolist() == column

    def test_minus_one_is_a_value_where_values_were_asked_for(self):
        assert find([3, -1, 5], task="regress").values.tolist() == [3, -1, 5]

    @pytest.mark.parametrize("rows", [10, 50])
    def test_words_that_are_all_different_are_no_classes(self, rows):
        words = [f"user {row}" for row in range(rows)]
        sentence = rf"{rows} classes for {rows} nodes, which looks like ids or text"
        with pytest.raises(InputError, match=sentence):
            find(words)
        assert len(find(words, task="classify").names) == rows
        with pytest.raises(InputError, match="each of them once"):
            find(words, task="classify").refuse_trivial("y.csv")

    def test_words_that_are_nearly_all_different_are_no_classes(self):
        with pytest.raises(InputError, match="looks like ids or text"):
            find([f"w{row % 60}" for row in range(119)])
        assert find([f"w{row % 60}" for row in range(120)]).kind == "classes"

    def test_booleans_can_be_regressed(self):
        assert find([True, False], task="regress").values.tolist() == [1, 0]

    @pytest.mark.parametrize(
        ("column", "task", "sentence"),
        [
            ([0.5, "x"][1:], "regress", "has 'x' in row 1, where --task regress"),
            (["1", "", "NA", "x"], "regress", "has 'x' in row 4"),
            ([1.5, float("inf")], "auto", "not finite in row 2"),
            ([1, 2], "multilabel", "several columns of 0 and 1"),
            ([1, 2], "rank", "unknown task .rank.* .known: auto, classify"),
            ([{"a": 1}], "auto", "where one label in each row is expected"),
            ([[0.5, 1.5], [2.5, 3.5]], "auto", "one label in each row is expected"),
            ([["a"], ["b"]], "classify", "holds lists, where --task classify"),
            ([b"\xff", b"a"], "auto", "that are no text"),
        ],
    )
    def test_refused(self, column, task, sentence):
        with pytest.raises(InputError, match=sentence):
            find(column, task=task)


class TestSeveralLabels:
    @pytest.mark.parametrize(
        "columns",
        [
            ([1, 0, None], [1, 1, None]),
            ([True, False, None], [1.0, 1.0, None]),
            (["1", "0", ""], ["true", "TRUE", ""]),
        ],
    )
    def test_columns_of_zero_and_one(self, columns):
        found = find(*columns)
        assert found.kind == "multilabel"
        assert found.matrix.tolist() == [[1, 1], [0, 1], [-1, -1]]
        assert found.matrix.dtype == np.int8
        assert found.names == ("c0", "c1")
        assert found.num_labelled == 2

    def test_lists_of_names(self):
        found = find([["b", "a"], [], None, ["c", "b"]])
        assert found.names == ("a", "b", "c")
        assert found.matrix.tolist() == [
            [1, 1, 0], [0, 0, 0], [-1, -1, -1], [0, 1, 1]
        ]  # fmt: skip

    def test_lists_of_numbers_are_sorted_as_such(self):
        found = find([[10, -1], [9]])
        assert found.names == ("-1", "9", "10")
        assert found.matrix.tolist() == [[1, 0, 1], [0, 1, 0]]

    @pytest.mark.parametrize("kind", [pa.list_(pa.int8()), pa.list_(pa.float32(), 3)])
    def test_vectors_of_zero_and_one(self, kind):
        found = find([[1, 0, 1], None, [0, 0, 0]], kind=kind)
        assert found.matrix.tolist() == [[1, 0, 1], [-1, -1, -1], [0, 0, 0]]
        assert found.names == ("0", "1", "2")

    @pytest.mark.parametrize(
        ("columns", "task", "sentence"),
        [
            (([0, 2], [0, 1]), "auto", "'c0' of y.csv has 2 in row 2: several"),
            (([0, 1], ["a", "b"]), "auto", "'c1' of y.csv has 'a' in row 1"),
            (([0, None], [0, 1]), "auto", "'c0' of y.csv is empty in row 2, where"),
            (([0, 1], [0, 1]), "regress", "takes one label column, got 2"),
            (([["a", None]],), "auto", "an empty label in it"),
            (([["a", ""]],), "auto", "an empty label in it"),
            (([[1, float("nan")], [2]],), "auto", "vectors"),
            (([[], None],), "auto", "nested or empty"),
        ],
    )
    def test_refused(self, columns, task, sentence):
        kind = pa.list_(pa.string()) if columns == ([[], None],) else None
        with pytest.raises(InputError, match=sentence):
            find(*columns, task=task, kind=kind)


class TestTargets:
    def test_in_a_few_words(self):
        assert str(find(["a", "b", "a"])) == "2 classes"
        assert str(find([0.3, 17.0, None])) == "continuous, 0.3 to 17"
        assert str(find([1, 0, 1, 1], [1, 1, 0, 1])) == "2 labels, 1.5 per node"

    def test_placed_and_rows(self):
        places = np.array([2, -1, 0])
        for found, empty in (
            (find(["a", "b", "c"]), -1),
            (find([0.5, 1.5, 2.5]), np.nan),
            (find([1, 0, 1], [0, 0, 1]), -1),
        ):
            placed = found.placed(places, 4)
            assert placed.labelled.tolist() == [True, False, True, False]
            np.testing.assert_array_equal(placed.array[[0, 2]], found.array[[2, 0]])
            np.testing.assert_array_equal(
                placed.array[[1, 3]], np.full_like(found.array[:2], empty)
            )
            assert len(placed.rows([0, 2])) == 2

    @pytest.mark.parametrize(
        ("column", "sentence"),
        [
            (["a", "a", None], "all 2 labels of y.csv are the same class, a"),
            ([1.5, 1.5], "the same value, 1.5"),
            ([None, None], "no labels to score against"),
        ],
    )
    def test_what_cannot_be_scored(self, column, sentence):
        kind = pa.string() if column == [None, None] else None
        with pytest.raises(InputError, match=sentence):
            find(column, kind=kind).refuse_trivial("y.csv")

    @pytest.mark.parametrize(
        ("kind", "parts", "sentence"),
        [
            ("classes", {}, "must have codes alone, got nothing"),
            ("values", {"codes": np.zeros(2)}, "must have values alone, got codes"),
            ("classes", {"codes": np.array([0, 1])}, "between -1 and 0"),
            ("values", {"values": np.array([np.inf])}, "finite"),
            ("values", {"values": np.zeros((2, 1))}, "in 1 dimension, got"),
            ("multilabel", {"matrix": np.array([[2]])}, "columns of 0 and 1"),
            ("multilabel", {"matrix": np.array([[0, 1]])}, "1 columns"),
            ("words", {}, "unknown kind of targets"),
        ],
    )
    def test_refused(self, kind, parts, sentence):
        with pytest.raises(InputError, match=sentence):
            Targets(kind, ("a",), **parts)


EDGES = "a,b\nb,c\nc,a\n"


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    (tmp_path / "e.csv").write_text(EDGES)
    return tmp_path / "e.csv"


class TestFiles:
    def test_values_of_nodes(self, edges: Path):
        labels = edges.with_name("y.csv")
        labels.write_text("id,age\nc,31.5\na,28\n")
        graph = read_graph(edges, labels=labels, label_column="age")
        assert graph.y is None
        np.testing.assert_array_equal(graph.targets.values, [28, np.nan, 31.5])
        assert graph.reading[1:] == ("labels: age by id, continuous, 28 to 31.5",)
        assert "continuous, 28 to 31.5" in repr(graph)
        with pytest.raises(ValueError, match="read-only"):
            graph.targets.values[0] = 1

    def test_several_columns(self, edges: Path):
        labels = edges.with_name("y.csv")
        labels.write_text("id,red,blue\nc,1,0\na,1,1\nb,0,0\n")
        graph = read_graph(edges, labels=labels, label_column=["red", "blue"])
        assert graph.targets.matrix.tolist() == [[1, 1], [0, 0], [1, 0]]
        assert graph.reading[1:] == ("labels: red, blue by id, 2 labels, 1 per node",)

    def test_the_id_is_no_label(self, edges: Path):
        labels = edges.with_name("y.csv")
        labels.write_text("id,label\na,x\nb,y\n")
        with pytest.raises(InputError, match="cannot hold both ids and labels"):
            read_graph(edges, labels=labels, id_column="id", label_column=["id"])
        with pytest.raises(InputError, match="named twice"):
            read_graph(edges, labels=labels, label_column=["label", "label"])

    def test_labels_of_unknown_ids_can_be_dropped(self, edges: Path):
        labels = edges.with_name("y.csv")
        labels.write_text("id,label\nz,x\nb,y\na,x\n")
        with pytest.raises(InputError, match=r"'z'; --missing-labels drop"):
            read_labels(labels, ["a", "b"])
        found = read_labels(labels, ["a", "b"], missing_labels="drop")
        assert found.codes.tolist() == [0, 1]
        with pytest.raises(InputError, match="has none of the ids of the nodes given"):
            read_labels(labels, ["q"], missing_labels="drop")
        with pytest.raises(InputError, match="unknown missing_labels 'no'"):
            read_labels(labels, ["a"], missing_labels="no")

    def test_what_was_dropped_is_told(self, edges: Path):
        features = edges.with_name("x.csv")
        features.write_text("id,f\na,1\nb,2\nc,3\n")
        labels = edges.with_name("y.csv")
        labels.write_text("id,label\nz,x\nb,y\na,x\n")
        graph = read_graph(edges, features, labels, missing_labels="drop")
        assert graph.y.tolist() == [0, 1, -1]
        assert graph.reading[-2] == "labels: label by id, 2 classes"
        assert graph.reading[-1].startswith("labels: 1 of 3 are of ids that are not")

    def test_there_and_back_through_the_compact_format(self, edges: Path):
        table = {"id": ["a", "b", "c"], "label": [["x", "y"], None, []]}
        pq.write_table(pa.table(table), edges.with_name("y.parquet"))
        several = read_graph(edges, labels=edges.with_name("y.parquet"))
        values = Targets("values", ("age",), values=np.array([0.5, np.nan, 2]))
        for graph in (
            several,
            Graph.from_edges([(0, 1), (1, 2)]),
            Graph(several.adjacency, targets=values),
        ):
            write_compact(edges.with_name("g.npz"), graph)
            again = read_compact(edges.with_name("g.npz"))
            if graph.targets is None:
                assert again.targets is None
                continue
            assert again.targets.kind == graph.targets.kind
            assert again.targets.names == graph.targets.names
            np.testing.assert_array_equal(again.targets.array, graph.targets.array)

    def test_graphs_have_classes_only(self, edges: Path):
        members, labels = edges.with_name("g.csv"), edges.with_name("y.csv")
        edges.write_text("source,target\na,b\nc,d\n")
        members.write_text("node,graph\na,1\nb,1\nc,2\nd,2\n")
        labels.write_text("graph,label\n1,0.5\n2,1.5\n")
        with pytest.raises(
            InputError, match=r"must be classes, got continuous, 0\.5 to"
        ):
            read_graphs(edges, members, labels=labels)
        many = read_graphs(edges, members, labels=labels, task="classify")
        assert many.class_names == ("0.5", "1.5")


class TestGraph:
    def test_targets_must_fit(self):
        values = Targets("values", ("age",), values=np.array([0.5, np.nan]))
        classes = Targets("classes", ("a",), codes=np.zeros(2))
        matrix = Graph.from_edges([(0, 1)]).adjacency
        with pytest.raises(InputError, match="either classes, y, or other targets"):
            Graph(matrix, y=np.array([0, 1]), targets=values)
        with pytest.raises(InputError, match="one row per node, 2, got 1"):
            Graph(matrix, targets=values.rows([0]))
        with pytest.raises(InputError, match="several labels at once, got classes"):
            Graph(matrix, targets=classes)

    def test_parts_of_many_graphs_keep_them(self):
        pair = Graph.from_edges([(0, 1), (2, 3)])
        values = Targets("values", ("age",), values=np.arange(4.0))
        whole = Graph(pair.adjacency, targets=values)
        many = GraphDataset(whole, np.array([0, 2, 4]))
        assert many[1].targets.values.tolist() == [2, 3]
        assert many.subset([1]).graph.targets.values.tolist() == [2, 3]
