"""Where a view's hidden features `p_a(L) X W` come from.

Diffusion commutes with W, so there are two ways with one result: diffuse X once and
multiply by W in every epoch, or multiply first and diffuse the (often fewer) columns
of X W in every epoch. The planner weighs them.
"""

from __future__ import annotations

import abc
from collections.abc import Generator, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, Self, final

import torch
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl.diffusion import PolynomialFilter, filter_with_gradient
from fdgcl.diffusion.polynomial import Progress
from fdgcl.methods.fdgcl.features import FeatureMatrix, Features, dense_rows
from fdgcl.methods.fdgcl.folding import fold
from fdgcl.methods.fdgcl.precompute import (
    column_means,
    diffuse_features,
    mean_and_covariance,
)
from fdgcl.methods.fdgcl.standardization import inverse_root, standardize

#: Of the first and the last order.
VIEW_NAMES = {"local": 0, "global": -1}


class Factors(NamedTuple):
    """Products that are the standardised features of the views.

    Attributes:
        features: (rows, features) for each view, constant.
        weights: (views, features, dim), with gradient.
    """

    features: Sequence[Tensor]
    weights: Tensor


class Batch(NamedTuple):
    """Rows to train on at a time.

    Attributes:
        rows: Those that are here; None for all of them.
        size: How many it has in all, others' rows included.
    """

    rows: Tensor | None
    size: int


class ViewSource(abc.ABC):
    """Gives `p_a(L) X W` for each view, all rows or some of them."""

    num_rows: int

    #: Rows to embed at a time; None for all, where some would cost as much as all.
    block_rows: int | None = None

    def row_blocks(self, device: torch.device) -> Iterable[Tensor | None]:
        """All rows, some at a time; None stands for all of them."""
        if self.block_rows is None or self.num_rows <= self.block_rows:
            return [None]
        rows = torch.arange(self.num_rows, device=device)
        return [*torch.split(rows, self.block_rows)]

    def batches(
        self, batch_size: int | None, seed: int, epoch: int
    ) -> Generator[Batch, None, None]:
        """All rows once, dealt anew in each epoch; a batch is good until the next.

        Args:
            batch_size: Rows of a batch; None for all.
            seed: Of the shuffle, with the epoch.
            epoch: Which pass this is.
        """
        count = self.num_rows
        if batch_size is None or batch_size >= count:
            yield Batch(None, count)
            return
        generator = torch.Generator().manual_seed(batch_seed(seed, epoch))
        parts = [*torch.split(torch.randperm(count, generator=generator), batch_size)]
        # A single left-over row has no principal direction: it joins the batch before.
        if len(parts[-1]) == 1:
            parts[-2:] = [torch.cat(parts[-2:])]
        for part in parts:
            yield Batch(part, len(part))

    def release(self) -> None:
        """Give back memory that only the next batches need."""
        return

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

    def factors(
        self,
        weights: Sequence[Tensor],  # noqa: ARG002
        rows: Tensor | None = None,  # noqa: ARG002
        *,
        half: bool = False,  # noqa: ARG002
    ) -> Factors | None:
        """The views' standardised features as products, where they are such.

        Args:
            weights: Each view's.
            rows: The rows; None for all.
            half: Whether the features are wanted in float16.
        """
        return None

    def standardized(
        self, view: int, weight: Tensor, rows: Tensor | None = None
    ) -> Tensor:
        """The hidden features, each column of mean 0 and variance 1 over all nodes."""
        hidden = self.hidden(view, weight, rows)
        if rows is None:
            return standardize(hidden)
        mean, variance = self.moments(view, weight)
        return (hidden - mean) * inverse_root(variance)


def batch_seed(seed: int, epoch: int) -> int:
    """The seed of one epoch's batches."""
    return seed * 1_000_003 + epoch


@final
class Diffused(ViewSource):
    """Features diffused before training: an epoch never touches the graph.

    They are kept less their means, which standardised views have no use for.

    Args:
        views: (nodes, features) for each order; taken over, and centred in place.
        features: As they were before.
    """

    block_rows = 32768

    def __init__(
        self, views: Sequence[Tensor], features: Features | None = None
    ) -> None:
        self.num_rows, self._num_features = views[0].shape
        self._means = [column_means(view) for view in views]
        pairs = zip(views, self._means, strict=True)
        self._centred = [view.sub_(mean) for view, mean in pairs]
        self._features = features

    @classmethod
    def of(
        cls,
        features: Features,
        *filters: PolynomialFilter,
        dtype: torch.dtype,
        device: torch.device,
        progress: Progress | None = None,
    ) -> Self:
        """Diffuse features by every order of the filters, now; see the function."""
        views = diffuse_features(
            features, *filters, dtype=dtype, device=device, progress=progress
        )
        source = cls(views, features)
        if source._has_few_features(source.num_rows):
            # Every epoch needs them: before the first, not in it.
            assert len(source._covariances)
        return source

    def kept(self, name: str, rows: Tensor | None = None) -> Tensor:
        """See the base class."""
        if name == "features":
            assert self._features is not None
            return dense_rows(self._features, rows)
        view = VIEW_NAMES[name]
        return self._rows(view, rows) + self._means[view]

    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """See the base class."""
        return torch.addmm(self._means[view] @ weight, self._rows(view, rows), weight)

    def moments(self, view: int, weight: Tensor) -> tuple[Tensor, Tensor]:
        """From few features' covariance: no pass over the rows, for any batch."""
        mean = self._means[view] @ weight
        if self._has_few_features(self.num_rows):
            return mean, self._variance(view, weight)
        centred = self._centred[view] @ weight
        return mean, centred.square().mean(0)

    def standardized(
        self, view: int, weight: Tensor, rows: Tensor | None = None
    ) -> Tensor:
        """See the base class; with few features, folded into the one product."""
        centred = self._rows(view, rows)
        if self._has_few_features(len(centred)):
            return centred @ (weight * inverse_root(self._variance(view, weight)))
        if rows is None:
            return standardize(centred @ weight)
        _, variance = self.moments(view, weight)
        return (centred @ weight) * inverse_root(variance)

    def factors(
        self,
        weights: Sequence[Tensor],
        rows: Tensor | None = None,
        *,
        half: bool = False,
    ) -> Factors | None:
        """See the base class."""
        if not self._has_few_features(self.num_rows if rows is None else len(rows)):
            return None
        folded = fold(weights, self._covariances)
        if not half:
            views = range(len(self._centred))
            return Factors([self._rows(view, rows) for view in views], folded)
        halves = self._halves if rows is None else self._halves[:, rows]
        return Factors([*halves], folded * self._deviations)

    @cached_property
    def _deviations(self) -> Tensor:
        """Of the features, (views, features, 1); constant ones have 1."""
        variances = self._covariances.diagonal(dim1=1, dim2=2)
        return torch.where(variances > 0, variances, 1.0).sqrt()[..., None]

    @cached_property
    def _halves(self) -> Tensor:
        """The features in float16, which has room for them once they vary by 1."""
        scaled = zip(self._centred, self._deviations.squeeze(2), strict=True)
        return torch.stack([(view / by).half() for view, by in scaled])

    def _has_few_features(self, rows: int) -> bool:
        """Whether covariances cost less than what they spare, by the rows of a step."""
        return self._num_features <= rows // 4

    def _rows(self, view: int, rows: Tensor | None) -> Tensor:
        centred = self._centred[view]
        return centred if rows is None else centred[rows]

    def _variance(self, view: int, weight: Tensor) -> Tensor:
        return ((self._covariances[view] @ weight) * weight).sum(0)

    @cached_property
    def _covariances(self) -> Tensor:
        return torch.stack([mean_and_covariance(view)[1] for view in self._centred])


@final
class InLoop(ViewSource):
    """Features diffused after the linear map, in every epoch and all rows at once.

    Args:
        features: (nodes, features).
        filters: The graph's, or one for each of its edge types.
    """

    def __init__(self, features: Features, *filters: PolynomialFilter) -> None:
        self._features, self._filters = features, filters
        orders = range(len(filters[0].coefficients))
        self._of_order = [[one.row(order) for one in filters] for order in orders]
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
            *self._filters,
            dtype=torch.float32,
            device=torch.device("cpu"),
        )

    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """See the base class; chosen rows cost as much as all of them."""
        # Features side by side times a weight are the sum of each block's product.
        parts = torch.split(weight, self._features.shape[1])
        first, *others = (
            filter_with_gradient(polynomial, self._matrix.times(part))
            for polynomial, part in zip(self._of_order[view], parts, strict=True)
        )
        diffused = sum(others, first)
        return diffused if rows is None else diffused[rows]

    def moments(self, view: int, weight: Tensor) -> tuple[Tensor, Tensor]:
        """See the base class."""
        hidden = self.hidden(view, weight)
        return hidden.mean(0), hidden.var(0, unbiased=False)
