"""Which step of which path: early stopping by validation, for many paths at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor

from fdgcl.evaluation.logistic import Path, cross_entropy, row_shares
from fdgcl.evaluation.ranking import halves_in_order
from fdgcl.evaluation.rows import Batch

_TOLERANCE = 1e-5
_TRIAL = 25  # steps before a path may be given up
_MARGIN = 1.0  # standard errors of the measure


@dataclass(frozen=True)
class Fit:
    """The chosen step of every path: sets x decays."""

    weights: Tensor  # (sets, decays, classes, columns)
    points: Tensor  # on validation; `Judge` says what they are
    loss: Tensor  # validation loss
    step: Tensor


@dataclass(frozen=True, eq=False)
class Judge:
    """Scores on the validation nodes, counted in points.

    A point is a node that is right or, ranked, half a pair of nodes in order, which
    makes the share of all points the accuracy or the ROC-AUC. A set that has not both
    classes is judged by accuracy.

    Attributes:
        labels: Class codes that count, (sets, rows), -1 for all other rows.
        ranked: Whether it is the order that counts, of two classes.
    """

    labels: Tensor
    ranked: bool = False

    @cached_property
    def highest(self) -> Tensor:
        """The most points that a set can have, (sets,)."""
        pairs = self._positives * self._negatives
        return torch.where(self._by_order, 2 * pairs, (self.labels >= 0).sum(1))

    @cached_property
    def sizes(self) -> Tensor:
        """How many nodes the standard error is computed from, (sets,).

        The variance of the ROC-AUC is at most that of a share among the rarer class.
        """
        rarer = torch.minimum(self._positives, self._negatives)
        return torch.where(self._by_order, rarer, (self.labels >= 0).sum(1))

    def points(self, scores: Tensor, sets: Tensor) -> Tensor:
        """Return the points of (sets, decays, classes, rows) scores of some sets."""
        labels = self.labels[sets]
        # `argmax` over a strided dimension takes ten times as long on the CPU.
        right = (scores.max(2).indices == labels[:, None]).sum(-1)
        if not self.ranked:
            return right
        rows = self._rows[sets]
        margins = (scores[:, :, 1] - scores[:, :, 0]).gather(
            2, rows[:, None].expand(-1, scores.shape[1], -1)
        )
        halves = halves_in_order(margins.contiguous(), labels.gather(1, rows))
        return torch.where(self._by_order[sets, None], halves, right)

    @cached_property
    def _rows(self) -> Tensor:
        """The rows that count, (sets, most of them in a set); then some that do not."""
        counting = self.labels >= 0
        most = int(counting.sum(1).max())
        return counting.to(torch.int8).argsort(1, descending=True)[:, :most]

    @cached_property
    def _positives(self) -> Tensor:
        return (self.labels == 1).sum(1)

    @cached_property
    def _negatives(self) -> Tensor:
        return (self.labels == 0).sum(1)

    @cached_property
    def _by_order(self) -> Tensor:
        both = (self._positives > 0) & (self._negatives > 0)
        return both if self.ranked else torch.zeros_like(both)


def fit_paths(
    batch: Batch,
    train: Tensor,
    judge: Judge,
    groups: Tensor,
    decays: Tensor,
    num_classes: int,
    *,
    max_steps: int,
    tick: Callable[[int], None] | None = None,
) -> Fit:
    """Fit every set of labels with every weight decay; choose each path's step.

    A path keeps its step with the most points on validation; of equal ones that with
    the lower validation loss, then the earlier. After a trial it is given up when it
    has not improved for as long as it took to its best step, or when its share of
    points lies a standard error below that of a weaker decay, or the best of its set
    so far below the best of the group.

    Args:
        batch: The rows, for one classifier per set.
        train: Class codes to fit, (sets, rows), -1 for all other rows.
        judge: Says which step is the best.
        groups: The group of each set, (sets,): sets that compete with one another.
        decays: The weight decays, (decays,).
        num_classes: One more than the largest class code.
        max_steps: Where the longest path ends.
        tick: Called with the number of steps made since the last call.
    """
    path = Path(batch, train, decays, num_classes)
    sets, kinds = _indices(groups), _indices(decays)
    best = _look(path, judge, sets, 0)
    best = replace(best, weights=best.weights.clone())
    for before, after in pairwise([0, *check_steps(max_steps)]):
        for _ in range(after - before):
            path.advance(_TOLERANCE)
        _update(best, _look(path, judge, sets, after), sets, kinds)
        hopeless = _hopeless(best, judge, groups, decays, after)
        path.active &= ~hopeless[sets[:, None], kinds, None]
        if tick is not None:
            tick(after - before)
        alive = path.active.squeeze(-1)
        if not bool(alive.any()):
            if tick is not None:
                tick(max_steps - after)
            break
        if not bool(alive.any(1).all() & alive.any(0).all()):
            inner, outer = _where(alive.any(1)), _where(alive.any(0))
            path.keep(inner, outer)
            sets, kinds = sets[inner], kinds[outer]
    return best


def check_steps(max_steps: int) -> list[int]:
    """Return the steps after which validation is looked at: 1, 2, 3, ... sparser."""
    steps = [1]
    while steps[-1] < max_steps:
        steps.append(min(max_steps, max(steps[-1] + 1, steps[-1] * 5 // 4)))
    return steps


def _look(path: Path, judge: Judge, sets: Tensor, step: int) -> Fit:
    """Judge a step; the weights are the path's own, which its next step changes."""
    labels = judge.labels[sets]
    shares = row_shares(labels, path.scores.dtype)
    loss = cross_entropy(path.scores, labels.clamp_min(0), shares).squeeze(-1)
    return Fit(
        weights=path.weights.view(*loss.shape, path.num_classes, -1),
        points=judge.points(path.scores, sets),
        loss=loss,
        step=torch.full_like(loss, step, dtype=torch.int64),
    )


def _update(best: Fit, new: Fit, sets: Tensor, kinds: Tensor) -> None:
    """Write into `best` where the step just looked at is better."""
    at = (sets[:, None], kinds)
    tie = (new.points == best.points[at]) & (new.loss < best.loss[at])
    inner, outer = (tie | (new.points > best.points[at])).nonzero(as_tuple=True)
    to = (sets[inner], kinds[outer])
    best.weights[to] = new.weights[inner, outer]
    best.points[to] = new.points[inner, outer]
    best.loss[to] = new.loss[inner, outer]
    best.step[to] = new.step[inner, outer]


def _hopeless(
    best: Fit, judge: Judge, groups: Tensor, decays: Tensor, step: int
) -> Tensor:
    """Say which paths are given up, (sets, decays)."""
    if step < _TRIAL:
        return torch.zeros_like(best.points, dtype=torch.bool)
    share = best.points / judge.highest[:, None]
    peers = groups[:, None] == groups
    leader = torch.where(peers, share.amax(1), 0.0).amax(1)[:, None]
    margin = _MARGIN * (leader * (1 - leader) / judge.sizes[:, None]).sqrt()
    # A weaker decay is slower, and may still win: only stronger ones are judged by it.
    weaker = decays <= decays[:, None]
    rival = torch.where(weaker, share[:, None], 0.0).amax(2)
    behind = (share < rival - margin) | (share.amax(1, True) < leader - margin)
    return behind | (step > 2 * best.step + _TRIAL)


def _indices(values: Tensor) -> Tensor:
    return torch.arange(len(values), device=values.device)


def _where(mask: Tensor) -> Tensor:
    return mask.nonzero().squeeze(1)
