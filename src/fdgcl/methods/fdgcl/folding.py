"""Standardisation folded into the weights: a product gives standardised columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fdgcl.methods.fdgcl.standardization import inverse_root


def fold(weights: Sequence[Tensor], covariances: Tensor) -> Tensor:
    """Scale the columns of each view's weights by the deviations they lead to.

    Centred features of covariance C times `w / sqrt(w' C w)` have variance 1.

    Args:
        weights: (features, dim) of each view.
        covariances: (views, features, features) of its diffused features.

    Returns:
        (views, features, dim), with gradient with respect to the weights.
    """
    result: Tensor = _Fold.apply(torch.stack([*weights]), covariances)  # type: ignore[no-untyped-call]
    return result


class _Fold(torch.autograd.Function):
    """As autograd would, in half its kernels: on a GPU each costs as much as a step."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, covariances: Tensor) -> Tensor:
        products = covariances @ weights
        scale = inverse_root((products * weights).sum(1, keepdim=True))
        ctx.save_for_backward(weights, products, scale)
        return weights * scale

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        weights, products, scale = ctx.saved_tensors
        # d (w' C w)^(-1/2) = -(w' C w)^(-3/2) C w
        share = (weights * gradient).sum(1, keepdim=True) * scale.pow(3)
        return torch.addcmul(gradient * scale, products, share, value=-1), None
