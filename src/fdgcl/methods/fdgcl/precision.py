"""The precision of dense products in training on CUDA."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

#: With torch's name for the same: tf32 rounds factors to 11 bits and sums in float32;
#: float16 keeps the views so, too.
PRECISIONS = {"float32": "highest", "tf32": "high", "float16": "high"}


@contextmanager
def dense_products(precision: str) -> Iterator[None]:
    """Run dense float32 products on CUDA in a precision."""
    kinds = torch.backends.cuda.matmul
    before = torch.get_float32_matmul_precision()
    sums = kinds.allow_fp16_reduced_precision_reduction
    torch.set_float32_matmul_precision(PRECISIONS[precision])
    kinds.allow_fp16_reduced_precision_reduction = False
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
        kinds.allow_fp16_reduced_precision_reduction = sums
