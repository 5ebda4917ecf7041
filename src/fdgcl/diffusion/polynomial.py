"""Apply the diffusion of all orders in one pass over the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl.diffusion.dynamics import Dynamics
from fdgcl.diffusion.schedule import Schedule
from fdgcl.diffusion.spectral import chebyshev_coefficients, disc_coefficients
from fdgcl.graphs.operators import Operator

# Cancellation among terms costs as many digits of float32 as the sum of their sizes
# exceeds what is left of them; from here on the sums run in float64.
FLOAT32_GROWTH = 10.0

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class PolynomialFilter:
    """`p_a(L)` for several orders a: one basis of products, one row of weights each.

    Attributes:
        operator: The graph's operator A.
        coefficients: (orders x terms) weights of the basis.
        scale: lambda_max for Chebyshev terms; None for powers of A.
    """

    operator: Operator
    coefficients: NDArray[np.float64]
    scale: float | None

    @classmethod
    def of(
        cls,
        dynamics: Dynamics,
        operator: Operator,
        schedule: Schedule,
        orders: Sequence[float],
    ) -> PolynomialFilter:
        """Find the polynomial of a fixed linear dynamics on a graph."""
        if operator.has_real_spectrum:
            top = max(operator.lambda_max, 1e-6)
            return cls(
                operator, chebyshev_coefficients(dynamics, schedule, orders, top), top
            )
        return cls(operator, disc_coefficients(dynamics, schedule, orders), None)

    @property
    def products(self) -> int:
        """Sparse products in one pass."""
        return int(self.coefficients.shape[1]) - 1

    @cached_property
    def needs_float64(self) -> bool:
        """Whether terms cancel so much that float32 sums would show it."""
        return float(np.abs(self.coefficients).sum(axis=1).max()) > FLOAT32_GROWTH

    @property
    def transposed(self) -> PolynomialFilter:
        """The filter through which gradients flow back."""
        return PolynomialFilter(self.operator.transposed, self.coefficients, self.scale)

    def row(self, index: int) -> PolynomialFilter:
        """The filter of one order alone."""
        return PolynomialFilter(
            self.operator, self.coefficients[index : index + 1], self.scale
        )

    def apply(
        self, x: Tensor, *, block: int | None = None, progress: Progress | None = None
    ) -> list[Tensor]:
        """Return `p_a(L) x` for every order, without gradient.

        Args:
            x: (nodes x columns), dense.
            block: Columns handled at once; None chooses by the working memory.
            progress: Called with (columns done, columns).
        """
        columns = x.shape[1]
        block = block or self.column_block(columns)
        results = [torch.empty_like(x) for _ in self.coefficients]
        for start in range(0, columns, block):
            part = x[:, start : start + block]
            work = torch.float64 if self.needs_float64 else x.dtype
            for result, value in zip(
                results, self._apply_block(part.to(work).contiguous()), strict=True
            ):
                result[:, start : start + block] = value
            if progress is not None:
                progress(min(start + block, columns), columns)
        return results

    def column_block(self, columns: int, budget_bytes: float = 2.5e8) -> int:
        """Columns whose working set (basis terms, all results) meets the budget."""
        size = 8 if self.needs_float64 else 4
        live = 4 + len(self.coefficients)
        fitting = int(budget_bytes / (size * live * max(self.operator.num_nodes, 1)))
        return max(1, min(columns, max(fitting, 8)))

    def _apply_block(self, x: Tensor) -> list[Tensor]:
        results = [x * float(row[0]) for row in self.coefficients]
        previous, current = x, x
        for k in range(1, self.coefficients.shape[1]):
            previous, current = current, self._next_term(k, previous, current)
            for result, row in zip(results, self.coefficients, strict=True):
                result.add_(current, alpha=float(row[k]))
        return results

    def _next_term(self, k: int, previous: Tensor, current: Tensor) -> Tensor:
        product = self.operator.apply(current)
        if self.scale is None:
            return product
        # B = 2 L / scale - I maps the spectrum to [-1, 1]; T_{k+1} = 2 B T_k - T_{k-1}.
        shifted = current * (2 / self.scale - 1)
        shifted.sub_(product, alpha=2 / self.scale)
        return shifted if k == 1 else shifted.mul_(2).sub_(previous)


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
