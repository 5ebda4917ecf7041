"""The diffusion as a function of frequency."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fdgcl._checks import InputError
from fdgcl.diffusion import (
    DYNAMICS,
    Grand,
    PolynomialFilter,
    Schedule,
    frequency_response,
)
from fdgcl.diffusion.mittag_leffler import mittag_leffler
from fdgcl.diffusion.spectral import chebyshev_coefficients, disc_coefficients
from fdgcl.operators.in_memory import build_operator
from fdgcl.operators.sparse import SparseMatrix
from tolerances import assert_agree

from .cases import (
    GRAPHS,
    ORDERS,
    REFERENCE_SCHEMES,
    STEPPING,
    SYMMETRIC_GRAPHS,
    noise,
    random_directed,
    random_symmetric,
)
from .contract import CASES, WITH_SYMBOL

RATE = 0.7
FREQUENCIES = torch.linspace(0, 2, 9, dtype=torch.float64)


@pytest.fixture(scope="module")
def dynamics():
    return Grand(rate=RATE)


@pytest.mark.parametrize("solver", ["predictor", "l1", "gl"])
def test_euler_is_a_power(dynamics, solver):
    schedule = Schedule(3, 0.25, solver)
    found = frequency_response(dynamics, schedule, 1.0, FREQUENCIES)
    assert_agree(found, (1 - 0.25 * RATE * FREQUENCIES) ** 12)


def test_heun_is_a_power(dynamics):
    schedule = Schedule(3, 0.25, "corrector")
    z = 0.25 * RATE * FREQUENCIES
    found = frequency_response(dynamics, schedule, 1.0, FREQUENCIES)
    assert_agree(found, (1 - z + z**2 / 2) ** 12)


@pytest.mark.parametrize("solver", STEPPING)
def test_skip_after_every_step_is_a_recursion(dynamics, solver):
    schedule = Schedule(3, 0.25, solver, "every-step")
    once = frequency_response(dynamics, Schedule(0.25, 0.25, solver), 0.6, FREQUENCIES)
    expected = torch.ones_like(FREQUENCIES)
    for _ in range(12):
        expected = once * expected + 1
    found = frequency_response(dynamics, schedule, 0.6, FREQUENCIES)
    assert_agree(found, expected)
    assert float(found[0]) == pytest.approx(13)


@pytest.mark.parametrize("solver", STEPPING)
@pytest.mark.parametrize("order", ORDERS)
def test_is_the_scheme_on_numbers(dynamics, solver, order):
    schedule = Schedule(3, 0.5, solver)
    found = frequency_response(dynamics, schedule, order, FREQUENCIES)
    expected = [
        REFERENCE_SCHEMES[solver](
            lambda _, y, m=RATE * frequency: -m * y, 1.0, order, 0.5, 6
        )[-1]
        for frequency in FREQUENCIES.tolist()
    ]
    assert_agree(found, expected)


@pytest.mark.parametrize("skip", ["none", "end", "every-step"])
@pytest.mark.parametrize("order", ORDERS)
def test_exact_response(dynamics, skip, order):
    schedule = Schedule(3, 0.5, "exact", skip)
    segments = {"none": 1, "end": 1, "every-step": 6}[skip]
    once = mittag_leffler(order, RATE * FREQUENCIES.numpy() * (3 / segments) ** order)
    expected = np.ones(9)
    for _ in range(segments):
        expected = expected * once + (skip != "none")
    found = frequency_response(dynamics, schedule, order, FREQUENCIES)
    assert_agree(found, expected)


def test_responses_at_conjugate_frequencies_are_conjugate(dynamics):
    frequency = torch.tensor([0.5 + 0.8j, 0.5 - 0.8j], dtype=torch.complex128)
    found = frequency_response(dynamics, Schedule(3, 0.5), 0.6, frequency)
    assert found.dtype == torch.complex128
    assert_agree(found[0], found[1].conj())
    assert float(found[0].imag.abs()) > 1e-3


def test_the_exact_solver_refuses_complex_frequencies(dynamics):
    frequency = torch.tensor([1 + 1j], dtype=torch.complex128)
    with pytest.raises(InputError, match="complex frequencies"):
        frequency_response(dynamics, Schedule(3, 3, "exact"), 0.6, frequency)


@pytest.mark.parametrize("order", [0.0, 1.5])
def test_refuses_other_orders(dynamics, order):
    with pytest.raises(InputError, match="order must lie in"):
        frequency_response(dynamics, Schedule(3, 1), order, FREQUENCIES)


@pytest.mark.parametrize("graph", SYMMETRIC_GRAPHS)
@pytest.mark.parametrize("solver", [*STEPPING, "exact"])
@pytest.mark.parametrize("skip", ["none", 2])
def test_multiplies_eigenvectors(graph, solver, skip):
    operator = build_operator(SYMMETRIC_GRAPHS[graph])
    dynamics, schedule = Grand(rate=RATE), Schedule(4, 0.5, solver, skip)
    laplacian = np.eye(operator.num_nodes) - operator.matrix.matrix.toarray()
    values, vectors = np.linalg.eigh(laplacian)
    vectors = torch.from_numpy(vectors)
    orders = (0.3, 1.0)
    filtered = PolynomialFilter.of(dynamics, operator, schedule, orders).apply(vectors)
    for order, found in zip(orders, filtered, strict=True):
        response = frequency_response(
            dynamics, schedule, order, torch.from_numpy(values.clip(0))
        )
        assert_agree(found, vectors * response)


# Coefficients: the interpolating polynomial is the response everywhere.


@pytest.mark.parametrize("solver", [*STEPPING, "exact"])
def test_chebyshev_terms_add_up_to_the_response(dynamics, solver):
    schedule = Schedule(6, 0.5, solver, "end")
    orders = (0.2, 0.9)
    top = build_operator(random_symmetric()).lambda_max
    rows = chebyshev_coefficients(dynamics, schedule, orders, top)
    grid = np.linspace(0, top, 57)
    for row, order in zip(rows, orders, strict=True):
        found = np.polynomial.chebyshev.chebval(2 * grid / top - 1, row)
        expected = frequency_response(dynamics, schedule, order, torch.tensor(grid))
        assert_agree(found, expected)


@pytest.mark.parametrize("solver", STEPPING)
def test_powers_add_up_to_the_response_in_the_disc(dynamics, solver):
    schedule = Schedule(6, 0.5, solver, "end")
    rng = np.random.default_rng(0)
    inside = np.sqrt(rng.random(50)) * np.exp(2j * np.pi * rng.random(50))
    for order in (0.2, 0.9):
        (row,) = disc_coefficients(dynamics, schedule, (order,))
        found = np.polynomial.polynomial.polyval(inside, row)
        expected = frequency_response(
            dynamics, schedule, order, torch.tensor(1 - inside)
        )
        assert_agree(found, expected)


def test_exact_powers_add_up_to_the_response_on_the_axis(dynamics):
    schedule = Schedule(9, 3, "exact", "every-step")
    grid = np.linspace(-1, 1, 21)
    rows = disc_coefficients(dynamics, schedule, (0.2, 0.9, 1.0))
    for row, order in zip(rows, (0.2, 0.9, 1.0), strict=True):
        found = np.polynomial.polynomial.polyval(grid, row)
        expected = frequency_response(dynamics, schedule, order, torch.tensor(1 - grid))
        assert_agree(found, expected)


@pytest.mark.parametrize("time", [1.0, 1e2, 1e4])
def test_exact_needs_few_terms(dynamics, time):
    """About as many products as the square root of the time."""
    top = build_operator(random_symmetric()).lambda_max
    schedule = Schedule(time, time, "exact")
    found = chebyshev_coefficients(dynamics, schedule, (1.0,), top)
    assert found.shape[1] < 12 + 6 * np.sqrt(time)


def test_late_in_time_only_the_constant_signal_is_left(dynamics):
    """The response is 1 at frequency 0 and vanishes at every node of a coarse grid."""
    top = build_operator(random_symmetric()).lambda_max
    schedule = Schedule(4e5, 4e5, "exact")
    found = chebyshev_coefficients(dynamics, schedule, (1.0,), top)
    at_zero = np.polynomial.chebyshev.chebval(-1, found[0])
    assert_agree(at_zero, 1)


# What a fixed linear dynamics must be.


@pytest.mark.parametrize("name", DYNAMICS)
def test_the_registry_names_what_it_holds(name):
    assert DYNAMICS[name].name == name


@pytest.mark.parametrize("case", WITH_SYMBOL, ids=str)
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_symbol_is_the_right_hand_side_on_eigenvectors(case, graph, monkeypatch):
    operator = build_operator(GRAPHS[graph], normalization="row")
    dynamics = case.build()
    laplacian = np.eye(operator.num_nodes) - operator.matrix.matrix.toarray()
    values, vectors = map(torch.from_numpy, np.linalg.eig(laplacian))
    calls = []
    apply = SparseMatrix.apply
    monkeypatch.setattr(
        SparseMatrix, "apply", lambda self, x: calls.append(1) or apply(self, x)
    )
    real = vectors.real.contiguous()
    slope = dynamics.start(operator, real).rhs(0.0, real)
    assert len(calls) == dynamics.products
    expected = (vectors * dynamics.symbol(values)).real
    assert_agree(slope, expected)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_symbol_where_one_is_declared(case):
    dynamics = case.build()
    assert dynamics.is_fixed_linear or not dynamics.has_symbol
    if not dynamics.has_symbol:
        with pytest.raises(InputError, match=f"{case.name!r} is not a function of"):
            dynamics.symbol(FREQUENCIES)
    if not dynamics.is_fixed_linear:
        with pytest.raises(InputError, match=f"{case.name!r} is not linear"):
            frequency_response(dynamics, Schedule(3, 1), 0.5, FREQUENCIES)


@pytest.mark.parametrize("rate", [0, -1.0, float("nan")])
def test_grand_refuses_rates_that_do_not_diffuse(rate):
    with pytest.raises(InputError, match="rate must be"):
        Grand(rate=rate)


def test_grand_is_minus_the_laplacian():
    operator = build_operator(random_directed(9, 2), direction="in")
    x = noise(9)
    matrix = torch.from_numpy(operator.matrix.matrix.toarray())
    found = Grand(rate=0.3).start(operator, x).rhs(1.0, x)
    assert_agree(found, -0.3 * (x - matrix @ x))
