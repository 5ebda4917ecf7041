"""Tables that were once misread without a word: each is now read rightly or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fdgcl import FDGCL, linear_probe
from fdgcl._checks import InputError
from fdgcl.graphs import Graph, block_model, random_splits, read_graph

NODES = 600


@pytest.fixture(scope="module")
def truth() -> Graph:
    """Three groups of customers, told apart by eight features."""
    return block_model(
        NODES, 3, degree=8, homophily=0.9, num_features=8, signal=4.0, seed=1
    )


def names(graph: Graph) -> list[str]:
    return [f"c{node:04}" for node in range(graph.num_nodes)]


def edge_table(graph: Graph, ids: list[str]) -> pa.Table:
    coo = graph.adjacency.tocoo()
    return pa.table(
        {"payer_id": [ids[i] for i in coo.row], "payee_id": [ids[i] for i in coo.col]}
    )


def feature_table(graph: Graph, ids: list[str], **more: Any) -> pa.Table:
    x = np.asarray(graph.features)
    columns = {f"f{place}": x[:, place] for place in range(x.shape[1])}
    table = pa.table({"user_id": ids, **columns, **more})
    # Neither the order of rows nor that of columns means anything.
    order = np.random.default_rng(0).permutation(len(ids))
    return table.take(pa.array(order))


def accuracy(graph: Graph, truth: Graph, ids: list[str]) -> float:
    """How well a probe tells the groups apart by the default embedding."""
    place = {name: row for row, name in enumerate(ids)}
    assert truth.y is not None
    y = truth.y[[place[name] for name in graph.ids.tolist()]]
    z = FDGCL(dim=64, epochs=10).fit_transform(graph)
    splits = random_splits(y, train=0.1, val=0.1, count=3, seed=0)
    return linear_probe(z, y, splits).test_mean


def test_one_missing_id_no_longer_misaligns_every_feature(truth: Graph) -> None:
    ids = names(truth)
    edges = edge_table(truth, ids)
    whole = feature_table(truth, ids)
    others = pa.array([name != ids[7] for name in whole["user_id"].to_pylist()])
    lacking = whole.filter(others)
    with pytest.raises(InputError, match=r"'c0007'.*--missing drop-edges"):
        read_graph(edges, lacking)
    graph = read_graph(edges, lacking, missing="drop-edges")
    assert "features: 8 columns by user_id" in graph.reading
    assert any("without features: these edges are left out" in r for r in graph.reading)
    assert ids[7] not in graph.ids
    # Chance is 33; the complete table has nearly 100. One node less changes nothing.
    assert accuracy(graph, truth, ids) > 0.97


def test_more_rows_than_nodes_are_matched_by_id(truth: Graph) -> None:
    ids = names(truth)
    more = feature_table(truth, ids)
    ghosts = pa.table(
        {
            name: ["g1", "g2"] if name == "user_id" else np.zeros(2, np.float32)
            for name in more.column_names
        },
        schema=more.schema,
    )
    graph = read_graph(edge_table(truth, ids), pa.concat_tables([ghosts, more]))
    place = {name: row for row, name in enumerate(graph.ids.tolist())}
    assert graph.num_nodes == NODES + 2
    rows = [place[name] for name in ids]
    assert np.array_equal(np.asarray(graph.features)[rows], truth.features)


def test_one_large_column_no_longer_swallows_the_rest(truth: Graph) -> None:
    ids = names(truth)
    joined = 1.7e9 + np.random.default_rng(3).integers(0, 10**7, NODES)
    graph = read_graph(edge_table(truth, ids), feature_table(truth, ids, joined=joined))
    assert accuracy(graph, truth, ids) > 0.97


@pytest.mark.parametrize("kind", ["zero", "constant"])
def test_features_that_say_nothing_are_refused(truth: Graph, kind: str) -> None:
    ids = names(truth)
    value = 0.0 if kind == "zero" else 5.0
    table = pa.table({"id": ids, "a": [value] * NODES, "b": [value] * NODES})
    with pytest.raises(InputError, match="constant"):
        read_graph(edge_table(truth, ids), table)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_headers_are_no_nodes(tmp_path: Path) -> None:
    rows = "".join(f"u{i},i{i % 7},view\n" for i in range(40))
    edges = write(tmp_path / "e.csv", "user,item,event\n" + rows)
    graph = read_graph(edges)
    assert graph.num_nodes == 47
    assert graph.reading == ("edges: user -> item; ignored: event",)


def test_words_above_words_are_refused(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "boss,clerk\nann,bob\nbob,cleo\n")
    with pytest.raises(InputError, match=r"'boss', 'clerk'.*--header or --no-header"):
        read_graph(edges)
    assert read_graph(edges, header=True).ids.tolist() == ["ann", "bob", "cleo"]
    assert read_graph(edges, header=False).num_nodes == 5


@pytest.mark.parametrize("with_features", [False, True])
def test_headers_of_labels_are_no_class(tmp_path: Path, with_features: bool) -> None:
    ids = [f"C{i:03}" for i in range(20)]
    pairs = zip(ids, ids[1:] + ids[:1], strict=True)
    edges = write(
        tmp_path / "e.csv", "from,to\n" + "".join(f"{a},{b}\n" for a, b in pairs)
    )
    risks = ["low", "mid", "high", "none"]
    labels = "".join(f"{name},{risks[i % 4]}\n" for i, name in enumerate(ids))
    path = write(tmp_path / "y.csv", "customer_id,risk\n" + labels)
    table = pa.table({"key": ids, "x": np.arange(20.0)}) if with_features else None
    graph = read_graph(edges, table, path)
    assert graph.num_nodes == 20
    assert graph.class_names == ("high", "low", "mid", "none")
    assert graph.reading[-1] == "labels: risk by customer_id, 4 classes"
    again = read_graph(edges, table, path, id_column="customer_id")
    assert again.reading[-1] == graph.reading[-1]


def test_the_number_of_a_transaction_is_no_end_of_an_edge(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    payer, payee = rng.integers(0, 300, 2000), rng.integers(0, 300, 2000)
    table = pa.table(
        {
            "transaction_id": np.arange(10**6, 10**6 + 2000),
            "payer_id": payer,
            "payee_id": payee,
            "amount": rng.random(2000),
            "date": pa.array(["2024-01-02"] * 2000),
        }
    )
    pq.write_table(table, tmp_path / "e.parquet")
    graph = read_graph(tmp_path / "e.parquet")
    assert graph.num_nodes == len(set(payer) | set(payee))
    assert graph.reading == (
        "edges: payer_id -> payee_id; ignored: transaction_id, amount, date",
    )
    weighted = read_graph(tmp_path / "e.parquet", weight="amount")
    assert weighted.reading[0].startswith("edges: payer_id -> payee_id, weight amount;")
    unknown = table.rename_columns(["t", "x", "y", "amount", "date"])
    assert read_graph(unknown).reading[0].startswith("edges: x -> y;")
    apart = unknown.set_column(2, "y", pa.array(payee + 10**5))
    with pytest.raises(InputError, match=r"--source-column.*'t', 'x', 'y'"):
        read_graph(apart)


def test_the_index_of_a_data_frame_is_no_column_of_its_own(tmp_path: Path) -> None:
    rows = "".join(f"{i},a{i},a{i + 1}\n" for i in range(9))
    graph = read_graph(write(tmp_path / "e.csv", ",left,right\n" + rows))
    assert graph.num_nodes == 10
    assert graph.reading[0].startswith(
        "edges: left -> right; ignored: (without a name)"
    )
    named = read_graph(write(tmp_path / "u.csv", "Unnamed: 0,left,right\n" + rows))
    assert named.reading[0] == "edges: left -> right; ignored: Unnamed: 0"
    bare = pa.table(
        {
            "id": [f"a{i}" for i in range(10)],
            "x": np.arange(10.0) ** 2,
            "__index_level_0__": np.arange(10),
            "label": [0, 1] * 5,
        }
    )
    graph = read_graph(tmp_path / "u.csv", bare)
    assert graph.feature_names == ("x",)
    assert "label (" in graph.reading[1]
    assert "__index_level_0__ (" in graph.reading[1]
    asked = read_graph(tmp_path / "u.csv", bare, columns=["x", "label"])
    assert asked.feature_names == ("x", "label")


@pytest.mark.parametrize("with_features", [False, True])
def test_labels_add_no_nodes(with_features: bool) -> None:
    edges = pa.table({"source": np.arange(50), "target": (np.arange(50) + 1) % 50})
    labels = pa.table({"id": np.arange(72), "label": np.arange(72) % 3})
    x = pa.table({"id": np.arange(50), "x": np.arange(50.0)}) if with_features else None
    with pytest.raises(InputError, match=r"22 ids.*--missing-labels drop"):
        read_graph(edges, x, labels)
    graph = read_graph(edges, x, labels, missing_labels="drop")
    assert graph.num_nodes == 50
    assert "were left out" in graph.reading[-1]


def test_only_self_loops_are_refused() -> None:
    with pytest.raises(InputError, match="only self-loops"):
        read_graph(pa.table({"source": [1, 2, 3], "target": [1, 2, 3]}))


def test_an_id_column_that_no_table_has_is_refused() -> None:
    edges = pa.table({"source": [1, 2], "target": [2, 3]})
    with pytest.raises(InputError, match="goes with a table of features or labels"):
        read_graph(edges, id_column="nodeid")
    x = pa.table({"id": [1, 2, 3], "x": [1.0, 2.0, 4.0]})
    with pytest.raises(InputError, match=r"no column 'nodeid'; did you mean"):
        read_graph(edges, x, id_column="nodeid")


def test_an_edge_list_is_no_table_of_features() -> None:
    edges = pa.table({"user_id": [1, 2, 1], "item_id": [7, 8, 8]})
    with pytest.raises(InputError, match=r"--id-column"):
        read_graph(edges, edges)


@pytest.mark.parametrize("word", ["nan", "NaN", "NA", "null", "None", "<NA>"])
def test_what_looks_like_a_missing_id_is_refused(tmp_path: Path, word: str) -> None:
    path = write(tmp_path / "e.csv", f"source,target\na,b\nb,{word}\n")
    with pytest.raises(InputError, match=r"in row 2.*--allow-null-ids"):
        read_graph(path)
    assert word in read_graph(path, allow_null_ids=True).ids


def test_users_and_items_that_share_ids_are_refused() -> None:
    edges = pa.table({"user_id": [1, 2, 3], "item_id": [3, 7, 8], "rating": [5, 4, 1]})
    with pytest.raises(InputError, match=r"'3': if .* --shared-ids.*'u3' and 'i3'"):
        read_graph(edges)
    assert read_graph(edges, shared_ids=True).num_nodes == 5
    apart = edges.set_column(1, "item_id", pa.array([30, 70, 80]))
    assert read_graph(apart).num_nodes == 6
    people = edges.rename_columns(["payer_id", "payee_id", "rating"])
    assert read_graph(people).num_nodes == 5


def test_codes_keep_their_zeros_as_categories(tmp_path: Path) -> None:
    edges = pa.table({"source": np.arange(40), "target": (np.arange(40) + 1) % 40})
    codes = ["007", "7", "070", "70"] * 10
    rows = "".join(f"{i},{code},{i * i}\n" for i, code in enumerate(codes))
    table = write(tmp_path / "x.csv", "id,zip,size\n" + rows)
    graph = read_graph(edges, table, categorical=["zip"])
    assert graph.feature_names[:4] == ("zip=007", "zip=070", "zip=7", "zip=70")
    again = read_graph(edges, table, schema=graph.feature_schema)
    assert np.array_equal(again.features, graph.features)


def test_one_of_several_tables_does_not_outweigh_the_types() -> None:
    edges = pa.table({"user": ["u1", "u2", "u3"], "item": ["i1", "i2", "i1"]})
    users = pa.table({"user": ["u1", "u2", "u3"], "age": [20, 40, 75]})
    items = pa.table({"item": ["i1", "i2"], "price": [200.0, 900.0]})
    graph = read_graph(edges, {"user": users, "item": items})
    assert graph.feature_names == ("user:age", "item:price", "type=user", "type=item")
    assert np.abs(graph.features).max() < 3
