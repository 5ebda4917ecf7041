"""The embedding as a map: each node a point, near each other where they look alike."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl.evaluation import cluster
from fdgcl.report.page import Figure, Series
from fdgcl.report.palette import QUIET

MOST_POINTS = 20_000
TSNE_POINTS = 5_000
TSNE_LEAST = 10
TSNE_COMPONENTS = 50
TSNE_ITERATIONS = 600
CLUSTERS = 8
MOST_GROUPS = 21  # three rounds of the colours

Matrix = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Groups:
    """What points are coloured by.

    Attributes:
        codes: (nodes,) the group of each, -1 for none.
        names: What each code stands for.
        what: One phrase that says what the groups are.
    """

    codes: NDArray[np.int64]
    names: Sequence[str]
    what: str


def sample_rows(count: int) -> NDArray[Any]:
    """Which rows to look at: all, or a random sample in their order."""
    if count <= MOST_POINTS:
        return np.arange(count)
    chosen = np.random.default_rng(0).choice(count, MOST_POINTS, replace=False)
    return np.sort(chosen)


def clusters(z: Matrix) -> Groups:
    """Groups where there are no labels: k-means on rows of unit length."""
    from sklearn.exceptions import ConvergenceWarning

    wanted = min(CLUSTERS, len(z))
    with warnings.catch_warnings():
        # Where rows repeat there are fewer clusters, which needs no warning.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = cluster(z, num_clusters=wanted, repeats=3).assignments
    present, codes = np.unique(found, return_inverse=True)
    names = [f"cluster {index + 1}" for index in range(len(present))]
    what = f"{len(present)} k-means clusters (at most {CLUSTERS}, our choice)"
    return Groups(codes.astype(np.int64), names, what)


def fifths(values: NDArray[np.float64], what: str) -> Groups:
    """Groups of values: as many in each of five, from the lowest to the highest."""
    known = ~np.isnan(values)
    ends = np.unique(np.quantile(values[known], np.linspace(0, 1, 6)))
    codes = np.full(len(values), -1, np.int64)
    codes[known] = np.searchsorted(ends[1:-1], values[known], side="left")
    names = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(ends)]
    return Groups(codes, names or [f"{ends[0]:.4g}"], what)


def project(z: Matrix) -> tuple[Matrix, str]:
    """Two coordinates for each row, and the name of the method.

    t-SNE of the first principal components up to a few thousand rows, where it takes
    seconds; the first two principal components themselves beyond.
    """
    from sklearn.decomposition import PCA

    lengths = np.linalg.norm(z, axis=1, keepdims=True)
    rows = np.asarray(z / np.where(lengths > 0, lengths, 1), np.float32)
    near = TSNE_LEAST <= len(rows) <= TSNE_POINTS
    wanted = min(TSNE_COMPONENTS if near else 2, *rows.shape)
    if float(np.ptp(rows, axis=0).max()) == 0:
        return np.zeros((len(rows), 2)), "all rows are the same"
    plane = PCA(wanted, svd_solver="randomized", random_state=0).fit_transform(rows)
    if not near:
        plane = np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))
        return plane, "the first two principal components of rows of unit length"
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(rows) - 1) / 3)
    start = "random" if plane.shape[1] < 2 else "pca"
    tsne = TSNE(init=start, perplexity=perplexity, random_state=0)
    # scikit-learn 1.5 gave the number of iterations another name.
    name = "max_iter" if "max_iter" in tsne.get_params() else "n_iter"
    tsne.set_params(**{name: TSNE_ITERATIONS})
    method = (
        f"t-SNE (perplexity {perplexity:.0f}) of the first {wanted} principal "
        "components of rows of unit length"
    )
    return tsne.fit_transform(plane), method


def embedding_map(
    z: Matrix, ids: NDArray[Any], groups: Groups | None, level: str = "node"
) -> Figure:
    """Draw a map of the rows; of a sample, where there are very many.

    Args:
        z: (rows x columns), finite.
        ids: Shown on hover.
        groups: What to colour by; None for clusters.
        level: What a row stands for, `node` or `graph`.
    """
    rows = sample_rows(len(z))
    part = z[rows]
    groups = clusters(part) if groups is None else _at(groups, rows)
    plane, method = project(part)
    names = [str(ids[row]) for row in rows.tolist()]
    series = [
        Series(
            name,
            plane[members, 0].tolist(),
            plane[members, 1].tolist(),
            mark="points",
            hover=[names[i] for i in members.tolist()],
            color=color,
        )
        for name, members, color in _parts(groups)
    ]
    taken = (
        f"{len(rows):,} of {len(z):,} {level}s, drawn at random"
        if len(rows) < len(z)
        else f"All {len(z):,} {level}s"
    )
    caption = (
        f"{taken}, by {method}. Coloured by {groups.what}. Hover for a {level}'s id; "
        "click a name above to hide it, double-click to see it alone."
    )
    return Figure("map", "Map of the embedding", series, caption=caption, map=True)


def _at(groups: Groups, rows: NDArray[Any]) -> Groups:
    return Groups(groups.codes[rows], groups.names, groups.what)


def _parts(groups: Groups) -> list[tuple[str, NDArray[Any], int]]:
    """Name, members and colour of what is drawn, the grey ones first and below."""
    counts = np.bincount(groups.codes[groups.codes >= 0], minlength=len(groups.names))
    shown = np.flatnonzero(counts)
    rest = np.zeros(0, np.int64)
    if len(shown) > MOST_GROUPS:
        by_size = shown[np.argsort(-counts[shown], kind="stable")]
        shown, rest = np.sort(by_size[:MOST_GROUPS]), by_size[MOST_GROUPS:]
    quiet = [
        ("no label", np.flatnonzero(groups.codes < 0)),
        (f"{len(rest)} smaller groups", np.flatnonzero(np.isin(groups.codes, rest))),
    ]
    loud = [
        (groups.names[code], np.flatnonzero(groups.codes == code), color)
        for color, code in enumerate(shown.tolist())
    ]
    return [(name, who, QUIET) for name, who in quiet if len(who)] + loud
