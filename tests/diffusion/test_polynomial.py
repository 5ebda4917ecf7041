"""One pass over the graph equals the stepped solver, and costs what it says."""

from __future__ import annotations

from functools import cache, partial

import mpmath
import numpy as np
import pytest
import torch
from scipy.linalg import expm

from fdgcl._checks import InputError
from fdgcl.diffusion import (
    Grand,
    PolynomialFilter,
    Schedule,
    diffuse,
    expansion,
    filter_with_gradient,
    polynomial,
)
from fdgcl.diffusion.mittag_leffler import mittag_leffler
from fdgcl.graphs import load_dataset, read_compact
from fdgcl.operators.in_memory import build_operator
from fdgcl.operators.sparse import SparseMatrix
from tolerances import assert_agree, half_digits, unit_roundoff

from .cases import (
    DIRECTED_GRAPHS,
    GRAPHS,
    PAPER,
    STEPPING,
    SYMMETRIC_GRAPHS,
    noise,
    random_directed,
    random_symmetric,
    relative,
)
from .contract import LINEAR

NORMALIZATIONS = ("symmetric", "row", "column")
SKIPS = ("none", "end", "every-step")


@cache
def operator_of(graph, normalization="symmetric"):
    if graph == "cora":
        adjacency, direction = load_dataset("cora-bundled").adjacency, "symmetric"
    else:
        adjacency, direction = random_directed(), "out"
    return build_operator(adjacency, direction=direction, normalization=normalization)


def dense(operator):
    return operator.matrix.matrix.toarray()


def compare(dynamics, operator, schedule, orders, x):
    """Relative errors of the polynomial in float32 and float64."""
    expected = diffuse(dynamics, operator, x, orders, schedule, method="stepped")
    worst = []
    for dtype in (torch.float32, torch.float64):
        found = diffuse(
            dynamics, operator, x.to(dtype), orders, schedule, method="polynomial"
        )
        assert all(z.dtype == dtype for z in found)
        worst.append(max(map(relative, found, expected)))
    return worst


@pytest.mark.parametrize("graph", ["cora", "directed"])
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("solver", STEPPING)
@pytest.mark.parametrize("skip", SKIPS)
def test_equals_stepping_at_the_papers_settings(graph, normalization, solver, skip):
    operator = operator_of(graph, normalization)
    x = noise(operator.num_nodes)
    for name, (time, step, order) in PAPER.items():
        schedule = Schedule(time, step, solver, skip)
        single, double = compare(Grand(), operator, schedule, (order, 1.0), x)
        assert single < half_digits(torch.float32), name
        assert double < half_digits(torch.float64), name


@pytest.mark.dataset
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_equals_stepping_on_chameleon(data_root, normalization):
    adjacency = read_compact(data_root / "chameleon.npz").adjacency
    operator = build_operator(adjacency, direction="out", normalization=normalization)
    x = noise(operator.num_nodes)
    for time, step, order in PAPER.values():
        for skip in SKIPS:
            schedule = Schedule(time, step, "predictor", skip)
            single, double = compare(Grand(), operator, schedule, (order, 1.0), x)
            assert single < half_digits(torch.float32)
            assert double < half_digits(torch.float64)


@pytest.mark.parametrize("case", LINEAR, ids=str)
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("solver", STEPPING)
def test_equals_stepping_on_every_kind_of_graph(case, graph, solver):
    # Heat diffusion on every operator; the others take their products in the same way.
    heat = case.name == "grand"
    for direction in ("symmetric", "out", "in") if heat else ("out",):
        for self_loops in (0.0, 1.0) if heat else (0.5,):
            operator = build_operator(
                GRAPHS[graph], direction=direction, self_loops=self_loops
            )
            schedule = Schedule(4, 0.5, solver, skip=2)
            x = noise(operator.num_nodes)
            found = compare(case.build(), operator, schedule, (0.2, 0.7, 1.0), x)
            single, double = found
            assert single < half_digits(torch.float32)
            assert double < half_digits(torch.float64)


@pytest.mark.parametrize("graph", ["cora", "directed"])
@pytest.mark.parametrize("solver", STEPPING)
def test_equals_stepping_with_a_memory_window(graph, solver):
    operator = operator_of(graph)
    schedule = Schedule(5, 0.5, solver, window=3)
    x = noise(operator.num_nodes)
    _, double = compare(Grand(), operator, schedule, (0.3, 1.0), x)
    assert double < half_digits(torch.float64)
    full = diffuse(Grand(), operator, x, (0.3,), Schedule(5, 0.5, solver))
    windowed = diffuse(Grand(), operator, x, (0.3,), schedule)
    assert relative(windowed[0], full[0]) > 1e-3


# The number of sparse products.


@pytest.fixture
def products(monkeypatch):
    """Columns of every product with the graph, as they happen."""
    seen = []

    def counted(method):
        def counting(self, x, *args, **kwargs):
            if x.ndim == 2:  # vectors look for the spectrum, once for a graph
                seen.append(x.shape[1])
            return method(self, x, *args, **kwargs)

        return counting

    for name in ("apply", "add_product"):
        monkeypatch.setattr(SparseMatrix, name, counted(getattr(SparseMatrix, name)))
    return seen


@pytest.mark.parametrize("graph", ["cora", "directed"])
@pytest.mark.parametrize("orders", [(0.3,), (0.3, 1.0), (0.1, 0.3, 0.5, 0.7, 1.0)])
@pytest.mark.parametrize(("solver", "each"), [("predictor", 1), ("corrector", 2)])
def test_orders_share_the_products(products, graph, orders, solver, each):
    operator = operator_of(graph)
    schedule = Schedule(7, 1, solver, "every-step")
    x = noise(operator.num_nodes)
    found = PolynomialFilter.of(Grand(), operator, schedule, orders)
    assert found.products == 7 * each
    assert not products
    found.apply(x)
    assert products == [2] * (7 * each)
    products.clear()
    diffuse(Grand(), operator, x, orders, schedule, method="stepped")
    assert len(products) == 7 * each * len(orders)


def test_column_blocks_cost_their_products_and_change_nothing(products):
    operator = operator_of("directed")
    found = PolynomialFilter.of(Grand(), operator, Schedule(7, 1), (0.3, 1.0))
    x = noise(operator.num_nodes, 10)
    whole = found.apply(x)
    products.clear()
    done = []
    parts = found.apply(x, block=4, progress=lambda *args: done.append(args))
    assert products == [4] * 7 + [4] * 7 + [2] * 7
    assert done == [(4, 10), (8, 10), (10, 10)]
    for part, all_at_once in zip(parts, whole, strict=True):
        assert_agree(part, all_at_once)


def test_blocks_follow_the_memory_budget(monkeypatch):
    found = PolynomialFilter.of(
        Grand(), operator_of("cora"), Schedule(7, 1), (0.3, 1.0)
    )
    # One term of the basis: 2,708 rows of four bytes, or of eight.
    monkeypatch.setattr(polynomial, "CACHED_BYTES", 100 * 2708 * 4)
    monkeypatch.setattr(polynomial, "DEVICE_BYTES", 200 * 2708 * 4)
    here, there = torch.device("cpu"), torch.device("meta")
    assert found.column_block(1433, torch.float32, here) == 100
    assert found.column_block(1433, torch.float64, here) == 50
    assert found.column_block(40, torch.float32, here) == 40
    assert found.column_block(1433, torch.float32, there) == 200
    monkeypatch.setattr(polynomial, "CACHED_BYTES", 1)
    assert found.column_block(1433, torch.float32, here) == 32
    assert found.column_block(3, torch.float32, here) == 3


# Cancellation.


def test_cancelling_terms_are_summed_in_float64(monkeypatch):
    operator = operator_of("directed")
    dynamics, schedule = Grand(), Schedule(30, 3, "corrector")
    x = noise(operator.num_nodes).float().double()
    expected = diffuse(dynamics, operator, x, (1.0,), schedule, method="stepped")[0]
    # The result is rounded to float32, and nothing before it.
    rounding = unit_roundoff(torch.float32) + half_digits(torch.float64)
    careful = PolynomialFilter.of(dynamics, operator, schedule, (1.0,))
    assert careful.needs_float64
    found = careful.apply(x.float())[0]
    assert found.dtype == torch.float32
    assert relative(found, expected) < rounding
    monkeypatch.setattr(expansion, "FLOAT32_GROWTH", np.inf)
    careless = PolynomialFilter.of(dynamics, operator, schedule, (1.0,))
    assert not careless.needs_float64
    assert relative(careless.apply(x.float())[0], expected) > 100 * rounding


def test_stable_filters_stay_in_the_given_type():
    found = PolynomialFilter.of(
        Grand(), operator_of("cora"), Schedule(20, 1), (0.01, 1)
    )
    assert not found.needs_float64


# The exact solver.


def spectral_function(operator, function):
    """function(L) as a dense matrix, through eigenvectors."""
    values, vectors = np.linalg.eig(np.eye(operator.num_nodes) - dense(operator))
    result = vectors @ np.diag(function(values)) @ np.linalg.inv(vectors)
    assert_agree(result.imag, np.zeros(result.shape), size=np.abs(result).max())
    return result.real


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("time", [0.5, 30.0])
@pytest.mark.parametrize("order", [0.01, 0.3, 0.6, 0.9, 1.0])
def test_exact_is_the_function_of_the_matrix(normalization, time, order):
    operator = build_operator(random_symmetric(), normalization=normalization)

    def response(values):
        return mittag_leffler(order, 0.5 * values.clip(0) * time**order)

    x = noise(operator.num_nodes)
    expected = torch.from_numpy(spectral_function(operator, response)) @ x
    schedule = Schedule(time, time, "exact")
    found = diffuse(Grand(), operator, x, (order,), schedule)[0]
    assert_agree(found, expected)
    single = diffuse(Grand(), operator, x.float(), (order,), schedule)[0]
    assert_agree(single, expected)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("direction", ["out", "in"])
@pytest.mark.parametrize("time", [0.5, 30.0])
def test_exact_at_order_one_is_the_exponential(graph, direction, time):
    for normalization in NORMALIZATIONS:
        operator = build_operator(
            GRAPHS[graph], direction=direction, normalization=normalization
        )
        laplacian = np.eye(operator.num_nodes) - dense(operator)
        x = noise(operator.num_nodes)
        expected = torch.from_numpy(expm(-0.5 * time * laplacian)) @ x
        found = diffuse(Grand(), operator, x, (1.0,), Schedule(time, time, "exact"))[0]
        assert_agree(found, expected)


def mittag_leffler_complex(order, x):
    """E_order(-x) for complex x by its power series, in multi-precision."""
    with mpmath.workdps(60):
        a, x = mpmath.mpf(order), mpmath.mpmathify(x)
        terms = ((-x) ** k / mpmath.gamma(a * k + 1) for k in range(250))
        return complex(mpmath.fsum(terms))


@pytest.mark.parametrize("order", [0.6, 0.9, 0.99])
def test_exact_on_a_directed_ring(order):
    """Its eigenvalues lie on the unit circle: every coefficient must be right."""
    time = 30.0 if order > 0.7 else 10.0
    operator = build_operator(
        DIRECTED_GRAPHS["directed ring"], direction="out", self_loops=0.0
    )

    def response(values):
        scale = 0.5 * time**order
        return np.array([mittag_leffler_complex(order, scale * v) for v in values])

    x = noise(operator.num_nodes)
    expected = torch.from_numpy(spectral_function(operator, response)) @ x
    found = diffuse(Grand(), operator, x, (order,), Schedule(time, time, "exact"))[0]
    assert_agree(found, expected)


@pytest.mark.parametrize("graph", ["ring", "weighted and directed"])
@pytest.mark.parametrize("order", [0.3, 1.0])
def test_exact_takes_skips(graph, order):
    """Each segment is an exact solution by itself, from the state it starts with."""
    operator = build_operator(GRAPHS[graph], direction="out")
    x = noise(operator.num_nodes)
    whole = diffuse(Grand(), operator, x, (order,), Schedule(6, 1, "exact", skip=3))[0]
    state = x
    for _ in range(3):
        once = Schedule(2, 1, "exact")
        state = diffuse(Grand(), operator, state, (order,), once)[0] + x
    assert_agree(whole, state)


@pytest.mark.parametrize("solver", STEPPING)
def test_steps_tend_to_the_exact_solution(solver):
    operator = operator_of("directed")
    x = noise(operator.num_nodes)
    exact = diffuse(Grand(), operator, x, (0.6,), Schedule(2, 2, "exact"))[0]
    errors = [
        relative(
            diffuse(Grand(), operator, x, (0.6,), Schedule(2, h, solver))[0], exact
        )
        for h in (0.2, 0.05, 0.0125)
    ]
    assert errors == sorted(errors, reverse=True)
    # At least of first order in the step.
    assert errors[-1] < 0.0125


@pytest.mark.parametrize(
    ("graph", "order", "time"),
    [("cora", 1.0, 1e9), ("directed", 1.0, 1e5), ("directed", 0.9, 1e9)],
)
def test_exact_says_when_it_is_out_of_reach(graph, order, time):
    operator, schedule = operator_of(graph), Schedule(time, time, "exact")
    with pytest.raises(InputError, match="choose a smaller time or rate"):
        PolynomialFilter.of(Grand(), operator, schedule, (order,))


# Gradients.


def five_nodes(kind):
    if kind == "directed":
        return build_operator(random_directed(5, 2), direction="out")
    return build_operator(random_symmetric(5, seed=3), normalization=kind)


@pytest.mark.parametrize("kind", [*NORMALIZATIONS, "directed"])
@pytest.mark.parametrize("solver", ["predictor", "corrector", "exact"])
def test_filters_inside_training_have_the_right_gradient(kind, solver):
    operator = five_nodes(kind)
    schedule = Schedule(3, 1, solver, "end")
    found = PolynomialFilter.of(Grand(), operator, schedule, (0.4, 1.0))
    x = noise(5, 3).requires_grad_()
    for index in range(2):
        function = partial(filter_with_gradient, found.row(index))
        assert_agree(function(x), found.apply(x.detach())[index])
        assert torch.autograd.gradcheck(function, (x,))


@pytest.mark.parametrize("kind", [*NORMALIZATIONS, "directed"])
def test_transposed_is_transposed(kind):
    found = PolynomialFilter.of(Grand(), five_nodes(kind), Schedule(3, 1), (0.4,))
    identity = torch.eye(5, dtype=torch.float64)
    here, there = found.apply(identity)[0], found.transposed.apply(identity)[0]
    assert_agree(here.T, there)
    assert kind == "symmetric" or not torch.allclose(here, there)


@pytest.mark.parametrize("graph", SYMMETRIC_GRAPHS)
def test_a_row_is_one_order(graph):
    operator = build_operator(SYMMETRIC_GRAPHS[graph])
    both = PolynomialFilter.of(Grand(), operator, Schedule(3, 1), (0.4, 1.0))
    alone = PolynomialFilter.of(Grand(), operator, Schedule(3, 1), (1.0,))
    assert_agree(both.row(1).coefficients, alone.coefficients)
