"""Columns of blocks: equal for all, and by what varies most."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fdgcl.methods.fdgcl.column_shares import STEPS, equal_shares, ranked_shares

WIDTHS = st.lists(st.integers(1, 300), min_size=1, max_size=6)
# Powers of two, which are compared as they are.
VARIANCES = st.lists(
    st.lists(st.integers(-40, 3), min_size=1, max_size=60), min_size=1, max_size=6
)


@given(WIDTHS, st.integers(0, 2000))
def test_equal_shares_fill_the_embedding(widths: list[int], more: int) -> None:
    dim = len(widths) + more
    found = equal_shares(widths, dim)
    assert sum(found) == min(dim, sum(widths))
    assert all(1 <= share <= width for share, width in zip(found, widths, strict=True))
    # One that is cut has at most one column less than any other.
    cut = [s for s, w in zip(found, widths, strict=True) if s < w]
    assert not cut or min(cut) >= max(found) - 1
    wider = equal_shares(widths, dim + 1)
    assert all(a <= b for a, b in zip(found, wider, strict=True))


def one_by_one(variances: list[NDArray[np.float64]], dim: int) -> list[int]:
    """Columns given away one after the other, to whoever has the largest left."""
    least = max(1, min(8, dim // (2 * len(variances))))
    found = [min(least, len(one)) for one in variances]
    while sum(found) < dim:
        left = [
            one[taken] if taken < len(one) else -1.0
            for one, taken in zip(variances, found, strict=True)
        ]
        found[left.index(max(left))] += 1
    return found


@given(VARIANCES, st.data())
def test_columns_go_to_what_varies_most(
    powers: list[list[int]], data: st.DataObject
) -> None:
    variances = [np.array(sorted(one, reverse=True), float) for one in powers]
    variances = [np.exp2(one) for one in variances]
    dim = data.draw(st.integers(len(powers), max(len(powers), sum(map(len, powers)))))
    found = ranked_shares(variances, dim)
    assert [*found] == one_by_one(variances, dim)
    assert sum(found) == dim


def test_each_block_has_a_few_columns_at_least() -> None:
    much, little = np.full(100, 1.0), np.full(100, 1e-9)
    assert ranked_shares([much, little], 100) == (92, 8)
    assert ranked_shares([little, much], 100) == (8, 92)
    assert ranked_shares([much, little[:3]], 100) == (97, 3)
    # Half of a small embedding, but for one column each.
    assert ranked_shares([much, little], 16) == (12, 4)
    assert ranked_shares([much, *[little] * 15], 16) == (1,) * 16


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1.0, 3.0, 1e12])
def test_rounding_does_not_decide(size: float) -> None:
    """What differs by the last digits is the earlier block's, however it is rounded."""
    # From the middle of a step: no rounding of float64 reaches its ends.
    mantissa, exponent = np.frexp(size)
    middle = np.ldexp(np.round(mantissa * STEPS) / STEPS, exponent)
    for off in (-1e-12, 0.0, 1e-12):
        first, second = np.full(20, middle), np.full(20, middle * (1 + off))
        assert ranked_shares([first, second], 20) == (15, 5)
        assert ranked_shares([second, first], 20) == (15, 5)
    # A step is 2 / STEPS of the smallest mantissa.
    more = np.full(20, middle * (1 + 2 / STEPS))
    assert ranked_shares([first, more], 20) == (5, 15)
