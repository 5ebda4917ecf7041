"""Scaling of node features before anything else sees them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.graphs.moments import ColumnMoments

FEATURE_SCALINGS = ("none", "row", "tf-idf", "columns")
#: Those with statistics of the training graph, which a model keeps.
COLUMN_SCALINGS = ("tf-idf", "columns")
#: Those that give every row length 1 in the end.
ROW_SCALINGS = ("row", "tf-idf")

Features: TypeAlias = NDArray[Any] | csr_array


@dataclass(frozen=True, eq=False)
class ColumnScale:
    """What is done to each column: `(x - means) * weights`.

    Attributes:
        weights: Factors.
        means: What is subtracted first; None for nothing, so that zeros stay.
    """

    weights: NDArray[np.float64]
    means: NDArray[np.float64] | None = None

    @classmethod
    def standard(cls, moments: ColumnMoments, *, centred: bool) -> Self:
        """Columns to mean 0 and variance 1; not centred, to mean square 1.

        A column that is the same for all tells nothing, and becomes 0.
        """
        squares = moments.variances if centred else moments.mean_squares
        roots = np.sqrt(squares)
        weights = np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
        return cls(weights, moments.means.copy() if centred else None)

    @property
    def fingerprint(self) -> str:
        """A short hash."""
        digest = hashlib.blake2b(self.weights.tobytes(), digest_size=16)
        digest.update(b"" if self.means is None else self.means.tobytes())
        return digest.hexdigest()

    def part(self, columns: slice) -> ColumnScale:
        """That of some columns."""
        means = None if self.means is None else self.means[columns]
        return ColumnScale(self.weights[columns], means)

    def scale(self, rows: NDArray[Any]) -> None:
        """Scale dense rows where they are."""
        if self.means is not None:
            # In two parts: float32 has no room for all digits of a mean, and where it
            # is large against the variance, the rest is what counts.
            rounded = self.means.astype(rows.dtype)
            rows -= rounded
            rows -= (self.means - rounded).astype(rows.dtype)
        rows *= self.weights.astype(rows.dtype)

    def __call__(self, x: Features) -> Features:
        """Return scaled features; sparse ones stay so unless means are subtracted."""
        if isinstance(x, csr_array) and (self.means is None or not self.means.any()):
            data = x.data * self.weights.astype(x.dtype)[x.indices]
            return csr_array((data, x.indices, x.indptr), shape=x.shape)
        rows = x.toarray() if isinstance(x, csr_array) else x.copy()
        self.scale(rows)
        return rows


def column_scale(x: Features, scaling: str) -> ColumnScale | None:
    """What a scaling does to the columns of features; None if nothing.

    Raises:
        InputError: The features are not such as the scaling is for.
    """
    if scaling == "tf-idf":
        return ColumnScale(column_rarity(x))
    if scaling == "columns":
        moments = ColumnMoments.of(x)
        return ColumnScale.standard(moments, centred=not isinstance(x, csr_array))
    return None


def scale_features(
    x: Features, scaling: str, columns: ColumnScale | None = None
) -> Features:
    """Return the features scaled.

    Args:
        x: The features.
        scaling: `none`; `row` (rows of length 1); `tf-idf` (columns weighted by how
            rare they are, then `row`); `columns` (mean 0 and variance 1, of sparse
            features mean square 1, which keeps the zeros).
        columns: What the training graph's columns were scaled by, if by anything.
    """
    if scaling == "none":
        return x
    columns = columns or column_scale(x, scaling)
    if columns is not None:
        x = columns(x)
    return _unit_rows(x) if scaling in ROW_SCALINGS else x


def column_rarity(x: Features) -> NDArray[np.float64]:
    """The inverse document frequency `log(N / n_j)`; n_j rows have a nonzero in j.

    Raises:
        InputError: There are negative features, or no zeros: those are no counts.
    """
    values = x.data if isinstance(x, csr_array) else x
    if isinstance(x, csr_array):
        found = np.bincount(x.indices[x.data != 0], minlength=x.shape[1])
    else:
        found = np.count_nonzero(x, axis=0)
    return rarity(found, x.shape[0], float(values.min(initial=0)))


def rarity(
    nonzeros: NDArray[np.integer], num_rows: int, least: float
) -> NDArray[np.float64]:
    """As `column_rarity`, where the features were counted elsewhere.

    Args:
        nonzeros: Of each column.
        num_rows: Of all of them.
        least: The smallest number there is, or 0.
    """
    if least < 0:
        message = (
            "feature_scaling 'tf-idf' is for counts, and there are negative features; "
            "choose 'row', 'columns' or 'none'"
        )
        raise InputError(message)
    weights: NDArray[np.float64] = np.log(num_rows / np.maximum(nonzeros, 1))
    if not weights.any():
        message = (
            "feature_scaling 'tf-idf' weighs columns by their zeros, and there are "
            "none in these features; choose 'row', 'columns' or 'none'"
        )
        raise InputError(message)
    return weights


def _unit_rows(x: Features) -> Features:
    if not isinstance(x, csr_array):
        lengths = np.linalg.norm(x, axis=1, keepdims=True)
        return x / np.where(lengths > 0, lengths, 1).astype(x.dtype)
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    squares = np.bincount(rows, weights=x.data.astype(float) ** 2, minlength=x.shape[0])
    lengths = np.sqrt(squares)[rows]
    data = x.data / np.where(lengths > 0, lengths, 1).astype(x.dtype)
    return csr_array((data, x.indices, x.indptr), shape=x.shape)
