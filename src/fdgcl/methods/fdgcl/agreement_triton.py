"""The two passes over the rows as one GPU kernel each: what `agreement_blocks` does.

Torch alone would read and write the views ten times; these do so once a pass, which on
a GPU is all the time there is. Sums run in float32, also of views in float16.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from fdgcl.methods.fdgcl.agreement_blocks import SMALLEST_NORM, Pair, Pull, RowNotes

LARGEST_DIM = 16384  # a row of both views must fit into a processor's registers
# Of a view at a time in one program, by bytes of a number; measured on an H200.
_TILE_NUMBERS = {2: 2048, 4: 4096}
_PROGRAMS_PER_PROCESSOR = 4


@triton.jit  # type: ignore[untyped-decorator]
def _activated(x, activation: tl.constexpr):  # type: ignore[no-untyped-def]
    if activation == "relu":
        x = tl.maximum(x, 0.0)
    elif activation == "elu":
        x = tl.where(x > 0, x, tl.exp(tl.minimum(x, 0.0)) - 1)
    elif activation == "tanh":
        small = tl.exp(-2 * tl.abs(x))
        size = (1 - small) / (1 + small)
        x = tl.where(x > 0, size, -size)
    return x


@triton.jit  # type: ignore[untyped-decorator]
def _pulled_back(result, gradient, activation: tl.constexpr):  # type: ignore[no-untyped-def]
    if activation == "relu":
        gradient = tl.where(result > 0, gradient, 0.0)
    elif activation == "elu":
        gradient = gradient * (tl.minimum(result, 0.0) + 1)
    elif activation == "tanh":
        gradient = gradient * (1 - result * result)
    return gradient


@triton.jit  # type: ignore[untyped-decorator]
def _activate_kernel(  # type: ignore[no-untyped-def]
    first,
    second,
    cosines,
    inverse_norms,
    sums,
    nodes,
    dim,
    activation: tl.constexpr,
    smallest_square: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    columns = tl.arange(0, COLUMNS)
    total_1 = tl.zeros((ROWS, COLUMNS), tl.float32)
    total_2 = tl.zeros((ROWS, COLUMNS), tl.float32)
    stride = tl.num_programs(0) * ROWS
    for start in range(tl.program_id(0) * ROWS, nodes, stride):
        rows = start + tl.arange(0, ROWS)
        real = rows < nodes
        inside = real[:, None] & (columns < dim)[None, :]
        at = rows[:, None].to(tl.int64) * dim + columns[None, :]
        a = tl.load(first + at, inside, other=0.0).to(tl.float32)
        b = tl.load(second + at, inside, other=0.0).to(tl.float32)
        a = _activated(a, activation)
        b = _activated(b, activation)
        tl.store(first + at, a, inside)
        tl.store(second + at, b, inside)
        square_1 = tl.sum(a * a, 1)
        square_2 = tl.sum(b * b, 1)
        inverse_1 = tl.where(square_1 > smallest_square, tl.rsqrt(square_1), 0.0)
        inverse_2 = tl.where(square_2 > smallest_square, tl.rsqrt(square_2), 0.0)
        tl.store(inverse_norms + rows, inverse_1, real)
        tl.store(inverse_norms + nodes + rows, inverse_2, real)
        tl.store(cosines + rows, tl.sum(a * b, 1) * inverse_1 * inverse_2, real)
        total_1 += a
        total_2 += b
    at = sums + tl.program_id(0) * 2 * dim + columns
    tl.store(at, tl.sum(total_1, 0), columns < dim)
    tl.store(at + dim, tl.sum(total_2, 0), columns < dim)


@triton.jit  # type: ignore[untyped-decorator]
def _pull_kernel(  # type: ignore[no-untyped-def]
    first,
    second,
    cosines,
    inverse_norms,
    inner,
    outer,
    offsets,
    nodes,
    dim,
    share,
    largest,
    activation: tl.constexpr,
    REGULAR: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    columns = tl.arange(0, COLUMNS)
    stride = tl.num_programs(0) * ROWS
    for start in range(tl.program_id(0) * ROWS, nodes, stride):
        rows = start + tl.arange(0, ROWS)
        real = rows < nodes
        inside = real[:, None] & (columns < dim)[None, :]
        at = rows[:, None].to(tl.int64) * dim + columns[None, :]
        a = tl.load(first + at, inside, other=0.0).to(tl.float32)
        b = tl.load(second + at, inside, other=0.0).to(tl.float32)
        cosine = tl.load(cosines + rows, real, other=0.0) * share
        inverse_1 = tl.load(inverse_norms + rows, real, other=0.0)
        inverse_2 = tl.load(inverse_norms + nodes + rows, real, other=0.0)
        across = (inverse_1 * inverse_2 * share)[:, None]
        pull_1 = (cosine * inverse_1 * inverse_1)[:, None] * a - across * b
        pull_2 = (cosine * inverse_2 * inverse_2)[:, None] * b - across * a
        if REGULAR:
            for k in tl.static_range(2):
                place = k * dim + columns
                kept = columns < dim
                vector = tl.load(inner + place, kept, other=0.0)[None, :]
                product = tl.sum(a * vector, 1) - tl.load(offsets + k)
                vector = tl.load(outer + place, kept, other=0.0)[None, :]
                pull_1 += product[:, None] * vector
                place += 2 * dim
                vector = tl.load(inner + place, kept, other=0.0)[None, :]
                product = tl.sum(b * vector, 1) - tl.load(offsets + 2 + k)
                vector = tl.load(outer + place, kept, other=0.0)[None, :]
                pull_2 += product[:, None] * vector
        pull_1 = tl.clamp(_pulled_back(a, pull_1, activation), -largest, largest)
        pull_2 = tl.clamp(_pulled_back(b, pull_2, activation), -largest, largest)
        tl.store(first + at, pull_1, inside)
        tl.store(second + at, pull_2, inside)


def activate(views: Pair, activation: str) -> RowNotes:
    """Apply the activation in place, and note what the loss needs of each row."""
    nodes, dim = views[0].shape
    tile, programs = _sizes(views[0])
    cosines = views[0].new_empty(nodes, dtype=torch.float32)
    inverse_norms = cosines.new_empty(2, nodes)
    sums = cosines.new_empty(programs, 2, dim)
    if nodes == 0:
        return RowNotes(cosines, inverse_norms, sums.sum(0))
    _activate_kernel[(programs,)](
        *_contiguous(views),
        cosines,
        inverse_norms,
        sums,
        nodes,
        dim,
        activation=activation,
        smallest_square=SMALLEST_NORM**2,
        **tile,
    )
    return RowNotes(cosines, inverse_norms, sums.sum(0))


def pull(
    views: Pair, activation: str, notes: RowNotes, by: Pull | None, share: float
) -> None:
    """Overwrite the activated views by the gradient before the activation.

    The gradient is too small for float16 as it is; what a factor in `share` makes too
    large for it is cut off.
    """
    nodes, dim = views[0].shape
    if nodes == 0:
        return
    tile, programs = _sizes(views[0])
    # The kernel reads no vectors where there is no regulariser; any tensor will do.
    vectors = (notes.sums,) * 3 if by is None else by
    _pull_kernel[(programs,)](
        *_contiguous(views),
        notes.cosines,
        notes.inverse_norms,
        *(vector.contiguous() for vector in vectors),
        nodes,
        dim,
        share,
        torch.finfo(views[0].dtype).max,
        activation=activation,
        REGULAR=by is not None,
        **tile,
    )


def _sizes(view: Tensor) -> tuple[dict[str, Any], int]:
    """Give the tile of rows and columns, and how many programs share the rows."""
    nodes, dim = view.shape
    columns = triton.next_power_of_2(dim)
    numbers = _TILE_NUMBERS[view.dtype.itemsize]
    rows = max(1, numbers // columns)
    processors = torch.cuda.get_device_properties(view.device).multi_processor_count
    programs = min(triton.cdiv(nodes, rows), _PROGRAMS_PER_PROCESSOR * processors)
    warps = 8 if rows * columns <= numbers else 16
    return {"ROWS": rows, "COLUMNS": columns, "num_warps": warps}, programs


def _contiguous(views: Pair) -> Pair:
    assert all(view.is_contiguous() for view in views)
    return views
