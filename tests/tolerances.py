"""Bounds on rounding errors: what the tests allow two computations to differ by.

Every operation rounds: fl(a op b) = (a op b)(1 + d), |d| <= u, the unit roundoff. In a
sum or an inner product of n terms no term meets more than n such factors, in whatever
order the terms are added: by one loop, by blocks, vector lanes or threads; a fused
multiply-add has one factor less. Their product is within gamma(n) = n u / (1 - n u) of
1, so what follows holds on every processor with every library (N. Higham, Accuracy and
Stability of Numerical Algorithms, 2nd edition, sections 2.2, 3.1, 3.5).

Each bound is on one computed result against the exact one. Two computed results are no
further apart than the sum of their bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import issparse


def unit_roundoff(dtype: torch.dtype | DTypeLike) -> float:
    """Half the distance from 1 to the next number: the most one rounding changes."""
    if isinstance(dtype, torch.dtype):
        return torch.finfo(dtype).eps / 2
    return float(np.finfo(dtype).eps) / 2


def gamma(operations: float, dtype: torch.dtype | DTypeLike) -> float:
    """The relative error of so many roundings, one upon another."""
    lost = operations * unit_roundoff(dtype)
    assert lost < 1, f"{operations} roundings leave {dtype} no digit: no bound exists"
    return lost / (1 - lost)


def sum_bound(terms: ArrayLike, dtype: torch.dtype | DTypeLike) -> NDArray[Any]:
    """Of sums of rows, in any order: gamma(n) times the sum of absolute values.

    Adding takes n - 1 roundings; the n-th is a division, so means are bounded too: by
    the bound of the sum, divided by n.
    """
    sizes = np.abs(np.asarray(terms, np.float64))
    return gamma(len(sizes), dtype) * sizes.sum(0)


def product_bound(
    left: Any, right: Any, dtype: torch.dtype | DTypeLike, more: int = 0
) -> Any:
    """Of a matrix product, entry by entry: gamma(n) |A| |B|, n terms for each entry.

    Of a sparse left factor only what is stored is added: n is its longest row.

    Args:
        left: A, exactly; dense or sparse.
        right: B, exactly.
        dtype: That of the arithmetic.
        more: Further roundings of each term: 2 where both factors were rounded first.
    """
    if issparse(left):
        inner = int(np.diff(left.tocsr().indptr).max(initial=1))
    else:
        left = np.asarray(left, np.float64)
        inner = left.shape[-1]
    return gamma(inner + more, dtype) * (
        abs(left) @ np.abs(np.asarray(right, np.float64))
    )


def covariance_bound(
    x: ArrayLike, dtype: torch.dtype | DTypeLike, rows: int | None = None
) -> NDArray[Any]:
    """Of a covariance of centred rows, entry by entry.

    The centre, a mean in the dtype, is off by at most what ``sum_bound`` says; what it
    is off by is computed again from the centred rows and taken out. Each centred entry
    carries one rounding, a product of two of them two, their sum one for each row, the
    division one, the end result one.

    Args:
        x: The rows, exactly.
        dtype: That of the arithmetic.
        rows: Rows added in the dtype; sums of such blocks are added in float64.
    """
    exact = np.asarray(x, np.float64)
    count = len(exact)
    block = min(rows or count, count)
    off = sum_bound(exact, dtype) / count
    sizes = np.abs(exact - exact.mean(0)) + off
    second = gamma(block + 4, dtype) * (sizes.T @ sizes) / count
    again = off + gamma(block + 2, dtype) * sizes.mean(0)
    return second + np.outer(again, again) - np.outer(off, off)


def recurrence_bound(steps: int, growth: float, local: float) -> float:
    """Of a recurrence, each step of which adds an error to the one that it was given.

    Args:
        steps: Steps taken.
        growth: The most a step enlarges a difference, in the norm of ``local``.
        local: The error of one step by itself.
    """
    return local * float(np.power(float(growth), np.arange(steps)).sum())


def half_digits(dtype: torch.dtype | DTypeLike) -> float:
    """The square root of the unit roundoff: 2.4e-4 of float32, 1.1e-8 of float64.

    What to allow two computations of one formula, where the formula is tested and not
    its rounding: roundings times condition may come to 1 / sqrt(u), 4,096 in float32
    and 9.5e7 in float64, before rounding is taken for a fault; a wrong factor, sign,
    index or term shows in the first digits.
    """
    return float(np.sqrt(unit_roundoff(dtype)))


def assert_within(found: Any, expected: Any, bound: Any) -> None:
    """Assert that no entry is further from what was expected than its bound."""
    found, expected = _float64(found), _float64(expected)
    assert found.shape == expected.shape, f"{found.shape} is not {expected.shape}"
    off = np.abs(found - expected)
    bound = np.broadcast_to(np.asarray(bound, np.float64), off.shape)
    # Written so that NaN fails.
    beyond = ~(off <= bound)
    if beyond.any():
        worst = np.argmax(np.where(beyond, off - bound, -1))
        at = tuple(map(int, np.unravel_index(worst, off.shape)))
        message = (
            f"{beyond.sum()} of {off.size} beyond the bound, at {at} {found[at]} for "
            f"{expected[at]}: {off[at]:.3g} apart, {bound[at]:.3g} allowed"
        )
        raise AssertionError(message)


def assert_agree(
    found: Any,
    expected: Any,
    dtype: torch.dtype | DTypeLike | None = None,
    size: float | None = None,
) -> None:
    """Assert that half of the digits agree, counted from the largest entry's first.

    Args:
        found: What was computed.
        expected: The same by another way.
        dtype: That of the arithmetic; else the shorter of what both hold.
        size: The largest number met on the way; else the largest that is expected.
    """
    if dtype is None:
        dtype = max((_dtype(found), _dtype(expected)), key=unit_roundoff)
    if size is None:
        size = float(np.abs(_float64(expected)).max(initial=0))
    assert_within(found, expected, half_digits(dtype) * size)


def _float64(values: Any) -> NDArray[Any]:
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu().resolve_conj().numpy()
    values = np.asarray(values)
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def _dtype(values: Any) -> np.dtype[Any]:
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu().resolve_conj().numpy()
    dtype = np.asarray(values).dtype
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)
