"""Apply the diffusion of all orders in one pass over the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl.diffusion.basis import Basis
from fdgcl.diffusion.dynamics import Dynamics
from fdgcl.diffusion.expansion import Expansion
from fdgcl.diffusion.schedule import Schedule
from fdgcl.operators.base import Coordinates, Operator
from fdgcl.operators.in_memory import InMemoryOperator
from fdgcl.operators.sparse import new_tensor, products_are_exact

# Bytes of one term of the basis: a processor's caches hold a few of these, but with
# fewer columns than the least a product is all indices. Other devices take all the
# columns that fit.
CACHED_BYTES = 4e6
LEAST_COLUMNS = 32
DEVICE_BYTES = 2e9
# Rows of a result that are brought back at a time.
LEAVING_ROWS = 8192

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

    @cached_property
    def expansion(self) -> Expansion:
        """The polynomials without the graph."""
        return Expansion(self.coefficients, self.basis)

    @property
    def products(self) -> int:
        """Sparse products in one pass."""
        return self.expansion.products

    @property
    def needs_float64(self) -> bool:
        """Whether terms may cancel so much that float32 sums would show it."""
        return self.expansion.needs_float64

    @property
    def transposed(self) -> PolynomialFilter:
        """The filter through which gradients flow back."""
        operator = self.operator
        assert isinstance(operator, InMemoryOperator), "stores are diffused once"
        return PolynomialFilter(operator.transposed, self.coefficients, self.basis)

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
        space = self.operator.coordinates(columns * self.products, device)
        whole = block >= columns and work == dtype and not _in_pairs(space, device)
        direct = whole and space.is_own
        # Fresh memory costs about as much as a product: all blocks share the same.
        terms = new_tensor(2, rows * block, work, device)
        sums = new_tensor(0 if direct else len(results), rows * block, work, device)
        for start in range(0, columns, block):
            part = slice(start, min(start + block, columns))
            shape = (-1, rows, part.stop - start)
            size = shape[1] * shape[2]
            held, found = terms[:, :size].view(shape), sums[:, :size].view(shape)
            space.enter(load(part), held[0])
            sum_terms(self.expansion, space, held, results if direct else found)
            for result, values in zip([] if direct else results, found, strict=True):
                for first in range(0, rows, LEAVING_ROWS):
                    last = min(first + LEAVING_ROWS, rows)
                    result[first:last, part].copy_(space.leave(values, first, last))
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


def sum_terms(
    expansion: Expansion,
    space: Coordinates,
    held: Tensor,
    sums: Sequence[Tensor] | Tensor,
) -> None:
    """Make term after term of a basis, and sum them for every order.

    Args:
        expansion: The orders' polynomials.
        space: The operator they are polynomials of, in coordinates of its own.
        held: (2, nodes, columns); the first are the features', and both are
            overwritten by terms.
        sums: (nodes, columns) for each order; get the results.
    """
    basis, products = expansion.basis, expansion.products
    add = _add_pair if _in_pairs(space, held.device) else _add_each
    add_rows = partial(add, expansion, held, sums)
    if not products:
        add_rows(0, 0, held.shape[1])
    for k in range(products):
        # The older term gives its memory to the newer.
        space.advance(
            held[k % 2],
            held[(k + 1) % 2],
            product=float(basis.product[k]),
            shift=float(basis.current[k]),
            kept=float(basis.previous[k]) if k else None,
            on_rows=partial(add_rows, k + 1),
        )


def _in_pairs(space: Coordinates, device: torch.device) -> bool:
    """Whether two terms and all orders go into one product: half the passes."""
    return space.is_whole and products_are_exact(device)


def _add_each(
    expansion: Expansion,
    held: Tensor,
    sums: Sequence[Tensor] | Tensor,
    k: int,
    start: int,
    stop: int,
) -> None:
    """Add rows of the k-th term, and of the one at the beginning with the first."""
    rows = slice(start, stop)
    for value, weights in zip(sums, expansion.coefficients, strict=True):
        if k <= 1:
            torch.mul(held[0, rows], float(weights[0]), out=value[rows])
        if k:
            value[rows].add_(held[k % 2, rows], alpha=float(weights[k]))


def _add_pair(
    expansion: Expansion,
    held: Tensor,
    sums: Sequence[Tensor] | Tensor,
    k: int,
    *_: int,
) -> None:
    """Add all rows of two terms to the sums of all orders, every other time."""
    if k % 2 == 0 and k < expansion.products:
        return
    assert isinstance(sums, Tensor)
    first = k - k % 2
    pair = held[: k - first + 1].reshape(k - first + 1, -1)
    found = sums.view(len(sums), -1)
    weights = torch.from_numpy(expansion.coefficients).to(pair)[:, first : k + 1]
    if first == 0:
        torch.mm(weights, pair, out=found)
    else:
        torch.addmm(found, weights, pair, out=found)


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
