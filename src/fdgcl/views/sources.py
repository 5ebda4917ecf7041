"""Where a view's hidden features `p_a(L) X W` come from.

Diffusion commutes with W, so there are two ways with one result: diffuse X once and
multiply by W in every epoch, or multiply first and diffuse the (often fewer) columns
of X W in every epoch. The planner weighs them.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from functools import cached_property
from typing import Self, final

import torch
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl.diffusion import PolynomialFilter, filter_with_gradient
from fdgcl.diffusion.polynomial import Progress
from fdgcl.views.features import FeatureMatrix, Features, dense_rows
from fdgcl.views.precompute import diffuse_features, mean_and_covariance

# Below this variance a hidden column is constant but for rounding.
_SMALLEST_VARIANCE = 1e-20

_VIEW_NAMES = {"local": 0, "global": 1}


class ViewSource(abc.ABC):
    """Gives `p_a(L) X W` for each view, all rows or some of them."""

    num_rows: int

    #: Rows to embed at a time; None for all, where some would cost as much as all.
    block_rows: int | None = None

    def row_blocks(self, device: torch.device) -> list[Tensor | None]:
        """All rows, some at a time; None stands for all of them."""
        if self.block_rows is None or self.num_rows <= self.block_rows:
            return [None]
        rows = torch.arange(self.num_rows, device=device)
        return [*torch.split(rows, self.block_rows)]

    def kept(self, name: str, rows: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """The `features` themselves, or as the `local` or `global` order diffuses."""
        message = f"this encoder has no {name!r} block to keep beside its views"
        raise InputError(message)

    @abc.abstractmethod
    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """The hidden features of a view, with gradient with respect to the weight."""

    @abc.abstractmethod
    def moments(self, view: int, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance over all nodes of each hidden column, with gradient."""

    def standardized(
        self, view: int, weight: Tensor, rows: Tensor | None = None
    ) -> Tensor:
        """The hidden features, each column of mean 0 and variance 1 over all nodes."""
        hidden = self.hidden(view, weight, rows)
        if rows is None:
            mean, variance = hidden.mean(0), hidden.var(0, unbiased=False)
        else:
            mean, variance = self.moments(view, weight)
        return (hidden - mean) * inverse_root(variance)


@final
class Diffused(ViewSource):
    """Features diffused before training: an epoch never touches the graph."""

    block_rows = 32768

    def __init__(
        self, views: Sequence[Tensor], features: Features | None = None
    ) -> None:
        self.views = list(views)
        self.features = features
        self.num_rows = views[0].shape[0]

    @classmethod
    def of(
        cls,
        features: Features,
        polynomial: PolynomialFilter,
        *,
        dtype: torch.dtype,
        device: torch.device,
        progress: Progress | None = None,
    ) -> Self:
        """Diffuse features by every order of a filter, now."""
        views = diffuse_features(
            features, polynomial, dtype=dtype, device=device, progress=progress
        )
        return cls(views, features)

    def kept(self, name: str, rows: Tensor | None = None) -> Tensor:
        """See the base class."""
        if name == "features":
            assert self.features is not None
            return dense_rows(self.features, rows)
        diffused = self.views[_VIEW_NAMES[name]]
        return diffused if rows is None else diffused[rows]

    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """See the base class."""
        diffused = self.views[view]
        return (diffused if rows is None else diffused[rows]) @ weight

    def moments(self, view: int, weight: Tensor) -> tuple[Tensor, Tensor]:
        """From the features' covariance: no pass over the rows, exact for any batch."""
        mean, covariance = self._statistics[view]
        return mean @ weight, ((covariance @ weight) * weight).sum(0)

    def standardized(
        self, view: int, weight: Tensor, rows: Tensor | None = None
    ) -> Tensor:
        """See the base class; with few features, folded into the one product."""
        count = self.num_rows if rows is None else len(rows)
        if self.views[view].shape[1] > count // 4:
            return super().standardized(view, weight, rows)
        mean, variance = self.moments(view, weight)
        scale = inverse_root(variance)
        diffused = self.views[view]
        part = diffused if rows is None else diffused[rows]
        return torch.addmm(-mean * scale, part, weight * scale)

    @cached_property
    def _statistics(self) -> list[tuple[Tensor, Tensor]]:
        return [mean_and_covariance(view) for view in self.views]


@final
class InLoop(ViewSource):
    """Features diffused after the linear map, in every epoch and all rows at once."""

    def __init__(self, features: Features, polynomial: PolynomialFilter) -> None:
        self._features, self._polynomial = features, polynomial
        self._filters = [polynomial.row(i) for i in range(len(polynomial.coefficients))]
        self._matrix = FeatureMatrix(features)
        self.num_rows = self._matrix.num_rows

    def kept(self, name: str, rows: Tensor | None = None) -> Tensor:
        """See the base class."""
        if name == "features":
            return dense_rows(self._features, rows)
        return self._diffused.kept(name, rows)

    @cached_property
    def _diffused(self) -> Diffused:
        return Diffused.of(
            self._features,
            self._polynomial,
            dtype=torch.float32,
            device=torch.device("cpu"),
        )

    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """See the base class; chosen rows cost as much as all of them."""
        encoded = self._matrix.times(weight)
        diffused = filter_with_gradient(self._filters[view], encoded)
        return diffused if rows is None else diffused[rows]

    def moments(self, view: int, weight: Tensor) -> tuple[Tensor, Tensor]:
        """See the base class."""
        hidden = self.hidden(view, weight)
        return hidden.mean(0), hidden.var(0, unbiased=False)


def inverse_root(variance: Tensor) -> Tensor:
    """`variance ** -0.5`, and 0 for columns that are constant but for rounding."""
    constant = variance <= _SMALLEST_VARIANCE
    return torch.where(constant, 1.0, variance).rsqrt().masked_fill(constant, 0.0)
