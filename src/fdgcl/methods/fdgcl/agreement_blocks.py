"""The two passes over the rows, by torch alone, in blocks that a cache holds."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from fdgcl.methods.fdgcl.activations import IN_PLACE, pull_back

# A row without a direction is shorter than this, as in the plain loss.
SMALLEST_NORM = 1e-12

# Numbers of a view in one block. On a GPU launches cost more than memory does.
BLOCK_NUMBERS = {"cpu": 2**17, "cuda": 2**24}
# Blocks for which a thread of their own is worth its while, and those that make one
# where all threads share it.
BLOCKS_TO_SHARE = 16
SHARED_BLOCKS = 8

Pair = tuple[Tensor, Tensor]
Result = TypeVar("Result")


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

    def work(part: range) -> Tensor:
        sums = views[0].new_zeros(2, dim)
        ones = views[0].new_ones(1, part.step)
        for start in part:
            end = min(start + part.step, part.stop)
            blocks = [IN_PLACE[activation](view[start:end]) for view in views]
            torch.linalg.vecdot(*blocks, out=dots[start:end])
            for block, norm, total in zip(blocks, norms, sums, strict=True):
                torch.linalg.vector_norm(block, dim=1, out=norm[start:end])
                total[None].addmm_(ones[:, : end - start], block)
        return sums

    sums = torch.stack(_over_rows(views[0], work)).sum(0)
    directed = norms > SMALLEST_NORM
    inverse = torch.where(directed, norms, 1.0).reciprocal_()
    inverse = torch.where(directed, inverse, 0.0)
    return RowNotes(dots * inverse[0] * inverse[1], inverse, sums)


def column_squares(view: Tensor) -> Tensor:
    """The sum of squares of each column."""

    def work(part: range) -> Tensor:
        total = view.new_zeros(view.shape[1])
        for start in part:
            total += view[start : min(start + part.step, part.stop)].square().sum(0)
        return total

    return torch.stack(_over_rows(view, work)).sum(0)


def pull(
    views: Pair, activation: str, notes: RowNotes, by: Pull | None, share: float
) -> None:
    """Overwrite the activated views by the gradient before the activation.

    Args:
        views: The activated views.
        activation: Theirs.
        notes: What was noted of them.
        by: The regulariser's part, multiplied by `share` already.
        share: Of a row in the whole batch, times any factor on the gradient.
    """
    dim = views[0].shape[1]
    # The cosine's gradient: the other row's share, and this row's, of both lengths.
    other = (notes.inverse_norms[0] * notes.inverse_norms[1] * -share)[:, None]
    own = (notes.cosines * notes.inverse_norms.square() * share)[..., None]

    def work(part: range) -> None:
        space = views[0].new_empty(2, part.step, dim)
        for start in part:
            end = min(start + part.step, part.stop)
            blocks = [view[start:end] for view in views]
            gradients = space[:, : end - start]
            for side, gradient in enumerate(gradients):
                block = blocks[side]
                if by is None:
                    torch.mul(block, own[side, start:end], out=gradient)
                else:
                    inner, outer = by.inner[side].T, by.outer[side]
                    shares = torch.addmm(by.offsets[side], block, inner, beta=-1)
                    torch.mm(shares, outer, out=gradient)
                    gradient.addcmul_(block, own[side, start:end])
                gradient.addcmul_(blocks[1 - side], other[start:end])
            for block, gradient in zip(blocks, gradients, strict=True):
                pull_back(activation, block, gradient)

    _over_rows(views[0], work)


def _over_rows(view: Tensor, work: Callable[[range], Result]) -> list[Result]:
    """Work on all rows, in as many parts as there are threads, each on a core alone.

    Operations on a block are too short to be shared: to wake up a thread for each
    would take longer. Where there are few blocks, so would threads of their own.

    Args:
        view: What has the rows.
        work: Given the blocks of a part, as the range of their first rows.
    """
    nodes, dim = view.shape
    on_cpu = view.device.type == "cpu"
    # Where several share a batch, one may have no rows of it.
    step = max(64, BLOCK_NUMBERS["cpu" if on_cpu else "cuda"] // dim)
    step = min(max(nodes, 1), step)
    threads = torch.get_num_threads() if on_cpu else 1
    count = min(threads, nodes // (step * BLOCKS_TO_SHARE))
    if count <= 1:
        # Threads share every operation then: the fewer of them the better.
        step = min(max(nodes, 1), SHARED_BLOCKS * step if on_cpu else step)
        return [work(range(0, nodes, step))]

    @torch.no_grad()
    def alone(bounds: tuple[int, int]) -> Result:
        torch.set_num_threads(1)  # of this thread; of products, of all for the time
        return work(range(*bounds, step))

    ends = [nodes * k // count for k in range(count + 1)]
    try:
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(alone, pairwise(ends)))
    finally:
        torch.set_num_threads(threads)
