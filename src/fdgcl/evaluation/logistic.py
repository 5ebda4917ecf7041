"""Multinomial logistic regression: many problems, several weight decays, at once.

Minimises the mean cross-entropy plus half the weight decay times the squared weights
(the intercept is free) by L-BFGS from zero. The line search works on the scores, which
are linear in the weights: a step costs one product with the rows and one with their
transpose, however many lengths it tries.
"""

from __future__ import annotations

import torch
from torch import Tensor

from fdgcl.evaluation.rows import Batch

_MEMORY = 5  # pairs that L-BFGS keeps
_HALVINGS = 20
_ARMIJO = 1e-4
_ABSENT = -1e3  # score of a class without training nodes: its probability is 0


class Path:
    """L-BFGS for all problems at once.

    Weights and all that is shaped like them are (sets, decays, columns * classes);
    scores are (sets, rows, decays, classes); numbers are (sets, decays, 1).

    Args:
        batch: The rows, for a set of classifiers: one per set of labels.
        labels: Class codes, (sets, rows), -1 for rows that are not fitted.
        decays: The weight decays, (decays,).
        num_classes: One more than the largest class code.
    """

    def __init__(
        self, batch: Batch, labels: Tensor, decays: Tensor, num_classes: int
    ) -> None:
        self.batch = batch
        self.offsets = class_offsets(labels, num_classes).to(decays.dtype)
        self.shares = shares(labels, decays.dtype)
        self.targets = labels.clamp_min(0)
        self.decays = decays[:, None]
        self.scores = decays.new_zeros(*labels.shape, len(decays), num_classes)
        self.gradient = self._data_gradient()
        self.weights = torch.zeros_like(self.gradient)
        self.loss = self._data_loss(self.scores)
        self.pairs: list[tuple[Tensor, Tensor, Tensor]] = []
        self.active = torch.ones_like(self.loss, dtype=torch.bool)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.offsets.shape[-1]

    def advance(self, tolerance: float) -> None:
        """Make one step on every path that has not ended.

        A path ends when its gradient is shorter than `tolerance`, or no step lowers
        its loss.
        """
        self.active = self.active & (_dot(self.gradient, self.gradient) > tolerance**2)
        direction = self._direction()
        slope = _dot(direction, self.gradient)
        change = self._scores(direction)
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

    def keep(self, classifiers: Tensor, decays: Tensor) -> None:
        """Go on with some of the problems only."""
        self.batch = self.batch.keep(classifiers)
        self.offsets, self.shares = self.offsets[classifiers], self.shares[classifiers]
        self.targets, self.decays = self.targets[classifiers], self.decays[decays]
        self.scores = self.scores[classifiers][:, :, decays]
        self.weights = self.weights[classifiers][:, decays]
        self.gradient = self.gradient[classifiers][:, decays]
        self.loss = self.loss[classifiers][:, decays]
        self.active = self.active[classifiers][:, decays]
        self.pairs = [
            (
                move[classifiers][:, decays],
                turn[classifiers][:, decays],
                inverse[classifiers][:, decays],
            )
            for move, turn, inverse in self.pairs
        ]

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

    def _scores(self, weights: Tensor) -> Tensor:
        sets, decays, _ = weights.shape
        by_column = weights.view(sets, decays, -1, self.classes).transpose(1, 2)
        scores = self.batch.times(by_column.flatten(2))
        return scores.view(*scores.shape[:2], decays, self.classes)

    def _data_loss(self, scores: Tensor) -> Tensor:
        return cross_entropy(scores + self.offsets, self.targets, self.shares)

    def _data_gradient(self) -> Tensor:
        residual = (self.scores + self.offsets).softmax(-1)
        index = self.targets[:, :, None, None].expand(*residual.shape[:3], 1)
        minus = residual.new_full((), -1.0).expand(index.shape)
        residual.scatter_add_(-1, index, minus)
        residual *= self.shares[:, :, None, None]
        flat = self.batch.transposed_times(residual.flatten(2))
        parts = flat.reshape(*flat.shape[:2], *residual.shape[2:])
        return parts.transpose(1, 2).flatten(2)


def shares(labels: Tensor, dtype: torch.dtype) -> Tensor:
    """Return what each row weighs in the mean over its set: 0 where the label is -1."""
    real = labels >= 0
    return real.to(dtype) / real.sum(1, keepdim=True)


def class_offsets(labels: Tensor, num_classes: int) -> Tensor:
    """Return 0 for classes that occur in a set, a very low score for the others."""
    classes = torch.arange(num_classes, device=labels.device)
    present = torch.stack([(labels == one).any(1) for one in classes], dim=1)
    return torch.where(present, 0.0, _ABSENT)[:, None, None]


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a[..., None, :] @ b[..., None]).squeeze(-1)


def cross_entropy(scores: Tensor, targets: Tensor, shares: Tensor) -> Tensor:
    """Return the mean loss of each problem, (batch, decays, 1)."""
    index = targets[:, :, None, None].expand(*scores.shape[:3], 1)
    picked = scores.gather(-1, index).squeeze(-1)
    losses = (scores.logsumexp(-1) - picked) * shares[:, :, None]
    return losses.sum(1)[..., None]
