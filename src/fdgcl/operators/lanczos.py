"""What a few products with a random vector tell of a symmetric matrix's spectrum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

FAILURE = 1e-3
# With so many nodes what is missed far exceeds rounding errors of float32.
MANY_NODES = 2**16
# Of the eigenvalues here; a residual below it says that nothing is left to find.
ROUNDING = {torch.float32: 1e-5, torch.float64: 1e-12}
_TINY = 1e-30  # keeps steps past the last finite; they do not count


class Matrix(Protocol):
    """A square matrix that vectors can be multiplied by."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def add_product(
        self, x: Tensor, out: Tensor, *, alpha: float, beta: float
    ) -> Tensor:
        """Set `out = alpha * matrix @ x + beta * out`."""


@dataclass(frozen=True, eq=False)
class Tridiagonal:
    """The matrix seen from a random start, and its spectral density with it.

    Attributes:
        diagonal: Its diagonal, one entry a step.
        beside: The entries beside it; the last one couples to a step not taken.
        nodes: Rows of the matrix it was made of.
        rounding: Error of its eigenvalues.
    """

    diagonal: NDArray[np.float64]
    beside: NDArray[np.float64]
    nodes: int
    rounding: float

    @property
    def is_complete(self) -> bool:
        """Whether further steps would find nothing new."""
        return bool(self.beside[-1] < self.rounding)

    def smallest_eigenvalue(self) -> float:
        """Lower bound on the matrix's spectrum: the smallest here, less what is missed.

        From a random start, k steps miss the end of a spectrum of width w by more than
        `w * (log(1.648 sqrt(n) / p) / (2 k - 1))^2` with probability p at most
        (Kuczynski and Wozniakowski, Estimating the largest eigenvalue by the power and
        Lanczos algorithms with a random start, 1992).
        """
        # Here, so that programs which never ask for a spectrum need not load it.
        from scipy.linalg import eigvalsh_tridiagonal

        ends = eigvalsh_tridiagonal(self.diagonal, self.beside[:-1])
        missed = 0.0
        if not self.is_complete:
            chances = math.log(1.648 * math.sqrt(self.nodes) / FAILURE)
            missed = (chances / (2 * len(self.diagonal) - 1)) ** 2
        return float(ends[0] - missed * (ends[-1] - ends[0])) - self.rounding


def lanczos(
    matrix: Matrix,
    steps: int,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
) -> Tridiagonal:
    """Run Lanczos' recurrence on a symmetric matrix.

    Plain three-term recurrence: lost orthogonality repeats eigenvalues, it does not
    move the extreme ones.

    Args:
        matrix: Of the spectrum in [-1, 1].
        steps: Products with it, at most.
        dtype: Of the vectors; None takes float32 where that makes no difference.
        device: Where; None is a processor.
    """
    nodes = matrix.shape[0]
    dtype = dtype or (torch.float32 if nodes >= MANY_NODES else torch.float64)
    start = np.random.default_rng(0).standard_normal(nodes)
    vector = torch.from_numpy(start / np.linalg.norm(start)).to(device, dtype)
    previous = torch.zeros_like(vector)
    # Where the vectors are: to look at each number would be to wait for a GPU.
    diagonal, beside = vector.new_zeros(steps), vector.new_zeros(steps)
    for step in range(steps):
        # The oldest vector gives its memory to the newest.
        newest = matrix.add_product(vector, previous, alpha=1.0, beta=1.0)
        torch.dot(vector, newest, out=diagonal[step])
        newest.addcmul_(vector, diagonal[step], value=-1)
        torch.linalg.vector_norm(newest, out=beside[step])
        previous, vector = vector, newest.div_(beside[step].clamp_min(_TINY))
        previous.mul_(-beside[step])
    found = diagonal.double().cpu().numpy(), beside.double().cpu().numpy()
    ended = np.flatnonzero(found[1] < ROUNDING[dtype])
    taken = int(ended[0]) + 1 if len(ended) else steps
    return Tridiagonal(found[0][:taken], found[1][:taken], nodes, ROUNDING[dtype])
