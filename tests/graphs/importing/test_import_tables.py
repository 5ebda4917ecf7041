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
import pytest

from fdgcl import FDGCL
from fdgcl._checks import InputError
from fdgcl._memory import resident_bytes
from fdgcl.graphs import read_graph
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.importing import Request, featurefit, plan_import
from fdgcl.graphs.importing.budget import Budget
from fdgcl.graphs.importing.fitcost import FitCost
from fdgcl.graphs.store.store import Store
from fdgcl.methods.fdgcl.running import diffuse_store
from helpers.importing_twin import (
    SMALL,
    TINY,
    check,
    import_graph,
    import_in_pieces,
    stored_features,
)
from helpers.small_tables import (
    NODES,
    as_csv,
    as_parquet,
    columns_of_every_kind,
    keyed,
    ring,
)
from helpers.trainings import train_store


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)


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
    settings = FDGCL(dim=8, epochs=1).check()
    diffuse_store(store, settings, memory=memory)
    train_store(store, settings, tmp_path / "run", tmp_path / "z", memory=memory)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["schema"]["table"] == store.manifest.feature_schema
    model = FDGCL.load(tmp_path / "run")
    graph = read_graph(edges, x, schema=model.feature_schema_)
    assert graph.features is not None
    np.testing.assert_array_equal(graph.features, stored_features(store))
    assert model.transform(graph).shape == (NODES, 8)


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
