"""Closed forms and invariances that belong to one loss."""

from __future__ import annotations

import pytest
import torch

from fdgcl.losses import (
    BarlowTwins,
    Cosmean,
    Euclidean,
    RegularizedCosmean,
    VICReg,
    build_loss,
    principal_direction,
    row_cosines,
)
from tolerances import assert_agree

from .reference import barlow_twins, regularized_cosmean, vicreg
from .test_contract import views

# Barlow Twins adds 1e-8 to variances, which are of size 1 here.
FLOOR = 10 * 1e-8


def whitened(rows=40, dim=4):
    """Columns of mean 0, variance 1, uncorrelated."""
    z, _ = views(rows, dim)
    q, _ = torch.linalg.qr(z - z.mean(0))
    return q * rows**0.5


def test_identical_views():
    z, _ = views()
    assert_agree(Cosmean()(z, z), 0, z.dtype, size=1)
    assert Euclidean()(z, z).item() == 0
    assert_agree(RegularizedCosmean(0.3)(z, z), 0.3, size=1)
    white = whitened()
    assert_agree(BarlowTwins()(white, white), 0, white.dtype, size=1)
    assert_agree(VICReg()(white, white), 0, white.dtype, size=25)


def test_opposed_views():
    z, _ = views()
    assert_agree(Cosmean()(z, -z), 2)
    # The regulariser knows no sign: opposed principal directions cost as equal ones.
    assert_agree(RegularizedCosmean(0.3)(z, -z), 2.3)
    white = whitened()
    assert BarlowTwins()(white, -white).item() == pytest.approx(4 * 4, rel=FLOOR)


def test_row_cosines_of_zero_rows_are_zero_without_gradient():
    z1 = torch.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    z2 = torch.tensor([[1.0, 2.0], [4.0, 3.0]])
    cosines = row_cosines(z1, z2)
    assert_agree(cosines, [0, 0.96])
    cosines.sum().backward()
    assert z1.grad[0].tolist() == [0, 0]


@pytest.mark.parametrize("name", ["cosmean", "regularized-cosmean", "barlow-twins"])
def test_scale_of_a_view_does_not_matter(name):
    z1, z2 = views()
    loss = build_loss(name)
    expected = loss(z1, z2).item()
    assert loss(100 * z1, 0.5 * z2).item() == pytest.approx(expected, rel=FLOOR)


def test_cosmean_ignores_the_length_of_each_row():
    z1, z2 = views()
    lengths = torch.linspace(0.1, 10, len(z1), dtype=z1.dtype)[:, None]
    expected = Cosmean()(z1, z2).item()
    assert_agree(Cosmean()(z1 * lengths, z2), expected, size=1)


def test_euclidean_grows_with_the_square_of_the_scale():
    z1, z2 = views()
    assert_agree(Euclidean()(3 * z1, 3 * z2), 9 * Euclidean()(z1, z2))


def test_barlow_twins_ignores_shift_and_scale_of_columns():
    z1, z2 = views()
    slope = torch.linspace(0.5, 2, z1.shape[1], dtype=z1.dtype)
    expected = BarlowTwins()(z1, z2).item()
    found = BarlowTwins()(z1 * slope + 3, z2).item()
    assert found == pytest.approx(expected, rel=FLOOR)


def test_weights_weigh_the_terms():
    z1, z2 = views()
    a, b = z1.numpy(), z2.numpy()
    found = BarlowTwins(0.5)(z1, z2).item()
    assert found == pytest.approx(barlow_twins(a, b, 0.5), rel=FLOOR)
    assert_agree(VICReg(1, 2, 3)(z1, z2), vicreg(a, b, (1, 2, 3)))
    assert_agree(RegularizedCosmean(0.7)(z1, z2), regularized_cosmean(a, b, 0.7))
    assert RegularizedCosmean(0)(z1, z2).item() == Cosmean()(z1, z2).item()


def test_barlow_twins_off_diagonal_is_not_the_printed_diagonal():
    """The paper prints C_ii in the second sum; the diagonal would double there."""
    z1, z2 = views()
    diagonal = BarlowTwins(0)(z1, z2).item()
    standard = [(z - z.mean(0)) / z.std(0, correction=0) for z in (z1, z2)]
    c = standard[0].T @ standard[1] / len(z1)
    off = (c**2).sum() - (c.diagonal() ** 2).sum()
    found = BarlowTwins(1)(z1, z2).item()
    assert found == pytest.approx((diagonal + off).item(), rel=FLOOR)


def test_the_regulariser_turns_the_principal_directions_apart():
    """A step against the gradient must lower the cosine of the directions."""
    z1, z2 = views()
    z1.requires_grad_()
    penalty = RegularizedCosmean(1.0)(z1, z2) - Cosmean()(z1, z2)
    (slope,) = torch.autograd.grad(penalty, z1)
    with torch.no_grad():
        moved = z1 - 0.1 * slope / slope.norm() * z1.norm()
        before = (principal_direction(z1) @ principal_direction(z2)).abs()
        after = (principal_direction(moved) @ principal_direction(z2)).abs()
    assert after < before
