"""What every loss of the registry must do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fdgcl._checks import InputError
from fdgcl.losses import LOSSES, Loss, RegularizedCosmean, build_loss
from tolerances import assert_agree

from .reference import REFERENCES

every_loss = pytest.mark.parametrize("name", LOSSES)


def views(rows=60, dim=6, seed=0, dtype=torch.float64):
    """Two correlated views, each with one clearly dominant direction."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(rows, dim))
    out = []
    for _ in range(2):
        strong = rng.normal(size=(rows, 1)) * rng.normal(size=dim) * 3
        z = common + strong + 0.5 * rng.normal(size=(rows, dim)) + 0.3
        out.append(torch.tensor(z, dtype=dtype))
    return out


def test_every_loss_has_a_reference():
    assert set(LOSSES) == set(REFERENCES)


@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_loop(name, seed):
    z1, z2 = views(seed=seed)
    expected = REFERENCES[name](z1.numpy(), z2.numpy())
    # Not to rounding: Barlow Twins adds 1e-8 to variances, of size 1.
    assert build_loss(name)(z1, z2).item() == pytest.approx(expected, rel=10 * 1e-8)


@every_loss
def test_is_a_scalar_of_the_views_type(name):
    z1, z2 = views(dtype=torch.float32)
    value = build_loss(name)(z1, z2)
    assert value.shape == ()
    assert value.dtype == torch.float32
    expected = build_loss(name)(z1.double(), z2.double()).item()
    assert_agree(value, expected, size=max(1, expected))


@every_loss
def test_agreeing_views_score_lower_than_shuffled_ones(name):
    z, _ = views()
    shuffled = z[torch.randperm(len(z), generator=torch.Generator().manual_seed(1))]
    loss = build_loss(name)
    assert loss(z, z) < loss(z, shuffled)


@every_loss
def test_is_symmetric_in_the_views(name):
    z1, z2 = views()
    loss = build_loss(name)
    assert_agree(loss(z1, z2), loss(z2, z1), size=1)


@every_loss
def test_does_not_depend_on_the_order_of_the_nodes(name):
    z1, z2 = views()
    order = torch.randperm(len(z1), generator=torch.Generator().manual_seed(2))
    loss = build_loss(name)
    expected = loss(z1, z2).item()
    assert_agree(loss(z1[order], z2[order]), expected, size=1)


@every_loss
def test_gradient(name):
    z1, z2 = (z.requires_grad_() for z in views(rows=7, dim=3))
    loss = build_loss(name)
    if isinstance(loss, RegularizedCosmean):
        # The regulariser's gradient is cut on purpose; test_principal covers it.
        loss = build_loss(name, eta=0)
    assert torch.autograd.gradcheck(loss, (z1, z2))


COLLAPSED = {
    "regularized-cosmean": 0.0,
    "cosmean": 0.0,
    "euclidean": 0.0,
    "barlow-twins": 5.0,  # C = 0: one for each of five columns
    "vicreg": 25 * 2 * 0.99,  # both views short of the deviation by 1 - sqrt(1e-4)
}


@every_loss
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_collapsed_views_have_the_closed_form_and_a_finite_gradient(name, dtype):
    z = torch.full((9, 5), 0.7, dtype=dtype, requires_grad=True)
    value = build_loss(name)(z, z.detach().clone())
    assert_agree(value, COLLAPSED[name], size=max(1, COLLAPSED[name]))
    value.backward()
    assert z.grad is not None
    assert torch.isfinite(z.grad).all()


@every_loss
@pytest.mark.parametrize("scale", [0.0, 1e-30, 1e-13, 1e-11, 1e-6, 1e6])
def test_zero_and_tiny_rows_have_a_finite_loss_and_gradient(name, scale):
    z1, z2 = views(dtype=torch.float32)
    z1[3] *= scale
    z1[4], z2[4] = z1[4] * scale, z2[4] * scale
    z1.requires_grad_()
    z2.requires_grad_()
    value = build_loss(name)(z1, z2)
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(z1.grad).all()
    assert torch.isfinite(z2.grad).all()


@every_loss
@pytest.mark.parametrize(
    ("first", "second"),
    [((5, 2), (4, 2)), ((5, 2), (5, 3)), ((5,), (5,)), ((0, 2), (0, 2))],
)
def test_refuses_shapes_and_names_both(name, first, second):
    with pytest.raises(InputError) as error:
        build_loss(name)(torch.ones(first), torch.ones(second))
    assert str(first) in str(error.value)
    assert str(second) in str(error.value)


@every_loss
def test_refuses_views_that_are_not_of_one_float_type(name):
    z = torch.ones(3, 2)
    with pytest.raises(InputError, match=r"torch\.int64"):
        build_loss(name)(z.long(), z.long())
    with pytest.raises(InputError, match=r"torch\.float64"):
        build_loss(name)(z, z.double())


def test_build_loss_refuses_an_unknown_name_and_hints_at_the_nearest():
    with pytest.raises(InputError, match='did you mean "vicreg"'):
        build_loss("vikreg")


def test_build_loss_refuses_a_negative_eta():
    with pytest.raises(InputError, match="eta must be zero or more, got -1"):
        build_loss("regularized-cosmean", eta=-1)


def test_the_base_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Loss()
