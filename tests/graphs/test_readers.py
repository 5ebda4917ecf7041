"""Reading graphs from files: formats, columns, ids, headers, against plain loops."""

from __future__ import annotations

import csv
import gzip
import io
import string
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs import Graph, read_graph, write_compact
from fdgcl.graphs.files.names import is_number, names_edges
from fdgcl.graphs.ids import NULL_WORDS

ONE_FOLDER = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def links(graph: Graph) -> dict[tuple[Any, Any], float]:
    coo = graph.adjacency.tocoo()
    ids = graph.ids.tolist()
    return {
        (ids[row], ids[column]): float(weight)
        for row, column, weight in zip(coo.row, coo.col, coo.data, strict=True)
    }


# Blanks around an id are dropped in text, and a lone surrogate is not text at all.
TEXT_IDS = st.text(
    st.one_of(st.sampled_from(string.printable), st.characters(codec="utf-8")),
    min_size=1,
    max_size=6,
).filter(
    lambda text: (
        text == text.strip()
        and "\r" not in text
        and "\0" not in text
        and text not in NULL_WORDS
    )
)
WHOLE_IDS = st.integers(-(10**15), 10**15).map(str)


@ONE_FOLDER
@given(
    edges=st.one_of(
        st.lists(st.tuples(TEXT_IDS, TEXT_IDS), min_size=1, max_size=12),
        st.lists(st.tuples(WHOLE_IDS, WHOLE_IDS), min_size=1, max_size=12),
    ),
    header=st.booleans(),
    packed=st.booleans(),
    delimiter=st.sampled_from(",;\t"),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_any_text_edge_list(
    tmp_path: Path,
    edges: list[tuple[str, str]],
    header: bool,
    packed: bool,
    delimiter: str,
    line_end: str,
) -> None:
    edges = [*edges, ("5", "6")]
    text = io.StringIO(newline="")
    writer = csv.writer(
        text, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL
    )
    rows = [("source", "target"), *edges] if header else edges
    writer.writerows(rows)
    data = text.getvalue().encode()
    path = tmp_path / ("e.tsv" if delimiter == "\t" else "e.csv")
    if packed:
        path = path.with_name(path.name + ".gz")
        data = gzip.compress(data)
    path.write_bytes(data)
    graph = read_graph(path, header=header)
    ends = {end for edge in edges for end in edge}
    whole = all(end.lstrip("-").isdecimal() and end == str(int(end)) for end in ends)
    kind = int if whole else str
    assert links(graph).keys() == {(kind(a), kind(b)) for a, b in edges}
    assert graph.ids.tolist() == sorted({kind(end) for end in ends}, key=_in_utf8)


def _in_utf8(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


@ONE_FOLDER
@given(st.lists(st.tuples(TEXT_IDS, TEXT_IDS), min_size=1, max_size=8))
def test_a_header_is_found(tmp_path: Path, edges: list[tuple[str, str]]) -> None:
    known = [("Source_ID", "Target-ID"), ("from", "to"), ("SRC", "dst")]
    for names in known:
        if set(names) & {end for edge in edges for end in edge}:
            continue
        text = io.StringIO(newline="")
        writer = csv.writer(text, quoting=csv.QUOTE_ALL)
        writer.writerows([(*names, "w"), *((*edge, 1) for edge in [*edges, "56"])])
        graph = read_graph(write(tmp_path / "e.csv", text.getvalue()))
        assert graph.num_nodes == len({e for edge in edges for e in edge} | {"5", "6"})


@ONE_FOLDER
@given(st.lists(st.tuples(WHOLE_IDS, WHOLE_IDS), min_size=2, max_size=8))
def test_no_header_is_made_up(tmp_path: Path, edges: list[tuple[str, str]]) -> None:
    path = write(tmp_path / "e.csv", "\n".join(map(",".join, [*edges, ("1", "2")])))
    expected = {(int(a), int(b)) for a, b in [*edges, ("1", "2")]}
    assert links(read_graph(path)).keys() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\nb,c\n", {("a", "b"), ("b", "c")}),
        ("u,v\nv,w\n", {("u", "v"), ("v", "w")}),
        ("u,v\nx,y\n", {("x", "y")}),
        ("# Nodes: 3\n# From\tTo\n1\t2\n2\t3\n", {(1, 2), (2, 3)}),
        ("% sym\n%\n1 2\n2 3\n", {(1, 2), (2, 3)}),
        ("\n\n1 2\n\n2 3\n", {(1, 2), (2, 3)}),
        ("#tag,#other\n#other,x\n", {("#tag", "#other"), ("#other", "x")}),
        ("1, 2\n2, 3\n", {(1, 2), (2, 3)}),
        ("007,2\n2,3\n", {("007", "2"), ("2", "3")}),
        ("id;target;source\n9;b;a\n8;c;b\n", {("a", "b"), ("b", "c")}),
        ("left,right\n1,2\n2,3\n", {(1, 2), (2, 3)}),
        ("left,right,count\na,b,1\nb,c,2\n", {("a", "b"), ("b", "c")}),
        ("\ufefffrom,to\na,b\n", {("a", "b")}),
        ('from,to\n"a,1","b ""x"""\n', {("a,1", 'b "x"')}),
        ('"left\nend",right\n1,2\n', {(1, 2)}),
        ('"0";","\n"5";"6"\n', {("0", ","), ("5", "6")}),
        ('"a,b";",0\n,y"\n"p";"a,b"\n', {("a,b", ",0\n,y"), ("p", "a,b")}),
        ("1\t2\r3\t4\r", {(1, 2), (3, 4)}),
        ("inf,x\nx,infinity\n", {("inf", "x"), ("x", "infinity")}),
    ],
)
def test_text_as_people_write_it(tmp_path: Path, text: str, expected: set[Any]) -> None:
    path = tmp_path / "e.txt"
    path.write_bytes(text.encode())
    assert links(read_graph(path)).keys() == expected


def test_columns_can_be_given(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "time,who,whom,strength_\n1,a,b,.5\n2,b,c,3\n")
    expected = {("a", "b"): 0.5, ("b", "c"): 3.0}
    by_name = read_graph(path, source="who", target="whom", weight="strength_")
    assert links(by_name) == expected
    assert links(read_graph(path, source=1, target=2, weight=3)) == expected
    bare = write(tmp_path / "bare.csv", "1,a,b,.5\n2,b,c,3\n")
    assert links(read_graph(bare, source="2", target="3", weight="4")) == expected


def test_weights_are_added_and_repeats_without_weights_count_once(
    tmp_path: Path,
) -> None:
    rows = "a,b,2\na,b,3\nb,a,1\n"
    weighted = write(tmp_path / "w.csv", "source,target,weight\n" + rows)
    assert links(read_graph(weighted)) == {("a", "b"): 5.0, ("b", "a"): 1.0}
    plain = write(tmp_path / "p.csv", "source,target,year\n" + rows)
    assert links(read_graph(plain)) == {("a", "b"): 1.0, ("b", "a"): 1.0}


@pytest.mark.parametrize("kind", ["int64", "int32", "string", "large_string", "dict"])
def test_parquet_ids_of_any_type(tmp_path: Path, kind: str) -> None:
    values = pa.array([3, 4, 3]) if "int" in kind else pa.array(["x", "y", "x"])
    if kind == "dict":
        column = values.dictionary_encode()
    else:
        column = values.cast(getattr(pa, kind)())
    other = column.take(pa.array([1, 0, 1]))
    table = pa.table({"dst": other, "w": [1, 2, 4], "src": column})
    pq.write_table(table, tmp_path / "e.parquet")
    first, second = (3, 4) if "int" in kind else ("x", "y")
    graph = read_graph(tmp_path / "e.parquet")
    assert links(graph) == {(first, second): 5.0, (second, first): 2.0}


def test_parquet_under_another_name(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "e.gzip")
    assert links(read_graph(tmp_path / "e.gzip")) == {(1, 2): 1.0}


FEATURES = {"n1": [1.0, 2.0], "n2": [3.0, 4.5], "lonely": [5.0, -6.0]}


def feature_file(folder: Path, kind: str) -> Path:
    ids, values = list(FEATURES), np.array(list(FEATURES.values()), np.float64)
    columns = {"id": ids, "f.1": values[:, 0], "f 2": values[:, 1]}
    if kind == "vectors":
        path = folder / "x.parquet"
        pq.write_table(pa.table({"id": ids, "embedding": values.tolist()}), path)
        return path
    if kind == "parquet":
        pq.write_table(pa.table(columns), folder / "x.parquet")
        return folder / "x.parquet"
    rows = [f"{name},{a},{b}" for name, (a, b) in FEATURES.items()]
    header = {"csv": ["node_id,f.1,f 2"], "unknown": ["paper,f.1,f 2"], "bare": []}[
        kind
    ]
    return write(folder / "x.csv", "\n".join(header + rows) + "\n")


@pytest.mark.parametrize("kind", ["parquet", "vectors", "csv", "unknown", "bare"])
def test_features_by_id(tmp_path: Path, kind: str) -> None:
    edges = write(tmp_path / "e.csv", "n2,n1\nn1,n2\n")
    graph = read_graph(edges, feature_file(tmp_path, kind))
    assert graph.ids.tolist() == list(FEATURES)
    assert graph.features.dtype == np.float32
    assert graph.features.tolist() == list(FEATURES.values())
    assert links(graph).keys() == {("n2", "n1"), ("n1", "n2")}
    named = {"bare": None, "vectors": ("embedding 1", "embedding 2")}.get(
        kind, ("f.1", "f 2")
    )
    assert graph.feature_names == named
    assert graph.name == "e"
    assert graph.source == str(edges)


@pytest.mark.parametrize(
    ("edge_ids", "feature_ids"),
    [(pa.int64(), pa.string()), (pa.string(), pa.int64()), (pa.int32(), pa.int64())],
)
def test_numbers_match_their_texts(
    tmp_path: Path, edge_ids: Any, feature_ids: Any
) -> None:
    start, end = pa.array([10, 30]).cast(edge_ids), pa.array([20, 10]).cast(edge_ids)
    pq.write_table(pa.table({"u": start, "v": end}), tmp_path / "e.parquet")
    ids = pa.array([30, 20, 10]).cast(feature_ids)
    pq.write_table(pa.table({"id": ids, "x": [3.0, 2.0, 1.0]}), tmp_path / "x.parquet")
    graph = read_graph(tmp_path / "e.parquet", tmp_path / "x.parquet")
    kind = str if feature_ids == pa.string() else int
    assert graph.ids.tolist() == [kind(value) for value in (30, 20, 10)]
    assert links(graph).keys() == {(kind(10), kind(20)), (kind(30), kind(10))}


def test_a_first_column_with_the_ids_of_the_edges_is_the_id_column(
    tmp_path: Path,
) -> None:
    edges = write(tmp_path / "e.csv", "10,20\n20,30\n")
    keyed = write(tmp_path / "x.csv", "30,.5\n10,.25\n20,1\n40,2\n")
    graph = read_graph(edges, keyed)
    assert graph.ids.tolist() == [30, 10, 20, 40]
    assert graph.features[:, 0].tolist() == [0.5, 0.25, 1.0, 2.0]


def test_features_by_order(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "0,2\n2,1\n")
    matrix = np.array([[5.0, 1.0], [5.0, 2.0], [7.0, 3.0], [8.0, 4.0]])
    np.save(tmp_path / "x.npy", matrix)
    np.savez(tmp_path / "x.npz", anything=matrix.astype(np.int16))
    sparse.save_npz(tmp_path / "sparse.npz", sparse.csr_array(matrix))
    sparse.save_npz(tmp_path / "old.npz", sparse.coo_matrix(matrix))
    write(tmp_path / "x.csv", "\n".join(f"{a},{b}" for a, b in matrix))
    write(tmp_path / "0.csv", "a,b\n" + "\n".join(f"{a},{b}" for a, b in matrix))
    for name in ("x.npy", "x.npz", "sparse.npz", "old.npz", "x.csv", "0.csv"):
        with pytest.raises(InputError, match=r"4 rows do not fit.*--by-order"):
            read_graph(edges, tmp_path / name)
        graph = read_graph(edges, tmp_path / name, by_order=True)
        values = graph.features
        dense = values.toarray() if sparse.issparse(values) else values
        assert dense.tolist() == matrix.tolist(), name
        assert graph.ids.tolist() == [0, 1, 2, 3]


def test_true_and_false_are_features(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "0,1\n")
    path = write(tmp_path / "x.csv", "id,a,b\n0,True,0.5\n1,false,1e-3\n")
    expected = np.array([[1, 0.5], [0, 1e-3]], np.float32)
    assert np.array_equal(read_graph(edges, path).features, expected)
    pq.write_table(pa.table({"id": [0, 1], "a": [True, False]}), tmp_path / "x.parquet")
    assert read_graph(edges, tmp_path / "x.parquet").features.tolist() == [[1.0], [0.0]]


def test_a_missing_number_in_the_first_row_is_no_header(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "a,b\n")
    path = write(tmp_path / "x.csv", "a,NA,1\nb,3,4\n")
    graph = read_graph(edges, path)
    assert graph.ids.tolist() == ["a", "b"]
    assert "missing" in " ".join(graph.reading)


def test_numbered_features_have_a_header(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "a,b\n")
    path = write(tmp_path / "x.csv", "paper,0,1,2\na,0,1,2\nb,3,4,5\n")
    graph = read_graph(edges, path)
    assert graph.features.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert graph.feature_names == ("0", "1", "2")


def test_the_index_that_pandas_writes_is_the_id(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "7,8\n")
    path = write(tmp_path / "x.csv", ",0,1\n7,0.5,1\n8,2,3\n9,0,1\n")
    graph = read_graph(edges, path)
    assert graph.ids.tolist() == [7, 8, 9]
    assert graph.feature_names == ("0", "1")


def test_whole_graphs_in_npz(tmp_path: Path) -> None:
    whole = Graph.from_edges([("a", "b"), ("b", "c")], y=[0, 1, 1], ids=["a", "b", "c"])
    write_compact(tmp_path / "g.npz", whole)
    features = write(tmp_path / "x.csv", "id,f\nc,3\na,1\nb,2\n")
    labels = write(tmp_path / "y.csv", "id,label\nc,new\n")
    graph = read_graph(tmp_path / "g.npz", features, labels, name="mine")
    assert links(graph) == links(whole)
    assert graph.features[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert graph.y.tolist() == [-1, -1, 0]
    assert graph.name == "mine"
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(np.array([[0, 2], [0, 0]])))
    assert links(read_graph(tmp_path / "a.npz")) == {(0, 1): 2.0}


def test_reading_does_not_import_torch_or_pandas() -> None:
    code = (
        "import sys; import fdgcl.graphs;"
        "print([n for n in ('torch', 'pandas', 'sklearn') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_what_counts_as_a_name_or_a_number() -> None:
    assert names_edges(["Source", "x", "TARGET"])
    assert not names_edges(["source", "x"])
    assert is_number("1e5")
    assert not is_number("1,5")


@pytest.mark.slow
def test_a_million_edges_are_read_in_seconds(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    ends = pa.array(rng.integers(0, 100_000, 2_000_000)).cast(pa.string())
    table = pa.table({"source": ends[:1_000_000], "target": ends[1_000_000:]})
    prefixed = [pa.compute.binary_join_element_wise("n", c, "") for c in table.columns]
    arrow_csv.write_csv(pa.table(prefixed, table.column_names), tmp_path / "e.csv")
    names = pa.array([f"n{number}" for number in range(100_000)])
    x = rng.standard_normal((100_000, 64)).astype(np.float32)
    columns = {f"f{number}": x[:, number] for number in range(64)}
    pq.write_table(pa.table({"id": names, **columns}), tmp_path / "x.parquet")
    begin = time.process_time()
    graph = read_graph(tmp_path / "e.csv", tmp_path / "x.parquet")
    assert time.process_time() - begin < 20
    assert graph.num_nodes == 100_000
    assert np.array_equal(graph.features, x)
