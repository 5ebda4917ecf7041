"""The edges of an operator one by one, and sums over them in blocks.

Where an edge's weight is computed anew (attention), or where what runs along an edge
is a whole vector (convection), a product with one sparse matrix is not enough. Nothing
here ever holds a vector for every edge of the graph at once: edges are handled in
blocks, and the backward pass computes each block again instead of keeping it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor
from torch.autograd.function import once_differentiable

from fdgcl.operators.sparse import csr_tensor

#: Numbers in a block: what a processor's cache holds, and what keeps a GPU busy.
BLOCK_NUMBERS = {"cpu": 2**18, "cuda": 2**26}

#: From weights, rows' and columns' vectors of some edges to one vector for each edge.
Message = Callable[..., Tensor]


class Incidence:
    """Rows, columns and weights of a CSR matrix, on every device they are used on."""

    def __init__(self, matrix: csr_array) -> None:
        self.num_nodes = int(matrix.shape[0])
        self.num_edges = int(matrix.nnz)
        counts = np.diff(matrix.indptr)
        by_column = np.argsort(matrix.indices, kind="stable")
        rows = np.repeat(np.arange(self.num_nodes), counts)
        ends = np.bincount(matrix.indices, minlength=self.num_nodes).cumsum()
        self._arrays: dict[str, NDArray[Any]] = {
            "starts": np.asarray(matrix.indptr, np.int64),
            "rows": rows,
            "columns": np.asarray(matrix.indices, np.int64),
            "weights": np.asarray(matrix.data, np.float64),
            # The same edges in the order of the transposed matrix.
            "by_column": by_column,
            "column_starts": np.concatenate([[0], ends]),
            "rows_by_column": rows[by_column],
        }
        self._tensors: dict[tuple[str, torch.device, torch.dtype | None], Tensor] = {}

    def rows(self, device: torch.device) -> Tensor:
        """The node that gathers, edge by edge, in rising order."""
        return self._on("rows", device)

    def columns(self, device: torch.device) -> Tensor:
        """The node it gathers from, edge by edge."""
        return self._on("columns", device)

    def weights(self, like: Tensor) -> Tensor:
        """The operator's weights, in a tensor's dtype and on its device."""
        return self._on("weights", like.device, like.dtype)

    def multiply(self, weights: Tensor, x: Tensor) -> Tensor:
        """`sum_j w_ij x_j` for given weights, with gradient to both."""
        result: Tensor = _Multiply.apply(weights, x, self)  # type: ignore[no-untyped-call]
        return result

    def inner_products(self, first: Tensor, second: Tensor) -> Tensor:
        """`<first_i, second_j>` for every edge, (edges x heads), with gradient.

        Args:
            first: (nodes x heads x columns), taken at the rows.
            second: The same, taken at the columns.
        """
        parts = (first, second, self)
        result: Tensor = _InnerProducts.apply(*parts)  # type: ignore[no-untyped-call]
        return result

    def softmax(self, scores: Tensor) -> Tensor:
        """Weights (edges x heads) that sum to one over each row's edges."""
        rows = self.rows(scores.device)
        index = rows[:, None].expand_as(scores)
        lowest = scores.new_full((self.num_nodes, scores.shape[1]), -torch.inf)
        # The largest score cancels out; it only keeps the exponentials finite.
        top = lowest.scatter_reduce(0, index, scores.detach(), "amax")
        powers = torch.exp(scores - top[rows])
        sums = torch.zeros_like(lowest).index_add(0, rows, powers)
        return powers / sums[rows]

    def sum_messages(
        self, message: Message, at_rows: Sequence[Tensor], at_columns: Sequence[Tensor]
    ) -> Tensor:
        """Sum over each row's edges of `message(weights, *at_rows, *at_columns)`.

        Args:
            message: Gives (edges x columns) from an edge's weights (edges x 1) and
                what its two ends hold; it must treat edges one by one.
            at_rows: (nodes x columns) tensors to gather at the rows.
            at_columns: The same at the columns.
        """
        parts = (self, message, len(at_rows), *at_rows, *at_columns)
        result: Tensor = _SumMessages.apply(*parts)  # type: ignore[no-untyped-call]
        return result

    def blocks(self, numbers_per_edge: int, device: torch.device) -> Iterator[slice]:
        """Consecutive edges, so many at a time as make a block."""
        numbers = BLOCK_NUMBERS.get(device.type, BLOCK_NUMBERS["cpu"])
        size = max(1, numbers // max(1, numbers_per_edge))
        for start in range(0, self.num_edges, size):
            yield slice(start, min(start + size, self.num_edges))

    def product(
        self, weights: Tensor, x: Tensor, *, transposed: bool = False
    ) -> Tensor:
        """The matrix of these weights, or its transpose, times x, without gradient."""
        device, n = x.device, self.num_nodes
        if transposed:
            starts, ends = self._on("column_starts", device), "rows_by_column"
            weights = weights[self._on("by_column", device)]
        else:
            starts, ends = self._on("starts", device), "columns"
        return csr_tensor(starts, self._on(ends, device), weights, (n, n)) @ x

    def _on(
        self, name: str, device: torch.device, dtype: torch.dtype | None = None
    ) -> Tensor:
        key = (name, device, dtype)
        if key not in self._tensors:
            tensor = torch.from_numpy(self._arrays[name])
            self._tensors[key] = tensor.to(device=device, dtype=dtype)
        return self._tensors[key]


class _Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, x: Tensor, edges: Incidence) -> Tensor:
        ctx.save_for_backward(weights, x)
        ctx.edges = edges
        return edges.product(weights.detach(), x.detach())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, x = ctx.saved_tensors
        edges: Incidence = ctx.edges
        gradient = gradient.contiguous()
        to_x = edges.product(weights, gradient, transposed=True)
        to_weights = torch.empty_like(weights)
        rows, columns = edges.rows(x.device), edges.columns(x.device)
        for block in edges.blocks(x.shape[1], x.device):
            ends = gradient[rows[block]] * x[columns[block]]
            to_weights[block] = ends.sum(1)
        return to_weights, to_x, None


class _InnerProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, edges: Incidence) -> Tensor:
        ctx.save_for_backward(first, second)
        ctx.edges = edges
        result = first.new_empty(edges.num_edges, first.shape[1])
        rows, columns = edges.rows(first.device), edges.columns(first.device)
        for block in edges.blocks(first[0].numel(), first.device):
            result[block] = (first[rows[block]] * second[columns[block]]).sum(2)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        first, second = ctx.saved_tensors
        edges: Incidence = ctx.edges
        to_first, to_second = torch.empty_like(first), torch.empty_like(second)
        for head in range(first.shape[1]):
            share = gradient[:, head].contiguous()
            to_first[:, head] = edges.product(share, second[:, head].contiguous())
            to_second[:, head] = edges.product(
                share, first[:, head].contiguous(), transposed=True
            )
        return to_first, to_second, None


class _SumMessages(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, edges: Incidence, message: Message, count: int, *tensors: Tensor
    ) -> Tensor:
        ctx.save_for_backward(*tensors)
        ctx.parts = (edges, message, count)
        total = torch.zeros_like(tensors[0])
        for block, ends in _gathered(edges, tensors, count):
            rows = edges.rows(total.device)[block]
            total.index_add_(0, rows, message(_weights(edges, block, total), *ends))
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        edges, message, count = ctx.parts
        tensors = ctx.saved_tensors
        totals = [torch.zeros_like(tensor) for tensor in tensors]
        for block, ends in _gathered(edges, tensors, count):
            rows = edges.rows(gradient.device)[block]
            columns = edges.columns(gradient.device)[block]
            ends = [end.requires_grad_() for end in ends]
            with torch.enable_grad():
                value = message(_weights(edges, block, gradient), *ends)
            found = torch.autograd.grad(value, ends, gradient[rows])
            for place, (total, part) in enumerate(zip(totals, found, strict=True)):
                total.index_add_(0, rows if place < count else columns, part)
        return None, None, None, *totals


def _gathered(
    edges: Incidence, tensors: Sequence[Tensor], count: int
) -> Iterator[tuple[slice, list[Tensor]]]:
    """Block by block, the tensors at the edges' rows (the first ones) and columns."""
    device = tensors[0].device
    rows, columns = edges.rows(device), edges.columns(device)
    for block in edges.blocks(tensors[0].shape[1], device):
        places = [rows[block]] * count + [columns[block]] * (len(tensors) - count)
        pairs = zip(tensors, places, strict=True)
        yield block, [tensor.detach().index_select(0, place) for tensor, place in pairs]


def _weights(edges: Incidence, block: slice, like: Tensor) -> Tensor:
    return edges.weights(like)[block][:, None]
