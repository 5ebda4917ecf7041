"""Multinomial logistic regression: many problems, several weight decays, at once.

Minimises the mean cross-entropy plus half the weight decay times the squared weights
(the intercept is free) by L-BFGS from zero. The line search works on the scores, which
are linear in the weights: a step costs one product with the rows and one with their
transpose, however many lengths it tries.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fdgcl.evaluation.rows import Batch

_MEMORY = 5  # pairs that L-BFGS keeps
_HALVINGS = 20
_ARMIJO = 1e-4
_ABSENT = -1e3  # score of a class without training nodes: its probability is 0


@dataclass(frozen=True)
class _Pair:
    """What L-BFGS remembers of one step."""

    move: Tensor  # of the weights
    turn: Tensor  # of the gradient
    inverse: Tensor  # of their product; 0 where it carries no information
    curvature: Tensor  # along the turn


class Path:
    """L-BFGS for all problems at once.

    Weights and all that is shaped like them are (sets, decays, classes * columns);
    scores are (sets, decays, classes, rows); numbers are (sets, decays, 1).

    Args:
        batch: The rows, for one classifier per set.
        labels: Class codes, (sets, rows), -1 for rows that are not fitted.
        decays: The weight decays, (decays,).
        num_classes: One more than the largest class code.
    """

    def __init__(
        self, batch: Batch, labels: Tensor, decays: Tensor, num_classes: int
    ) -> None:
        self.batch, self.num_classes = batch, num_classes
        self.decays = decays[:, None]
        self.shares = row_shares(labels, decays.dtype)
        self.targets = labels.clamp_min(0)
        offsets = class_offsets(labels, num_classes).to(decays.dtype)
        shape = (len(labels), len(decays), num_classes, labels.shape[1])
        self.scores = offsets[:, None, :, None].expand(shape)
        self.gradient = self._data_gradient()
        self.weights = torch.zeros_like(self.gradient)
        self.loss = self._data_loss(self.scores)
        self.active = torch.ones_like(self.loss, dtype=torch.bool)
        self.pairs: list[_Pair] = []

    def advance(self, tolerance: float) -> None:
        """Make one step on every path that has not ended.

        A path ends when its gradient is shorter than `tolerance`, or no step lowers
        its loss.
        """
        self.active = self.active & (_dot(self.gradient, self.gradient) > tolerance**2)
        direction = self._direction()
        change = self._change(direction)
        length, self.scores = self._search(direction, change)
        self.active = self.active & (length > 0)
        move = direction.mul_(length)
        self.weights += move
        gradient = self._data_gradient()
        gradient.addcmul_(self.decays, self.weights)
        self._intercepts(gradient).sub_(self.decays * self._intercepts(self.weights))
        self._remember(move, torch.sub(gradient, self.gradient, out=self.gradient))
        self.gradient = gradient

    def keep(self, sets: Tensor, decays: Tensor) -> None:
        """Go on with some of the problems only."""

        def kept(values: Tensor) -> Tensor:
            return values[sets[:, None], decays]

        self.batch, self.decays = self.batch.keep(sets), self.decays[decays]
        self.shares, self.targets = self.shares[sets], self.targets[sets]
        self.scores, self.weights = kept(self.scores), kept(self.weights)
        self.gradient, self.loss = kept(self.gradient), kept(self.loss)
        self.active = kept(self.active)
        self.pairs = [
            _Pair(*map(kept, (p.move, p.turn, p.inverse, p.curvature)))
            for p in self.pairs
        ]

    def _direction(self) -> Tensor:
        if not self.pairs:
            # Rows of mean square 1 and half the softmax bound the curvature by 1 / 2.
            return -2 * self.gradient
        direction, shares = -self.gradient, []
        for pair in reversed(self.pairs):
            share = pair.inverse * _dot(pair.move, direction)
            direction.addcmul_(share, pair.turn, value=-1)
            shares.append(share)
        curvature = self.pairs[-1].curvature
        direction.div_(torch.where(curvature > 0, curvature, 0.5))
        for pair, share in zip(self.pairs, reversed(shares), strict=True):
            share = share - pair.inverse * _dot(pair.turn, direction)
            direction.addcmul_(share, pair.move)
        return direction

    def _search(self, direction: Tensor, change: Tensor) -> tuple[Tensor, Tensor]:
        """Find the first of 1, 1/2, ... that lowers the loss of a path, else 0.

        Returns:
            The lengths, and the scores at the end of these steps.
        """
        constant = self.decays / 2 * self._slope_dot(self.weights, self.weights)
        linear = self.decays * self._slope_dot(self.weights, direction)
        square = self.decays / 2 * self._slope_dot(direction, direction)
        descent = _ARMIJO * _dot(direction, self.gradient)
        rounding = 4 * torch.finfo(descent.dtype).eps * self.loss
        length = self.active.to(descent.dtype)
        pending = self.active
        for _ in range(_HALVINGS):
            scores = torch.addcmul(self.scores, change, length[..., None])
            loss = self._data_loss(scores)
            loss = loss + constant + length * linear + length**2 * square
            fine = loss <= self.loss + length * descent + rounding
            self.loss = torch.where(pending & fine, loss, self.loss)
            pending = pending & ~fine
            if not bool(pending.any()):
                return length, scores
            length = torch.where(pending, length / 2, length)
        length = torch.where(pending, 0.0, length)
        return length, torch.addcmul(self.scores, change, length[..., None])

    def _remember(self, move: Tensor, turn: Tensor) -> None:
        product, square = _dot(move, turn), _dot(turn, turn)
        usable = product > torch.finfo(product.dtype).eps * square
        inverse = torch.where(usable, 1 / torch.where(usable, product, 1.0), 0.0)
        self.pairs.append(_Pair(move, turn, inverse, inverse * square))
        del self.pairs[:-_MEMORY]

    def _intercepts(self, weights: Tensor) -> Tensor:
        columns = weights.shape[2] // self.num_classes
        return weights[..., columns - 1 :: columns]

    def _slope_dot(self, a: Tensor, b: Tensor) -> Tensor:
        """Multiply weights without the intercepts, which the penalty leaves alone."""
        free = self._intercepts(a) * self._intercepts(b)
        return _dot(a, b) - free.sum(-1, keepdim=True)

    def _change(self, direction: Tensor) -> Tensor:
        sets, decays, size = direction.shape
        outputs = decays * self.num_classes
        flat = direction.view(sets, outputs, size // self.num_classes)
        return self.batch.scores(flat).view(sets, decays, self.num_classes, -1)

    def _data_loss(self, scores: Tensor) -> Tensor:
        return cross_entropy(scores, self.targets, self.shares)

    def _data_gradient(self) -> Tensor:
        residual = self.scores.softmax(2)
        index = self.targets[:, None, None].expand(-1, residual.shape[1], 1, -1)
        residual.scatter_add_(2, index, residual.new_tensor(-1.0).expand(index.shape))
        residual *= self.shares[:, None, None]
        return self.batch.pull_back(residual.flatten(1, 2)).view(
            *residual.shape[:2], -1
        )


def row_shares(labels: Tensor, dtype: torch.dtype) -> Tensor:
    """Return what each row weighs in the mean over its set: 0 where the label is -1."""
    real = labels >= 0
    return real.to(dtype) / real.sum(1, keepdim=True)


def class_offsets(labels: Tensor, num_classes: int) -> Tensor:
    """Return 0 for classes that occur in a set, a very low score for the others."""
    present = [(labels == one).any(1) for one in range(num_classes)]
    return torch.where(torch.stack(present, dim=1), 0.0, _ABSENT)


def cross_entropy(scores: Tensor, targets: Tensor, shares: Tensor) -> Tensor:
    """Return the mean loss of each problem, (sets, decays, 1)."""
    index = targets[:, None, None].expand(-1, scores.shape[1], 1, -1)
    losses = scores.logsumexp(2) - scores.gather(2, index).squeeze(2)
    return (losses * shares[:, None]).sum(-1, keepdim=True)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    product: Tensor = torch.linalg.vecdot(a, b)[..., None]
    return product
