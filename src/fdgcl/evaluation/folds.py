"""Scores of an embedding of graphs by a cross-validated support vector machine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from torch import Tensor

from fdgcl._checks import InputError, check_count, check_positive, choose
from fdgcl.evaluation.inputs import Ints, as_dense, as_labels
from fdgcl.evaluation.normalization import NORMALIZATIONS
from fdgcl.evaluation.results import FoldScores

Matrix: TypeAlias = npt.NDArray[np.float64]

COSTS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
KERNELS = {"rbf": "exp(-gamma * squared distance)", "linear": "inner product"}
INNER_FOLDS = 5
# Large costs take the solver more and more steps for scores that hardly differ. A
# looser tolerance than scikit-learn's changes few guesses and saves a third of them.
TOLERANCE = 1e-2
MOST_STEPS = 10_000
# The kernel is finite, and checking it again would take as long as a small fit.
_TRUSTING = {"assume_finite": True, "skip_parameter_validation": True}


def graph_svm(
    z: Any,
    y: Any,
    *,
    kernel: str = "rbf",
    folds: int = 10,
    seeds: int | Sequence[int] = 5,
    costs: Sequence[float] = COSTS,
    normalizations: Sequence[str] = tuple(NORMALIZATIONS),
    progress: Callable[[int, int], None] | None = None,
) -> FoldScores:
    """Score an embedding of graphs by a support vector machine on folds.

    For each seed the labelled graphs are split at random into stratified folds. Each
    fold is tested once, by a machine fitted to all others; its cost C and the
    normalisation of the embedding are those with the best mean accuracy in a 5-fold
    cross-validation within these others. Costs above one at which the solver does not
    converge within its steps are not tried. Of equal choices the first normalisation
    wins, then the smallest cost.

    Statistics of the normalisation are taken over all graphs, the tested ones
    included: no label enters. The width of the `rbf` kernel follows scikit-learn's
    rule "scale", from the graphs fitted to.

    Args:
        z: The embedding, (graphs, dim).
        y: Class codes, (graphs,); graphs with -1 are left out.
        kernel: `rbf` or `linear`.
        folds: How many folds.
        seeds: How many random partitions into folds, with the seeds 0, 1, ...; or these
            seeds themselves.
        costs: Values of C to choose from.
        normalizations: Of `global`, `row` and `column`, those to choose from.
        progress: Called with folds done and folds in all.

    Raises:
        InputError: Anything that does not fit together, or a class with too few
            graphs for the folds.

    Example:
        >>> from fdgcl import block_model, graph_svm
        >>> z = block_model(40, signal=8.0)  # stands for the embeddings of 40 graphs
        >>> graph_svm(z.features, z.y, folds=2, seeds=2).test
        ((1.0, 1.0), (1.0, 1.0))
    """
    choose("kernel", kernel, KERNELS)
    folds = check_count("folds", folds, minimum=2)
    chosen_seeds = _seeds(seeds)
    tried = sorted({check_positive("costs", cost) for cost in _listed("costs", costs)})
    names = _listed("normalizations", normalizations)
    dense = as_dense(z).cpu().double()
    labels = as_labels(y, len(dense))
    kept = np.flatnonzero(labels >= 0)
    labels = labels[kept]
    check_classes(labels, folds)
    plans = [_Kernel.of(dense, name, kernel, kept) for name in names]
    parts = [
        (seed, fitted, held)
        for seed in chosen_seeds
        for fitted, held in _folds(labels, folds, seed)
    ]

    def judge(part: tuple[int, Ints, Ints]) -> tuple[float, float, str, Ints]:
        seed, fitted, held = part
        # Up to the score of the fold, nothing sees its labels.
        choice = _choose(plans, labels[fitted], fitted, tried, seed)
        machine, _ = _fit(choice.fitting, labels[fitted], choice.cost)
        guesses = machine.predict(choice.kernel(fitted, held))
        return choice.score, choice.cost, choice.kernel.name, guesses

    test, val, cost, normalization = [], [], [], []
    # The solver lets other threads run, and needs no more than one itself.
    with warnings.catch_warnings(), ThreadPoolExecutor(torch.get_num_threads()) as pool:
        warnings.simplefilter("ignore", ConvergenceWarning)
        judged = pool.map(judge, parts)
        for (_, _, held), found in zip(parts, judged, strict=True):
            val.append(found[0])
            cost.append(found[1])
            normalization.append(found[2])
            test.append(float((found[3] == labels[held]).mean()))
            if progress is not None:
                progress(len(test), len(parts))
    return FoldScores(
        test=_by_seed(test, folds),
        val=_by_seed(val, folds),
        cost=_by_seed(cost, folds),
        normalization=_by_seed(normalization, folds),
        kernel=kernel,
        classes=len(np.unique(labels)),
    )


@dataclass(frozen=True, eq=False)
class _Kernel:
    """Inner products, or squared distances, of all rows of a normalised embedding.

    Attributes:
        name: The normalisation.
        table: (G, G) inner products, or squared distances for `rbf`.
        sums: Sum of each row's entries, and of their squares; None without a width.
        dim: Number of columns.
    """

    name: str
    table: Matrix
    sums: tuple[Matrix, Matrix] | None
    dim: int

    @classmethod
    def of(cls, dense: Tensor, name: str, kernel: str, kept: Ints) -> _Kernel:
        normalize = choose("normalization", name, NORMALIZATIONS)
        rows = normalize(dense, dense.device).dense_rows(kept).numpy()
        products = rows @ rows.T
        if kernel == "linear":
            return cls(name, products, None, rows.shape[1])
        squares = products.diagonal().copy()
        distances = np.maximum(squares[:, None] + squares - 2 * products, 0)
        return cls(name, distances, (rows.sum(1), squares), rows.shape[1])

    def __call__(self, fitted: Ints, rows: Ints) -> Matrix:
        """The kernel of some rows with those fitted to, of the width of the latter."""
        part = self.table[np.ix_(rows, fitted)]
        if self.sums is None:
            return part
        size = len(fitted) * self.dim
        mean = self.sums[0][fitted].sum() / size
        variance = self.sums[1][fitted].sum() / size - mean**2
        width = 1 / (self.dim * variance) if variance > 0 else 1.0
        return np.asarray(np.exp(-width * part))


@dataclass(frozen=True, eq=False)
class _Choice:
    """The best cost and normalisation, and the kernel of the rows to fit to."""

    kernel: _Kernel
    fitting: Matrix
    cost: float
    score: float


def _choose(
    plans: Sequence[_Kernel],
    labels: Ints,
    fitted: Ints,
    costs: Sequence[float],
    seed: int,
) -> _Choice:
    inner = min(INNER_FOLDS, int(np.bincount(labels)[np.unique(labels)].min()))
    parts = list(_folds(labels, inner, seed))
    best: _Choice | None = None
    for plan in plans:
        fitting = plan(fitted, fitted)
        blocks = [
            (fitting[np.ix_(a, a)], labels[a], fitting[np.ix_(b, a)], labels[b])
            for a, b in parts
        ]
        for cost in costs:
            least = 0.0 if best is None else best.score
            score = _inner_score(blocks, cost, least, must_end=cost > costs[0])
            if score is None:
                break
            if best is None or score > best.score:
                best = _Choice(plan, fitting, cost, score)
    assert best is not None
    return best


def _inner_score(
    blocks: Sequence[tuple[Matrix, Ints, Matrix, Ints]],
    cost: float,
    least: float,
    *,
    must_end: bool,
) -> float | None:
    """Return the mean accuracy, or None where the solver must end and does not.

    Once the folds that are left cannot lift the mean above `least`, they are skipped.
    """
    total = 0.0
    for done, (fitting, labels, held, truth) in enumerate(blocks, start=1):
        machine, ended = _fit(fitting, labels, cost)
        if must_end and not ended:
            return None
        with config_context(**_TRUSTING):
            total += float((machine.predict(held) == truth).mean())
        if total + len(blocks) - done < least * len(blocks):
            return 0.0
    return total / len(blocks)


def _fit(kernel: Matrix, labels: Ints, cost: float) -> tuple[Any, bool]:
    machine = SVC(C=cost, kernel="precomputed", tol=TOLERANCE, max_iter=MOST_STEPS)
    with config_context(**_TRUSTING):
        machine.fit(kernel, labels)
    return machine, machine.fit_status_ == 0


def _seeds(seeds: int | Sequence[int]) -> list[int]:
    if isinstance(seeds, Sequence):
        return [check_count("seeds", seed, minimum=0) for seed in seeds]
    return list(range(check_count("seeds", seeds)))


def _folds(labels: Ints, folds: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    partition = StratifiedKFold(folds, shuffle=True, random_state=seed)
    yield from partition.split(labels[:, None], labels)


def _by_seed(values: Sequence[Any], folds: int) -> tuple[tuple[Any, ...], ...]:
    starts = range(0, len(values), folds)
    return tuple(tuple(values[start : start + folds]) for start in starts)


def _listed(name: str, values: Sequence[Any]) -> Sequence[Any]:
    if isinstance(values, str) or not len(values):
        message = f"{name} must be a list of at least one, got {values!r}"
        raise InputError(message)
    return values


def check_classes(labels: Ints, folds: int = 10) -> None:
    """Refuse labels, without any -1, that are too few for the folds.

    Raises:
        InputError: There is one class only, or one has too few graphs.
    """
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        message = f"y must hold at least two classes, got {len(classes)}"
        raise InputError(message)
    at = int(counts.argmin())
    fewest = int(counts[at])
    # Two of each class are left to fit to, so that there are inner folds.
    if fewest < folds or fewest - -(-fewest // folds) < 2:
        message = (
            f"{folds} folds need at least {max(folds, 3 if folds > 2 else 4)} graphs "
            f"of every class, but class {classes[at]} has {fewest}: give fewer folds "
            "or more graphs"
        )
        raise InputError(message)
