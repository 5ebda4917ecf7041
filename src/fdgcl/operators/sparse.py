"""A sparse matrix that multiplies dense tensors of any dtype, on any device."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
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
        return self._tensor(x) @ x

    def add_product(
        self, x: Tensor, out: Tensor, *, alpha: float, beta: float
    ) -> Tensor:
        """Set `out = alpha * matrix @ x + beta * out` in one pass, without gradient.

        Args:
            x: A vector or a matrix, of out's shape, dtype and device.
            out: Contiguous. Fresh memory costs as much as the product itself on large
                matrices, so loops hand in the same two arrays again and again.
            alpha: Factor of the product.
            beta: Factor of what `out` holds.
        """
        add = torch.addmv if x.ndim == 1 else torch.addmm
        return add(out, self._tensor(x), x, alpha=alpha, beta=beta, out=out)

    def _tensor(self, x: Tensor) -> Tensor:
        key = (x.dtype, x.device)
        if key not in self._tensors:
            self._tensors[key] = _to_torch(self.matrix, x.dtype, x.device)
        return self._tensors[key]

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


def new_tensor(
    rows: int, columns: int, dtype: torch.dtype, device: torch.device
) -> Tensor:
    """A matrix of no particular values."""
    size = rows * columns * dtype.itemsize
    if device.type != "cpu" or size == 0:
        return torch.empty((rows, columns), dtype=dtype, device=device)
    # NumPy asks for large pages, torch does not: with small ones, the first touch of
    # an array takes as long as several passes over it.
    return torch.from_numpy(np.empty(size, np.uint8)).view(dtype).view(rows, columns)


def products_are_exact(device: torch.device) -> bool:
    """Whether dense products keep all digits of float32, as they do unless told."""
    return device.type == "cpu" and torch.get_float32_matmul_precision() == "highest"


def _to_torch(matrix: csr_array, dtype: torch.dtype, device: torch.device) -> Tensor:
    # MKL and cuSPARSE both want 32-bit indices, and they halve the memory traffic.
    index = torch.int32 if matrix.nnz < np.iinfo(np.int32).max else torch.int64
    rows, columns = matrix.shape
    return csr_tensor(
        _array(matrix.indptr, index, device),
        _array(matrix.indices, index, device),
        _array(matrix.data, dtype, device),
        (int(rows), int(columns)),
    )


def _array(values: NDArray[Any], dtype: torch.dtype, device: torch.device) -> Tensor:
    """The same numbers in torch, without a copy where none is needed."""
    if not values.flags.writeable:
        return torch.tensor(values, dtype=dtype, device=device)
    return torch.from_numpy(values).to(dtype=dtype, device=device)
