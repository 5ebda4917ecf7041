"""The theorem's numbers against closed forms; its words against made-up numbers."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import erfcx

from fdgcl import Graph
from fdgcl._checks import InputError
from fdgcl.diffusion import mittag_leffler
from fdgcl.experiments.experiment import Experiment
from fdgcl.experiments.loader import load_experiments
from fdgcl.experiments.measures import fourier
from fdgcl.experiments.measures.base import Record, Unit
from fdgcl.experiments.measures.expansion import (
    coefficients,
    log10_time,
    num_terms,
)
from fdgcl.experiments.measures.fourier import response, spectrum_of
from fdgcl.experiments.measures.theorem import Theorem
from fdgcl.experiments.measures.theorem_page import CLAIMS, judge
from fdgcl.graphs import block_model
from fdgcl.methods.fdgcl.preparation import DiffusionPreparation, prepare
from fdgcl.report.page import Figure, Section, Table, Text
from helpers.papers_method import papers_method
from tolerances import assert_agree

PATH = [(i, i + 1) for i in range(8)]
RING = [(i, (i + 1) % 9) for i in range(9)]
COMPLETE = [(i, j) for i in range(9) for j in range(i)]


def _graph(pairs: list[tuple[int, int]], nodes: int = 9) -> Graph:
    both = np.array([*pairs, *((j, i) for i, j in pairs)])
    x = np.random.default_rng(0).normal(size=(nodes, 3))
    return Graph.from_edges(both, features=x, num_nodes=nodes)


def _prepared(graph: Graph, **settings: Any) -> DiffusionPreparation:
    chosen = {"self_loops": 0.0, "rate": 1.0, "time": 4.0, "step": 0.5}
    return prepare(
        graph, papers_method(**{**chosen, **settings}, dtype="float64").check()
    )


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (PATH, [1 - math.cos(math.pi * k / 8) for k in range(9)]),
        (RING, [1 - math.cos(2 * math.pi * k / 9) for k in range(9)]),
        (COMPLETE, [0.0] + [9 / 8] * 8),
    ],
)
def test_known_spectra(pairs: list[tuple[int, int]], expected: list[float]) -> None:
    graph = _graph(pairs)
    found = spectrum_of(_prepared(graph))
    assert_agree(found.frequencies, sorted(expected))
    assert found.energies.sum() == pytest.approx(np.square(graph.features).sum())
    assert found.components == 1
    assert found.distinct == len(np.unique(np.round(expected, 9)))


def test_frequency_zero_is_the_mean_of_a_regular_graph() -> None:
    graph = _graph(RING)
    constant = graph.with_features(np.full((9, 1), 2.0))
    energies = spectrum_of(_prepared(constant)).energies
    assert_agree(energies, [36.0] + [0.0] * 8)


def test_the_largest_component_stands_for_the_graph() -> None:
    pairs = [*RING, (9, 10), (10, 11)]
    whole = spectrum_of(_prepared(_graph(pairs, nodes=13)))
    ring = _graph(RING)
    assert whole.components == 3
    assert whole.nodes == 13
    assert_agree(whole.frequencies, spectrum_of(_prepared(ring)).frequencies)


def test_directed_graphs_have_no_such_coefficients() -> None:
    graph = _graph(RING)
    directed = Graph.from_edges(np.array(RING), features=graph.features)
    with pytest.raises(InputError, match="direction 'symmetric'"):
        spectrum_of(_prepared(directed, direction="out"))
    with pytest.raises(InputError, match="normalization"):
        spectrum_of(_prepared(graph, normalization="row"))


@pytest.mark.parametrize("solver", ["exact", "predictor", "corrector", "l1", "gl"])
@pytest.mark.parametrize("order", [0.1, 0.6, 1.0])
def test_frequency_zero_is_left_alone(solver: str, order: float) -> None:
    graph = _graph(PATH)
    zero = np.zeros(1)
    alone = response(_prepared(graph), order, zero, solver)
    assert_agree(alone, [1.0])
    # With the input added after each of four stretches it is there five times.
    added = response(_prepared(graph, skip=4), order, zero, solver)
    assert_agree(added, [5.0])


def test_order_one_is_an_exponential() -> None:
    prepared = _prepared(_graph(PATH), rate=0.7)
    frequencies = spectrum_of(prepared).frequencies
    found = response(prepared, 1.0, frequencies, "exact")
    assert_agree(found, np.exp(-0.7 * frequencies * 4.0))


@pytest.mark.parametrize("solver", ["exact", "predictor"])
@pytest.mark.parametrize("skip", ["none", "end", "every-step"])
def test_filtering_frequencies_is_filtering_nodes(solver: str, skip: str) -> None:
    graph = block_model(60, num_classes=2, degree=6, num_features=4, seed=1)
    orders = (0.3, 1.0)
    prepared = _prepared(graph, solver=solver, skip=skip, self_loops=1.0, orders=orders)
    before = spectrum_of(prepared)
    assert before.components == 1
    x = torch.tensor(np.asarray(graph.features), dtype=torch.float64)
    for order, z in zip(orders, prepared.filters[0].apply(x), strict=True):
        after = spectrum_of(replace(prepared, data=graph.with_features(z.numpy())))
        expected = before.energies * response(prepared, order, before.frequencies) ** 2
        assert_agree(after.energies, expected)


def test_summaries_of_energies() -> None:
    even = np.ones(40)
    assert fourier.smooth_share(even) == pytest.approx(0.1)
    assert fourier.effective_count(even) == pytest.approx(40)
    assert fourier.effective_count(np.array([1e300, 0, 0])) == pytest.approx(1)
    steps = np.array([4.0, 0.0, 0.0, 1.0])
    assert fourier.cumulative(steps, 5) == pytest.approx([0, 0.8, 0.8, 0.8, 1])
    assert fourier.mean_frequency(np.arange(4.0), steps) == pytest.approx(0.6)
    # Bins of width 1: energies 4 and 0 share one, 9 has the last, an empty one is out.
    places, sizes = fourier.binned_size(
        np.array([0.0, 0.5, 3.0]), np.array([4.0, 0.0, 9.0]), bins=3
    )
    assert places == pytest.approx([0.5, 2.5])
    assert sizes == pytest.approx([math.sqrt(2), 3])


@pytest.mark.parametrize(
    ("order", "count"), [(0.01, 99), (0.1, 9), (0.4, 2), (0.5, 1), (0.9, 1), (1.0, 0)]
)
def test_number_of_slow_terms(order: float, count: int) -> None:
    assert num_terms(order) == count
    assert count * order < 1 <= (count + 1) * order + 1e-9


@pytest.mark.parametrize("order", [0.15, 0.3, 0.45])
@pytest.mark.parametrize("segments", [0, 1, 3])
def test_the_expansion_is_that_of_the_solution(order: float, segments: int) -> None:
    x = 200.0
    once = float(mittag_leffler(order, x))
    powers = range(1, max(segments, 1) + 1)
    exact = sum(once**power for power in powers)
    found = coefficients(order, segments, terms=4)
    errors = []
    for count in range(1, 5):
        terms = found[:count] * x ** -np.arange(1.0, count + 1)
        errors.append(abs(exact - terms.sum()))
    # Each further term gains more than an order of magnitude.
    assert all(b < a / 10 for a, b in pairwise(errors))
    wrong = np.abs(found) @ x ** -np.arange(1.0, 5)
    if segments == 0:
        assert abs(exact - wrong) > 10 * errors[1]


def test_signs_alternate_where_the_theorem_has_them_positive() -> None:
    assert np.sign(coefficients(0.1, 0)).tolist() == [1, -1, 1, -1, 1, -1, 1, -1, 1]
    # Order 1/2 is exp(x^2) erfc(x), whose expansion has odd powers alone.
    found = coefficients(0.5, 0, terms=3)
    root = math.sqrt(math.pi)
    assert_agree(found, [1 / root, 0, -1 / (2 * root)])
    # The next term is 3 / (4 x^4) of the first.
    two = found[0] / 30 + found[2] / 30**3
    assert erfcx(30.0) == pytest.approx(two, rel=3 / (4 * 30**4))


def test_when_the_expansion_sets_in() -> None:
    late = 10 ** log10_time(0.5, 0.5, 0.2)
    assert 0.5 * 0.2 * late**0.5 == pytest.approx(10)


def _experiment(**settings: Any) -> Experiment:
    chosen = {"orders": (0.1, 1.0), "time": 10.0, "step": 1.0, "rate": 0.5}
    model = papers_method(**{**chosen, **settings})
    return Experiment("theorem", "texas", "toy", "a toy", model.get_params())


def _measured(experiment: Experiment, graph: Graph) -> list[Record]:
    [unit] = Theorem().units(experiment, seeds=3)
    records = Theorem().run(experiment, unit, graph, "cpu")
    text = json.dumps(records, allow_nan=False)
    name = {"experiment": experiment.name, "part": unit.part, "seed": unit.seed}
    return [{**record, **name} for record in json.loads(text)]


def _texts(sections: list[Section]) -> str:
    blocks = [block for section in sections for block in section.blocks]
    return " ".join(block.text for block in blocks if isinstance(block, Text))


@pytest.fixture(scope="module")
def graph() -> Graph:
    return block_model(80, num_classes=2, degree=6, num_features=5, seed=0)


def test_all_holds_of_the_exact_solution_and_of_small_steps(graph: Graph) -> None:
    experiment = _experiment()
    records = _measured(experiment, graph)
    for solution in (r for r in records if r["what"] == "solution"):
        assert [finding.holds for finding in judge(solution)] == [True] * len(CLAIMS)
    sections = Theorem().show([experiment], records, {})
    assert "all 5 statements hold on Texas" in _texts(sections)
    figures = [b for s in sections for b in s.blocks if isinstance(b, Figure)]
    assert len({figure.name for figure in figures}) == len(figures) == 7
    assert all(figure.caption for figure in figures)


def test_steps_outside_the_stable_region_turn_it_round(graph: Graph) -> None:
    experiment = _experiment()
    large = replace(experiment, settings={**experiment.settings, "step": 5.0})
    records = _measured(large, graph)
    exact, stepped = (r for r in records if r["what"] == "solution")
    assert all(finding.holds for finding in judge(exact))
    falls, keeps, smoother, _, grows = (finding.holds for finding in judge(stepped))
    assert (falls, keeps, smoother, grows) == (False, False, False, False)
    assert stepped["views"][1]["peak"] > 5
    text = _texts(Theorem().show([large], records, {}))
    assert "On Texas" in text
    assert "it sharpens" in text


def test_the_words_follow_the_numbers(graph: Graph) -> None:
    experiment = _experiment()
    records = _measured(experiment, graph)
    turned = copy.deepcopy(records)
    for record in (r for r in turned if r["what"] == "solution"):
        record["views"].reverse()
        record["smaller_keeps_more"] = 1 - record["smaller_keeps_more"]
        record["smooth"].reverse()
        record["effective"].reverse()
        record["rank_correlation"] *= -1
    for record in (r for r in turned if r["what"] == "graph"):
        for entry in record["expansions"]:
            entry["positive"] = entry["terms"]
    before, after = (
        _texts(Theorem().show([experiment], found, {})) for found in (records, turned)
    )
    assert "all 5 statements hold" in before
    assert "statements hold" not in after
    assert "4 of 5 do not hold" in after
    assert "where the theorem states all" in before
    assert "all positive, as stated" in after
    table = next(
        block
        for block in Theorem().show([experiment], turned, {})[0].blocks
        if isinstance(block, Table)
    )
    assert table.strong == {(row, column) for row in (0, 1) for column in (2, 3, 4, 5)}


def test_nearly_all_is_not_all(graph: Graph) -> None:
    record = next(r for r in _measured(_experiment(), graph) if r["what"] == "solution")
    keeps = judge({**record, "smaller_keeps_more": 0.99999})[1]
    assert not keeps.holds
    assert "99.9 %" in keeps.numbers


def test_late_times_are_found() -> None:
    experiment = _experiment()
    records = _measured(experiment, _graph(RING))
    times = next(r for r in records if r["what"] == "times")
    for entry in times["pairs"]:
        small, large = entry["pair"]
        lam = (
            0.5 * (spectrum_of(_prepared(_graph(RING), self_loops=1.0)).frequencies[1:])
        )
        assert len(entry["shares"]) == len(times["times"])
        last = times["times"][-1]
        kept = mittag_leffler(small, lam * last**small) > mittag_leffler(
            large, lam * last**large
        )
        assert entry["shares"][-1] == pytest.approx(kept.mean())


def test_what_is_not_here_is_said() -> None:
    experiment = _experiment()
    other = replace(experiment, dataset="cora")
    text = _texts(Theorem().show([experiment, other], [], {"cora": "no cora.npz"}))
    assert "cora is not here: no cora.npz." in text
    assert "texas is not measured yet." in text


def test_the_table_is_whole() -> None:
    experiments = load_experiments("theorem")
    assert [e.dataset for e in experiments][:2] == ["cora", "wisconsin"]
    for experiment in experiments:
        assert experiment.settings["direction"] == "symmetric"
        assert experiment.label
        assert experiment.note
        assert Theorem().units(experiment, 10) == [
            Unit(experiment.name, "coefficients", 0)
        ]
