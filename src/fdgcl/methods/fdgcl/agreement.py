"""Regularised cosmean and its gradient in place, without copies of the views.

The plain loss, `RegularizedCosmean` of the activated views, leaves autograd some seven
matrices of a view's size to hold. Here the rows are passed over twice:

1. activate them where they are; note each row's norms and cosine, and the columns'
   sums. Gram matrices, or with many columns products with vectors, then give the
   principal directions;
2. overwrite them by the gradient. For a row it needs that row of both views and four
   vectors: the cosine pulls at each view's row, and the last power iteration
   `w = C' C u / N`, C the centred rows, adds `((C_i u) g + (C_i g) u) / N`, where g is
   the gradient with respect to w.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from types import ModuleType
from typing import NamedTuple

import torch
from torch import Tensor

from fdgcl.losses import (
    Cosmean,
    Directions,
    Loss,
    RegularizedCosmean,
    principal_directions,
)
from fdgcl.methods.fdgcl import agreement_blocks
from fdgcl.methods.fdgcl.activations import IN_PLACE
from fdgcl.methods.fdgcl.agreement_blocks import Pair, Pull, RowNotes

# Up to so many columns Gram matrices are cheaper than passes over the rows: by device,
# and whether its dense products are rounded.
GRAM_COLUMNS = {("cpu", False): 512, ("cuda", False): 1024, ("cuda", True): 2048}
# Views in float16 have Gram matrices only, which may have so many columns.
LARGEST_HALF_DIM = 2048

#: Adds up a tensor over all who have rows of the batch.
Total = Callable[[Tensor], Tensor]


class Agreement(NamedTuple):
    """What the passes found.

    Attributes:
        value: The loss.
        alignment: Mean cosine between both views of a node.
        principal_cosine: |cosine| of the views' principal directions; None where the
            loss does not ask for them.
        sample: (2, rows, dim) some rows of both activated views.
    """

    value: Tensor
    alignment: Tensor
    principal_cosine: Tensor | None
    sample: Tensor


@torch.no_grad()
def activate(views: Pair, activation: str) -> RowNotes:
    """Activate two views in place, and note what their loss needs of each row.

    Args:
        views: (nodes, dim) each, standardised: no column's mean dwarfs its deviation.
        activation: Of those whose slope can be told from their result.
    """
    notes: RowNotes = _passes(views[0]).activate(views, activation)
    return notes


@torch.no_grad()
def agree(
    views: Pair,
    notes: RowNotes,
    *,
    activation: str,
    eta: float,
    iterations: int,
    sample: slice,
    gain: float = 1.0,
    count: int | None = None,
    total: Total = lambda tensor: tensor,
) -> Agreement:
    """Overwrite two activated views by the gradient before their activation.

    Args:
        views: (nodes, dim) each, as `activate` left them.
        notes: What was noted of them.
        activation: Theirs.
        eta: Weight of the regulariser.
        iterations: Power iterations for each principal direction.
        sample: The rows to give back as they were before.
        gain: Factor on the gradient.
        count: Rows of the whole batch; None where these are all.
        total: Sums over the whole batch what is a sum over these rows.
    """
    nodes = len(views[0]) if count is None else count
    kept = torch.stack([views[0][sample], views[1][sample]]).to(notes.sums.dtype)
    alignment = total(notes.cosines.sum()) / nodes
    pull = _passes(views[0]).pull
    if eta == 0:
        pull(views, activation, notes, None, gain / nodes)
        return Agreement(1 - alignment, alignment, None, kept)
    means = total(notes.sums) / nodes
    found = _directions(views, means, nodes, total, iterations)
    cosine = found.units[0] @ found.units[1]
    by = _regulariser(found, cosine, eta, means, gain / nodes)
    pull(views, activation, notes, by, gain / nodes)
    value = 1 - alignment + eta * cosine.abs()
    return Agreement(value, alignment, cosine.abs(), kept)


def can_be_fused(loss: Loss, activation: str, standardize: bool) -> bool:
    """Whether there are such passes for a loss of views made so."""
    known = isinstance(loss, Cosmean | RegularizedCosmean)
    return known and standardize and activation in IN_PLACE


def can_be_half(weight: Tensor) -> bool:
    """Whether views by such weights may be kept in float16."""
    few = weight.shape[1] <= LARGEST_HALF_DIM
    # Before 2.8 a product of factors in float16 could not be had in float32.
    able = find_spec("triton") is not None and _torch_version() >= (2, 8)
    return few and weight.dtype == torch.float32 and able


def _torch_version() -> tuple[int, ...]:
    return tuple(int(part) for part in torch.__version__.split(".")[:2])


def product(a: Tensor, b: Tensor) -> Tensor:
    """`a @ b`, of factors in float16 in float32."""
    if a.dtype == torch.float16:
        return torch.mm(a, b, out_dtype=torch.float32)
    return a @ b


def _passes(view: Tensor) -> ModuleType:
    """By one kernel each on a GPU for which there is Triton, else by torch."""
    if view.is_cuda and view.dtype != torch.float64 and find_spec("triton"):
        from fdgcl.methods.fdgcl import agreement_triton

        if view.shape[1] <= agreement_triton.LARGEST_DIM:
            return agreement_triton
    return agreement_blocks


def _regulariser(
    found: Directions, cosine: Tensor, eta: float, means: Tensor, share: float
) -> Pull:
    # Through the last normalisation: what of the other direction is across this one.
    across = found.units.flip(0) - cosine * found.units
    slopes = across * (eta * cosine.sign() / found.lengths)[:, None]
    # A row z is pulled by (C_i u) g + (C_i g) u, and C_i = z - mean.
    inner = torch.stack([found.before, slopes], 1)
    return Pull(inner, inner.flip(1) * share, (inner @ means[..., None]).squeeze(2))


def _directions(
    views: Pair, means: Tensor, nodes: int, total: Total, iterations: int
) -> Directions:
    """The principal directions; their lengths are those by the covariance itself."""
    dim = views[0].shape[1]
    kind = views[0].device.type
    rounded = kind == "cuda" and torch.get_float32_matmul_precision() != "highest"
    half = views[0].dtype == torch.float16
    if half or dim <= GRAM_COLUMNS.get((kind, rounded), 0):
        grams = total(torch.stack([_gram(view) for view in views]))
        covariances = torch.baddbmm(
            grams, means[:, :, None], means[:, None, :], beta=1 / nodes, alpha=-1
        )
        variances = covariances.diagonal(dim1=1, dim2=2)
        scale = _inverse(variances.sum(1))
        covariances *= scale[:, None, None]
        covariance = partial(torch.bmm, covariances)
    else:
        squares = [agreement_blocks.column_squares(one) for one in views]
        variances = total(torch.stack(squares)) / nodes - means.square()
        scale = _inverse(variances.sum(1))
        covariance = partial(_by_passes, views, means, scale / nodes, total)
    found = principal_directions(covariance, variances * scale[:, None], iterations)
    return found._replace(lengths=found.lengths / scale)


def _by_passes(
    views: Pair, means: Tensor, scale: Tensor, total: Total, columns: Tensor
) -> Tensor:
    parts = zip(views, means, scale, columns, strict=True)
    return total(torch.stack([s * (v.T @ (v @ c - m @ c)) for v, m, s, c in parts]))


def _inverse(total: Tensor) -> Tensor:
    """One over the trace, or zero where rows do not vary at all."""
    return torch.where(total > 0, total, torch.inf).reciprocal()


def _gram(view: Tensor) -> Tensor:
    """`view.T @ view`, of whose two off-diagonal blocks one is enough."""
    if view.dtype == torch.float16:
        return product(view.T, view)
    half = view.shape[1] // 2
    gram = view.new_empty(view.shape[1], view.shape[1])
    torch.mm(view[:, :half].T, view, out=gram[:half])
    torch.mm(view[:, half:].T, view[:, half:], out=gram[half:, half:])
    gram[half:, :half] = gram[:half, half:].T
    return gram
