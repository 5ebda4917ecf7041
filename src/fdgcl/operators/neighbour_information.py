"""What a node's neighbours tell of it, beside what its own features tell: no labels.

A part of the feature columns is hidden. Then they are predicted, once from the node's
other columns, and once from the same columns of its neighbours' mean. Where neighbours
predict as much as the node itself does, their means are worth as much as its features;
where they predict nothing, they are noise to whoever reads the embedding.

It is asked of a sample of nodes: rows of the adjacency are read for these alone, and
features pass by once, whether they are in memory or in a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl.graphs.rows import RowSource, row_blocks

#: Rows as wide as features are float32, what is made of them is small, and float64.
Matrix: TypeAlias = NDArray[np.floating[Any]]

#: Nodes looked at, but no more numbers than this for each mean of theirs.
SAMPLE_NODES = 4096
SAMPLE_NUMBERS = 2**24
HIDDEN_SHARE = 0.2
REPEATS = 3
#: Directions of the visible columns that predict, and of the hidden ones to predict.
PREDICTORS = 128
TARGETS = 32
#: Of the predictors' mean variance. The best is taken, the same for all sources.
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
#: Explained variance that is told from none: below it, neighbours count as much.
LEAST_EXPLAINED = 0.01


@dataclass(frozen=True)
class NeighbourInformation:
    """Shares of hidden columns' variance that are explained, of nodes held out.

    Attributes:
        own: By the node's other columns.
        neighbours: By those of its neighbours' mean, for each kind of neighbour.

    Example:
        >>> found = NeighbourInformation(0.2, {"both": 0.1})
        >>> round(found.ratio("both"), 2)
        0.52
    """

    own: float
    neighbours: Mapping[str, float]

    def ratio(self, kind: str) -> float:
        """What neighbours tell, as a share of what the node's own features tell.

        It is near 1 where nothing tells anything: then there is no reason to prefer
        a node's own features.
        """
        told = max(self.neighbours[kind], 0.0) + LEAST_EXPLAINED
        return told / (max(self.own, 0.0) + LEAST_EXPLAINED)


def neighbour_information(
    features: RowSource,
    sample: NDArray[np.int64],
    weights: Mapping[str, csr_array],
    seed: int = 0,
) -> NeighbourInformation:
    """Measure how well neighbours predict columns that were hidden.

    Args:
        features: In memory or in a store.
        sample: Numbers of some nodes, sorted.
        weights: For each kind of neighbour, (sample, nodes) weights of their mean.
        seed: Of what is hidden.

    >>> from fdgcl import block_model
    >>> graph = block_model(500, 2, homophily=0.9, seed=0)
    >>> sample = np.arange(500)
    >>> weights = mean_weights(graph.adjacency)
    >>> found = neighbour_information(graph.features, sample, {"both": weights})
    >>> found.ratio("both") > 0.5
    True
    """
    own, means = gather(features, sample, weights)
    columns = own.shape[1]
    if columns < 2:
        # Nothing is left to predict from: the column is asked of neighbours itself.
        pairs = {name: (mean, own) for name, mean in means.items()}
        return NeighbourInformation(1.0, _explained_by(pairs, seed))
    totals: dict[str, float] = {}
    for repeat in range(REPEATS):
        generator = np.random.default_rng([seed, repeat])
        order = generator.permutation(columns)
        hidden, visible = np.split(order, [max(1, int(HIDDEN_SHARE * columns))])
        target = own[:, hidden]
        target = target @ _directions(target, TARGETS, generator)
        basis = _directions(own[:, visible], PREDICTORS, generator)
        pairs = {
            name: (rows[:, visible] @ basis, target)
            for name, rows in {"": own, **means}.items()
        }
        for name, share in _explained_by(pairs, seed + repeat).items():
            totals[name] = totals.get(name, 0.0) + share / REPEATS
    return NeighbourInformation(totals.pop(""), totals)


def choose_sample(nodes: int, columns: int, seed: int = 0) -> NDArray[np.int64]:
    """Numbers of the nodes to ask, sorted: as many as memory is taken for.

    Example:
        >>> len(choose_sample(100, 3)), len(choose_sample(10**6, 2**14))
        (100, 1024)
    """
    count = min(nodes, SAMPLE_NODES, max(SAMPLE_NUMBERS // max(columns, 1), 64))
    if count == nodes:
        return np.arange(nodes)
    chosen = np.random.default_rng(seed).choice(nodes, count, replace=False)
    return np.sort(chosen)


def mean_weights(rows: csr_array, sample: NDArray[np.int64] | None = None) -> csr_array:
    """Rows of a weighted adjacency as the weights of means, without self-loops.

    Args:
        rows: (sample, nodes), not negative.
        sample: Which node each row is of; without it, the rows are of all nodes.

    Example:
        >>> rows = csr_array(np.array([[5.0, 1.0, 3.0], [0, 0, 0], [0, 2, 2]]))
        >>> mean_weights(rows).toarray().tolist()
        [[0.0, 0.25, 0.75], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    found = rows.tocoo()
    own = np.arange(rows.shape[0]) if sample is None else sample
    kept = found.col != own[found.row]
    data, places = found.data[kept].astype(np.float64), found.row[kept]
    sums = np.bincount(places, weights=data, minlength=rows.shape[0])
    data /= np.where(sums > 0, sums, 1.0)[places]
    shape = rows.shape
    return csr_array((data, (places, found.col[kept])), shape=shape)


def gather(
    features: RowSource, sample: NDArray[np.int64], weights: Mapping[str, csr_array]
) -> tuple[Matrix, dict[str, Matrix]]:
    """Features of some nodes, and means over their neighbours, in one pass over rows.

    Args:
        features: In memory or in a store.
        sample: Numbers of the nodes, sorted.
        weights: For each kind of neighbour, (sample, nodes).
    """
    shape = (len(sample), features.shape[1])
    own = np.zeros(shape, np.float32)
    means = {name: np.zeros(shape, np.float32) for name in weights}
    entries = {name: _by_column(one) for name, one in weights.items()}
    for start, block in row_blocks(features):
        stop = start + block.shape[0]
        first, last = np.searchsorted(sample, [start, stop])
        own[first:last] = _dense(block[sample[first:last] - start])
        for name, (data, places, nodes) in entries.items():
            here = slice(*np.searchsorted(nodes, [start, stop]))
            found = data[here], (places[here], nodes[here] - start)
            part = csr_array(found, shape=(len(sample), stop - start))
            if part.nnz:
                means[name] += _dense(part @ block)
    return own, means


def _by_column(
    weights: csr_array,
) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any]]:
    """Weights with their rows and columns, in the order of the columns.

    A matrix by columns would have an entry for each node of the graph.
    """
    found = weights.tocoo()
    order = np.argsort(found.col, kind="stable")
    return found.data[order].astype(np.float32), found.row[order], found.col[order]


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows


def _directions(rows: Matrix, count: int, generator: np.random.Generator) -> Matrix:
    """The principal directions of rows, by two rounds of subspace iteration."""
    columns = rows.shape[1]
    if columns <= count:
        return np.eye(columns, dtype=np.float32)
    centred = rows - rows.mean(0)
    size = columns, min(columns, count + 16)
    found = generator.standard_normal(size, dtype=np.float32)
    for _ in range(2):
        found = np.linalg.qr(centred.T @ (centred @ found))[0]
    _, _, turned = np.linalg.svd(centred @ found, full_matrices=False)
    return np.asarray(found @ turned[:count].T)


def _explained_by(
    pairs: Mapping[str, tuple[Matrix, Matrix]], seed: int
) -> dict[str, float]:
    """Share of the variance of nodes held out that ridge regression explains.

    Args:
        pairs: Predictors and what is to be predicted, row by row.
        seed: Of the halves.
    """
    count = len(next(iter(pairs.values()))[0])
    order = np.random.default_rng([seed, count]).permutation(count)
    fitted, held_out = np.split(order, [count // 2])
    return {
        name: _explained(rows, target, fitted, held_out)
        for name, (rows, target) in pairs.items()
    }


def _explained(
    rows: Matrix, target: Matrix, fitted: NDArray[Any], held_out: NDArray[Any]
) -> float:
    rows, target = rows.astype(np.float64), target.astype(np.float64)
    mean, level = rows[fitted].mean(0), target[fitted].mean(0)
    centred = rows[fitted] - mean
    values, vectors = np.linalg.eigh(centred.T @ centred)
    projected = vectors.T @ (centred.T @ (target[fitted] - level))
    others = (rows[held_out] - mean) @ vectors
    wanted = target[held_out] - level
    total = np.square(wanted).sum()
    scale = values.clip(0).mean()
    if total == 0 or scale == 0:
        return 0.0
    missed = (
        np.square(wanted - others @ (projected / (values + one * scale)[:, None])).sum()
        for one in PENALTIES
    )
    return float(1 - min(missed) / total)
