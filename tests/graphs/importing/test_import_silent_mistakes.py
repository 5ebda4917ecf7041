"""What an import once got wrong in silence: right now, or refused."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fdgcl._checks import InputError
from fdgcl._memory import resident_bytes
from fdgcl.graphs import read_graph
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.importing import Request
from helpers.importing_twin import (
    TINY,
    check,
    import_graph,
    import_in_pieces,
    stored_features,
)
from helpers.small_tables import NODES, as_csv, as_parquet, keyed, ring
from tolerances import assert_agree


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)


def test_an_unknown_name_of_the_id_column(tmp_path: Path) -> None:
    """More rows than nodes, one node without: it was taken by order, ids a feature."""
    rng = np.random.default_rng(1)
    rows = [i for i in range(NODES + 20) if i != 33]
    columns = {"user_id": rows, "f": rng.standard_normal(len(rows))}
    x = as_csv(tmp_path / "x", columns)
    edges = as_csv(tmp_path / "e", ring())
    request = Request(edges, x)
    with pytest.raises(InputError, match=r"such as '33' \(first in row .*drop-edges"):
        import_in_pieces(tmp_path / "store", request, TINY)
    dropping = replace(request, tables=TableOptions(missing="drop-edges"))
    store = import_in_pieces(tmp_path / "other", dropping, TINY)
    assert store.manifest.nodes == len(rows)
    assert store.manifest.feature_names == ("f",)
    assert store.manifest.reading[1] == "features: 1 column by user_id"
    assert "2 edges of" in store.manifest.reading[-1]
    assert "name ids without features" in store.manifest.reading[-1]
    graph = read_graph(edges, x, missing="drop-edges")
    assert store.manifest.entries == 2 * graph.num_edges == 2 * (NODES - 2)


def test_a_column_that_would_outweigh_all_others(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = {f"f{j}": rng.standard_normal(NODES) for j in range(8)}
    columns["unix"] = 1.7e9 + 1e6 * rng.standard_normal(NODES)
    request = Request(
        as_csv(tmp_path / "e", ring()), as_parquet(tmp_path / "x", keyed(columns))
    )
    store = import_in_pieces(tmp_path / "store", request, TINY)
    x = stored_features(store).astype(np.float64)
    assert_agree(x.std(axis=0), np.ones(9), np.float32)
    assert_agree(x.mean(axis=0), np.zeros(9), np.float32, size=1)


def test_all_zero_features(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((NODES, 3)))
    request = Request(as_csv(tmp_path / "e", ring()), tmp_path / "x.npy")
    with pytest.raises(InputError, match="only constant columns"):
        import_in_pieces(tmp_path / "store", request, TINY)


@pytest.mark.parametrize("given", ["auto", True])
def test_a_header_is_no_edge(tmp_path: Path, given: Any) -> None:
    columns = {
        "user": ring(name=lambda i: f"u{i}")["source"],
        "item": ring(name=lambda i: f"p{i}")["target"],
        "event": ["view"] * NODES,
    }
    request = Request(
        as_csv(tmp_path / "e", columns), tables=TableOptions(header=given)
    )
    store = import_in_pieces(tmp_path / "store", request, TINY)
    check(store, request)
    assert store.manifest.nodes == 2 * NODES
    assert store.manifest.reading == ("edges: user -> item; ignored: event",)


def test_words_above_words_are_refused(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("alpha,beta\nann,bob\nbob,cleo\ncleo,ann\n")
    request = Request(tmp_path / "e.csv")
    with pytest.raises(InputError, match="say --header or --no-header"):
        import_in_pieces(tmp_path / "store", request, TINY)
    given = replace(request, tables=TableOptions(header=False))
    assert import_in_pieces(tmp_path / "store", given, TINY).manifest.nodes == 5


def test_the_ends_of_edges_among_other_ids(tmp_path: Path) -> None:
    columns = {
        "transaction_id": range(1000, 1000 + NODES),
        "payer_id": ring()["source"],
        "payee_id": ring()["target"],
        "amount": np.linspace(1, 2, NODES),
        "date": ["2024-05-01"] * NODES,
    }
    request = Request(as_parquet(tmp_path / "e", columns))
    store = import_in_pieces(tmp_path / "store", request, TINY)
    check(store, request)
    assert store.manifest.nodes == NODES
    assert store.manifest.reading == (
        "edges: payer_id -> payee_id; ignored: transaction_id, amount, date",
    )


def test_an_index_of_pandas_is_no_end(tmp_path: Path) -> None:
    columns = {"": range(NODES), **ring(name=lambda i: f"u{i}")}
    request = Request(as_csv(tmp_path / "e", columns))
    store = import_in_pieces(tmp_path / "store", request, TINY)
    check(store, request)
    assert store.manifest.reading == (
        "edges: source -> target; ignored: (without a name)",
    )


def test_foreign_columns_are_no_features(tmp_path: Path) -> None:
    columns = {
        "f": np.arange(NODES) % 6,
        "label": np.arange(NODES) % 2,
        "__index_level_0__": range(7, 7 + NODES),
    }
    edges = as_csv(tmp_path / "e", ring(name=lambda i: f"u{i}"))
    x = as_parquet(tmp_path / "x", keyed(columns, lambda i: f"u{i}"))
    request = Request(edges, x)
    store = import_in_pieces(tmp_path / "store", request, TINY)
    check(store, request)
    assert store.manifest.feature_names == ("f",)
    assert "label" in store.manifest.reading[1]
    asked = replace(request, tables=TableOptions(columns=["f", "label"]))
    store = import_in_pieces(tmp_path / "other", asked, TINY)
    check(store, asked)
    assert store.manifest.feature_names == ("f", "label")


@pytest.mark.parametrize("word", ["nan", "NaN", "NA", "null", "None"])
def test_words_for_nothing_are_no_ids(tmp_path: Path, word: str) -> None:
    lines = [f"u{i},u{i + 1}\n" for i in range(20)]
    (tmp_path / "e.csv").write_text("source,target\n" + "".join(lines) + f"u3,{word}\n")
    request = Request(tmp_path / "e.csv")
    with pytest.raises(InputError, match=rf"the id '{word}' in row 21.*allow-null-ids"):
        import_in_pieces(tmp_path / "store", request, TINY)
    allowed = replace(request, tables=TableOptions(allow_null_ids=True))
    store = import_in_pieces(tmp_path / "store2", allowed, TINY)
    check(store, allowed)
    assert store.manifest.nodes == 22


def test_edge_types_are_told(tmp_path: Path) -> None:
    columns = {**ring(), "type": ["likes", "knows"] * (NODES // 2)}
    edges = as_csv(tmp_path / "e", columns)
    store = import_in_pieces(tmp_path / "store", Request(edges), TINY)
    assert store.manifest.reading == (
        "edges: source -> target; ignored: type",
        "edge types are not used in a store: all edges count alike",
    )
    graph = read_graph(edges)
    assert store.manifest.entries == 2 * graph.num_edges


def test_by_order_when_asked(tmp_path: Path) -> None:
    """Isolated nodes at the end, and a column that looks like ids of something else."""
    rng = np.random.default_rng(0)
    columns = {"shop_id": rng.integers(0, 9, NODES + 5), "f": rng.random(NODES + 5)}
    edges, x = as_csv(tmp_path / "e", ring()), as_csv(tmp_path / "x", columns)
    with pytest.raises(InputError, match=r"has a column 'shop_id', but .*--by-order"):
        import_in_pieces(tmp_path / "store", Request(edges, x), TINY)
    request = Request(edges, x, TableOptions(by_order=True))
    store = import_in_pieces(tmp_path / "store", request, TINY)
    check(store, request)
    assert store.manifest.nodes == NODES + 5


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "edge types": ({"edge_type": "f"}, "cannot be used in a store: all edges count"),
    "zeros": ({"missing": "zero"}, "--missing zero .* choose error or drop-edges"),
    "means": ({"missing": "mean"}, "--missing mean .* choose error or drop-edges"),
    "labels": ({"label_column": "f"}, "goes with a table of labels, and there is none"),
    "an unknown option": ({"sauce": "u"}, "unknown option 'sauce'; did you mean"),
    "an unknown column": (
        {"drop": ["ff"]},
        r"no column 'ff', which --drop names; did you mean \"f\"",
    ),
    "an unknown id": ({"id_column": "user"}, "has no column 'user'"),
    "a name twice": ({"drop": ["f"], "numeric": ["f"]}, "'f'"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_options_that_do_not_fit(tmp_path: Path, case: str) -> None:
    options, message = REFUSED[case]
    edges = as_csv(tmp_path / "e", ring())
    x = as_csv(tmp_path / "x", keyed({"f": np.arange(NODES) % 6}))
    memory = resident_bytes() + 10**9
    with pytest.raises(InputError, match=message):
        import_graph(edges, tmp_path / "store", x, memory=memory, **options)
    assert not (tmp_path / "store" / "manifest.json").exists()


def test_several_tables_are_refused(tmp_path: Path) -> None:
    edges = as_csv(tmp_path / "e", ring())
    two: Any = [tmp_path / "x.csv", tmp_path / "y.csv"]
    with pytest.raises(InputError, match="a store has one table of features, got 2"):
        import_graph(edges, tmp_path / "store", two, memory=10**9)
    frame: Any = pa.table({"id": [1]})
    with pytest.raises(InputError, match="features must be a file here, got Table"):
        import_graph(edges, tmp_path / "store", frame, memory=10**9)
    with pytest.raises(InputError, match=r"--id-column f .* goes with a table of"):
        import_graph(edges, tmp_path / "store", memory=10**9, id_column="f")
