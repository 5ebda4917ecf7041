"""Standardised columns, and standardisation folded into weights: against autograd."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from fdgcl.methods.fdgcl import DiffusedFeatures, Encoders
from fdgcl.methods.fdgcl.folding import fold
from fdgcl.methods.fdgcl.standardization import standardize
from tolerances import unit_roundoff


def normal(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def test_standardised_columns_and_their_gradient() -> None:
    hidden = (normal(50, 6) * torch.arange(1, 7) + 3).requires_grad_()
    result = standardize(hidden)
    torch.testing.assert_close(
        result, (hidden - hidden.mean(0)) / hidden.std(0, correction=0)
    )
    assert torch.autograd.gradcheck(standardize, (hidden,))


def test_constant_columns_become_zeros_without_gradient() -> None:
    hidden = normal(20, 3)
    hidden[:, 1] = 7.0
    leaf = hidden.requires_grad_()
    result = standardize(leaf)
    assert not result[:, 1].any()
    (result * normal(20, 3, seed=1)).sum().backward()
    assert leaf.grad is not None
    assert not leaf.grad[:, 1].any()
    assert leaf.grad.isfinite().all()


def test_the_result_may_be_overwritten_before_the_backward_pass() -> None:
    hidden, slopes = normal(30, 4), normal(30, 4, seed=1)
    leaves = [hidden.clone().requires_grad_() for _ in range(2)]
    first, second = (standardize(leaf) for leaf in leaves)
    first.backward(slopes)
    second.detach().copy_(slopes)
    second.backward(second.detach())
    torch.testing.assert_close(leaves[1].grad, leaves[0].grad)


def covariance(rows: Tensor) -> Tensor:
    centred = rows - rows.mean(0)
    return centred.T @ centred / len(rows)


def test_folded_weights_give_standardised_products() -> None:
    features = [normal(80, 5, seed=k) @ normal(5, 5, seed=9) for k in range(2)]
    weights = [normal(5, 7, seed=k + 3).requires_grad_() for k in range(2)]
    covariances = torch.stack([covariance(rows) for rows in features])
    folded = fold(weights, covariances)
    for rows, weight, found in zip(features, weights, folded, strict=True):
        torch.testing.assert_close(
            (rows - rows.mean(0)) @ found, standardize(rows @ weight)
        )
    assert torch.autograd.gradcheck(
        lambda a, b: fold([a, b], covariances), tuple(weights)
    )


def test_weights_that_lead_nowhere_fold_to_zero() -> None:
    covariances = torch.diag(torch.tensor([1.0, 0.0], dtype=torch.float64))[None]
    weight = torch.tensor([[0.0, 2.0], [1.0, 0.0]], dtype=torch.float64)
    leaf = weight.requires_grad_()
    folded = fold([leaf], covariances)
    torch.testing.assert_close(
        folded[0].detach(), torch.tensor([[0.0, 1.0], [0.0, 0.0]]).double()
    )
    folded.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.isfinite().all()


@pytest.mark.parametrize("rows", [None, torch.tensor([5, 0, 77, 5, 31, 40, 2, 1])])
def test_factors_multiply_to_the_standardised_views(rows: Tensor | None) -> None:
    views = Encoders(2, 6, dtype=torch.float64)
    source = DiffusedFeatures.in_memory(
        [normal(80, 2, seed=k) * 3 + 5 for k in range(2)]
    )
    factors = source.factors([*views.weights], rows)
    assert factors is not None
    found = [a @ b for a, b in zip(factors.features, factors.weights, strict=True)]
    for ours, theirs in zip(found, views.before_activation(source, rows), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_many_features_are_no_factors() -> None:
    source = DiffusedFeatures.in_memory([normal(12, 4), normal(12, 4)])
    assert source.factors([normal(4, 3), normal(4, 3)]) is None


def test_features_in_float16_have_room() -> None:
    """Columns of any size, and constant ones, come out near variance 1."""
    scales = torch.tensor([1e-9, 1.0, 1e9, 0.0])
    diffused = [(normal(60, 4, seed=k) * scales).float() for k in range(2)]
    exact = [(part - part.mean(0)).double() for part in diffused]
    source = DiffusedFeatures.in_memory([part.clone() for part in diffused])
    weights = [
        normal(4, 5, seed=k).float() / scales.clamp_min(1)[:, None] for k in (5, 6)
    ]
    factors = source.factors(weights, half=True)
    assert factors is not None
    assert all(part.dtype == torch.float16 for part in factors.features)
    assert all(part.isfinite().all() for part in factors.features)
    for part, weight, rows, raw in zip(
        factors.features, factors.weights, exact, weights, strict=True
    ):
        wanted = standardize(rows @ raw.double())
        error = (part.double() @ weight.double() - wanted).abs().max()
        # Features of up to four deviations, rounded to float16 once; four of them and
        # weights below 1 in the standardised product.
        assert error < 4 * 4 * unit_roundoff(torch.float16)
