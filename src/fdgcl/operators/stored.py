"""The operator A of a store, whose rows pass by in blocks.

Weights are one, or stored as they are: normalisation never touches them. With W the
weights and loops, every A is `diag(l) W diag(r)`, so that `s = r t` turns
`t' = A t` into `s' = (l r) W s`: rows of a product are scaled, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdgcl.graphs.store.store import Store
from fdgcl.operators.base import Coordinates, OnBlock, OnRows, Operator
from fdgcl.operators.row_blocks import StoredWeights

# Of Lanczos' recurrence, each a pass over a disk: what it adds to the terms of a
# polynomial is a bound on the spectrum, sharp to a few percent.
LANCZOS_STEPS = 30


@final
@dataclass(frozen=True, eq=False)
class StoredOperator(Operator):
    """A normalised adjacency on disk.

    Attributes:
        store: The graph.
        self_loops: Weight of every node's self-loop.
        normalization: `symmetric`, `row` or `column`.
        threads: Blocks at the same time.
        dtype: Of the factors.
        products: Of the polynomials of A that are to be fitted to its spectrum.
    """

    store: Store
    self_loops: float
    normalization: str
    threads: int
    dtype: torch.dtype = torch.float32
    products: int = 0

    @property
    def num_nodes(self) -> int:
        """See `Operator`."""
        return self.store.manifest.nodes

    @property
    def nnz(self) -> int:
        """See `Operator`."""
        loops = self.num_nodes if self.self_loops else 0
        return self.store.manifest.entries + loops

    @cached_property
    def has_real_spectrum(self) -> bool:  # type: ignore[override]
        """See `Operator`."""
        return self.store.manifest.direction == "symmetric"

    @property
    def lanczos_steps(self) -> int:
        """See `Operator`; one more than products, which a fitted basis needs."""
        return max(LANCZOS_STEPS, self.products + 1)

    @property
    def lanczos_threads(self) -> int | None:
        """See `Operator`; one, so that results do not depend on how many there are."""
        return 1

    @property
    def least_loop(self) -> float:
        """See `Operator`."""
        return self.self_loops * float(self._inverse_degrees.min())

    @cached_property
    def weights(self) -> StoredWeights:
        """W without its loops."""
        return StoredWeights(self.store, self.threads)

    @cached_property
    def right(self) -> Tensor:
        """(nodes,) r, by which features are multiplied before they pass by."""
        if self.normalization == "row":
            return torch.ones(self.num_nodes, dtype=self.dtype)
        return self.scale.sqrt() if self.normalization == "symmetric" else self.scale

    @cached_property
    def scale(self) -> Tensor:
        """(nodes,) l r, by which rows of a product are multiplied: one over degrees.

        A node without a degree has an empty row, or nobody gathers from it: its factor
        may be any.
        """
        inverse = self._inverse_degrees
        return torch.from_numpy(np.where(inverse > 0, inverse, 1.0)).to(self.dtype)

    @cached_property
    def _inverse_degrees(self) -> NDArray[np.float64]:
        by_column = self.normalization == "column" and not self.has_real_spectrum
        sums = self.weights.column_sums if by_column else self.weights.row_sums
        degrees = sums() + self.self_loops
        positive = degrees > 0
        return np.divide(1.0, degrees, out=np.zeros_like(degrees), where=positive)

    @cached_property
    def _alive(self) -> Tensor | None:
        """(nodes,) 0 for nodes that nobody may gather from, else 1; None if all are 1.

        With symmetric normalisation a node without neighbours of its own counts for
        nothing in those of others; in a symmetric graph it is nobody's.
        """
        if self.normalization != "symmetric" or self.has_real_spectrum:
            return None
        alive = torch.from_numpy(self._inverse_degrees > 0)
        return None if bool(alive.all()) else alive.to(self.dtype)

    def coordinates(
        self,
        columns: int,  # noqa: ARG002
        device: torch.device,  # noqa: ARG002
    ) -> Coordinates:
        """See `Operator`: `s = r t`, however many columns there are."""
        # Not of the operator itself: what its factors were made of may be forgotten.
        return Scaled(
            self.weights, self.self_loops, self.scale, self.right, self._alive
        )

    def each_block(
        self, x: Tensor, on_block: OnBlock, *, squared: bool = False
    ) -> None:
        """See `Operator`."""
        factors, loops = self.scale.to(x.dtype), self.self_loops
        if squared:
            loops = loops**2
        else:
            factors = factors.sqrt()
        if x.ndim == 2:
            factors = factors[:, None]
        scaled = factors * x

        def on_weights(start: int, stop: int, found: Tensor) -> None:
            rows = slice(start, stop)
            found.add_(scaled[rows], alpha=loops).mul_(factors[rows])
            on_block(start, stop, found)

        self.weights.each_block(scaled, on_weights, alive=self._alive, squared=squared)

    def add_product(
        self, x: Tensor, out: Tensor, *, alpha: float, beta: float
    ) -> Tensor:
        """See `Operator`."""

        def on_block(start: int, stop: int, found: Tensor) -> None:
            out[start:stop].mul_(beta).add_(found, alpha=alpha)

        self.each_block(x, on_block)
        return out


@final
@dataclass(frozen=True, eq=False)
class Scaled(Coordinates):
    """`s = r t` for features t: a store's weights stay as they are on disk.

    Attributes:
        weights: W without its loops.
        loops: Weight of every node's self-loop.
        scale: (nodes,) l r.
        right: (nodes,) r.
        alive: (nodes,) factors of W's columns; None for ones.
    """

    weights: StoredWeights
    loops: float
    scale: Tensor
    right: Tensor
    alive: Tensor | None
    is_whole = is_own = False

    def enter(self, rows: Tensor, into: Tensor, start: int = 0) -> None:
        """See `Coordinates`."""
        nodes = slice(start, start + len(rows))
        torch.mul(rows.to(into), self.right[nodes, None], out=into[nodes])

    def advance(
        self,
        current: Tensor,
        other: Tensor,
        *,
        product: float,
        shift: float,
        kept: float | None,
        on_rows: OnRows,
    ) -> None:
        """See `Coordinates`; which thread does a block makes no difference to it."""

        def on_block(start: int, stop: int, found: Tensor) -> None:
            rows = slice(start, stop)
            old, new = current[rows], other[rows]
            found.add_(old, alpha=self.loops).mul_(self.scale[rows, None])
            if kept is None:
                torch.mul(old, shift, out=new)
            else:
                new.mul_(kept).add_(old, alpha=shift)
            new.add_(found, alpha=product)
            on_rows(start, stop)

        self.weights.each_block(current, on_block, alive=self.alive)

    def leave(self, values: Tensor, start: int, stop: int) -> Tensor:
        """See `Coordinates`."""
        return values[start:stop] / self.right[start:stop, None]
