"""One update of the weights, by the plain way or a faster one with the same result."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor
from torch.optim import Optimizer

from fdgcl.losses import Loss, RegularizedCosmean
from fdgcl.methods.fdgcl import Encoders, ViewSource
from fdgcl.methods.fdgcl.agreement import (
    Agreement,
    activate,
    agree,
    can_be_fused,
    can_be_half,
    product,
)
from fdgcl.methods.fdgcl.agreement_blocks import Pair
from fdgcl.methods.fdgcl.pairs import pairs_of
from fdgcl.methods.fdgcl.sources import Factors
from fdgcl.training.cuda_graph import CudaGraph
from fdgcl.training.diagnostics import diagnose, effective_ranks, sampled_rows
from fdgcl.training.process_group import ProcessGroup, SingleProcess

# On gradients in float16, beside the number of rows: between what is lost below its
# range and what above.
_HALF_GAIN = 16.0


class Step(abc.ABC):
    """The gradient of a batch, and the update by it."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer

    @abc.abstractmethod
    def gradient(self, rows: Tensor | None, count: int | None = None) -> Tensor:
        """Leave the gradient in the weights, and return the loss and what is watched.

        Nothing else changes, so it may be done any number of times. Every member of a
        group leaves and returns the same.

        Args:
            rows: Of the batch, those that are here; None for all rows here.
            count: Rows of the batch in the whole group; None where these are all.

        Returns:
            Loss, alignment, principal cosine and the effective rank of each view.
        """

    def update(self) -> None:
        """Move the weights by the gradient that was found last."""
        self._optimizer.step()


def new_step(
    views: Encoders,
    source: ViewSource,
    loss: Loss,
    optimizer: Optimizer,
    *,
    fast: bool,
    captured: bool,
    pairs: str = "all",
    precision: str = "float32",
    group: ProcessGroup | None = None,
) -> Step:
    """Choose how to go about a step.

    Args:
        views: The encoders.
        source: Where their hidden features come from.
        loss: What makes them agree.
        optimizer: Of their weights.
        fast: Take a fast way where there is one.
        captured: Whether all steps are alike, so that a GPU may be told of them once.
        pairs: Which views are compared, of `PAIRS`.
        precision: Of dense products on CUDA.
        group: Who share a batch.
    """
    plain = PlainStep(views, source, loss, optimizer, pairs=pairs, group=group)
    if not fast:
        return plain
    on_gpu = views.mean.device.type == "cuda"
    step: Step
    if can_be_fused(loss, views.activation, views.standardize):
        half = on_gpu and precision == "float16" and can_be_half(views.weights[0])
        step = FusedStep(
            views, source, loss, optimizer, pairs=pairs, half=half, group=group
        )
    else:
        step = plain
    if captured and on_gpu and source.can_be_captured:
        return CudaGraphStep(step, optimizer)
    return step


@final
class PlainStep(Step):
    """Autograd through encoders and loss: any loss, any source.

    A loss may be anything of a batch, so every member of a group has all of its rows
    for the loss; those of the others are constants to it.
    """

    def __init__(
        self,
        views: Encoders,
        source: ViewSource,
        loss: Loss,
        optimizer: Optimizer,
        *,
        pairs: str = "all",
        group: ProcessGroup | None = None,
    ) -> None:
        super().__init__(optimizer)
        self._views, self._source, self._loss = views, source, loss
        self._pairs = pairs_of(len(views.weights), pairs)
        self._group = group or SingleProcess()

    def gradient(self, rows: Tensor | None, count: int | None = None) -> Tensor:  # noqa: ARG002
        """See the base class."""
        here = self._views(self._source, rows)
        found = [self._group.gather_rows(view) for view in here]
        losses = [self._loss(found[i], found[j]) for i, j in self._pairs]
        value = _mean(losses)
        watched = diagnose([view.detach() for view in found], self._pairs)
        self._views.zero_grad(set_to_none=True)
        torch.autograd.backward(value)
        _add_gradients(self._views, self._group)
        return torch.cat([value.detach()[None].to(watched), watched])


@final
class FusedStep(Step):
    """The paper's loss with its gradient found in place; autograd for the encoders.

    Alignment and, with the regulariser, the principal cosine are those of all rows:
    the loss has them.
    """

    def __init__(
        self,
        views: Encoders,
        source: ViewSource,
        loss: Loss,
        optimizer: Optimizer,
        *,
        pairs: str = "all",
        half: bool = False,
        group: ProcessGroup | None = None,
    ) -> None:
        super().__init__(optimizer)
        self._views, self._source, self._half = views, source, half
        self._pairs = pairs_of(len(views.weights), pairs)
        self._group = group or SingleProcess()
        self._space: Tensor | None = None
        self._eta, self._iterations = 0.0, 1
        if isinstance(loss, RegularizedCosmean):
            self._eta, self._iterations = loss.eta, loss.iterations

    def gradient(self, rows: Tensor | None, count: int | None = None) -> Tensor:
        """See the base class."""
        factors = self._source.factors([*self._views.weights], rows, half=self._half)
        found = self._found(factors, rows, count)
        if found.principal_cosine is None:
            watched = diagnose([*found.sample], self._pairs)
        else:
            ranks = effective_ranks(found.sample)
            known = torch.stack([found.alignment, found.principal_cosine])
            watched = torch.cat([known.to(ranks), ranks])
        return torch.cat([found.value[None].to(watched), watched])

    def _found(
        self, factors: Factors | None, rows: Tensor | None, count: int | None
    ) -> Agreement:
        if factors is None:
            return self._others(rows, count)
        return self._products(factors, count)

    def _products(self, factors: Factors, count: int | None) -> Agreement:
        features, weights = factors
        out = self._workspace(len(features[0]), weights)
        kind, gain = features[0].dtype, 1.0
        for one, weight, view in zip(features, weights.detach(), out, strict=True):
            torch.mm(one, weight.to(kind), out=view)
        if self._half:
            gain = _HALF_GAIN * (len(out[0]) if count is None else count)
        found = self._agree(out, count, gain)
        pairs = zip(features, out, strict=True)
        slopes = torch.stack([product(one.T, part) for one, part in pairs])
        slopes = self._group.sum(slopes)
        self._views.zero_grad(set_to_none=True)
        torch.autograd.backward(weights, slopes / gain)
        return found

    def _others(self, rows: Tensor | None, count: int | None) -> Agreement:
        views = self._views.before_activation(self._source, rows)
        parts = [view.detach() for view in views]
        found = self._agree(parts, count)
        self._views.zero_grad(set_to_none=True)
        # Where the views were, their gradients are now.
        torch.autograd.backward(views, parts)
        _add_gradients(self._views, self._group)
        return found

    def _agree(
        self, views: Sequence[Tensor], count: int | None, gain: float = 1.0
    ) -> Agreement:
        """Overwrite the views by the gradient before their activation."""
        if len(self._pairs) == 1:
            first, second = views
            return self._compare((first, second), count, gain)
        # A pair's gradient takes the place of its views, which others need as well.
        slopes = [torch.zeros_like(view) for view in views]
        samples: dict[int, Tensor] = {}
        each: list[Agreement] = []
        for i, j in self._pairs:
            pair = views[i].clone(), views[j].clone()
            each.append(self._compare(pair, count, gain))
            samples.update(zip((i, j), each[-1].sample, strict=True))
            for place, part in zip((i, j), pair, strict=True):
                slopes[place].add_(part, alpha=1 / len(self._pairs))
        for view, slope in zip(views, slopes, strict=True):
            view.copy_(slope)
        cosines = [one.principal_cosine for one in each]
        known = [cosine for cosine in cosines if cosine is not None]
        return Agreement(
            _mean([one.value for one in each]),
            _mean([one.alignment for one in each]),
            _mean(known) if known else None,
            torch.stack([samples[view] for view in range(len(views))]),
        )

    def _compare(self, views: Pair, count: int | None, gain: float) -> Agreement:
        found = agree(
            views,
            activate(views, self._views.activation),
            activation=self._views.activation,
            eta=self._eta,
            iterations=self._iterations,
            sample=sampled_rows(len(views[0]), self._group.size),
            gain=gain,
            count=count,
            total=self._group.sum,
        )
        sample = self._group.gather_rows(found.sample.transpose(0, 1))
        return found._replace(sample=sample.transpose(0, 1))

    def _workspace(self, rows: int, weights: Tensor) -> list[Tensor]:
        """Room for all views, the same in each step: new memory is slow memory."""
        if self._space is None or self._space.shape[1] < rows:
            kind = torch.float16 if self._half else weights.dtype
            views, _, dim = weights.shape
            self._space = weights.new_empty(views, rows, dim, dtype=kind)
        return [*self._space[:, :rows]]


@final
class CudaGraphStep(Step):
    """Another step on all rows, its kernels recorded once and replayed since."""

    def __init__(self, step: Step, optimizer: Optimizer) -> None:
        super().__init__(optimizer)
        self._gradient = CudaGraph(lambda: step.gradient(None))
        self._update = CudaGraph(step.update)

    def gradient(self, rows: Tensor | None, count: int | None = None) -> Tensor:  # noqa: ARG002
        """See the base class."""
        assert rows is None
        return self._gradient()

    def update(self) -> None:
        """See the base class."""
        self._update()


def _mean(values: Sequence[Tensor]) -> Tensor:
    """The mean of numbers; of one, that one to the bit."""
    return values[0] if len(values) == 1 else torch.stack([*values]).mean()


def _add_gradients(views: Encoders, group: ProcessGroup) -> None:
    """Give each member the whole batch's gradient, in one message."""
    if group.size == 1:
        return
    gradients = [weight.grad for weight in views.parameters()]
    found = [gradient for gradient in gradients if gradient is not None]
    flat = group.sum(torch.cat([gradient.reshape(-1) for gradient in found]))
    sizes = [gradient.numel() for gradient in found]
    for gradient, part in zip(found, torch.split(flat, sizes), strict=True):
        gradient.copy_(part.view_as(gradient))
