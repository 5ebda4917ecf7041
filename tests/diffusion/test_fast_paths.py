"""Every fast way to a filter's sums against the plain one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fdgcl.diffusion import Grand, PolynomialFilter, Schedule, diffuse
from fdgcl.diffusion.basis import chebyshev_basis
from fdgcl.diffusion.spectral import chebyshev_coefficients, disc_coefficients
from fdgcl.operators import in_memory
from fdgcl.operators.in_memory import build_operator
from tolerances import assert_agree, gamma

from .cases import noise, random_symmetric, relative
from .test_polynomial import dense, operator_of


def plain(dynamics, operator, schedule, orders, x):
    """The sum of Chebyshev terms or powers, written as it is read, in float64."""
    matrix = torch.from_numpy(dense(operator))
    x = x.double()
    if operator.has_real_spectrum:
        top = operator.lambda_max
        rows = chebyshev_coefficients(dynamics, schedule, orders, top)
        mapped = 2 / top * (torch.eye(len(matrix)) - matrix) - torch.eye(len(matrix))
        terms = [x, mapped @ x]
        while len(terms) < rows.shape[1]:
            terms.append(2 * mapped @ terms[-1] - terms[-2])
    else:
        rows = disc_coefficients(dynamics, schedule, orders)
        terms = [x]
        while len(terms) < rows.shape[1]:
            terms.append(matrix @ terms[-1])
    return [
        sum(c * t for c, t in zip(row, terms, strict=True)) for row in rows.tolist()
    ]


@pytest.mark.parametrize("graph", ["cora", "directed"])
@pytest.mark.parametrize("schedule", [Schedule(20, 1), Schedule(30, 3)], ids=str)
@pytest.mark.parametrize("reorder", [False, True])
@pytest.mark.parametrize("precision", ["highest", "high"])
def test_every_fast_way_is_the_plain_one(
    monkeypatch, graph, schedule, reorder, precision
):
    """Fitted terms, other orders of nodes, sums in pairs: none changes the result."""
    monkeypatch.setattr(in_memory, "reordering_pays", lambda *_: reorder)
    monkeypatch.setattr(
        torch, "get_float32_matmul_precision", lambda: precision
    )  # "high": the sums are taken term by term
    operator, orders = operator_of(graph), (0.01, 0.5, 1.0)
    x = noise(operator.num_nodes, 5)
    expected = plain(Grand(), operator, schedule, orders, x)
    found = PolynomialFilter.of(Grand(), operator, schedule, orders)
    assert found.basis.is_fitted == (graph == "cora")
    for dtype in (torch.float32, torch.float64):
        for block in (None, 2):
            for ours, theirs in zip(
                found.apply(x.to(dtype), block=block), expected, strict=True
            ):
                assert ours.dtype == dtype
                assert_agree(ours, theirs)


@pytest.mark.parametrize("order", [0.01, 1.0])
def test_fitted_terms_need_no_float64_where_chebyshev_terms_do(order):
    """Rare frequencies that grow a hundredfold do not enlarge the coefficients."""
    operator, schedule = operator_of("cora"), Schedule(30, 5)
    fitted = PolynomialFilter.of(Grand(), operator, schedule, (order,))
    x = noise(operator.num_nodes)
    found = fitted.apply(x)[0]
    # Orthonormal on the graph's spectrum: the norms agree but for the noise in x.
    size = np.linalg.norm(fitted.coefficients)
    assert size == pytest.approx(float(found.norm() / x.norm()), rel=0.5)
    assert not fitted.needs_float64
    rows = chebyshev_coefficients(Grand(), schedule, (order,), operator.lambda_max)
    basis = chebyshev_basis(operator.lambda_max, rows.shape[1] - 1)
    other = PolynomialFilter(operator, rows, basis)
    assert other.needs_float64 == (order == 1.0)
    # Nothing cancels: no more is lost than each product with the graph rounds.
    longest = int(np.diff(operator.matrix.matrix.indptr).max())
    allowed = gamma(fitted.products * (longest + 3), torch.float32)
    assert relative(fitted.apply(x.float())[0], found) < allowed
    assert_agree(other.apply(x)[0], found)


def test_a_polynomial_of_degree_zero():
    operator = operator_of("cora")
    basis = chebyshev_basis(operator.lambda_max, 0)
    found = PolynomialFilter(operator, np.array([[2.0], [3.0]]), basis)
    x = noise(operator.num_nodes)
    assert all(map(torch.equal, found.apply(x), [2 * x, 3 * x]))


@pytest.mark.parametrize(
    ("adjacency", "degree"),
    [
        (np.ones((150, 150)), 5),  # two eigenvalues: nothing to fit to
        (random_symmetric(6), 8),  # fewer nodes than terms
        (random_symmetric(150), 120),  # more terms than were looked for
    ],
)
def test_where_no_basis_fits_chebyshevs_does(adjacency, degree):
    operator = build_operator(csr_array(adjacency))
    schedule = Schedule(degree / 10, 0.1)
    found = PolynomialFilter.of(Grand(), operator, schedule, (0.5, 1.0))
    assert not found.basis.is_fitted
    x = noise(operator.num_nodes)
    expected = diffuse(Grand(), operator, x, (0.5, 1.0), schedule, method="stepped")
    for ours, theirs in zip(found.apply(x), expected, strict=True):
        assert_agree(ours, theirs)


@pytest.mark.gpu
@pytest.mark.parametrize("graph", ["cora", "directed"])
def test_the_same_on_a_device(graph):
    operator = operator_of(graph)
    found = PolynomialFilter.of(Grand(), operator, Schedule(30, 3), (0.01, 1.0))
    x = noise(operator.num_nodes, 40)
    for dtype in (torch.float32, torch.float64):
        expected = found.apply(x)
        for ours, theirs in zip(
            found.apply(x.to("cuda", dtype)), expected, strict=True
        ):
            assert ours.device.type == "cuda"
            assert_agree(ours, theirs)
