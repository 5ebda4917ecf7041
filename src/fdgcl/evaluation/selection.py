"""Everything a linear probe chooses, from training and validation labels alone.

No function here is given a test label, or which nodes are for testing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fdgcl.evaluation.inputs import Bools, Floats, Ints, Matrix
from fdgcl.evaluation.logistic import class_offsets
from fdgcl.evaluation.normalization import NORMALIZATIONS, Normalized
from fdgcl.evaluation.paths import Judge, fit_paths
from fdgcl.evaluation.rows import Batch, DenseRows, Rows

# In numbers, of mostly four bytes: what all views, and one batch of splits, may hold.
_VIEW_ENTRIES = 2**28
_BATCH_ENTRIES = 2**26
_VECTORS = 16  # of the weights' size
_SCORES = 8  # of the scores' size
_LARGEST_BASIS = 2048
_SHARED = 0.5  # of the rows of all splits together, what one must have to share
_SMALL_PRODUCT = 2**28  # multiplications that one core does about as fast as several


@dataclass(frozen=True)
class Options:
    """What may be chosen, and how the work is done."""

    weight_decays: tuple[float, ...]
    normalizations: tuple[str, ...]
    max_steps: int
    device: torch.device
    progress: Callable[[int, int], None] | None = None
    ranked: bool = False  # two classes, chosen by ROC-AUC in place of accuracy


@dataclass(frozen=True)
class Choice:
    """The classifier that validation chose for one split."""

    share: float  # accuracy or, ranked, ROC-AUC on validation
    loss: float  # validation loss
    weight_decay: float
    normalization: str
    step: int
    predictions: Ints  # for every node
    margins: Floats | None = None  # ranked: scores of the class 1 less the class 0


def choose_probes(
    z: Matrix,
    visible: Ints,
    train: Bools,
    val: Bools,
    options: Options,
    num_classes: int | None = None,
) -> list[Choice]:
    """Fit and choose one classifier per split.

    Args:
        z: The embedding.
        visible: Class codes, (splits, nodes), -1 for all but the split's training and
            validation nodes.
        train: Training nodes, (splits, nodes).
        val: Validation nodes, (splits, nodes).
        options: What may be chosen.
        num_classes: One more than the largest class code, if not all are visible.
    """
    problem = _Problem(
        train=np.where(train, visible, -1),
        val=np.where(val, visible, -1),
        num_classes=num_classes or int(visible.max()) + 1,
        options=options,
        work=_Work(
            len(train) * len(options.normalizations) * options.max_steps,
            options.progress,
        ),
    )
    best: dict[int, _Found] = {}
    for names in _together(options.normalizations, z.shape[0] * z.shape[1]):
        normalized = {name: NORMALIZATIONS[name](z, options.device) for name in names}
        for splits in _sharing(train | val):
            fitted, used = (_union(masks[splits]) for masks in (train, train | val))
            views = [_View.of(name, normalized[name], used, fitted) for name in names]
            for part in _batches(problem, views, splits):
                for found in _fit(problem, views, part):
                    rival = best.get(found.split)
                    if rival is None or found.rank > rival.rank:
                        best[found.split] = found
    return _choices([best[split] for split in range(len(train))], options.ranked)


def _together(names: tuple[str, ...], entries: int) -> list[tuple[str, ...]]:
    """Compare all normalisations in one run, unless that takes too much memory."""
    if entries * len(names) <= _VIEW_ENTRIES:
        return [names]
    return [(name,) for name in names]


def _sharing(used: Bools) -> list[Ints]:
    """Group splits that share products: all, if most rows matter to most splits."""
    splits = np.arange(len(used))
    if used.mean() >= _SHARED * used.any(axis=0).mean():
        return [splits]
    return np.split(splits, len(used))


@dataclass(frozen=True)
class _View:
    """The rows that matter under one normalisation, and the way back to all nodes."""

    name: str
    normalized: Normalized
    index: Ints
    rows: Rows
    columns: int
    basis: Tensor | None

    @classmethod
    def of(cls, name: str, normalized: Normalized, index: Ints, fitted: Ints) -> _View:
        """Gather rows; with few rows to fit, in a basis of their span.

        The penalised optimum, and every step from zero, lies in that span, so the
        coordinates change nothing but the time.
        """
        dim = normalized.dim
        if len(fitted) > min(dim // 2, _LARGEST_BASIS):
            return cls(name, normalized, index, normalized.rows(index), dim, None)
        basis, _ = torch.linalg.qr(normalized.dense_rows(fitted).T)
        rows = DenseRows(normalized.dense_rows(index) @ basis)
        return cls(name, normalized, index, rows, len(fitted), basis)


def _union(masks: Bools) -> Ints:
    return np.flatnonzero(masks.any(axis=0))


@dataclass(frozen=True)
class _Problem:
    train: Ints  # class codes to fit, (splits, nodes), -1 elsewhere
    val: Ints
    num_classes: int
    options: Options
    work: _Work


def _batches(problem: _Problem, views: Sequence[_View], splits: Ints) -> list[Ints]:
    """Group the splits: as many at once as fit into memory, evenly."""
    outputs = len(problem.options.weight_decays) * problem.num_classes * len(views)
    view = views[0]
    entries = outputs * (_VECTORS * (view.columns + 1) + _SCORES * len(view.index))
    count = len(splits)
    return np.array_split(splits, min(count, -(-count * entries // _BATCH_ENTRIES)))


class _Work:
    """Counts steps for a progress bar."""

    def __init__(self, total: int, report: Callable[[int, int], None] | None) -> None:
        self.done, self.total, self.report = 0, total, report

    def add(self, steps: int) -> None:
        self.done += steps
        if self.report is not None:
            self.report(self.done, self.total)


@dataclass(frozen=True)
class _Found:
    """The best weight decay of one split under one view."""

    split: int
    name: str
    normalized: Normalized
    weight_decay: float
    points: int
    highest: int
    loss: float
    step: int
    slopes: Tensor  # (dim, classes)
    intercepts: Tensor

    @property
    def rank(self) -> tuple[int, float]:
        return self.points, -self.loss


def _choices(found: Sequence[_Found], ranked: bool) -> list[Choice]:
    """Predict all nodes: one product for all splits that chose one normalisation."""
    predictions: dict[int, Ints] = {}
    margins: dict[int, Floats] = {}
    for name in {one.name for one in found}:
        same = [one for one in found if one.name == name]
        slopes = torch.cat([one.slopes for one in same], dim=1)
        intercepts = torch.cat([one.intercepts for one in same])
        flat = same[0].normalized.scores(slopes) + intercepts
        scores = flat.view(len(flat), len(same), -1)
        codes = scores.argmax(2).T.cpu().numpy()
        predictions |= {one.split: row for one, row in zip(same, codes, strict=True)}
        if ranked:
            ahead = (scores[:, :, 1] - scores[:, :, 0]).T.cpu().numpy()
            margins |= {one.split: row for one, row in zip(same, ahead, strict=True)}
    return [
        Choice(
            share=one.points / one.highest,
            loss=one.loss,
            weight_decay=one.weight_decay,
            normalization=one.name,
            step=one.step,
            predictions=predictions[one.split],
            margins=margins.get(one.split),
        )
        for one in found
    ]


def _fit(problem: _Problem, views: Sequence[_View], splits: Ints) -> Iterator[_Found]:
    """Fit some splits under all views together."""
    options = problem.options
    cells = [(view, int(split)) for view in views for split in splits]
    at = [split for _, split in cells]
    rows = views[0].index
    train = torch.from_numpy(problem.train[at][:, rows]).to(options.device)
    kind = views[0].normalized.means.dtype
    val = torch.from_numpy(problem.val[at][:, rows]).to(options.device)
    judge = Judge(val, options.ranked)
    outputs = len(cells) * len(options.weight_decays) * problem.num_classes
    with _threads(outputs * train.shape[1] * views[0].columns):
        fit = fit_paths(
            Batch([view.rows for view in views], [len(splits)] * len(views)),
            train,
            judge,
            torch.tensor(at, device=options.device),
            torch.tensor(options.weight_decays, dtype=kind, device=options.device),
            problem.num_classes,
            max_steps=options.max_steps,
            tick=lambda steps: problem.work.add(steps * len(cells)),
        )
    offsets = class_offsets(train, problem.num_classes)
    for i, (view, split) in enumerate(cells):
        ranks = list(zip(fit.points[i].tolist(), (-fit.loss[i]).tolist(), strict=True))
        k = max(range(len(ranks)), key=ranks.__getitem__)
        slopes = fit.weights[i, k, :, :-1].T
        yield _Found(
            split=split,
            name=view.name,
            normalized=view.normalized,
            weight_decay=options.weight_decays[k],
            points=int(fit.points[i, k]),
            highest=int(judge.highest[i]),
            loss=float(fit.loss[i, k]),
            step=int(fit.step[i, k]),
            slopes=slopes.clone() if view.basis is None else view.basis @ slopes,
            intercepts=fit.weights[i, k, :, -1] + offsets[i],
        )


@contextmanager
def _threads(multiplications: int) -> Iterator[None]:
    """Keep small problems on one core.

    Their many short products gain nothing from several, and lose a hundredfold when
    other processes keep the cores busy.
    """
    before = torch.get_num_threads()
    if multiplications <= _SMALL_PRODUCT:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
