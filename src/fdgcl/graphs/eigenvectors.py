"""Leading eigenvectors of a normalised adjacency, of which rows pass by in blocks.

Subspace iteration, its powers replaced by Chebyshev polynomials that stay small over
the eigenvalues not wanted (Zhou, Saad, Tiago and Chelikowsky, Self-consistent-field
calculations using Chebyshev-filtered subspace iteration, 2006). It asks for products
with a few dozen columns at a time and for nothing else, so that it is the same for a
graph in memory and in a store: bit by bit, for rows of a product do not depend on the
others, and all sums over nodes are taken by the same parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Matrix = NDArray[np.float32]
#: Gives all rows in order, some at a time, each time it is called.
Blocks = Callable[[], Iterator[tuple[int, csr_array]]]

#: Graphs of so few nodes are handed to a dense eigensolver.
FEW_NODES = 400
#: Columns that go along, so that the last ones wanted come as fast as the others.
GUARD = 8
#: Products with a block of columns at most, each of them a pass over the graph.
MOST_PRODUCTS = 100
#: Of an eigenvector: how far its product may be from its multiple.
RESIDUAL = 1e-3
# Of a filter: more products between two looks gain nothing.
_DEGREE = 10
# What a filter may do to one column more than to another: in float32 the digits of
# these are lost to those.
_MOST_GAIN = 1e3
_PART_ROWS = 2**15
_ORTHOGONAL = 1e-5


def leading_eigenvectors(
    blocks: Blocks, nodes: int, columns: int, seed: int = 0
) -> Matrix:
    """The eigenvectors of the largest eigenvalues, the largest first.

    Where eigenvalues crowd (rings, grids, roads) they are not told apart to the last:
    after `MOST_PRODUCTS` products smooth vectors are left, which serve as well.

    Args:
        blocks: Symmetric weights without loops, which are normalised by degrees here.
        nodes: How many rows there are in all.
        columns: How many to find, at most `nodes`.
        seed: Of the vectors to start with.

    Returns:
        (nodes, columns), orthonormal, the largest entry of each positive.

    >>> from fdgcl import block_model
    >>> matrix = block_model(300, 2, seed=0).adjacency
    >>> leading_eigenvectors(lambda: iter([(0, matrix)]), 300, 4).shape
    (300, 4)
    """
    matrix = _Normalized(blocks, nodes)
    if nodes <= max(FEW_NODES, 2 * columns + 1):
        dense = matrix.times(np.eye(nodes), np.empty((nodes, nodes)))
        vectors = np.linalg.eigh(dense)[1][:, ::-1][:, :columns].astype(np.float32)
    else:
        rng = np.random.default_rng(seed)
        start = rng.standard_normal((nodes, columns + GUARD), np.float32)
        vectors = _iterate(matrix, start, columns)[:, :columns]
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.sign(vectors[largest, np.arange(columns)])
    return vectors


class _Normalized:
    """`D^(-1/2) W D^(-1/2)`, D the degrees."""

    def __init__(self, blocks: Blocks, nodes: int) -> None:
        self._blocks = blocks
        degrees = np.empty(nodes)
        for start, rows in blocks():
            # SciPy adds float32 in float32, whatever it is asked for.
            sums = rows.astype(np.float64).sum(axis=1)
            degrees[start : start + rows.shape[0]] = sums
        self._root = np.zeros(nodes)
        np.divide(1.0, np.sqrt(degrees), out=self._root, where=degrees > 0)

    def times(self, x: NDArray[np.floating], out: NDArray[Any]) -> NDArray[Any]:
        """Set `out = self @ x`."""
        for start, product in self.products(x):
            out[start : start + len(product)] = product
        return out

    def products(
        self, x: NDArray[np.floating]
    ) -> Iterator[tuple[int, NDArray[np.floating]]]:
        """Rows of the product with x, some at a time."""
        for start, rows in self._blocks():
            stop = start + rows.shape[0]
            values = rows.data * np.repeat(self._root[start:stop], np.diff(rows.indptr))
            values *= self._root[rows.indices]
            parts = (values.astype(x.dtype, copy=False), rows.indices, rows.indptr)
            yield start, csr_array(parts, shape=rows.shape) @ x


def _iterate(matrix: _Normalized, vectors: Matrix, wanted: int) -> Matrix:
    """Ritz vectors of a block, filtered until they are eigenvectors."""
    products, moved = 0, np.empty_like(vectors)
    while True:
        _orthonormalize(vectors)
        matrix.times(vectors, moved)
        products += 1
        inner, outer = _gram(vectors, moved), _gram(moved, moved)
        values, mix = np.linalg.eigh((inner + inner.T) / 2)
        values, mix = values[::-1], mix[:, ::-1]
        squares = ((outer @ mix) * mix).sum(axis=0) - values**2
        _mix(vectors, mix)
        left = MOST_PRODUCTS - products
        if left < 2 or squares[:wanted].max() <= RESIDUAL**2:
            return vectors
        _mix(moved, mix)
        # The products with the Ritz vectors are the filter's first.
        vectors, moved, taken = _filter(matrix, vectors, moved, values[-1], left)
        products += taken


def _filter(
    matrix: _Normalized, old: Matrix, new: Matrix, cut: float, left: int
) -> tuple[Matrix, Matrix, int]:
    """A Chebyshev polynomial small on [-1, cut], and 1 at 1.

    Args:
        matrix: What it is a polynomial of.
        old: Columns to filter; overwritten.
        new: Their products; overwritten.
        cut: The least that is wanted.
        left: Products that may be taken, one more to look at the result.

    Returns:
        The filtered columns, the other array, and the products taken.
    """
    half, centre = (cut + 1) / 2, (cut - 1) / 2
    top = (1 - centre) / half
    degree = int(math.acosh(_MOST_GAIN) / math.acosh(top)) if top > 1 else _DEGREE
    degree = max(2, min(degree, _DEGREE, left))
    scale = 1 / top
    _combine(new, old, scale / half, -centre * scale / half)
    for _ in range(degree - 1):
        following = 1 / (2 * top - scale)
        weight = 2 * following / half
        for start, product in matrix.products(new):
            rows = slice(start, start + len(product))
            product *= np.float32(weight)
            product -= np.float32(weight * centre) * new[rows]
            old[rows] *= np.float32(-scale * following)
            old[rows] += product
        old, new, scale = new, old, following
    return new, old, degree - 1


def _combine(into: Matrix, other: Matrix, weight: float, share: float) -> None:
    """Set `into = weight * into + share * other`."""
    for start in range(0, len(into), _PART_ROWS):
        rows = slice(start, start + _PART_ROWS)
        into[rows] *= np.float32(weight)
        into[rows] += np.float32(share) * other[rows]


def _orthonormalize(vectors: Matrix) -> None:
    """Make columns orthonormal where they are, by their inner products alone."""
    # Digits that one round loses where columns are nearly the same, others bring back.
    for _ in range(4):
        found = _gram(vectors, vectors)
        if np.abs(found - np.eye(len(found))).max() < _ORTHOGONAL:
            return
        values, mix = np.linalg.eigh(found)
        _mix(vectors, mix / np.sqrt(values.clip(min=1e-8 * values[-1])))


def _gram(a: Matrix, b: Matrix) -> NDArray[np.float64]:
    found = np.zeros((a.shape[1], b.shape[1]))
    for start in range(0, len(a), _PART_ROWS):
        rows = slice(start, start + _PART_ROWS)
        found += a[rows].T.astype(np.float64) @ b[rows].astype(np.float64)
    return found


def _mix(vectors: Matrix, mix: NDArray[np.float64]) -> None:
    """Replace columns by mixtures of them."""
    weights = mix.astype(np.float32)
    for start in range(0, len(vectors), _PART_ROWS):
        rows = slice(start, start + _PART_ROWS)
        vectors[rows] = vectors[rows] @ weights
