"""Spectra of graphs whose eigenvalues are known, and what diffusion does to them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.diffusion import Grand, Schedule
from fdgcl.diffusion.dynamics import GraphCon, Gread
from fdgcl.diffusion.stability import stability_report
from fdgcl.operators.in_memory import InMemoryOperator, build_operator
from fdgcl.report.spectrum import any_graph, filter_figure, spectral_density
from tolerances import assert_agree, half_digits


def operator_of(pairs: np.ndarray, nodes: int, **options: object) -> InMemoryOperator:
    ones = np.ones(len(pairs))
    adjacency = csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes))
    return build_operator(adjacency, **{"self_loops": 0.0, **options})


def cycle(n: int) -> tuple[InMemoryOperator, np.ndarray]:
    i = np.arange(n)
    values = 1 - np.cos(2 * np.pi * i / n)
    return operator_of(np.stack([i, (i + 1) % n], axis=1), n), values


def path(n: int) -> tuple[InMemoryOperator, np.ndarray]:
    i = np.arange(n - 1)
    values = 1 - np.cos(np.pi * np.arange(n) / (n - 1))
    return operator_of(np.stack([i, i + 1], axis=1), n), values


def star(n: int) -> tuple[InMemoryOperator, np.ndarray]:
    i = np.arange(1, n)
    values = np.array([0.0, *[1.0] * (n - 2), 2.0])
    return operator_of(np.stack([np.zeros_like(i), i], axis=1), n), values


def complete(n: int) -> tuple[InMemoryOperator, np.ndarray]:
    pairs = np.argwhere(~np.eye(n, dtype=bool))
    return operator_of(pairs, n), np.array([0.0, *[n / (n - 1)] * (n - 1)])


GRAPHS = [cycle, path, star, complete]


@pytest.mark.parametrize("make", GRAPHS)
@pytest.mark.parametrize("normalization", ["symmetric", "row", "column"])
def test_counted_eigenvalues(
    make: Callable[[int], tuple[InMemoryOperator, np.ndarray]], normalization: str
) -> None:
    operator, values = make(31)
    if normalization != "symmetric":
        adjacency = csr_array((operator.matrix.matrix != 0).astype(np.float64))
        operator = build_operator(
            adjacency, self_loops=0.0, normalization=normalization
        )
    found = spectral_density(operator, bins=37)
    assert found.exact
    assert_agree(found.edges[-1], values.max())
    # An eigenvalue at the edge of a bin may fall on either side.
    below = np.concatenate([[0], np.cumsum(found.shares)])
    slack = half_digits(values.dtype)
    low = np.array([(values < edge - slack).mean() for edge in found.edges])
    high = np.array([(values < edge + slack).mean() for edge in found.edges])
    assert np.all(below >= low - slack)
    assert np.all(below <= high + slack)


def test_self_loops_move_the_spectrum() -> None:
    n = 24
    i = np.arange(n)
    ring = operator_of(np.stack([i, (i + 1) % n], axis=1), n, self_loops=1.0)
    values = 1 - (1 + 2 * np.cos(2 * np.pi * i / n)) / 3
    found = spectral_density(ring, bins=10)
    assert_agree(found.edges[-1], values.max())
    expected = np.histogram(values + 1e-7, np.linspace(0, 1.3334, 11))[0] / n
    assert np.abs(np.cumsum(found.shares) - np.cumsum(expected)).max() < 3 / n


@pytest.mark.parametrize("make", GRAPHS[:2])
def test_estimated_density_of_spread_spectra(
    make: Callable[[int], tuple[InMemoryOperator, np.ndarray]],
) -> None:
    operator, values = make(3001)
    found = spectral_density(operator)
    assert not found.exact
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1)
    below = np.array([(values < edge).mean() for edge in found.edges[1:]])
    assert np.abs(np.cumsum(found.shares) - below).max() < 0.03


@pytest.mark.parametrize(("make", "atom"), [(star, 1.0), (complete, 300 / 299)])
def test_estimated_density_of_one_value(
    make: Callable[[int], tuple[InMemoryOperator, np.ndarray]], atom: float
) -> None:
    operator, _ = make(300)
    found = spectral_density(operator, exact_nodes=0)
    middle = (found.edges[:-1] + found.edges[1:]) / 2
    near = np.abs(middle - atom) < 2.5 * (middle[1] - middle[0])
    assert found.shares[near].sum() > 0.97
    assert found.shares.min() > -half_digits(found.shares.dtype)


def test_a_graph_without_edges() -> None:
    found = spectral_density(operator_of(np.zeros((0, 2), int), 5, self_loops=1.0))
    assert found.shares[0] == 1


def test_directed_graphs_have_no_density() -> None:
    i = np.arange(5)
    ring = operator_of(np.stack([i, (i + 1) % 5], axis=1), 5, direction="out")
    with pytest.raises(InputError, match="complex"):
        spectral_density(ring)


def test_gains_of_order_one() -> None:
    """Order 1 in explicit steps is Euler's method; the exact solution decays."""
    rate, step, steps = 0.5, 0.25, 4
    dynamics = Grand(rate=rate)
    schedule = Schedule(step * steps, step)
    report = stability_report(dynamics, path(7)[0], schedule, (0.3, 1.0))
    figure = filter_figure(dynamics, schedule, report, None, "caption")
    assert [one.dashed for one in figure.series] == [False, True, False, True]
    assert [one.color for one in figure.series] == [0, 0, 1, 1]
    stepped, exact = figure.series[2:]
    x = np.array(stepped.x)
    assert x[0] == 0
    assert_agree(x[-1], 2)
    assert_agree(stepped.y, (1 - step * rate * x) ** steps)
    assert_agree(exact.y, np.exp(-rate * x))
    assert not figure.log_y


def test_large_gains_are_drawn_as_powers() -> None:
    dynamics, schedule = Grand(rate=1.0), Schedule(30, 10)
    report = stability_report(dynamics, any_graph(), schedule, (1.0, 1.0))
    assert_agree(report.lambda_max, 2)
    figure = filter_figure(dynamics, schedule, report, None, "")
    x = np.array(figure.series[0].x)
    assert figure.log_y
    assert "|gain|" in figure.y_label
    assert_agree(figure.series[0].y, np.abs(1 - 10 * x) ** 3)


def test_the_exact_solver_is_drawn_once_and_the_density_behind() -> None:
    operator, _ = star(50)
    density = spectral_density(operator, bins=8)
    schedule = Schedule(1.0, 1.0, "exact")
    report = stability_report(Grand(), operator, schedule, (0.5, 1.0))
    figure = filter_figure(Grand(), schedule, report, density, "")
    first, second, behind = figure.series
    assert not any(one.dashed for one in (first, second))
    assert behind.secondary
    assert (behind.mark, len(behind.x), len(behind.y)) == ("step", 9, 9)


def test_an_oscillator_has_no_exact_solution_to_draw() -> None:
    operator, _ = star(12)
    schedule = Schedule(2.0, 0.5)
    report = stability_report(GraphCon(), operator, schedule, (0.5, 1.0))
    figure = filter_figure(GraphCon(), schedule, report, None, "")
    assert [one.dashed for one in figure.series] == [False, False]


def test_what_grows_has_no_exact_solution_to_draw() -> None:
    operator, _ = star(12)
    schedule = Schedule(2.0, 0.5)
    dynamics = Gread(trained=False, gamma=0.1, nu=2.0)
    report = stability_report(dynamics, operator, schedule, (1.0, 1.0))
    assert all(entry.grows for entry in report.orders)
    figure = filter_figure(dynamics, schedule, report, None, "")
    assert [one.dashed for one in figure.series] == [False, False]
