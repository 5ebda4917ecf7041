"""The Mittag-Leffler function against multi-precision series and known limits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.special import erfcx

from fdgcl._checks import InputError
from fdgcl.diffusion.mittag_leffler import mittag_leffler, mittag_leffler_taylor
from tolerances import assert_within, gamma

ARGUMENTS = [0, 1e-8, 1e-3, 0.1, 0.5, 0.9, 1.1, 1.5, 2, 3, 5, 7, 10, 20, 30, 50, 100]
ARGUMENTS += [300, 1e3, 1e4, 1e5, 1e6]
TINY_ORDERS = (0.001, 0.01)
ORDERS = (*TINY_ORDERS, 0.05, 0.1, 0.3, 0.5, 0.6, 0.75, 0.9, 0.99, 0.999, 1.0)


# What the sum along the contour errs by, of values of size 1 / (1 + x): the 32 nodes
# leave 2.85^-32, and terms as large as exp(0.1309 * 32) are added of them.
CONTOUR = 2.85**-32 + gamma(32 + 8, np.float64) * math.exp(0.1309 * 32)

# Sums of up to 140^2 positive numbers, each the product of up to 1,024 factors.
WALKS = gamma(140**2 + 3 * 1024, np.float64)


def reference(order: float, x: float) -> mpmath.mpf:
    """E_order(-x), from the power series or, for large x, the asymptotic one."""
    with mpmath.workdps(40):
        a, arg = mpmath.mpf(order), mpmath.mpf(x)
        if order == 1:
            return mpmath.exp(-arg)
        size = arg ** (1 / a)
        return _powers(a, arg, size) if x <= 1 or size < 300 else _asymptotic(a, arg)


def _powers(a, x, size):
    # Terms grow to exp(size) before they fall: that many digits cancel.
    with mpmath.workdps(40 + int(max(size, 1) / 2.3)):
        total, k = mpmath.mpf(0), 0
        while True:
            term = (-x) ** k / mpmath.gamma(a * k + 1)
            total += term
            k += 1
            if abs(term) < mpmath.mpf(10) ** -25 and a * k > 2 * size * (x > 1):
                return total


def _asymptotic(a, x):
    # 1/Gamma(1 - a k) has zeros, so the envelope of the terms decides where to stop.
    total, envelope = mpmath.mpf(0), mpmath.inf
    for k in range(1, 1000):
        smaller = mpmath.gamma(a * k) * x**-k
        if smaller > envelope or smaller < mpmath.mpf(10) ** -35:
            return total
        envelope = smaller
        total -= (-x) ** -k * mpmath.rgamma(1 - a * k)
    return total


@pytest.mark.parametrize("order", ORDERS)
def test_agrees_with_multi_precision(order):
    found = mittag_leffler(order, ARGUMENTS)
    for x, value in zip(ARGUMENTS, found, strict=True):
        expected = reference(order, x)
        # Below 1e-280 the exponential of order 1 is not a normal number any more.
        error = CONTOUR / (1 + x) if order < 1 else gamma(4, float) * expected + 1e-280
        assert abs(value - expected) <= error, x


def test_half_order_is_an_error_function():
    x = np.geomspace(1e-4, 1e6, 200)
    assert_within(mittag_leffler(0.5, x), erfcx(x), CONTOUR / (1 + x))


@pytest.mark.parametrize("order", [0.001, 0.01, 0.3, 0.6, 0.9, 0.99, 1.0])
def test_falls_from_one_to_zero(order):
    values = mittag_leffler(order, np.geomspace(1e-6, 500, 300))
    assert (np.diff(values) < 0).all()
    assert (values > 0).all()
    assert mittag_leffler(order, 0.0) == pytest.approx(1, abs=CONTOUR)
    assert mittag_leffler(order, np.inf) == 0


def test_small_orders_tend_to_page_rank():
    x = np.array([0.0, 0.1, 1.0, 10.0])
    for order in (1e-3, 1e-5, 1e-7):
        gap = np.abs(mittag_leffler(order, x) - 1 / (1 + x)).max()
        assert gap < order


def test_orders_near_one_tend_to_the_exponential():
    x = np.array([0.0, 0.1, 1.0, 10.0])
    for gap in (1e-3, 1e-6, 1e-9):
        found = mittag_leffler(1 - gap, x)
        assert np.abs(found - np.exp(-x)).max() < gap


def test_keeps_the_shape_of_its_argument():
    assert mittag_leffler(0.5, 1.0).shape == ()
    assert mittag_leffler(0.5, np.ones((2, 3))).shape == (2, 3)
    assert mittag_leffler(0.5, []).shape == (0,)


@pytest.mark.parametrize("bad", [-1e-9, [1.0, -2.0], math.nan])
def test_refuses_arguments_off_the_axis(bad):
    with pytest.raises(InputError, match="x >= 0"):
        mittag_leffler(0.5, bad)


@pytest.mark.parametrize("order", [0, -0.1, 1.01, math.nan, "half"])
def test_refuses_other_orders(order):
    with pytest.raises(InputError, match="order must"):
        mittag_leffler(order, 1.0)
    with pytest.raises(InputError, match="order must"):
        mittag_leffler_taylor(order, 1.0, 8)


@pytest.mark.parametrize("order", [0.001, 0.1, 0.5, 0.51, 0.75, 0.9, 0.99, 0.999, 1.0])
@pytest.mark.parametrize("scale", [0.01, 0.5, 5.0, 20.0])
def test_taylor_coefficients_are_a_mixture_of_walks(order, scale):
    coefficients = mittag_leffler_taylor(order, scale, 1024)
    assert (coefficients >= 0).all()
    assert coefficients.sum() == pytest.approx(1, abs=WALKS)
    grid = np.linspace(-1, 1, 41)
    found = np.polynomial.polynomial.polyval(grid, coefficients)
    assert_within(found, mittag_leffler(order, scale * (1 - grid)), WALKS + CONTOUR)


@pytest.mark.parametrize("order", [0.3, 0.75, 0.99])
def test_taylor_coefficients_one_by_one(order):
    """Against the derivatives of the power series, in multi-precision."""
    scale, count = 2.0, 8
    found = mittag_leffler_taylor(order, scale, count)
    with mpmath.workdps(60):
        x, a = mpmath.mpf(scale), mpmath.mpf(order)
        for k in range(count):
            terms = (
                mpmath.binomial(j, k) * (-x) ** (j - k) / mpmath.gamma(a * j + 1)
                for j in range(k, 400)
            )
            expected = x**k * mpmath.fsum(terms)
            assert abs(found[k] - expected) < WALKS


def test_taylor_tells_what_it_cannot_reach():
    assert mittag_leffler_taylor(0.9, 50.0, 20).sum() < 0.5
    # A random time below 20 / 1e7 is rarer than one in a thousand.
    assert mittag_leffler_taylor(0.9, 1e7, 20).sum() == pytest.approx(0, abs=1e-3)
