"""Means of the features over neighbours: what is kept beside the views of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import final

import numpy as np
import torch
from torch import Tensor

from fdgcl.diffusion import PolynomialFilter
from fdgcl.diffusion.basis import power_basis
from fdgcl.diffusion.expansion import Expansion
from fdgcl.methods.fdgcl.features import Features
from fdgcl.methods.fdgcl.precompute import diffuse_features
from fdgcl.operators.in_memory import InMemoryOperator

#: `A x`: one product with an operator, the first power of it and nothing else.
ONE_PRODUCT = Expansion(np.array([[0.0, 1.0]]), power_basis(1))


@final
class Averages(Mapping[str, Tensor]):
    """Means of the features over neighbours, each taken when first asked for.

    Training has no use for them; the embedding has.

    Args:
        features: (nodes, features).
        operators: Of each block, those that average: the graph's, or one for each of
            its edge types. Blocks with the same operators share memory.
        dtype: Of the means.
        device: Where they are to be.

    Example:
        >>> from scipy.sparse import csr_array
        >>> from fdgcl.operators.in_memory import build_operator
        >>> edges = csr_array(np.array([[0, 1, 3], [0, 0, 1], [0, 0, 0]]))
        >>> out = build_operator(
        ...     edges, direction="out", self_loops=0, normalization="row"
        ... )
        >>> x = np.array([[0.0], [4.0], [8.0]])
        >>> Averages(x, {"out": [out]}, torch.float64)["out"].flatten().tolist()
        [7.0, 8.0, 0.0]
    """

    def __init__(
        self,
        features: Features,
        operators: Mapping[str, Sequence[InMemoryOperator]],
        dtype: torch.dtype = torch.float32,
        device: torch.device | None = None,
    ) -> None:
        self._features, self._operators = features, operators
        self._dtype, self._device = dtype, device or torch.device("cpu")
        self._made: dict[tuple[int, ...], Tensor] = {}

    def __getitem__(self, name: str) -> Tensor:
        """(nodes, features): what a block's operators give, side by side."""
        operators = self._operators[name]
        key = tuple(map(id, operators))
        if key not in self._made:
            filters = [
                PolynomialFilter(one, ONE_PRODUCT.coefficients, ONE_PRODUCT.basis)
                for one in operators
            ]
            (self._made[key],) = diffuse_features(
                self._features, *filters, dtype=self._dtype, device=self._device
            )
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._operators)

    def __len__(self) -> int:
        return len(self._operators)
