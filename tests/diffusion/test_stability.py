"""The stability report: its numbers and its sentences."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from fdgcl.diffusion import SOLVERS, Grand, Schedule, diffuse, frequency_response
from fdgcl.diffusion.stability import stability_report
from fdgcl.operators.in_memory import build_operator
from tolerances import half_digits

from .cases import (
    DIRECTED_GRAPHS,
    STEPPING,
    SYMMETRIC_GRAPHS,
    from_pairs,
    noise,
    random_symmetric,
)


@pytest.fixture(scope="module")
def operator():
    return build_operator(random_symmetric())


def test_numbers_of_a_ring():
    """Even ring without self-loops: lambda_max is 2, everything in closed form."""
    ring = from_pairs([(i, (i + 1) % 6) for i in range(6)], 6)
    operator = build_operator(ring, self_loops=0.0)
    report = stability_report(Grand(rate=0.5), operator, Schedule(6, 3), (1.0,))
    (entry,) = report.orders
    assert report.lambda_max == pytest.approx(2, rel=half_digits(np.float64))
    assert entry.load == pytest.approx(3 * 0.5 * 2)
    assert entry.limit == pytest.approx(2)
    assert entry.largest_stable_step == pytest.approx(2)
    # (1 - 1.5 * 2)^2 against 1.
    assert entry.gain_at_top == pytest.approx(4)
    assert entry.peak_gain == pytest.approx(4)
    assert entry.peak_frequency == pytest.approx(2)
    assert not report.is_stable
    assert report.amplifies
    assert report.describe() == [
        "order 1: unstable at step 3 (stable up to 2), amplifies frequency 2.00 by 4 "
        "against the constant signal"
    ]


def test_sentences_of_a_stable_run(operator):
    report = stability_report(Grand(), operator, Schedule(5, 0.5), (0.5, 1.0))
    assert report.is_stable
    assert not report.amplifies
    for sentence, order in zip(report.describe(), ("0.5", "1"), strict=True):
        assert sentence.startswith(f"order {order}: stable, no frequency amplified")


@pytest.mark.parametrize("solver", STEPPING)
@pytest.mark.parametrize("order", [0.1, 0.6, 1.0])
def test_the_largest_stable_step_is_the_turning_point(operator, solver, order):
    def report(step):
        schedule = Schedule(100 * step, step, solver)
        return stability_report(Grand(), operator, schedule, (order,)).orders[0]

    largest = report(1.0).largest_stable_step
    assert report(0.999 * largest).is_stable
    assert not report(1.001 * largest).is_stable
    # h^order is what counts, so a wide margin in h for small orders.
    assert not report(0.9 ** (1 / order) * largest).amplifies
    assert report(1.1 ** (1 / order) * largest).amplifies


@pytest.mark.parametrize("solver", STEPPING)
def test_gains_are_relative_to_the_constant_signal(operator, solver):
    schedule = Schedule(8, 2, solver, "every-step")
    dynamics = Grand()
    (entry,) = stability_report(dynamics, operator, schedule, (0.6,)).orders
    ends = torch.tensor([0.0, operator.lambda_max], dtype=torch.float64)
    at_zero, at_top = frequency_response(dynamics, schedule, 0.6, ends).abs().tolist()
    assert at_zero == pytest.approx(5)
    assert entry.gain_at_top == pytest.approx(at_top / at_zero)
    assert entry.peak_gain >= entry.gain_at_top


@pytest.mark.parametrize("graph", SYMMETRIC_GRAPHS | DIRECTED_GRAPHS)
@pytest.mark.parametrize("skip", ["none", "end"])
def test_the_exact_solution_is_stable_for_ever(graph, skip):
    adjacency = (SYMMETRIC_GRAPHS | DIRECTED_GRAPHS)[graph]
    operator = build_operator(adjacency, direction="out")
    schedule = Schedule(50, 10, "exact", skip)
    report = stability_report(Grand(), operator, schedule, (0.01, 0.9, 1.0))
    assert report.is_stable
    assert not report.amplifies
    assert all(entry.limit is None for entry in report.orders)
    assert all(entry.largest_stable_step is None for entry in report.orders)
    assert "stable, no frequency amplified" in report.describe()[0]


def test_small_orders_can_have_stable_steps_beyond_any_number(operator):
    """(limit / load) ^ (1 / order) overflows, and means that every step is stable."""
    report = stability_report(Grand(rate=0.1), operator, Schedule(2, 1.5), (0.001,))
    assert report.is_stable
    assert report.orders[0].largest_stable_step is None
    tiny = stability_report(Grand(rate=9.0), operator, Schedule(2, 1.5), (0.001,))
    assert not tiny.is_stable
    assert "stable up to 0)" in tiny.describe()[0]


def test_a_graph_without_edges_is_stable():
    lonely = build_operator(from_pairs([], 3))
    report = stability_report(Grand(), lonely, Schedule(50, 50), (0.5, 1.0))
    assert report.is_stable
    assert not report.amplifies


def test_a_directed_triangle_needs_smaller_steps_than_its_real_parts_say():
    """Eigenvalues 1.5 +- 0.87i: stable on the real axis up to h = 4/3, not off it."""
    triangle = from_pairs([(0, 1), (1, 2), (2, 0)], 3, both=False)
    operator = build_operator(triangle, direction="out", self_loops=0.0)
    x = noise(3)

    def growth(step):
        schedule = Schedule(200 * step, step)
        parts = (Grand(rate=1.0), operator)
        (end,) = diffuse(*parts, x, (1.0,), schedule, method="stepped")
        report = stability_report(*parts, schedule, (1.0,))
        return float(end.abs().max()), report

    size, report = growth(1.3)
    assert size > 1e6
    assert not report.is_stable
    assert report.amplifies
    size, report = growth(0.99 * report.orders[0].largest_stable_step)
    assert size < 10
    assert report.is_stable
    assert not report.amplifies


@pytest.mark.parametrize("graph", DIRECTED_GRAPHS)
@pytest.mark.parametrize("self_loops", [0.0, 1.0])
@pytest.mark.parametrize("solver", STEPPING)
def test_directed_gains_bound_those_of_every_eigenvalue(graph, self_loops, solver):
    operator = build_operator(
        DIRECTED_GRAPHS[graph], direction="out", self_loops=self_loops
    )
    values = np.linalg.eigvals(
        np.eye(operator.num_nodes) - operator.matrix.matrix.toarray()
    )
    # Defective eigenvalues are known to a root of the rounding error only.
    top = operator.lambda_max
    assert (np.abs(values - top / 2) <= top / 2 + 1e-3).all()
    dynamics, schedule = Grand(), Schedule(10, 2.5, solver)
    for order in (0.1, 1.0):
        (entry,) = stability_report(dynamics, operator, schedule, (order,)).orders
        gains = frequency_response(dynamics, schedule, order, torch.tensor(values))
        # What strays from the disc gains more, but of eighth degree at most: 8 * 1e-3.
        assert float(gains.abs().max()) <= entry.peak_gain * 1.01


def test_complex_frequencies_can_be_the_amplified_ones():
    """On a long directed ring whose real axis alone would look harmless."""
    nodes = 40
    ring = from_pairs([(i, (i + 1) % nodes) for i in range(nodes)], nodes, both=False)
    operator = build_operator(ring, direction="out", self_loops=0.0)
    dynamics, schedule = Grand(), Schedule(15, 5, "predictor", "end")
    (entry,) = stability_report(dynamics, operator, schedule, (0.3,)).orders
    axis = torch.linspace(0, 2, 257, dtype=torch.float64)
    most = float(frequency_response(dynamics, schedule, 0.3, axis).abs().max())
    assert most <= 2 * (1 + half_digits(np.float64))
    assert entry.amplifies
    # The constant signal doubles by the skip; a wave of the ring grows by more.
    waves = np.exp(2j * np.pi * np.outer(np.arange(nodes), np.arange(nodes)) / nodes)
    real, imaginary = torch.from_numpy(waves.real), torch.from_numpy(waves.imag)
    found = torch.complex(
        diffuse(dynamics, operator, real, (0.3,), schedule)[0],
        diffuse(dynamics, operator, imaginary, (0.3,), schedule)[0],
    )
    growth = float(found.abs().max()) / 2
    # A wave misses the peak by half of the angle between two at most, and the gain, of
    # third degree after three steps, is that much smaller there (Bernstein).
    lost = (3 * np.pi / nodes) ** 2 / 2
    assert growth == pytest.approx(entry.peak_gain, rel=lost)
    assert growth > 1.2


@pytest.mark.parametrize("solver", SOLVERS)
def test_is_plain_data(operator, solver):
    report = stability_report(Grand(), operator, Schedule(4, 1, solver), (0.5, 1.0))
    data = json.loads(json.dumps(report.to_dict()))
    assert data["step"] == 1
    assert [entry["order"] for entry in data["orders"]] == [0.5, 1.0]
    assert len(report.describe()) == 2
