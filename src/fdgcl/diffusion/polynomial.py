"""Apply the diffusion of all orders in one pass over the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl.diffusion.basis import Basis
from fdgcl.diffusion.dynamics import Dynamics
from fdgcl.diffusion.expansion import Expansion
from fdgcl.diffusion.schedule import Schedule
from fdgcl.operators.in_memory import Operator
from fdgcl.operators.ordering import reordering_pays
from fdgcl.operators.sparse import SparseMatrix, new_tensor, products_are_exact

# Bytes of one term of the basis: a processor's caches hold a few of these, but with
# fewer columns than the least a product is all indices. Other devices take all the
# columns that fit.
CACHED_BYTES = 4e6
LEAST_COLUMNS = 32
DEVICE_BYTES = 2e9

Progress = Callable[[int, int], None]

#: Gives some columns of the features, of any floating-point type and on any device.
Loader = Callable[[slice], Tensor]


@dataclass(frozen=True, eq=False)
class PolynomialFilter:
    """`p_a(L)` for several orders a: one basis of products, one row of weights each.

    Attributes:
        operator: The graph's operator A.
        coefficients: (orders x terms) weights of the basis.
        basis: How its terms are made.
    """

    operator: Operator
    coefficients: NDArray[np.float64]
    basis: Basis

    @classmethod
    def of(
        cls,
        dynamics: Dynamics,
        operator: Operator,
        schedule: Schedule,
        orders: Sequence[float],
    ) -> PolynomialFilter:
        """Find the polynomial of a fixed linear dynamics on a graph."""
        found = Expansion.of(dynamics, operator, schedule, orders)
        return cls(operator, found.coefficients, found.basis)

    @property
    def products(self) -> int:
        """Sparse products in one pass."""
        return int(self.coefficients.shape[1]) - 1

    @cached_property
    def needs_float64(self) -> bool:
        """Whether terms may cancel so much that float32 sums would show it."""
        return Expansion(self.coefficients, self.basis).needs_float64

    @property
    def transposed(self) -> PolynomialFilter:
        """The filter through which gradients flow back."""
        return PolynomialFilter(self.operator.transposed, self.coefficients, self.basis)

    def row(self, index: int) -> PolynomialFilter:
        """The filter of one order alone."""
        return PolynomialFilter(
            self.operator, self.coefficients[index : index + 1], self.basis
        )

    def apply(
        self, x: Tensor, *, block: int | None = None, progress: Progress | None = None
    ) -> list[Tensor]:
        """Return `p_a(L) x` for every order, without gradient.

        Args:
            x: (nodes x columns), dense.
            block: Columns handled at once; None chooses.
            progress: Called with (columns done, columns).
        """
        rows, columns = x.shape
        results = [
            new_tensor(rows, columns, x.dtype, x.device) for _ in self.coefficients
        ]
        self.fill(results, lambda wanted: x[:, wanted], block=block, progress=progress)
        return results

    @torch.no_grad()
    def fill(
        self,
        results: Sequence[Tensor],
        load: Loader,
        *,
        block: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Write every order's `p_a(L) x` into an array of its own.

        Args:
            results: One for each order.
            load: Gives the columns of x.
            block: Columns handled at once; None chooses.
            progress: Called with (columns done, columns).
        """
        rows, columns = results[0].shape
        dtype, device = results[0].dtype, results[0].device
        work = torch.float64 if self.needs_float64 else dtype
        block = block or self.column_block(columns, dtype, device)
        matrix, order = self._matrix(columns, device)
        pairs = products_are_exact(device)
        # Fresh memory costs about as much as a product: all blocks share the same.
        direct = block >= columns and work == dtype and order is None and not pairs
        terms = new_tensor(2, rows * block, work, device)
        sums = new_tensor(0 if direct else len(results), rows * block, work, device)
        for start in range(0, columns, block):
            part = slice(start, min(start + block, columns))
            shape = (-1, rows, part.stop - start)
            size = shape[1] * shape[2]
            held, found = terms[:, :size].view(shape), sums[:, :size]
            _read(held[0], load(part), order)
            if pairs:
                self._sum_pairs(matrix, held, found)
            else:
                self._sum_each(matrix, held, results if direct else found.view(shape))
            if not direct:
                for result, value in zip(results, found.view(shape), strict=True):
                    _write(result[:, part], value, order)
            if progress is not None:
                progress(part.stop, columns)

    def column_block(
        self, columns: int, dtype: torch.dtype, device: torch.device
    ) -> int:
        """Columns to handle at once: what caches hold, or all that a device can."""
        size = 8 if self.needs_float64 else dtype.itemsize
        term = size * max(self.operator.num_nodes, 1)
        fitting = CACHED_BYTES if device.type == "cpu" else DEVICE_BYTES
        return max(1, min(columns, max(int(fitting / term), LEAST_COLUMNS)))

    def _matrix(
        self, columns: int, device: torch.device
    ) -> tuple[SparseMatrix, Tensor | None]:
        """A, and the order its nodes are in where it is not their own."""
        operator = self.operator
        multiplied = columns * self.products
        if operator.has_real_spectrum and reordering_pays(
            operator.num_nodes, multiplied, device
        ):
            return operator.ordered.matrix, operator.ordered.order
        return operator.matrix, None

    def _terms(self, matrix: SparseMatrix, held: Tensor) -> Iterator[int]:
        """Make term after term from the one in `held[0]`; the k-th is `held[k % 2]`."""
        basis = self.basis
        yield 0
        for k in range(self.products):
            # The older term gives its memory to the newer.
            current, other = held[k % 2], held[(k + 1) % 2]
            kept, shift = float(basis.previous[k]), float(basis.current[k])
            if k == 0:
                torch.mul(current, shift, out=other)
                kept, shift = 1.0, 0.0
            alpha = float(basis.product[k])
            matrix.add_product(current, other, alpha=alpha, beta=kept)
            if shift:
                other.add_(current, alpha=shift)
            yield k + 1

    def _sum_each(
        self, matrix: SparseMatrix, held: Tensor, sums: Sequence[Tensor] | Tensor
    ) -> None:
        """Add every term to every order's sum, as plainly as can be."""
        for k in self._terms(matrix, held):
            for value, row in zip(sums, self.coefficients, strict=True):
                if k == 0:
                    torch.mul(held[0], float(row[0]), out=value)
                else:
                    value.add_(held[k % 2], alpha=float(row[k]))

    def _sum_pairs(self, matrix: SparseMatrix, held: Tensor, sums: Tensor) -> None:
        """The same with two terms and all orders in one product: half the passes."""
        weights = torch.from_numpy(self.coefficients).to(sums)
        for k in self._terms(matrix, held):
            if k % 2 == 0 and k < self.products:
                continue
            first = k - k % 2
            pair = held[: k - first + 1].reshape(k - first + 1, -1)
            if first == 0:
                torch.mm(weights[:, : k + 1], pair, out=sums)
            else:
                torch.addmm(sums, weights[:, first : k + 1], pair, out=sums)


def _read(into: Tensor, source: Tensor, order: Tensor | None) -> None:
    """Fill an array with features, whatever their type, device and order."""
    if order is None:
        into.copy_(source)
    elif source.dtype == into.dtype:
        torch.index_select(source, 0, order, out=into)
    else:
        into.copy_(source.index_select(0, order))


def _write(into: Tensor, values: Tensor, order: Tensor | None) -> None:
    if order is None:
        into.copy_(values)
    else:
        into.index_copy_(0, order, values.to(into.dtype))


class _Filter(torch.autograd.Function):
    """One order's filter inside training: nothing is kept for the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, polynomial: PolynomialFilter) -> Tensor:
        ctx.polynomial = polynomial
        return polynomial.apply(x)[0]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.polynomial.transposed.apply(gradient.contiguous())[0], None


def filter_with_gradient(polynomial: PolynomialFilter, x: Tensor) -> Tensor:
    """Apply a filter of a single order so that autograd passes through it."""
    result: Tensor = _Filter.apply(x, polynomial)  # type: ignore[no-untyped-call]
    return result
