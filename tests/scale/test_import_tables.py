"""An import understands tables as `read_graph` does, and says so in the same words."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from importing_twin import SMALL, TINY, check, import_in_pieces, stored_features

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl.graphs import read_graph
from fdgcl.graphs.files.options import TableOptions
from fdgcl.scale import diffuse_store, train_store
from fdgcl.scale.importing import Request, featurefit, import_graph, plan_import
from fdgcl.scale.importing.budget import Budget
from fdgcl.scale.importing.fitcost import FitCost
from fdgcl.scale.memory import resident_bytes
from fdgcl.scale.store import Store
from tolerances import assert_agree

NODES = 90


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)


def ring(nodes: int = NODES, name: Callable[[int], Any] = int) -> dict[str, Any]:
    """Each node and the next one, in another order than 0, 1, 2, ..."""
    order = np.random.default_rng(9).permutation(nodes).tolist()
    ends = [(i + 1) % nodes for i in order]
    return {"source": [*map(name, order)], "target": [*map(name, ends)]}


def columns_of_every_kind(nodes: int = NODES) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    day = dt.datetime(2023, 1, 1, 6, tzinfo=dt.UTC)
    words = [f"word{i}" for i in range(80)]

    def holes(values: list[Any], every: int) -> list[Any]:
        return [None if i % every == 3 else v for i, v in enumerate(values)]

    income = rng.lognormal(9, 3, nodes)
    return {
        "income": holes(income.tolist(), 7),
        "age": rng.integers(18, 90, nodes),
        "score": rng.standard_normal(nodes).astype(np.float32),
        "unix": 1.7e9 + rng.integers(0, 10**8, nodes),
        "price": [Decimal(int(n)) / 100 for n in rng.integers(1, 9999, nodes)],
        "member": holes([bool(i % 3) for i in range(nodes)], 11),
        "answer": ["yes" if i % 4 else "no" for i in range(nodes)],
        "city": holes([("Oslo", "Rome", "Bern")[i % 3] for i in range(nodes)], 5),
        "shop": pa.array([words[i % 80] for i in range(nodes)]).dictionary_encode(),
        "joined": [
            day + dt.timedelta(hours=int(h)) for h in rng.integers(0, 9000, nodes)
        ],
        "born": [dt.date(1950, 1, 1) + dt.timedelta(days=37 * i) for i in range(nodes)],
        "taste": [rng.standard_normal(11).tolist() for _ in range(nodes)],
        "remark": [f"the {i}th remark, of some length" for i in range(nodes)],
        "label": [i % 2 for i in range(nodes)],
        "same": [1.0] * nodes,
        "empty": pa.nulls(nodes, pa.float64()),
        "raw": [bytes([i, 255 - i]) for i in range(nodes)],
    }


def as_parquet(path: Path, columns: dict[str, Any]) -> Path:
    path = path.with_suffix(".parquet")
    pq.write_table(pa.table(columns), path, row_group_size=17)
    return path


def as_csv(path: Path, columns: dict[str, Any]) -> Path:
    path = path.with_suffix(".csv")
    table = pa.table(columns)
    flat = [
        name
        for name, kind in zip(table.column_names, table.schema.types, strict=True)
        if not (pa.types.is_nested(kind) or pa.types.is_binary(kind))
    ]
    table = table.select(flat)
    for place, kind in enumerate(table.schema.types):
        if pa.types.is_dictionary(kind) or pa.types.is_decimal(kind):
            text = table.column(place).cast(pa.string())
            table = table.set_column(place, table.column_names[place], text)
    pacsv.write_csv(table, path)
    return path


def keyed(columns: dict[str, Any], name: Callable[[int], Any] = int) -> dict[str, Any]:
    return {"user_id": [*map(name, range(NODES))], **columns}


@pytest.mark.parametrize("write", [as_parquet, as_csv])
@pytest.mark.parametrize("scaling", ["auto", "none", "standard", "robust"])
def test_columns_of_every_kind(tmp_path: Path, write: Any, scaling: str) -> None:
    """All decisions, words and numbers are those of the way through memory, bit by bit.

    Features are made one by one from values and schema, so that it makes no difference
    which others are made at the same time.
    """
    edges = write(tmp_path / "e", ring(name=lambda i: f"u{i}"))
    x = write(tmp_path / "x", keyed(columns_of_every_kind(), lambda i: f"u{i}"))
    tables = TableOptions(column_scaling=scaling, categorical=["age", "shop"])
    request = Request(edges, x, tables)
    store = import_in_pieces(tmp_path / "store", request, TINY)
    check(store, request)
    names = store.manifest.feature_names
    assert names is not None
    assert {"income missing", "age=20", "answer", "city=Rome", "shop frequency"} <= {
        *names
    }
    assert not {"remark", "label", "same", "empty", "raw", "user_id"} & {*names}
    again = import_graph(
        edges,
        tmp_path / "again",
        x,
        memory=resident_bytes() + 10**9,
        column_scaling=scaling,
        categorical=["age", "shop"],
    )
    assert again.fingerprint == store.fingerprint
    assert again.manifest.feature_schema == store.manifest.feature_schema


@pytest.mark.parametrize("fortran", [False, True])
@pytest.mark.parametrize("scaling", ["auto", "standard", "robust"])
def test_an_array_is_scaled_and_filled(
    tmp_path: Path, fortran: bool, scaling: str
) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((NODES, 21)) * 10.0 ** np.arange(-10, 11)
    x[5, 3] = x[70, 20] = x[71, 20] = np.nan
    np.save(tmp_path / "x.npy", np.asfortranarray(x) if fortran else x)
    edges = as_csv(tmp_path / "e", ring())
    request = Request(edges, tmp_path / "x.npy", TableOptions(column_scaling=scaling))
    store = import_in_pieces(tmp_path / "store", request, TINY)
    check(store, request)
    assert store.manifest.features == 23


def test_numbers_that_become_words_far_down(tmp_path: Path) -> None:
    """A text file's column of numbers may end in a word; then all of it is text."""
    rows = 300_000
    lines = [f"{i},{i % 7},0{i % 10},{i % 5}.5\n" for i in range(rows - 1)]
    text = "id,a,zip,b\n" + "".join(lines) + f"{rows - 1},many,03,1.5\n"
    (tmp_path / "x.csv").write_text(text)
    edges = {"source": range(rows), "target": [*range(1, rows), 0]}
    tables = TableOptions(categorical=["a", "zip"])
    request = Request(as_parquet(tmp_path / "e", edges), tmp_path / "x.csv", tables)
    big = replace(SMALL, run_entries=10**6, range_entries=10**6, most_entries=10**6)
    big = replace(big, batch_rows=10**5, feature_rows=10**5, keep_rows=10**6)
    store = import_in_pieces(tmp_path / "store", request, big)
    graph = read_graph(request.edges, request.features, categorical=["a", "zip"])
    assert store.manifest.feature_names == graph.feature_names
    assert "zip=03" in (graph.feature_names or ())
    np.testing.assert_array_equal(stored_features(store), graph.features)


IDS: dict[str, Callable[[int], Any]] = {
    "uint64 above 2^63": lambda i: 2**63 + 5 * i if i % 2 else i,
    "decimals": lambda i: Decimal(i) + (Decimal("0.5") if i > 40 else Decimal("0.00")),
    "dates": lambda i: dt.date(2024, 1, 1) + dt.timedelta(days=i),
    "timestamps": lambda i: (
        dt.datetime(2024, 1, 1, i % 24, i % 60) + i * dt.timedelta(1)
    ),
    "UUIDs": lambda i: bytes([i, 200, *range(14)]),
    "bytes": lambda i: b"\xff" * (i % 3) + str(i).encode(),
}


@pytest.mark.parametrize("kind", list(IDS))
@pytest.mark.parametrize("with_features", [False, True])
def test_ids_of_more_kinds(tmp_path: Path, kind: str, with_features: bool) -> None:
    name = IDS[kind]
    types = {"uint64 above 2^63": pa.uint64(), "UUIDs": pa.binary(16)}
    edges = {k: pa.array(v, types.get(kind)) for k, v in ring(name=name).items()}
    x = None
    if with_features:
        ids = pa.array([name(i) for i in range(NODES)], types.get(kind))
        columns = {"account": ids, "f": np.arange(NODES) % 6}
        x = as_parquet(tmp_path / "x", columns)
    # A column of dates is taken for ids only when it is named.
    tables = TableOptions(id_column="account" if with_features else None)
    request = Request(as_parquet(tmp_path / "e", edges), x, tables)
    check(import_in_pieces(tmp_path / "store", request, TINY), request)


@pytest.mark.parametrize("kinds", [(int, str), (str, int)])
def test_numbers_and_text_are_told(tmp_path: Path, kinds: tuple[Any, Any]) -> None:
    edges = as_parquet(tmp_path / "e", ring(name=kinds[0]))
    columns = {"id": [*map(kinds[1], range(NODES))], "f": np.arange(NODES) % 6}
    request = Request(edges, as_parquet(tmp_path / "x", columns))
    store = import_in_pieces(tmp_path / "store", request, TINY)
    check(store, request)
    assert "compared as they are written" in store.manifest.reading[-1]


# What was wrong in silence, each as it was met.


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


# What is done is noted, and not done again.


def test_a_later_start_does_not_look_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = as_csv(tmp_path / "e", ring(name=lambda i: f"u{i}"))
    columns = keyed(columns_of_every_kind(), lambda i: f"u{i}")
    del columns["user_id"]
    columns = {
        "user_id": [f"u{i}" for i in range(NODES) if i != 5],
        **{
            name: pa.array(values).filter(pa.array(np.arange(NODES) != 5))
            for name, values in columns.items()
        },
    }
    x = as_parquet(tmp_path / "x", columns)
    request = Request(edges, x, TableOptions(missing="drop-edges"))
    whole = import_in_pieces(tmp_path / "whole", request, TINY)

    def stop_at(stage: str, count: int) -> Callable[[str, int, int], None]:
        seen = 0

        def progress(now: str, done: int, total: int) -> None:
            nonlocal seen
            seen += now == stage
            if seen == count:
                raise KeyboardInterrupt

        return progress

    for stage, count in (
        ("looking at features", 3),
        ("reading ids", 2),
        ("sorting edges", 3),
        ("sorting edges", 2),
        ("merging edges", 1),
        ("copying features", 4),
    ):
        with pytest.raises(KeyboardInterrupt):
            import_in_pieces(
                tmp_path / "store", replace(request), TINY, stop_at(stage, count)
            )
    calls: list[str] = []
    monkeypatch.setattr(
        featurefit.TableFit, "run", lambda *_: pytest.fail("looked again")
    )
    store = import_in_pieces(
        tmp_path / "store",
        replace(request),
        TINY,
        lambda stage, done, total: calls.append(stage),
    )
    assert {*calls} == {"copying features"}
    assert store.manifest == whole.manifest
    assert store.fingerprint == whole.fingerprint
    assert "2 edges of" in store.manifest.reading[-1]


def test_rows_by_order_are_compared_after_going_on(tmp_path: Path) -> None:
    """The largest id stands in a run that an earlier start sorted."""
    columns = {"source": [NODES - 1, *range(60)], "target": [0, *range(1, 61)]}
    edges = as_csv(tmp_path / "e", columns)
    for rows, fits in ((NODES, True), (NODES + 1, False)):
        x, store = tmp_path / f"x{rows}.npy", tmp_path / f"store{rows}"
        np.save(x, np.random.default_rng(0).standard_normal((rows, 3)))
        request = Request(edges, x)

        def stop(stage: str, done: int, total: int) -> None:
            if stage == "sorting edges" and done > 20:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            import_in_pieces(store, request, TINY, stop)
        assert list((store / "import").glob("run-*.json"))
        if fits:
            check(import_in_pieces(store, request, TINY), request)
            continue
        with pytest.raises(InputError, match=r"from 0 to 89\), and its 91 rows do not"):
            import_in_pieces(store, request, TINY)


def test_the_note_names_each_option(tmp_path: Path) -> None:
    edges = as_csv(tmp_path / "e", ring())
    x = as_csv(
        tmp_path / "x", keyed({"f": np.arange(NODES) % 6, "g": np.arange(NODES) % 9})
    )
    memory = resident_bytes() + 10**9
    store = import_graph(edges, tmp_path / "store", x, memory=memory, drop=["g"])
    note = json.loads((store.folder / "import.json").read_text())
    assert note["tables"]["drop"] == ["g"]
    with pytest.raises(InputError, match=r"drop was \['g'\] and is \[\];"):
        import_graph(edges, tmp_path / "store", x, memory=memory)


# A run knows how its features were made.


def test_a_run_carries_the_schema(tmp_path: Path) -> None:
    edges = as_csv(tmp_path / "e", ring())
    x = as_parquet(tmp_path / "x", keyed(columns_of_every_kind()))
    memory = 4 * 10**9
    store = import_graph(edges, tmp_path / "store", x, memory=memory)
    settings = FDGCL(dim=4, epochs=1).check()
    diffuse_store(store, settings, memory=memory)
    train_store(store, settings, tmp_path / "run", tmp_path / "z", memory=memory)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["schema"]["table"] == store.manifest.feature_schema
    model = FDGCL.load(tmp_path / "run")
    graph = read_graph(edges, x, schema=model.feature_schema_)
    assert graph.features is not None
    np.testing.assert_array_equal(graph.features, stored_features(store))
    assert model.transform(graph).shape == (NODES, 4)


def test_a_store_of_an_earlier_version_opens(tmp_path: Path) -> None:
    store = import_in_pieces(
        tmp_path / "store", Request(as_csv(tmp_path / "e", ring())), TINY
    )
    path = store.folder / "manifest.json"
    value = json.loads(path.read_text())
    del value["reading"], value["feature_schema"]
    path.write_text(json.dumps(value))
    manifest = Store.open(store.folder).manifest
    assert (manifest.reading, manifest.feature_schema) == ((), None)


# Memory.


def test_too_little_memory_for_many_columns_of_text() -> None:
    cost = FitCost(width=400, texts=400, paged=True, row_bytes=4000)
    budget = Budget(memory=6 * 10**8, resident=2 * 10**8)
    with pytest.raises(InputError, match=r"at least 1\.\d+ GB to look at 400 columns"):
        budget.check_fit(cost)
    Budget(memory=2 * 10**9, resident=2 * 10**8).check_fit(cost)


def test_a_wide_table_is_looked_at_by_some_columns_at_a_time() -> None:
    cost = FitCost(width=5000, texts=0, paged=True, row_bytes=20_000)
    budget = Budget(memory=6 * 10**8, resident=2 * 10**8)
    budget.check_fit(cost)
    assert 8 <= cost.columns(budget.work) < 100
    assert cost.columns(10**12) == 5000


def test_a_plan_guesses_by_the_first_rows(tmp_path: Path) -> None:
    rows = 6000
    city = ["Oslo", "Rome"] * 2500 + ["Bern", "Bonn"] * 500
    edges = {"source": range(rows), "target": [*range(1, rows), 0]}
    columns = {"id": range(rows), "city": city, "f": np.arange(rows) % 9}
    request = Request(
        as_parquet(tmp_path / "e", edges), as_parquet(tmp_path / "x", columns)
    )
    plan = plan_import(request, resident_bytes() + 10**9)
    assert (plan.nodes, plan.features, plan.features_known) == (rows, 3, False)
