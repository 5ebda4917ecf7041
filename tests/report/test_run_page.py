"""The report of a run of any method: what it has, and what it leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdgcl import FDGCL, block_model
from fdgcl.estimators import estimator_of
from fdgcl.methods import METHODS, find_method
from fdgcl.report.page import Figure, Listing, Page, Section, Table, Text
from fdgcl.report.run_page import Embedded, Findings, Spectrum, run_page
from fdgcl.report.spectrum import any_graph
from fdgcl.run_folder import RunFolder

QUICK = {
    "fdgcl": {"dim": 3, "epochs": 2, "orders": (0.5, 1.0)},
    "gcn": {"dim": 3, "epochs": 2},
    "cca-ssg": {"hidden": 6, "dim": 3, "epochs": 2},
    "bgrl": {"hidden": 6, "dim": 3, "predictor": 6, "epochs": 2},
}
WITH_VIEWS = {"fdgcl": ["view of order 0.5", "view of order 1"]}
WITH_VIEWS["gcn"] = ["view 1", "view 2"]


def findings(method: str, folder: Path, **changes: Any) -> Findings:
    graph = block_model(30, 2, num_features=4, seed=0)
    model = estimator_of(method)(**QUICK[method], device="cpu").fit(graph, run=folder)
    z = model.transform(graph)
    known: dict[str, Any] = {
        "config": RunFolder(folder).read_config(),
        "history": [record.to_dict() for record in model.history_],
        "finished": True,
        "spectrum": Spectrum(any_graph(), None, "") if method == "fdgcl" else None,
        "embedded": Embedded(np.arange(len(z)), z),
        "views": model.views(graph) if method in WITH_VIEWS else None,
    }
    return Findings(**{**known, **changes})


def section(page: Page, title: str) -> Section:
    (found,) = [one for one in page.sections if one.title == title]
    return found


def figures(page: Page) -> dict[str, Figure]:
    blocks = [block for one in page.sections for block in one.blocks]
    return {one.name: one for one in blocks if isinstance(one, Figure)}


def test_every_method_is_tried() -> None:
    assert QUICK.keys() == METHODS.keys()


@pytest.mark.parametrize("method", METHODS)
def test_a_run_of_any_method_has_a_page(method: str, tmp_path: Path) -> None:
    found = findings(method, tmp_path)
    page, title = run_page(found), find_method(method).title
    assert page.title.endswith(f": report of a run of {title}")
    assert page.summary.startswith("30 nodes embedded in 3 dimensions after 2 epochs")
    titles = [one.title for one in page.sections]
    assert ("Frequencies" in titles) is (method == "fdgcl")
    assert ("The parts of the embedding" in titles) is (method == "fdgcl")
    own = ("Frequencies", "The parts of the embedding")
    assert [one for one in titles if one not in own] == [
        "At a glance",
        "The embedding",
        "Training",
        "Principal components",
        "Settings",
    ]
    (glance,) = section(page, "At a glance").blocks
    assert isinstance(glance, Table)
    told = dict(zip(glance.columns, glance.rows[0], strict=True))
    assert (told["method"], told["dimensions"], told["epochs"]) == (title, "3", "2")
    (table,) = section(page, "Settings").blocks
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == list(found.config.settings.to_dict())


@pytest.mark.parametrize("method", METHODS)
def test_the_course_of_training_has_a_curve_a_view(method: str, tmp_path: Path) -> None:
    found = findings(method, tmp_path)
    ranks = figures(run_page(found))["effective-ranks"].series
    orders = [" (order 0.5)", " (order 1)"] if method == "fdgcl" else ["", ""]
    assert [one.name for one in ranks] == [
        f"view {place}{order}" for place, order in enumerate(orders, start=1)
    ]
    for place, one in enumerate(ranks, start=1):
        expected = [record[f"effective_rank_{place}"] for record in found.history]
        assert list(one.y) == expected


@pytest.mark.parametrize("method", WITH_VIEWS)
def test_views_are_named_by_order_or_number(method: str, tmp_path: Path) -> None:
    page = run_page(findings(method, tmp_path))
    texts = str(section(page, "Principal components"))
    for name in WITH_VIEWS[method]:
        assert name in texts


@pytest.mark.parametrize("method", METHODS)
def test_without_an_embedding_the_width_may_be_unknown(
    method: str, tmp_path: Path
) -> None:
    found = findings(method, tmp_path, embedded=None, views=None, finished=False)
    page = run_page(found)
    width = " in 3 dimensions" if method == "fdgcl" else ""
    assert page.summary.startswith(f"30 nodes to be embedded{width}; unfinished")
    (glance,) = section(page, "At a glance").blocks
    assert isinstance(glance, Table)
    assert ("dimensions" in glance.columns) is (method == "fdgcl")


def test_parts_have_their_columns_weights_and_reasons(tmp_path: Path) -> None:
    graph = block_model(60, 2, homophily=0.9, num_features=12, directed=True, seed=0)
    model = FDGCL(dim=16, epochs=1).fit(graph, run=tmp_path / "r")
    found = Findings(
        model.config,
        history=(),
        finished=True,
        spectrum=None,
        part_columns=model.part_columns_,
    )
    table, listing = (
        one
        for one in section(run_page(found), "The parts of the embedding").blocks
        if not isinstance(one, Text)
    )
    assert isinstance(table, Table)
    assert isinstance(listing, Listing)
    assert [row[0] for row in table.rows] == [
        "view of order 0.01",
        "view of order 1",
        "the features",
        "the features, diffused by the last order",
        "means over the nodes that a node points to",
        "means over the nodes that point to a node",
    ]
    assert [row[2] for row in table.rows] == [str(n) for n in model.part_columns_]
    assert sum(model.part_columns_) == 16
    assert max(float(row[3]) for row in table.rows) == 1
    assert "of a node's hidden features" in listing.lines[0]


@pytest.mark.parametrize(("dim", "kept"), [(9, "not known"), (600, "12")])
def test_columns_kept_are_not_guessed(dim: int, kept: str, tmp_path: Path) -> None:
    graph = block_model(60, 2, num_features=12, seed=0)
    model = FDGCL(dim=dim, epochs=1).fit(graph, run=tmp_path / "r")
    found = Findings(model.config, history=(), finished=False, spectrum=None)
    blocks = section(run_page(found), "The parts of the embedding").blocks
    (table,) = (one for one in blocks if isinstance(one, Table))
    assert table.rows[2][1:3] == ("12", kept)
