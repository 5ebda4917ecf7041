"""Scores of an embedding by ridge regression of values on top of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from fdgcl._checks import InputError, check_positive
from fdgcl.evaluation.inputs import (
    Floats,
    Ints,
    as_matrix,
    as_values,
    check_splits,
    device_of,
)
from fdgcl.evaluation.normalization import Normalized, normalize_columns
from fdgcl.evaluation.results import RidgeResult

if TYPE_CHECKING:
    from fdgcl.graphs import Splits

PENALTIES = tuple(10.0**power for power in range(-8, 2))
_BLOCK_ENTRIES = 2**22  # numbers of a block of rows, in float64


def ridge_probe(
    z: Any,
    values: Any,
    splits: Splits,
    *,
    penalties: Sequence[float] = PENALTIES,
    device: str | torch.device | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RidgeResult:
    """Score an embedding by ridge regression of values on top of it.

    Columns are brought to mean 0 and variance 1 over all nodes, then scaled together
    so that rows have mean square norm 1. For each split the mean squared error over
    the training nodes plus a penalty times the squared weights is minimised; the
    intercept is free. Validation nodes choose the penalty by R² (ties: the larger);
    the test nodes are scored once, after that. All of it in float64, and one
    eigendecomposition for all penalties of a split.

    Args:
        z: The embedding, (nodes, dim): NumPy, torch or SciPy sparse.
        values: (nodes,) numbers, NaN for unlabelled.
        splits: Training, validation and test nodes.
        penalties: Those to choose from.
        device: Where to compute; by default where `z` is.
        progress: Called with splits done and splits in all.

    Raises:
        InputError: Anything that does not fit together, an empty part of a split, an
            unlabelled node in one, or validation or test values that are all the
            same.

    Example:
        >>> from fdgcl import block_model, ridge_probe
        >>> graph = block_model(500)
        >>> price = graph.features @ range(16)
        >>> ridge_probe(graph.features, price, graph.splits).test_mean > 0.99
        True
    """
    if not penalties:
        message = "penalties is empty; give at least one"
        raise InputError(message)
    grid = sorted((check_positive("penalties", one) for one in penalties), reverse=True)
    matrix = as_matrix(z, device=device)
    y = as_values(values, matrix.shape[0])
    check_splits(splits, y)
    check_variation(splits, y)
    place = device_of(matrix, device)
    rows = _Rows(normalize_columns(matrix, place, torch.float64))
    chosen, scores = [], []
    for split in range(len(splits)):
        parts = (splits.train, splits.val, splits.test)
        train, val, test = (np.flatnonzero(part[split]) for part in parts)
        fit = _fit(rows, train, y[train], grid)
        # Test values are looked at below, after the choice.
        best = int(np.argmin(squared_errors(fit.predict(rows, val), y[val])))
        fit = fit.only(best)
        scores.append([(fit.predict(rows, at)[:, 0], y[at]) for at in (test, val)])
        chosen.append(grid[best])
        if progress is not None:
            progress(split + 1, len(splits))
    return RidgeResult(**value_scores(scores), penalty=tuple(chosen))


def squared_errors(predictions: Floats, y: Floats) -> Floats:
    """Return the sum of squared errors of each column of predictions."""
    return np.asarray(np.square(predictions - y[:, None]).sum(axis=0))


def r_squared(predictions: Floats, y: Floats) -> float:
    """Return 1 less the squared error as a share of that of the mean of `y`."""
    error = float(np.square(predictions - y).sum())
    return 1 - error / float(np.square(y - y.mean()).sum())


def absolute_error(predictions: Floats, y: Floats) -> float:
    """Return the mean absolute error."""
    return float(np.abs(predictions - y).mean())


def value_scores(
    splits: Sequence[Sequence[tuple[Floats, Floats]]],
) -> dict[str, tuple[float, ...]]:
    """Score predictions by R² and mean absolute error, by the names of `ValueScores`.

    Args:
        splits: Of each split the predictions and values of test nodes, then those of
            validation nodes.

    Example:
        >>> exact = np.array([1.0, 2.0]), np.array([1.0, 2.0])
        >>> value_scores([(exact, exact)])["test"]
        (1.0,)
    """
    scores = {}
    for part, pairs in zip(("test", "val"), zip(*splits, strict=True), strict=True):
        scores[part] = tuple(r_squared(*pair) for pair in pairs)
        scores[f"{part}_mae"] = tuple(absolute_error(*pair) for pair in pairs)
    return scores


def check_variation(splits: Splits, y: Floats) -> None:
    """Refuse validation or test nodes where R² has no meaning.

    Raises:
        InputError: Their values are all the same.
    """
    for part in ("val", "test"):
        for split, mask in enumerate(getattr(splits, part)):
            if (y[mask] == y[mask][0]).all():
                message = (
                    f"the {part} part of split {split} has one value alone, "
                    f"{y[mask][0]:g}: R² needs different ones"
                )
                raise InputError(message)


@dataclass(frozen=True)
class _Rows:
    """The standardised rows of an embedding in float64, some at a time."""

    normalized: Normalized

    @property
    def device(self) -> torch.device:
        return self.normalized.means.device

    @property
    def dim(self) -> int:
        return self.normalized.dim

    def blocks(self, index: Ints) -> Iterator[Tensor]:
        """Yield the rows of the index, as many at once as a block holds."""
        count = -(-len(index) * self.dim // _BLOCK_ENTRIES)
        for part in np.array_split(index, max(1, min(count, len(index)))):
            yield self.normalized.dense_rows(part)


@dataclass(frozen=True)
class _Fit:
    weights: Tensor  # (dim, penalties)
    centre: Tensor  # (dim,), the mean of the training rows
    mean: float  # of the training values

    def only(self, penalty: int) -> _Fit:
        return _Fit(self.weights[:, penalty : penalty + 1], self.centre, self.mean)

    def predict(self, rows: _Rows, index: Ints) -> Floats:
        parts = [(block - self.centre) @ self.weights for block in rows.blocks(index)]
        return np.asarray(torch.cat(parts).cpu().numpy() + self.mean)


def _fit(rows: _Rows, train: Ints, y: Floats, penalties: Sequence[float]) -> _Fit:
    """Solve for all penalties: by columns or, where they are fewer, by rows."""
    place = rows.device
    count, mean = len(train), float(y.mean())
    target = torch.from_numpy(y - mean).to(place)
    ridges = count * torch.tensor(penalties, dtype=torch.float64, device=place)
    centre = torch.stack([block.sum(0) for block in rows.blocks(train)]).sum(0) / count
    if count <= rows.dim:
        x = rows.normalized.dense_rows(train) - centre
        values, basis = torch.linalg.eigh(x @ x.T)
        return _Fit(x.T @ _solve(values, basis, target, ridges), centre, mean)
    gram = torch.zeros(rows.dim, rows.dim, dtype=torch.float64, device=place)
    product = torch.zeros(rows.dim, dtype=torch.float64, device=place)
    done = 0
    for block in rows.blocks(train):
        x = block - centre
        gram += x.T @ x
        product += x.T @ target[done : done + len(x)]
        done += len(x)
    values, basis = torch.linalg.eigh(gram)
    return _Fit(_solve(values, basis, product, ridges), centre, mean)


def _solve(values: Tensor, basis: Tensor, right: Tensor, ridges: Tensor) -> Tensor:
    """Solve (basis diag(values) basisᵀ + ridge) x = right for every ridge."""
    shifted = values.clamp_min(0)[:, None] + ridges
    return basis @ ((basis.T @ right)[:, None] / shifted)
