"""Everything a linear probe chooses, from training and validation labels alone.

No function here is given a test label, nor told which nodes are for testing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from fdgcl.evaluation.inputs import Bools, Ints, Matrix
from fdgcl.evaluation.logistic import Labelled, class_offsets
from fdgcl.evaluation.normalization import NORMALIZATIONS, Normalized
from fdgcl.evaluation.paths import fit_paths
from fdgcl.evaluation.rows import DenseRows, Rows, SparseRows

_BATCH_ENTRIES = 2**26  # what one batch may hold: 256 MiB of float32
_VECTORS = 16  # vectors of the weights' size that a fit holds
_LARGEST_BASIS = 1024


@dataclass(frozen=True)
class Options:
    """What may be chosen, and how the work is done."""

    weight_decays: tuple[float, ...]
    normalizations: tuple[str, ...]
    max_steps: int
    device: torch.device
    progress: Callable[[int, int], None] | None = None


@dataclass(frozen=True)
class Choice:
    """The classifier that validation chose for one split."""

    correct: int  # validation nodes that are right
    loss: float  # validation loss
    weight_decay: float
    normalization: str
    step: int
    predictions: Ints  # for every node


def choose_probes(
    z: Matrix, visible: Ints, train: Bools, val: Bools, options: Options
) -> list[Choice]:
    """Fit and choose one classifier per split.

    Args:
        z: The embedding.
        visible: Class codes, (splits, nodes), -1 for all but the split's training and
            validation nodes.
        train: Training nodes, (splits, nodes).
        val: Validation nodes, (splits, nodes).
        options: What may be chosen.
    """
    num_classes = int(visible.max()) + 1
    views = {
        name: NORMALIZATIONS[name](z, options.device) for name in options.normalizations
    }
    cells = [
        _Cell(view, name, split, visible[split], *map(np.flatnonzero, masks))
        for split, masks in enumerate(zip(train, val, strict=True))
        for name, view in views.items()
    ]
    work = _Work(len(cells) * options.max_steps, options.progress)
    best: dict[int, Choice] = {}
    for batch in _batches(cells, num_classes * len(options.weight_decays)):
        for cell, choice in _fit(batch, num_classes, options, work):
            rival = best.get(cell.split)
            if rival is None or _rank(choice) > _rank(rival):
                best[cell.split] = choice
    return [best[split] for split in range(len(train))]


def _rank(choice: Choice) -> tuple[int, float]:
    return choice.correct, -choice.loss


@dataclass(frozen=True)
class _Cell:
    """One split under one normalisation: a problem for each weight decay."""

    view: Normalized
    normalization: str
    split: int
    labels: Ints
    train: Ints
    val: Ints

    @property
    def is_reduced(self) -> bool:
        """Whether few enough training rows span far fewer than all dimensions."""
        return len(self.train) <= min(self.view.dim // 2, _LARGEST_BASIS)

    @property
    def columns(self) -> int:
        return 1 + (len(self.train) if self.is_reduced else self.view.dim)

    def entries(self, outputs: int) -> int:
        """Estimate how many numbers a fit with so many outputs holds."""
        rows = len(self.train) + len(self.val)
        stored = self.columns * rows if self.is_reduced or self.view.is_dense else 0
        return stored + _VECTORS * self.columns * outputs + 8 * rows * outputs


def _batches(cells: Sequence[_Cell], outputs: int) -> Iterator[list[_Cell]]:
    """Gather whole splits, as many as fit; all cells of a batch alike in storage."""
    batch: list[_Cell] = []
    held = 0
    for _, group in groupby(cells, key=lambda cell: cell.split):
        split = list(group)
        need = sum(cell.entries(outputs) for cell in split)
        full = held + need > _BATCH_ENTRIES
        if batch and (full or batch[0].is_reduced != split[0].is_reduced):
            yield batch
            batch, held = [], 0
        batch += split
        held += need
    yield batch


class _Work:
    """Counts steps for a progress bar."""

    def __init__(self, total: int, report: Callable[[int, int], None] | None) -> None:
        self.done, self.total, self.report = 0, total, report

    def add(self, steps: int) -> None:
        self.done += steps
        if self.report is not None:
            self.report(self.done, self.total)


def _fit(
    cells: Sequence[_Cell], num_classes: int, options: Options, work: _Work
) -> Iterator[tuple[_Cell, Choice]]:
    """Fit a batch of cells together; yield the best weight decay of each."""
    bases = [_basis(cell) for cell in cells]
    train = _labelled(cells, [cell.train for cell in cells], bases)
    val = _labelled(cells, [cell.val for cell in cells], bases)
    decays = torch.tensor(
        options.weight_decays, dtype=cells[0].view.means.dtype, device=options.device
    )
    fit = fit_paths(
        train,
        val,
        torch.tensor([cell.split for cell in cells], device=options.device),
        decays,
        num_classes,
        max_steps=options.max_steps,
        tick=lambda steps: work.add(steps * len(cells)),
    )
    offsets = class_offsets(train.labels, num_classes)
    for i, (cell, basis) in enumerate(zip(cells, bases, strict=True)):
        ranks = zip(fit.correct[i].tolist(), (-fit.loss[i]).tolist(), strict=True)
        at = max(enumerate(ranks), key=lambda item: item[1])[0]
        weights = fit.weights[i, at]
        slopes, intercept = weights[: cell.columns - 1], weights[-1]
        slopes = slopes if basis is None else basis @ slopes
        scores = cell.view.scores(slopes) + intercept + offsets[i]
        yield (
            cell,
            Choice(
                correct=int(fit.correct[i, at]),
                loss=float(fit.loss[i, at]),
                weight_decay=options.weight_decays[at],
                normalization=cell.normalization,
                step=int(fit.step[i, at]),
                predictions=scores.argmax(1).cpu().numpy(),
            ),
        )


def _basis(cell: _Cell) -> Tensor | None:
    """Return an orthonormal basis of the training rows, where it is worth its cost.

    The penalised optimum, and every L-BFGS step from zero, lies in their span, so
    working in its coordinates changes nothing but the time.
    """
    if not cell.is_reduced:
        return None
    basis: Tensor = torch.linalg.qr(cell.view.dense_rows(cell.train).T)[0]
    return basis


def _labelled(
    cells: Sequence[_Cell], indices: Sequence[Ints], bases: Sequence[Tensor | None]
) -> Labelled:
    labels = [
        torch.from_numpy(c.labels[i]) for c, i in zip(cells, indices, strict=True)
    ]
    padded = torch.nn.utils.rnn.pad_sequence(labels, True, padding_value=-1)
    return Labelled(_rows(cells, indices, bases), padded.to(cells[0].view.means.device))


def _rows(
    cells: Sequence[_Cell], indices: Sequence[Ints], bases: Sequence[Tensor | None]
) -> Rows:
    if any(basis is None for basis in bases) and not cells[0].view.is_dense:
        pairs = [c.view.sparse_rows(i) for c, i in zip(cells, indices, strict=True)]
        return SparseRows(pairs)
    return DenseRows.stack(
        [
            rows if basis is None else rows @ basis
            for cell, index, basis in zip(cells, indices, bases, strict=True)
            for rows in [cell.view.dense_rows(index)]
        ]
    )
