"""The bounds hold for every order of adding, and are small enough to tell a fault."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from tolerances import (
    assert_agree,
    assert_within,
    covariance_bound,
    gamma,
    half_digits,
    product_bound,
    recurrence_bound,
    sum_bound,
    unit_roundoff,
)

SINGLE = np.float32


def added(terms: Iterable[np.float32]) -> np.float32:
    """One after another, each sum rounded."""
    total = SINGLE(0)
    for term in terms:
        total = SINGLE(total + term)
    return total


@pytest.mark.parametrize(
    ("dtype", "exact"),
    [(torch.float16, 2**-11), (SINGLE, 2**-24), (torch.float64, 2**-53)],
)
def test_a_rounding(dtype, exact) -> None:
    assert unit_roundoff(dtype) == exact
    assert gamma(1, dtype) > exact
    with pytest.raises(AssertionError, match="no bound exists"):
        gamma(1 / exact, dtype)


@pytest.mark.parametrize("order", ["given", "up", "down", "cancelling", "blocks"])
def test_sums_in_any_order(order: str) -> None:
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(3000) * 10.0 ** rng.uniform(-3, 3, 3000)).astype(SINGLE)
    exact = float(sum(map(Fraction, x.tolist())))
    by_size = x[np.argsort(np.abs(x))]
    found = {
        "given": lambda: added(x),
        "up": lambda: added(by_size),
        "down": lambda: added(by_size[::-1]),
        "cancelling": lambda: added(np.sort(x)),
        "blocks": lambda: added(added(part) for part in np.split(x, 60)),
    }[order]()
    assert 0 < abs(float(found) - exact) <= sum_bound(x, SINGLE)
    # One lost term of usual size is a fault, not rounding.
    assert np.median(np.abs(x)) > sum_bound(x, SINGLE) / len(x)


def test_sums_that_round_the_same_way_each_time() -> None:
    # Each term is a little more than half of what a float32 near 1 can hold: rounded
    # up every time, the sum is off by nearly half of the bound, and never by all.
    terms = np.full(2000, SINGLE(2**-24 * 1.01))
    terms[0] = 1
    off = float(added(terms)) - float(terms.astype(np.float64).sum())
    assert 0.4 * sum_bound(terms, SINGLE) < off <= sum_bound(terms, SINGLE)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_products(kind: str) -> None:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((20, 300)) * (rng.random((20, 300)) < 0.1)
    a, b = a.astype(SINGLE), rng.standard_normal((300, 5)).astype(SINGLE)
    given = csr_array(a) if kind == "sparse" else a
    bound = product_bound(given, b, SINGLE)
    exact = a.astype(np.float64) @ b
    assert (np.abs(given @ b - exact) <= bound).all()
    assert (bound < product_bound(a, b, SINGLE)).all() == (kind == "sparse")
    rounded = a.astype(np.float16).astype(np.float64) @ b.astype(np.float16)
    assert (np.abs(rounded - exact) > bound).any()


def test_covariances_and_their_usual_faults() -> None:
    x = np.random.default_rng(0).standard_normal((400, 3)).astype(SINGLE) + SINGLE(50)
    exact = np.cov(x.astype(np.float64), rowvar=False, bias=True)
    bound = covariance_bound(x, SINGLE)
    centred = x - x.mean(0)
    assert (np.abs(centred.T @ centred / SINGLE(400) - exact) <= bound).all()
    assert (covariance_bound(x, SINGLE, rows=100) < bound).all()
    not_centred = x.T @ x / SINGLE(400) - np.outer(x.mean(0), x.mean(0))
    wrong_count = exact * 400 / 399
    for fault in (not_centred, wrong_count):
        assert (np.abs(fault - exact) > bound).any()


@pytest.mark.parametrize("growth", [0.9, 1.0, 1.1])
def test_recurrences(growth: float) -> None:
    factor, held = SINGLE(growth), SINGLE(0.7)
    pull = SINGLE(SINGLE(1 - factor) * held)
    value, exact, size = held, float(held), 1.0
    for _ in range(40):
        value = SINGLE(SINGLE(factor * value) + pull)
        exact = float(factor) * exact + float(pull)
        size = max(size, abs(exact))
    bound = recurrence_bound(40, float(factor), gamma(2, SINGLE) * size)
    assert abs(float(value) - exact) <= bound
    # A start that is wrong in its third digit is told from rounding.
    assert bound < 1e-3 * float(held) * growth**40


def test_what_is_within_a_bound() -> None:
    assert_within(torch.tensor([1.0, 2.0]), [1.0, 2.5], [0.0, 0.5])
    assert_within(1 + 2j, 1 + 2.5j, 0.5)
    with pytest.raises(AssertionError, match=r"1 of 2 beyond .* 0\.5 apart, 0\.4 all"):
        assert_within(np.array([1.0, 2.0]), np.array([1.0, 2.5]), 0.4)
    with pytest.raises(AssertionError, match=r"\(2,\) is not \(\)"):
        assert_within([1.0, 1.0], 1.0, 9.0)
    with pytest.raises(AssertionError, match="nan"):
        assert_within(float("nan"), 0.0, np.inf)


@pytest.mark.parametrize(("dtype", "bits"), [(SINGLE, 24), (np.float64, 53)])
def test_half_of_the_digits(dtype, bits: int) -> None:
    expected = np.array([1e-9, 1, -1000], dtype)
    allowed = 1000 * 2 ** (-bits / 2)
    # Counted from the largest entry's first digit, for all of them.
    for near in (np.array([0.9, 0, 0]), np.array([0, 0, -0.9])):
        assert_agree(expected + near * allowed, expected, dtype)
    for far in (np.array([1.1, 0, 0]), np.array([0, 0, -1.1])):
        with pytest.raises(AssertionError, match="beyond the bound"):
            assert_agree(expected + far * allowed, expected, dtype)


def test_the_shorter_of_two_dtypes_and_the_size_count() -> None:
    off = 10 * half_digits(np.float64)
    assert_agree(torch.tensor(1.0), 1 + off)
    assert_agree(1 + off, 1, size=10)
    for found in (1 + off, torch.tensor(1 + off, dtype=torch.float64)):
        with pytest.raises(AssertionError):
            assert_agree(found, 1)
