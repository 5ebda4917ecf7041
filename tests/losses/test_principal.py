"""The principal direction against an SVD."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from fdgcl.losses import principal_direction, principal_directions
from tolerances import assert_agree, half_digits

from .reference import top_direction


def cosine(z, iterations=8):
    found = principal_direction(torch.tensor(z), iterations).numpy()
    assert_agree(np.linalg.norm(found), 1, found.dtype)
    return abs(found @ top_direction(z.astype(np.float64)))


def matrix(rows, dim, ratio, seed=0):
    """Singular values 1, ratio, ratio, ... behind random bases, and a mean."""
    rng = np.random.default_rng(seed)
    left = rng.normal(size=(rows, dim))
    left = np.linalg.qr(left - left.mean(0))[0]
    right = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    values = np.r_[1.0, np.full(dim - 1, ratio)]
    return left * values @ right.T + rng.normal(size=dim)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", [(50, 8), (10, 10), (400, 64)])
def test_equals_the_svd(shape, seed):
    # Each of eight iterations divides the angle's tangent by 0.4^-2; a start at random
    # in 64 dimensions is within one of 70.
    missed = (70 * 0.4 ** (2 * 8)) ** 2 / 2
    assert cosine(matrix(*shape, ratio=0.4, seed=seed)) > 1 - missed


def test_more_iterations_come_closer():
    z = matrix(200, 30, ratio=0.8)
    errors = [1 - cosine(z, n) for n in (2, 6, 12, 40)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < half_digits(z.dtype)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("offset", [0.0, 1.0, 300.0])
def test_float32_scales_and_means(scale, offset):
    z = ((matrix(100, 12, ratio=0.4) * 10 + offset) * scale).astype(np.float32)
    assert cosine(z) > 1 - half_digits(z.dtype)


def test_opposed_columns_where_the_deviations_are_orthogonal_to_the_direction():
    t = np.linspace(-1, 1, 20)
    assert_agree(cosine(np.stack([t, -t], axis=1)), 1)


def test_an_outlier_across_the_direction():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(500, 3)) * [2.0, 0.1, 0.1]
    z[0] = [0, 9, 0]
    assert cosine(z) > 1 - half_digits(z.dtype)


def test_is_deterministic():
    z = torch.tensor(matrix(100, 12, ratio=0.9))
    assert torch.equal(principal_direction(z), principal_direction(z.clone()))


@pytest.mark.parametrize("value", [0.0, 0.1, -3.3, 1e5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_constant_rows_have_no_direction(value, dtype):
    z = torch.full((1001, 3), value, dtype=dtype, requires_grad=True)
    direction = principal_direction(z)
    assert direction.tolist() == [0, 0, 0]
    direction.sum().backward()
    assert z.grad.abs().max() == 0


def test_one_row_has_no_direction():
    assert principal_direction(torch.ones(1, 4)).tolist() == [0, 0, 0, 0]


def test_gradient_is_that_of_the_last_iteration():
    z = torch.tensor(matrix(30, 5, ratio=0.3))
    weights = torch.arange(1.0, 6.0, dtype=z.dtype)
    start = principal_direction(z, iterations=7)

    def last(z):
        centred = z - z.mean(0)
        product = centred.T @ (centred @ start)
        return (product / product.norm()) @ weights

    slopes = []
    for function in (last, lambda z: principal_direction(z, 8) @ weights):
        leaf = z.clone().requires_grad_()
        slopes.append(torch.autograd.grad(function(leaf), leaf)[0])
    assert_agree(slopes[1], slopes[0])
    leaf = z.clone().requires_grad_()
    assert torch.autograd.gradcheck(last, (leaf,))


class LargestTensor(TorchDispatchMode):
    """Records the size of the largest tensor that any operation returns."""

    size = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor):
            self.size = max(self.size, out.numel())
        return out


@pytest.mark.parametrize("shape", [(7, 90), (90, 7)])
def test_never_forms_a_square_matrix(shape):
    z = torch.tensor(matrix(90, 7, ratio=0.4).reshape(shape)).requires_grad_()
    with LargestTensor() as largest:
        principal_direction(z).sum().backward()
    assert largest.size == z.numel()


@pytest.mark.parametrize("iterations", [1, 2, 5, 8])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_from_covariances_it_is_the_same(iterations, scale):
    views = [torch.tensor(matrix(60, 9, ratio=0.7, seed=k)) * scale for k in range(2)]
    covariances = torch.stack([torch.cov(z.T, correction=0) for z in views])
    traces = covariances.diagonal(dim1=1, dim2=2).sum(1)[:, None, None]
    scaled = covariances / traces
    found = principal_directions(
        lambda columns: scaled @ columns, scaled.diagonal(dim1=1, dim2=2), iterations
    )
    for unit, z in zip(found.units, views, strict=True):
        torch.testing.assert_close(unit, principal_direction(z, iterations))
    products = (scaled @ found.before[..., None]).squeeze(2)
    torch.testing.assert_close(found.lengths, products.norm(dim=1))


def test_equal_columns_are_told_apart_by_place_and_not_by_rounding():
    """Which of equally wide columns comes first must not depend on the last bit."""
    z = torch.tensor(matrix(60, 5, ratio=0.9))
    z = (z - z.mean(0)) / z.std(0)
    wiggled = z * (1 + 1e-12 * torch.tensor([0, 0, 0, 1, 0]))
    torch.testing.assert_close(principal_direction(wiggled), principal_direction(z))
