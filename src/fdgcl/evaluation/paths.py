"""Which step of which path: early stopping by validation, for many paths at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Tensor

from fdgcl.evaluation.logistic import Path, cross_entropy, row_shares
from fdgcl.evaluation.rows import Batch

_TOLERANCE = 1e-5
_TRIAL = 25  # steps before a path may be given up
_MARGIN = 1.0  # standard errors of the accuracy


@dataclass(frozen=True)
class Fit:
    """The chosen step of every path: sets x decays."""

    weights: Tensor  # (sets, decays, classes, columns)
    correct: Tensor  # validation nodes that are right
    loss: Tensor  # validation loss
    step: Tensor


def fit_paths(
    batch: Batch,
    train: Tensor,
    validation: Tensor,
    groups: Tensor,
    decays: Tensor,
    num_classes: int,
    *,
    max_steps: int,
    tick: Callable[[int], None] | None = None,
) -> Fit:
    """Fit every set of labels with every weight decay; choose each path's step.

    A path keeps its step with the best validation accuracy; of equal ones that with
    the lower validation loss, then the earlier. After a trial it is given up when it
    has not improved for as long as it took to its best step, or when its validation
    accuracy lies a standard error below that of a weaker decay, or the best of its set
    so far below the best of the group.

    Args:
        batch: The rows, for one classifier per set.
        train: Class codes to fit, (sets, rows), -1 for all other rows.
        validation: Class codes that choose the step, likewise.
        groups: The group of each set, (sets,): sets that compete with one another.
        decays: The weight decays, (decays,).
        num_classes: One more than the largest class code.
        max_steps: Where the longest path ends.
        tick: Called with the number of steps made since the last call.
    """
    path = Path(batch, train, decays, num_classes)
    sizes = (validation >= 0).sum(1)
    sets, kinds = _indices(groups), _indices(decays)
    best = _look(path, validation, 0)
    best = replace(best, weights=best.weights.clone())
    for before, after in pairwise([0, *check_steps(max_steps)]):
        for _ in range(after - before):
            path.advance(_TOLERANCE)
        _update(best, _look(path, validation[sets], after), sets, kinds)
        hopeless = _hopeless(best, sizes, groups, decays, after)
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


def _look(path: Path, labels: Tensor, step: int) -> Fit:
    """Judge a step; the weights are the path's own, which its next step changes."""
    # `argmax` over a strided dimension takes ten times as long on the CPU.
    right = path.scores.max(2).indices == labels[:, None]
    shares = row_shares(labels, path.scores.dtype)
    loss = cross_entropy(path.scores, labels.clamp_min(0), shares).squeeze(-1)
    return Fit(
        weights=path.weights.view(*loss.shape, path.num_classes, -1),
        correct=right.sum(-1),
        loss=loss,
        step=torch.full_like(loss, step, dtype=torch.int64),
    )


def _update(best: Fit, new: Fit, sets: Tensor, kinds: Tensor) -> None:
    """Write into `best` where the step just looked at is better."""
    at = (sets[:, None], kinds)
    tie = (new.correct == best.correct[at]) & (new.loss < best.loss[at])
    inner, outer = (tie | (new.correct > best.correct[at])).nonzero(as_tuple=True)
    to = (sets[inner], kinds[outer])
    best.weights[to] = new.weights[inner, outer]
    best.correct[to] = new.correct[inner, outer]
    best.loss[to] = new.loss[inner, outer]
    best.step[to] = new.step[inner, outer]


def _hopeless(
    best: Fit, sizes: Tensor, groups: Tensor, decays: Tensor, step: int
) -> Tensor:
    """Say which paths are given up, (sets, decays)."""
    if step < _TRIAL:
        return torch.zeros_like(best.correct, dtype=torch.bool)
    accuracy = best.correct / sizes[:, None]
    peers = groups[:, None] == groups
    leader = torch.where(peers, accuracy.amax(1), 0.0).amax(1)[:, None]
    margin = _MARGIN * (leader * (1 - leader) / sizes[:, None]).sqrt()
    # A weaker decay is slower, and may still win: only stronger ones are judged by it.
    weaker = decays <= decays[:, None]
    rival = torch.where(weaker, accuracy[:, None], 0.0).amax(2)
    behind = (accuracy < rival - margin) | (accuracy.amax(1, True) < leader - margin)
    return behind | (step > 2 * best.step + _TRIAL)


def _indices(values: Tensor) -> Tensor:
    return torch.arange(len(values), device=values.device)


def _where(mask: Tensor) -> Tensor:
    return mask.nonzero().squeeze(1)
