"""Curves of the losses: what is measured, and the words that follow from it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fdgcl import Graph, linear_probe
from fdgcl._checks import InputError
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.loader import load_experiments
from fdgcl.experiments.measures.base import Record, Unit
from fdgcl.experiments.measures.losses import LossCurves, grid
from fdgcl.graphs import block_model
from fdgcl.losses import LOSSES
from fdgcl.report.page import Figure, Section, Table, Text
from helpers.papers_method import papers_method
from tolerances import assert_agree


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(90, num_classes=3, degree=6, num_features=6, seed=0)


def _experiment(loss: str = "cosmean", **settings: Any) -> Experiment:
    chosen = {"time": 3.0, "step": 1.0, "dim": 6, "beta": 0.5, "loss": loss}
    params = papers_method(**{**chosen, **settings}).get_params()
    return Experiment("losses", "texas", loss, loss, params, {"epochs": 6, "splits": 2})


def _run(experiment: Experiment, graph: Graph, seed: int = 0) -> list[Record]:
    unit = Unit(experiment.name, "curve", seed)
    records = LossCurves().run(experiment, unit, graph, "cpu")
    name = {"experiment": experiment.name, "part": "curve", "seed": seed}
    text = json.dumps(records, allow_nan=False)
    return [{**record, **name} for record in json.loads(text)]


def test_the_grid_ends_where_training_does() -> None:
    assert grid(1) == (0, 1)
    assert grid(25) == (0, 1, 2, 5, 10, 20, 25)
    assert grid(100)[-3:] == (50, 75, 100)


def test_a_curve_is_what_the_probe_says_of_each_epoch(graph: Graph) -> None:
    experiment = _experiment()
    records = _run(experiment, graph, seed=3)
    assert [record["epoch"] for record in records] == [0, 1, 2, 5, 6]
    for record in (records[0], records[3]):
        model = experiment.model(epochs=record["epoch"], seed=3, device="cpu")
        embedding = model.fit_transform(graph)
        expected = linear_probe(embedding, graph.y, graph.splits)
        assert record["test"] == pytest.approx(expected.test[:2])
        assert record["val"] == pytest.approx(expected.val[:2])
        gram = np.square(np.linalg.svd(embedding, compute_uv=False))
        rank = gram.sum() ** 2 / np.square(gram).sum()
        assert_agree(record["rank"], rank, np.float32)
    assert "alignment" not in records[0]
    assert records[-1]["alignment"] > records[1]["alignment"]


def test_no_number_of_splits_means_all(graph: Graph) -> None:
    experiment = replace(_experiment(), options={"epochs": 1})
    assert graph.splits is not None
    [first, _] = _run(experiment, graph)
    assert len(first["test"]) == len(graph.splits)


@pytest.mark.parametrize(("size", "why"), [(1.0, "too large"), (1e10, "not finite")])
def test_training_that_diverges_is_a_finding(
    size: float, why: str, graph: Graph
) -> None:
    wild = _experiment("euclidean", standardize=False, lr=1e30, weight_decay=0.0)
    assert isinstance(graph.features, np.ndarray)
    records = _run(wild, graph.with_features(size * graph.features))
    assert why in records[-1]["failure"]
    assert all("test" in record for record in records[:-1])
    _, section = LossCurves().show([wild], records, {})
    assert any(why in b.text for b in section.blocks if isinstance(b, Text))


def test_graphs_without_splits_are_refused(graph: Graph) -> None:
    with pytest.raises(InputError, match="no splits"):
        _run(_experiment(), replace(graph, splits=None))


def _curve(experiment: Experiment, accuracies: list[float]) -> list[Record]:
    return [
        {
            "experiment": experiment.name,
            "seed": seed,
            "epoch": epoch,
            "test": [value - 0.01, value + 0.01],
            "rank": 4.0 + seed,
        }
        for seed in (0, 1)
        for epoch, value in zip((0, 1, 5), accuracies, strict=True)
    ]


def _told(sections: list[Section]) -> str:
    return " ".join(b.text for b in sections[0].blocks if isinstance(b, Text))


def test_the_words_follow_the_numbers() -> None:
    ours, other = _experiment("regularized-cosmean"), _experiment("vicreg")
    steady, falling = [0.5, 0.8, 0.79], [0.5, 0.7, 0.4]

    def told(first: list[float], second: list[float]) -> str:
        records = [*_curve(ours, first), *_curve(other, second)]
        return _told(LossCurves().show([ours, other], records, {}))

    good, bad = told(steady, falling), told(falling, steady)
    assert "regularized-cosmean 1.0, vicreg 30.0" in good
    assert (
        "the most stable holds here (by 29.0 points from vicreg, more than the "
        "deviation of 1.0 over seeds and splits)" in good
    )
    assert "1 loses more than 1 point (vicreg)" in good
    assert "that of regularized-cosmean, 79.0 %; it is the same" in good
    assert "the most stable does not hold here" in bad
    assert "0 lose more than 1 point." in bad
    assert "that of vicreg, 79.0 %; regularized-cosmean has 40.0" in bad
    close = told([0.5, 0.8, 0.79], [0.5, 0.8, 0.795])
    assert "does not hold here (by 0.5 points from vicreg, less than" in close


def test_means_and_deviations_are_over_seeds_and_splits() -> None:
    experiment = _experiment("vicreg")
    sections = LossCurves().show([experiment], _curve(experiment, [0.5, 0.7, 0.4]), {})
    accuracy, rank = (b for b in sections[1].blocks if isinstance(b, Figure))
    [series] = accuracy.series
    assert list(series.x) == [0, 1, 5]
    assert series.y == pytest.approx([50, 70, 40])
    assert series.error == pytest.approx([1, 1, 1])
    assert rank.series[0].y == pytest.approx([4.5, 4.5, 4.5])
    assert "2 splits, seeds 0 to 1" in accuracy.caption
    [table] = (b for b in sections[1].blocks if isinstance(b, Table))
    assert table.rows[0][1:5] == (
        "50.00",
        "70.00 (epoch 1)",
        "40.00 ± 1.00 (epoch 5)",
        "-30.00",
    )


def test_columns_as_they_are_have_a_section_of_their_own() -> None:
    usual = _experiment("vicreg")
    plain = replace(
        usual, variant="plain", settings={**usual.settings, "standardize": False}
    )
    records = [*_curve(usual, [0.5, 0.7, 0.4]), *_curve(plain, [0.5, 0.6, 0.6])]
    sections = LossCurves().show([usual, plain], records, {})
    titles = [section.title for section in sections[1:]]
    assert titles == ["Texas", "Texas, columns as they are"]
    names = [b.name for s in sections for b in s.blocks if isinstance(b, Figure)]
    assert len(set(names)) == len(names) == 4


def test_what_is_not_here_is_said() -> None:
    here, half = _experiment("vicreg"), _experiment("cosmean")
    other = replace(here, dataset="cora")
    records = _curve(here, [0.5, 0.7, 0.4])
    sections = LossCurves().show([here, half, other], records, {"cora": "no cora.npz"})
    told = _told(sections)
    assert "texas: not measured yet: cosmean." in told
    assert "cora is not here: no cora.npz." in told


def test_the_table_has_every_loss_on_every_dataset() -> None:
    experiments = load_experiments("losses")
    for dataset in ("cora", "wisconsin", "cornell", "squirrel"):
        usual = [
            e.settings["loss"]
            for e in experiments
            if e.dataset == dataset and e.settings["standardize"]
        ]
        assert sorted(usual) == sorted(LOSSES)
    assert {e.options["splits"] for e in experiments if e.dataset == "squirrel"} == {3}
    for experiment in experiments:
        assert experiment.note
