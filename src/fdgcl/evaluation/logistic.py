"""Multinomial logistic regression: many problems, several weight decays, at once.

Minimises the mean cross-entropy plus half the weight decay times the squared weights
(the intercept is free) by L-BFGS from zero. The line search works on the scores, which
are linear in the weights: a step costs one product with the rows and one with their
transpose, however many lengths it tries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from fdgcl.evaluation.rows import Rows

_MEMORY = 10  # pairs that L-BFGS keeps
_HALVINGS = 20
_ARMIJO = 1e-4
_ABSENT = -1e3  # score of a class without training nodes: its probability is 0


@dataclass(frozen=True)
class Labelled:
    """A batch of row sets with class codes, (batch, rows), -1 in padded rows."""

    rows: Rows
    labels: Tensor

    def shares(self) -> Tensor:
        """Return what each row weighs in the mean of its set."""
        real = self.labels >= 0
        return real / real.sum(1, keepdim=True)


@dataclass(frozen=True)
class Fit:
    """The chosen point of each path: batch x decays."""

    weights: Tensor  # (batch, decays, columns, classes)
    correct: Tensor  # validation nodes that are right
    loss: Tensor
    step: Tensor


def check_steps(max_steps: int) -> list[int]:
    """Return the steps after which validation is looked at: 1, 2, 3, ... sparser."""
    steps = [1]
    while steps[-1] < max_steps:
        steps.append(min(max_steps, max(steps[-1] + 1, steps[-1] * 5 // 4)))
    return steps


def class_offsets(labels: Tensor, num_classes: int) -> Tensor:
    """Return 0 for classes that occur in each set, a very low score for the others."""
    classes = torch.arange(num_classes, device=labels.device)
    present = (labels[:, :, None] == classes).any(1)
    return torch.where(present, 0.0, _ABSENT)


def fit_paths(
    train: Labelled,
    validation: Labelled,
    decays: Tensor,
    num_classes: int,
    *,
    checks: list[int],
    tolerance: float = 1e-5,
    tick: Callable[[int], None] | None = None,
) -> Fit:
    """Fit every problem of the batch with every weight decay.

    Each path keeps its step with the best validation accuracy; of equal ones that
    with the lower validation loss, then the earlier.

    Args:
        train: What is fitted.
        validation: What chooses the step.
        decays: The weight decays, (decays,).
        num_classes: One more than the largest class code.
        checks: Ascending steps to look at; the last one is where paths end.
        tolerance: A path ends when its gradient is shorter than this.
        tick: Called with the number of steps made since the last call.
    """
    offsets = class_offsets(train.labels, num_classes)[:, None, None].to(decays.dtype)
    path = _Path(train, decays, offsets)
    best: Fit | None = None
    for before, after in pairwise([0, *checks]):
        for _ in range(after - before):
            path.advance(tolerance)
        best = _better(best, _checked(path, validation, after))
        if tick is not None:
            tick(after - before)
        if path.finished:
            if tick is not None:
                tick(checks[-1] - after)
            break
    assert best is not None
    return best


class _Path:
    """L-BFGS for all problems at once.

    Weights and all that is shaped like them are (batch, decays, columns * classes);
    scores are (batch, rows, decays, classes); numbers are (batch, decays, 1).
    """

    def __init__(self, train: Labelled, decays: Tensor, offsets: Tensor) -> None:
        self.train, self.offsets = train, offsets
        self.shares = train.shares().to(decays.dtype)
        self.targets = train.labels.clamp_min(0)
        self.decays = decays[:, None]
        batch, rows = train.labels.shape
        self.scores = decays.new_zeros(batch, rows, len(decays), offsets.shape[-1])
        self.gradient = self._data_gradient()
        self.weights = torch.zeros_like(self.gradient)
        self.loss = self._data_loss(self.scores)
        self.pairs: list[tuple[Tensor, Tensor, Tensor]] = []
        self.active = torch.ones_like(self.loss, dtype=torch.bool)

    @property
    def classes(self) -> int:
        return self.offsets.shape[-1]

    @property
    def finished(self) -> bool:
        return not bool(self.active.any())

    def advance(self, tolerance: float) -> None:
        """Make one step on every path that has not ended."""
        self.active = self.active & (_dot(self.gradient, self.gradient) > tolerance**2)
        direction = self._direction()
        slope = _dot(direction, self.gradient)
        change = _scores(self.train.rows, direction, self.classes)
        length = self._search(direction, change, slope)
        self.active = self.active & (length > 0)
        move = direction.mul_(length)
        self.weights = self.weights + move
        self.scores = self.scores + change * length.transpose(1, 2)[..., None]
        before = self.gradient
        self.gradient = self._data_gradient()
        slopes = self._slopes(self.weights)
        self._slopes(self.gradient).add_(self.decays * slopes)
        self._remember(move, self.gradient - before)

    def _slopes(self, weights: Tensor) -> Tensor:
        """Return the view without the intercepts, which the penalty leaves alone."""
        return weights[..., : -self.classes]

    def _direction(self) -> Tensor:
        if not self.pairs:
            # Rows of mean square 1 and half the softmax bound the curvature by 1 / 2.
            return -2 * self.gradient
        q, shares = -self.gradient, []
        for move, turn, inverse in reversed(self.pairs):
            share = inverse * _dot(move, q)
            q.addcmul_(share, turn, value=-1)
            shares.append(share)
        _, turn, inverse = self.pairs[-1]
        curvature = inverse * _dot(turn, turn)
        q.div_(torch.where(curvature > 0, curvature, 0.5))
        for (move, turn, inverse), share in zip(
            self.pairs, reversed(shares), strict=True
        ):
            q.addcmul_(share - inverse * _dot(turn, q), move)
        return q

    def _search(self, direction: Tensor, change: Tensor, slope: Tensor) -> Tensor:
        """Return the first of 1, 1/2, ... that lowers the loss of a path, else 0."""
        slopes, weights = self._slopes(direction), self._slopes(self.weights)
        constant = self.decays / 2 * _dot(weights, weights)
        linear = self.decays * _dot(weights, slopes)
        square = self.decays / 2 * _dot(slopes, slopes)
        rounding = 4 * torch.finfo(slope.dtype).eps * self.loss
        length = torch.ones_like(slope)
        pending = self.active
        for _ in range(_HALVINGS):
            moved = self.scores + change * length.transpose(1, 2)[..., None]
            loss = self._data_loss(moved) + constant
            loss = loss + length * linear + length**2 * square
            fine = loss <= self.loss + _ARMIJO * length * slope + rounding
            self.loss = torch.where(pending & fine, loss, self.loss)
            pending = pending & ~fine
            if not bool(pending.any()):
                break
            length = torch.where(pending, length / 2, length)
        return torch.where(self.active & ~pending, length, 0.0)

    def _remember(self, move: Tensor, turn: Tensor) -> None:
        product = _dot(move, turn)
        usable = product > torch.finfo(product.dtype).eps * _dot(turn, turn)
        inverse = torch.where(usable, 1 / torch.where(usable, product, 1.0), 0.0)
        self.pairs.append((move, turn, inverse))
        del self.pairs[:-_MEMORY]

    def _data_loss(self, scores: Tensor) -> Tensor:
        return _cross_entropy(scores + self.offsets, self.targets, self.shares)

    def _data_gradient(self) -> Tensor:
        residual = (self.scores + self.offsets).softmax(-1)
        index = self.targets[:, :, None, None].expand(*residual.shape[:3], 1)
        minus = residual.new_full((), -1.0).expand(index.shape)
        residual.scatter_add_(-1, index, minus)
        residual *= self.shares[:, :, None, None]
        flat = self.train.rows.transposed_times(residual.flatten(2))
        parts = flat.reshape(*flat.shape[:2], *residual.shape[2:])
        return parts.transpose(1, 2).flatten(2)


def _checked(path: _Path, validation: Labelled, step: int) -> Fit:
    scores = _scores(validation.rows, path.weights, path.classes) + path.offsets
    shares = validation.shares().to(scores.dtype)
    right = scores.argmax(-1) == validation.labels[:, :, None]
    loss = _cross_entropy(scores, validation.labels.clamp_min(0), shares).squeeze(-1)
    return Fit(
        weights=path.weights.view(*loss.shape, -1, path.classes),
        correct=right.sum(1),
        loss=loss,
        step=torch.full_like(loss, step, dtype=torch.int64),
    )


def _better(best: Fit | None, new: Fit) -> Fit:
    if best is None:
        return new
    tie = (new.correct == best.correct) & (new.loss < best.loss)
    wins = tie | (new.correct > best.correct)
    return Fit(
        weights=torch.where(wins[..., None, None], new.weights, best.weights),
        correct=torch.where(wins, new.correct, best.correct),
        loss=torch.where(wins, new.loss, best.loss),
        step=torch.where(wins, new.step, best.step),
    )


def _scores(rows: Rows, weights: Tensor, classes: int) -> Tensor:
    batch, decays, _ = weights.shape
    by_column = weights.view(batch, decays, -1, classes).transpose(1, 2)
    scores = rows.times(by_column.flatten(2))
    return scores.view(*scores.shape[:2], decays, classes)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a[..., None, :] @ b[..., None]).squeeze(-1)


def _cross_entropy(scores: Tensor, targets: Tensor, shares: Tensor) -> Tensor:
    index = targets[:, :, None, None].expand(*scores.shape[:3], 1)
    picked = scores.gather(-1, index).squeeze(-1)
    losses = (scores.logsumexp(-1) - picked) * shares[:, :, None]
    return losses.sum(1)[..., None]
