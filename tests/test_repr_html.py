"""What notebooks show of graphs and models: small tables in which texts stay texts."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL, Graph, GraphDataset, load_dataset
from fdgcl._html import table
from helpers.stores import make_store

HOSTILE = "<script>alert('x')</script>&\"\ud800"
QUICK: dict[str, Any] = {"dim": 8, "epochs": 2, "device": "cpu"}


class Page(HTMLParser):
    """The rows of a table by their first cell, and all tags and attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], "all that is opened is closed"
        cells = dict(zip(self.texts[1::2], self.texts[2::2], strict=True))
        self.title, self.rows = self.texts[0], cells

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(attrs)
        if tag in ("caption", "th", "td"):
            self.texts.append("")
        if tag == "br":
            self.texts[-1] += "\n"
        else:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["table"] and data.strip():
            self.texts[-1] += data


def page(shown: Any) -> Page:
    """What a notebook shows, which has neither scripts nor colours of its own."""
    html = shown._repr_html_()
    html.encode()
    found = Page(html)
    assert found.tags <= {"table", "caption", "b", "tr", "th", "td", "br"}
    assert {name for name, _ in found.attributes} == {"style"}
    assert "color" not in html
    assert "background" not in html
    return found


@pytest.fixture
def hostile() -> Graph:
    edges = [(0, 1), (1, 2), (2, 0), (2, 3)]
    types = [HOSTILE[:-1], "b", "b", "b"]
    graph = Graph.from_edges(edges, np.eye(4), edge_types=types, y=["u", "v", "u", "v"])
    return replace(graph, name=HOSTILE, source=HOSTILE, reading=(HOSTILE, "second"))


def test_a_graph_shows_what_it_is() -> None:
    shown = page(load_dataset("cora"))
    assert shown.title == "Graph cora"
    assert shown.rows["nodes"] == "2,708"
    assert shown.rows["edges"] == "10,556"
    assert shown.rows["features"] == "1,433"
    assert shown.rows["classes"] == "7"
    assert shown.rows["source"] == "bundled copy"
    assert shown.rows["splits"].endswith("x 1")
    assert "read as" not in shown.rows


def test_a_graph_of_tables_shows_how_it_was_read(tmp_path: Path) -> None:
    file = tmp_path / "e.csv"
    file.write_text("payer,payee,amount\n1,2,5\n2,3,5\n3,1,5\n")
    from fdgcl import read_graph

    shown = page(read_graph(file))
    assert shown.rows["read as"].startswith("edges: payer -> payee; ignored: amount")


def test_hostile_names_stay_text(hostile: Graph) -> None:
    text = HOSTILE[:-1] + "?"
    shown = page(hostile)
    assert shown.title == f"Graph {text}"
    assert shown.rows["source"] == text
    assert shown.rows["read as"] == f"{text}\nsecond"
    assert HOSTILE[:-1] in shown.rows["edge types"].split("\n")
    plain = replace(hostile, relations=None)
    many = page(GraphDataset(plain, np.array([0, 4]), name=HOSTILE))
    assert many.title == f"GraphDataset {text}"
    assert many.rows["read as"] == f"{text}\nsecond"


def test_a_dataset_shows_what_it_is(hostile: Graph) -> None:
    plain = replace(hostile, relations=None)
    shown = page(GraphDataset.from_graphs([plain] * 3, y=["a", "b", "a"], name="toys"))
    assert shown.title == "GraphDataset toys"
    rows = ("graphs", "nodes", "edges", "features", "classes", "source")
    found = [shown.rows[name] for name in rows]
    assert found == ["3", "12", "12", "4", "2", "graphs in memory"]


def test_a_model_shows_settings_and_training(hostile: Graph) -> None:
    model = FDGCL()
    assert page(model).rows == {"settings": "the defaults", "fitted": "not yet"}
    model = FDGCL(**QUICK, loss=HOSTILE)
    assert f"loss = {HOSTILE!r}" in page(model).rows["settings"].split("\n")
    model.set_params(loss="cosmean").fit(hostile)
    shown = page(model)
    assert shown.title == "FDGCL"
    changed = {"dim = 8", "epochs = 2", "device = 'cpu'", "loss = 'cosmean'"}
    assert set(shown.rows["settings"].split("\n")) == changed
    assert shown.rows["fitted"] == f"on {HOSTILE[:-1]}?, 4 nodes"
    assert shown.rows["epochs"] == "2"
    last = model.history_[-1]
    assert shown.rows["last loss"] == f"{last.loss:.4f}"
    assert shown.rows["effective ranks"].startswith(
        f"{last.effective_ranks[0]:.1f} and "
    )
    assert model.notices_
    assert shown.rows["notices"].split("\n") == [
        notice.replace("\ud800", "?") for notice in model.notices_
    ]


def test_a_model_without_epochs_shows_none(hostile: Graph) -> None:
    model = FDGCL(**{**QUICK, "epochs": 0}).fit(hostile)
    shown = page(model)
    assert shown.rows["epochs"] == "0"
    assert "last loss" not in shown.rows


def test_settings_that_are_arrays_are_shown() -> None:
    shown = page(FDGCL(orders=np.array([0.1, 0.9])))  # type: ignore[arg-type]
    assert shown.rows["settings"] == "orders = array([0.1, 0.9])"


def test_facts_that_are_not_there_are_left_out() -> None:
    rows: list[tuple[str, Any]] = [("a", 0), ("b", None), ("c", ()), ("d", "")]
    assert list(Page(table("t", rows)).rows) == ["a"]


def test_a_store(tmp_path: Path) -> None:
    store = make_store(tmp_path / "G", nodes=60, features=8)
    shown = Page(store._repr_html_())
    assert shown.title == f"Store {store.name}"
    assert (shown.rows["nodes"], shown.rows["features"]) == ("60", "8")
    assert shown.rows["folder"] == str(tmp_path / "G")
    # The manifest has a name for every feature, and there may be thousands.
    assert repr(store).startswith(f"Store({store.name!r}: 60 nodes, ")
    assert len(repr(store)) < 200 + len(str(store.folder)) + len(store.source)
