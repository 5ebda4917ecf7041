"""Distances, components and maps against plain computations; words against numbers."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl import FDGCL, Graph
from fdgcl._checks import InputError
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.loader import load_experiments
from fdgcl.experiments.measures import separation as separation_module
from fdgcl.experiments.measures.base import Record, Unit
from fdgcl.experiments.measures.separation import class_distances, separation
from fdgcl.experiments.measures.spread import (
    core_ratio,
    joint_map,
)
from fdgcl.experiments.measures.views import Views
from fdgcl.graphs import block_model
from fdgcl.report.page import Figure, Section, Text
from fdgcl.report.principal import principal
from tolerances import assert_agree, half_digits


def _by_hand(z: NDArray[Any], y: NDArray[np.int64]) -> tuple[list[float], list[float]]:
    """Mean distances by a loop over all pairs of nodes."""
    within, between = [], []
    for code in range(y.max() + 1):
        same, other = [], []
        for i, j in product(range(len(z)), repeat=2):
            if i == j or y[i] != code or y[j] < 0:
                continue
            distance = float(np.sqrt(np.square(z[i] - z[j]).sum()))
            (same if y[j] == code else other).append(distance)
        within.append(sum(same) / len(same))
        between.append(sum(other) / len(other))
    return within, between


@pytest.mark.parametrize("block", [2**24, 50])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_mean_distances_are_those_of_a_loop(
    block: int, shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(separation_module, "_BLOCK", block)
    rng = np.random.default_rng(0)
    z = (rng.normal(size=(30, 4)) + shift).astype(np.float32)
    y = rng.integers(-1, 3, 30)
    z[y == 1] *= 0.5
    within, between = _by_hand(z.astype(np.float64), y)
    found = class_distances(z, y)
    assert_agree(found[0], within, np.float32)
    assert_agree(found[1], between, np.float32)
    ratios = np.array(between) / within
    # Quotients of two such distances.
    both = 2 * half_digits(np.float32)
    assert separation(z, y) == pytest.approx(ratios, rel=both)
    assert separation(csr_array(z), y) == pytest.approx(ratios, rel=both)


def test_classes_that_are_points_have_no_ratio() -> None:
    y = np.array([0, 0, 1, 1])
    apart = np.array([[0.0], [0], [1], [2]])
    assert separation(apart, y)[0] > 1e38
    assert separation(np.zeros((4, 2)), y) == [0.0, 0.0]


@pytest.mark.parametrize("y", [[0, 0, 0], [0, 0, 1], [-1, -1, -1]])
def test_classes_too_small_are_refused(y: list[int]) -> None:
    with pytest.raises(InputError, match="two classes of two nodes"):
        separation(np.zeros((3, 2)), np.array(y))


def test_core_ratio_tells_a_core_from_even_spacing() -> None:
    angles = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert_agree(core_ratio(ring), 1)
    stragglers = np.where(np.arange(100)[:, None] % 5 == 0, 10 * ring, ring)
    assert_agree(core_ratio(stragglers), 10)
    assert core_ratio(np.ones((4, 2))) == 1


def test_maps_do_not_see_where_the_means_were() -> None:
    rng = np.random.default_rng(2)
    # Means of sixteen whole numbers are exact, with and without a shift: t-SNE, which
    # makes another map of other roundings, is given the very same rows.
    first, second = rng.integers(-9, 10, size=(2, 16, 5)).astype(np.float32)
    here = joint_map(first, second, seed=0)
    moved = joint_map(first + 4, second - 2, seed=0)
    assert [part.shape for part in here] == [(16, 2), (16, 2)]
    for part, other in zip(here, moved, strict=True):
        np.testing.assert_array_equal(part, other)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(60, num_classes=2, degree=6, num_features=5, seed=0)


def _experiment(**options: Any) -> Experiment:
    model = FDGCL(orders=(1.0, 0.2), time=3.0, step=1.0, dim=6, epochs=4, beta=0.4)
    settings = model.get_params()
    return Experiment("views", "texas", "toy", "a toy", settings, options)


def _run(experiment: Experiment, graph: Graph, seed: int = 1) -> list[Record]:
    unit = Unit(experiment.name, "views", seed)
    records = Views().run(experiment, unit, graph, "cpu")
    name = {"experiment": experiment.name, "part": "views", "seed": seed}
    text = json.dumps(records, allow_nan=False)
    return [{**record, **name} for record in json.loads(text)]


def test_records_are_those_of_the_model(graph: Graph) -> None:
    records = _run(_experiment(every=2), graph)
    y = graph.y
    assert y is not None
    model = _experiment().model(seed=1, device="cpu")
    embedding = model.fit_transform(graph)
    ratios = [r for r in records if r["what"] == "separation"]
    assert [r["epoch"] for r in ratios] == [0, 1, 2, 4]
    assert ratios[0]["ratios"] == pytest.approx(separation(graph.features, y))
    alike = half_digits(np.float32)
    assert ratios[-1]["ratios"] == pytest.approx(separation(embedding, y), rel=alike)
    first, second = model.views(graph)
    parts = [r for r in records if r["what"] == "components"]
    trained = {r["order"]: r for r in parts if r["stage"] == "trained"}
    assert sorted(trained) == [0.2, 1.0]
    for order, view in ((1.0, first), (0.2, second)):
        expected = principal(view).effective_rank
        assert trained[order]["effective"] == pytest.approx(expected, rel=alike)
    untrained = _experiment().model(seed=1, device="cpu", epochs=0).fit(graph)
    cores = [r for r in records if r["what"] == "cores" and r["stage"] == "untrained"]
    for record in cores:
        assert record["orders"] == [0.2, 1.0]
        small = untrained.views(graph)[1]
        expected = core_ratio(small[y == record["class"]])
        assert record["ratios"][0] == pytest.approx(expected, rel=alike)
    maps = [r for r in records if r["what"] == "map"]
    assert [r["class"] for r in maps] == [0, 1]
    assert maps[0]["nodes"] == np.flatnonzero(y == 0).tolist()


def test_the_class_of_choice_comes_first(graph: Graph) -> None:
    options = {"figures": ["maps"], "first_class": 1}
    records = _run(_experiment(**options), graph)
    assert {r["what"] for r in records} == {"cores", "map"}
    assert [r["class"] for r in records if r["what"] == "map"] == [1, 0]
    with pytest.raises(InputError, match="first_class"):
        _run(_experiment(figures=["maps"], first_class=7), graph)
    with pytest.raises(InputError, match=r"figure 'map'.*maps"):
        _run(_experiment(figures=["map"]), graph)


def test_unlabelled_graphs_are_refused(graph: Graph) -> None:
    with pytest.raises(InputError, match="no labels"):
        _run(_experiment(), replace(graph, y=None, splits=None, class_names=None))


def _texts(sections: list[Section]) -> list[str]:
    blocks = [block for section in sections for block in section.blocks]
    return [block.text for block in blocks if isinstance(block, Text)]


def test_the_words_follow_the_numbers(graph: Graph) -> None:
    experiment = _experiment()
    records = _run(experiment, graph)

    def told(better: bool) -> str:
        changed = copy.deepcopy(records)
        for record in changed:
            if record["what"] in ("cores", "map"):
                record["ratios"] = [2.0, 1.0] if better else [1.0, 2.0]
            if record["what"] == "components":
                spread = (record["order"] < 1) == better
                record["effective"] = 9.0 if spread else 3.0
                record["shares"] = [0.1, 0.05] if spread else [0.5, 0.2]
            if record["what"] == "separation":
                rise = record["epoch"] if better else -record["epoch"]
                record["ratios"] = [10.0 + rise, 10.0 + rise]
        return " ".join(_texts(Views().show([experiment], changed, {})))

    good, bad = told(True), told(False)
    assert "trained in 2 of 2 classes (holds for most)" in good
    assert "trained in 0 of 2 classes (does not hold for most)" in bad
    assert "more spread out holds here" in good
    assert "more spread out does not hold here" in bad
    assert "the ratio rises in 2 of 2 classes" in good
    assert "the ratio rises in 0 of 2 classes" in bad


def test_figures_have_captions_and_names_of_their_own(graph: Graph) -> None:
    experiment = _experiment()
    records = [*_run(experiment, graph, seed=0), *_run(experiment, graph, seed=1)]
    sections = Views().show([experiment], records, {})
    figures = [b for s in sections for b in s.blocks if isinstance(b, Figure)]
    # Two components, one separation, and the maps of the first seed alone.
    assert len({figure.name for figure in figures}) == len(figures) == 5
    for figure in figures:
        assert figure.caption
        assert "seed" in figure.caption
        for series in figure.series:
            assert len(series.x) == len(series.y) > 0
    assert "seeds 0 to 1" in figures[-1].caption


def test_what_is_not_here_is_said(graph: Graph) -> None:
    experiment = _experiment()
    other = replace(experiment, dataset="cora")
    found = _texts(Views().show([experiment, other], [], {"cora": "no cora.npz"}))
    assert found == ["texas is not measured yet.", "cora is not here: no cora.npz."]


def test_the_table_is_whole() -> None:
    experiments = {e.dataset: e for e in load_experiments("views")}
    assert set(experiments) == {"cora", "wisconsin", "squirrel"}
    assert experiments["wisconsin"].options["first_class"] == 2
    assert "maps" not in experiments["squirrel"].options["figures"]
