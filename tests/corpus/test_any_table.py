"""Tables drawn at random: what must hold of any of them."""

from __future__ import annotations

import csv
import datetime
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from fdgcl import Graph
from fdgcl._checks import InputError
from fdgcl.graphs import read_graph
from tolerances import assert_within, half_digits

QUICK = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
UNKNOWN = [f"col {letter}" for letter in "abcdefgh"]

words = st.text("abcdefghij", min_size=1, max_size=4)
cells = st.one_of(
    st.integers(-5, 40).map(str),
    words,
    st.floats(width=32).map(str),
    st.sampled_from(
        ["", " ", "NA", "nan", "null", "true", "no", "2024-01-02", "007", "1e999", "é"]
    ),
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=5),
)
names = st.one_of(
    st.sampled_from(
        ["source", "target", "id", "label", "weight", "type", "user_id", "a", "", "1"]
    ),
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=6),
)


@st.composite
def wild_rows(draw: st.DrawFn) -> list[list[str]]:
    """Rows of text, mostly of one length, some of them edges of a graph."""
    width = draw(st.integers(1, 5))
    pool = draw(st.lists(cells, min_size=1, max_size=6))
    cell = st.one_of(st.sampled_from(pool), cells)
    rows = draw(st.lists(st.lists(cell, min_size=width, max_size=width), max_size=8))
    if draw(st.booleans()):
        rows.insert(0, draw(st.lists(names, min_size=width, max_size=width)))
    if rows and draw(st.integers(0, 9)) == 0:
        rows[-1].append("more")
    return rows


def _write_rows(path: Path, rows: list[list[str]]) -> None:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    path.write_bytes(stream.getvalue().encode("utf-8", "surrogatepass"))


def _cells(rows: list[list[str]]) -> set[str]:
    return {cell.strip() for row in rows for cell in row}


def _dense(graph: Graph) -> Any:
    x: Any = graph.features
    return x.toarray() if sparse.issparse(x) else np.asarray(x)


@QUICK
@given(
    edges=wild_rows(), features=st.none() | wild_rows(), labels=st.none() | wild_rows()
)
def test_any_text_is_refused_in_one_line_or_read_as_it_stands(
    edges: list[list[str]],
    features: list[list[str]] | None,
    labels: list[list[str]] | None,
    tmp_path: Path,
) -> None:
    files: list[Path | None] = []
    for name, rows in (("e.csv", edges), ("x.csv", features), ("y.csv", labels)):
        files.append(None if rows is None else tmp_path / name)
        if rows is not None:
            _write_rows(tmp_path / name, rows)
    graph = _read(*files)
    if graph is None:
        return
    shown = re.match(
        r"edges: (.*?) -> (.*?)(, weight .*|, type .*|; ignored: .*)?$",
        graph.reading[0],
    )
    assert shown is not None, graph.reading
    header = {" ".join(cell.split()) for cell in edges[0]} | {"(without a name)"}
    numbers = {str(number + 1) for number in range(len(edges[0]))}
    assert {shown[1], shown[2]} <= header | numbers
    known = _cells(edges) | _cells(features or [])
    by_order = {str(number) for number in range(graph.num_nodes)}
    assert {str(one) for one in graph.ids} <= known | (by_order if features else set())
    if graph.features is not None:
        assert np.isfinite(_dense(graph)).all()


@st.composite
def typed_graphs(draw: st.DrawFn) -> tuple[pa.Table, pa.Table]:
    """Edges, and features by id, of types that text can tell as well."""
    numbers = draw(st.booleans())
    ids: list[Any] = draw(
        st.lists(
            st.integers(0, 10**6) if numbers else words,
            min_size=3,
            max_size=12,
            unique=True,
        )
    )
    end = st.sampled_from(ids)
    pairs = draw(st.lists(st.tuples(end, end), min_size=2, max_size=20))
    assume(any(a != b for a, b in pairs))
    count = len(ids)
    columns: dict[str, Any] = {"id": ids}
    for place in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(sorted(VALUES)))
        column = st.lists(VALUES[kind], min_size=count, max_size=count)
        values: list[Any] = draw(column)
        if draw(st.booleans()):
            values[draw(st.integers(0, count - 1))] = None
        columns[f"f{place}"] = pa.array(values, TYPES[kind])
    start, stop = zip(*pairs, strict=True)
    return pa.table({"source": start, "target": stop}), pa.table(columns)


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "number": st.floats(-1e6, 1e6, allow_subnormal=False).map(
        lambda x: round(x, 3) + 0.0
    ),
    "whole": st.integers(-1000, 1000),
    "word": st.sampled_from(["red", "green", "blue"]),
    "truth": st.booleans(),
    "date": st.dates(datetime.date(1990, 1, 1), datetime.date(2030, 1, 1)),
}
TYPES = {
    "number": pa.float64(),
    "whole": pa.int64(),
    "word": pa.string(),
    "truth": pa.bool_(),
    "date": pa.date32(),
}


def _as_text(path: Path, table: pa.Table) -> None:
    def cell(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        return "" if value is None else str(value)

    rows = [list(map(cell, row.values())) for row in table.to_pylist()]
    _write_rows(path, [table.column_names, *rows])


def _read(*tables: Any, **options: Any) -> Graph | None:
    try:
        return read_graph(*tables, **options)
    except InputError as error:
        sentence = str(error)
    assert len(sentence.splitlines()) == 1
    return None


def _same(one: Graph | None, other: Graph | None, order: Any = slice(None)) -> None:
    """The same graph, its nodes in another order; sums in another order may round."""
    assert (one is None) == (other is None)
    if one is None or other is None:
        return
    assert one.ids[order].tolist() == other.ids.tolist()
    assert one.feature_names == other.feature_names
    expected = _dense(other)
    # By columns. Numbers up to 1e6 that differ by 0.001 lose nine digits in float64 to
    # their mean, and keep more than half of those of float32.
    sizes = np.abs(expected).max(axis=0, initial=1)
    assert_within(_dense(one)[order], expected, half_digits(np.float32) * sizes)
    moved = one.adjacency.toarray()[order][:, order]
    np.testing.assert_array_equal(moved, other.adjacency.toarray())


@QUICK
@given(tables=typed_graphs())
def test_text_and_parquet_of_one_table_are_one_graph(
    tables: tuple[pa.Table, pa.Table], tmp_path: Path
) -> None:
    for name, table in zip(("e", "x"), tables, strict=True):
        _as_text(tmp_path / f"{name}.csv", table)
        pq.write_table(table, tmp_path / f"{name}.parquet")
    # Words above words may be names or not; a file of Parquet says so itself.
    text = _read(tmp_path / "e.csv", tmp_path / "x.csv", header=True)
    typed = _read(tmp_path / "e.parquet", tmp_path / "x.parquet")
    _same(typed, text)


@QUICK
@given(tables=typed_graphs(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_is_the_order_of_nodes_alone(
    tables: tuple[pa.Table, pa.Table], random: Any
) -> None:
    edges, features = tables
    order = list(range(len(features)))
    random.shuffle(order)
    _same(_read(edges, features), _read(edges, features.take(order)), order)


@QUICK
@given(tables=typed_graphs(), names=st.permutations(UNKNOWN))
def test_other_names_do_not_change_values(
    tables: tuple[pa.Table, pa.Table], names: list[str]
) -> None:
    edges, features = tables
    plain = _read(edges, features, columns=features.column_names[1:])
    new = names[: features.num_columns]
    renamed = _read(edges, features.rename_columns(new), columns=new[1:])
    if renamed is not None:
        assert plain is not None
        assert renamed.ids.tolist() == plain.ids.tolist()
        np.testing.assert_array_equal(_dense(renamed), _dense(plain))


@QUICK
@given(tables=typed_graphs(), swapped=st.booleans())
def test_unknown_names_of_ends_are_refused_or_told(
    tables: tuple[pa.Table, pa.Table], swapped: bool
) -> None:
    edges, features = tables
    names = ["q", "p"] if swapped else ["p", "q"]
    graph = _read(edges.rename_columns(names), features)
    if graph is not None:
        assert graph.reading[0] == f"edges: {names[0]} -> {names[1]}"


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@QUICK
@given(tables=typed_graphs(), data=st.data())
def test_a_node_without_features_is_never_given_those_of_another(
    suffix: str, tables: tuple[pa.Table, pa.Table], data: st.DataObject, tmp_path: Path
) -> None:
    """One id missing and rows to spare, under a name that nobody knows."""
    edges, features = tables
    used = {one.as_py() for column in edges.columns for one in column}
    lost = data.draw(st.sampled_from(sorted(used)))
    keep = [one.as_py() != lost for one in features["id"]]
    assume(sum(keep) >= 2)
    left = features.filter(pa.array(keep)).rename_columns(
        ["owner", *features.column_names[1:]]
    )
    spare = left.slice(0, 1).set_column(
        0, "owner", pa.array([10**9 if isinstance(lost, int) else "zzzzz"])
    )
    table = pa.concat_tables(
        [
            left,
            spare,
            spare.set_column(
                0, "owner", pa.array([10**9 + 1 if isinstance(lost, int) else "zzzzy"])
            ),
        ]
    )
    path = tmp_path / f"x.{suffix}"
    if suffix == "csv":
        _as_text(path, table)
    else:
        pq.write_table(table, path)
    assert _read(edges, path, header=True) is None
