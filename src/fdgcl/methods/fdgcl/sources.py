"""Where a view's hidden features `p_a(L) X W` come from.

Diffusion commutes with W, so there are two ways with one result: diffuse X once and
multiply by W in every epoch (`DiffusedFeatures`), or multiply first and diffuse the
(often fewer) columns of X W in every epoch (`InLoop`). The planner weighs them.
"""

from __future__ import annotations

import abc
from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from fdgcl._checks import InputError
from fdgcl.methods.fdgcl.shuffling import Shuffle
from fdgcl.methods.fdgcl.standardization import inverse_root, standardize


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
        rows: Positions of those that are here; None for all that are held.
        size: How many it has in all, those of other processes included.
    """

    rows: Tensor | None
    size: int


class ViewSource(abc.ABC):
    """Gives `p_a(L) X W` for each view, all rows or some of them.

    Attributes:
        num_rows: Nodes.
        num_features: Columns of a view's features.
        can_be_captured: Whether steps on all rows read the same memory each time, so
            that a GPU may record one and replay it.
    """

    num_rows: int
    num_features: int
    can_be_captured = False

    def batches(
        self, batch_size: int | None, seed: int, epoch: int
    ) -> Generator[Batch, None, None]:
        """All rows once, shuffled anew in each epoch; a batch is good until the next.

        Args:
            batch_size: The most rows of a batch, about; None for all at once.
            seed: Of the shuffle, with the epoch.
            epoch: Which pass this is.
        """
        if batch_size is None or batch_size >= self.num_rows:
            yield Batch(None, self.num_rows)
            return
        shuffle = Shuffle.of(
            self.num_rows, self.num_features, batch_size, holds_all=True
        )
        for window in shuffle.windows(seed, epoch):
            for rows, size in zip(window.batches, window.sizes, strict=True):
                yield Batch(torch.from_numpy(rows), size)

    def release(self) -> None:
        """Give back memory that only the next batches need."""
        return

    def row_blocks(self) -> Iterator[None]:
        """Hold all rows, some at a time: what is asked for without rows is of those.

        Here all at once, as some would cost as much.
        """
        yield

    def kept(self, name: str) -> Tensor:
        """A block beside the views.

        Args:
            name: The `features` themselves, these as the `local` or `global` order
                diffuses them, or a mean of them over neighbours, a key of `AVERAGED`.
        """
        message = f"this encoder has no {name!r} block to keep beside its views"
        raise InputError(message)

    @abc.abstractmethod
    def hidden(self, view: int, weight: Tensor, rows: Tensor | None = None) -> Tensor:
        """The hidden features of a view, with gradient with respect to the weight."""

    def moments(self, view: int, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance over all nodes of each hidden column, with gradient."""
        hidden = self.hidden(view, weight)
        return hidden.mean(0), hidden.var(0, unbiased=False)

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
