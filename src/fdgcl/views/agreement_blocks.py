"""The two passes over the rows, by torch alone, in blocks that a cache holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from fdgcl.views.activations import IN_PLACE, pull_back

# A row without a direction is shorter than this, as in the plain loss.
SMALLEST_NORM = 1e-12

# Numbers of a view in one block. On a GPU launches cost more than memory does.
BLOCK_NUMBERS = {"cpu": 2**17, "cuda": 2**24}

Pair = tuple[Tensor, Tensor]


class RowNotes(NamedTuple):
    """What the first pass notes.

    Attributes:
        cosines: (nodes,) of the two views of a node.
        inverse_norms: (2, nodes) of each view's row; 0 for rows without a direction.
        sums: (2, dim) each view's columns, summed.
    """

    cosines: Tensor
    inverse_norms: Tensor
    sums: Tensor


class Pull(NamedTuple):
    """How the regulariser pulls at the rows of the views.

    A row z is pulled by `outer.T @ (inner @ z - offsets)`.

    Attributes:
        inner: (2, 2, dim) for each view, the two vectors its rows are multiplied by.
        outer: (2, 2, dim) for each view, the two vectors that are then added.
        offsets: (2, 2) the products of `inner` with the mean row.
    """

    inner: Tensor
    outer: Tensor
    offsets: Tensor


def activate(views: Pair, activation: str) -> RowNotes:
    """Apply the activation in place, and note what the loss needs of each row."""
    nodes, dim = views[0].shape
    dots, norms = views[0].new_empty(nodes), views[0].new_empty(2, nodes)
    sums = views[0].new_zeros(2, dim)
    ones = views[0].new_ones(1, _block_rows(views[0]))
    for start, end in _blocks(views[0]):
        blocks = [IN_PLACE[activation](view[start:end]) for view in views]
        torch.linalg.vecdot(*blocks, out=dots[start:end])
        for block, norm, total in zip(blocks, norms, sums, strict=True):
            torch.linalg.vector_norm(block, dim=1, out=norm[start:end])
            total[None].addmm_(ones[:, : end - start], block)
    directed = norms > SMALLEST_NORM
    inverse = torch.where(directed, norms, 1.0).reciprocal_()
    inverse = torch.where(directed, inverse, 0.0)
    return RowNotes(dots * inverse[0] * inverse[1], inverse, sums)


def column_squares(view: Tensor) -> Tensor:
    """The sum of squares of each column."""
    total = view.new_zeros(view.shape[1])
    for start, end in _blocks(view):
        total += view[start:end].square().sum(0)
    return total


def pull(
    views: Pair, activation: str, notes: RowNotes, by: Pull | None, gain: float = 1.0
) -> None:
    """Overwrite the activated views by the gradient before the activation.

    Args:
        views: The activated views.
        activation: Theirs.
        notes: What was noted of them.
        by: The regulariser's part, multiplied by `gain` already.
        gain: Factor on the gradient.
    """
    nodes, dim = views[0].shape
    share = gain / nodes
    # The cosine's gradient: the other row's share, and this row's, of both lengths.
    other = (notes.inverse_norms[0] * notes.inverse_norms[1] * -share)[:, None]
    own = (notes.cosines * notes.inverse_norms.square() * share)[..., None]
    space = views[0].new_empty(2, _block_rows(views[0]), dim)
    for start, end in _blocks(views[0]):
        blocks = [view[start:end] for view in views]
        gradients = space[:, : end - start]
        for side, gradient in enumerate(gradients):
            block = blocks[side]
            if by is None:
                torch.mul(block, own[side, start:end], out=gradient)
            else:
                inner = torch.addmm(by.offsets[side], block, by.inner[side].T, beta=-1)
                torch.mm(inner, by.outer[side], out=gradient)
                gradient.addcmul_(block, own[side, start:end])
            gradient.addcmul_(blocks[1 - side], other[start:end])
        for block, gradient in zip(blocks, gradients, strict=True):
            pull_back(activation, block, gradient)


def _blocks(view: Tensor) -> Iterator[tuple[int, int]]:
    rows = _block_rows(view)
    for start in range(0, len(view), rows):
        yield start, min(start + rows, len(view))


def _block_rows(view: Tensor) -> int:
    numbers = BLOCK_NUMBERS.get(view.device.type, 2**24)
    return min(len(view), max(64, numbers // view.shape[1]))
