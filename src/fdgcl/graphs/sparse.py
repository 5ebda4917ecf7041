"""A sparse matrix that multiplies dense tensors of any dtype, on any device."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor


class SparseMatrix:
    """A SciPy CSR matrix and its copies for each dtype and device it was used on."""

    def __init__(self, matrix: csr_array) -> None:
        self.matrix = matrix
        self._tensors: dict[tuple[torch.dtype, torch.device], Tensor] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    @property
    def nnz(self) -> int:
        """Number of stored values."""
        return int(self.matrix.nnz)

    @cached_property
    def transposed(self) -> SparseMatrix:
        """The transposed matrix, in CSR form too."""
        return SparseMatrix(csr_array(self.matrix.T))

    def apply(self, x: Tensor) -> Tensor:
        """Return `matrix @ x`, in x's dtype and on x's device, without gradient."""
        key = (x.dtype, x.device)
        if key not in self._tensors:
            self._tensors[key] = _to_torch(self.matrix, x.dtype, x.device)
        return self._tensors[key] @ x

    def multiply(self, x: Tensor) -> Tensor:
        """Return `matrix @ x` with a gradient with respect to x."""
        result: Tensor = _Product.apply(x, self)  # type: ignore[no-untyped-call]
        return result


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: SparseMatrix) -> Tensor:
        ctx.matrix = matrix
        return matrix.apply(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.matrix.transposed.apply(gradient.contiguous()), None


def csr_tensor(
    starts: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]
) -> Tensor:
    """A sparse tensor of parts that are known to fit, on the values' device."""
    with warnings.catch_warnings():
        # torch calls this layout beta, and wants its checks switched by hand.
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(
            starts, columns, values, shape, check_invariants=False
        )


def _to_torch(matrix: csr_array, dtype: torch.dtype, device: torch.device) -> Tensor:
    # MKL and cuSPARSE both want 32-bit indices, and they halve the memory traffic.
    index = np.int32 if matrix.nnz < np.iinfo(np.int32).max else np.int64
    rows, columns = matrix.shape
    return csr_tensor(
        torch.from_numpy(matrix.indptr.astype(index)).to(device),
        torch.from_numpy(matrix.indices.astype(index)).to(device),
        torch.tensor(matrix.data, dtype=dtype, device=device),
        (int(rows), int(columns)),
    )
