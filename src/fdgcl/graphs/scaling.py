"""Scaling of node features before anything else sees them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.graphs.moments import ColumnMoments
from fdgcl.graphs.rows import NUMBERS, Features, RowSource, row_blocks

FEATURE_SCALINGS = ("none", "row", "tf-idf", "columns", "auto")
#: Those with statistics of the training graph, which a model keeps.
COLUMN_SCALINGS = ("tf-idf", "columns")
#: Those that give every row length 1 in the end.
ROW_SCALINGS = ("row", "tf-idf")

# A bag of words has more columns than these, and more zeros than this share.
FEW_COLUMNS = 50
MOSTLY_ZERO = 0.5
# What is looked at to tell one: blocks of rows, spread over all.
_LOOKS = 64
_LOOK_ROWS = 1024


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


def is_bag_of_words(features: RowSource) -> bool:
    """Whether features look like counts of words: many columns, none negative, zeros.

    More than 50 columns and more than half of all entries zero. Of many rows some are
    looked at, the same wherever they are kept.

    >>> import numpy as np
    >>> is_bag_of_words(np.eye(60)), is_bag_of_words(np.eye(50))
    (True, False)
    """
    rows, columns = features.shape
    if columns <= FEW_COLUMNS:
        return False
    size = max(1, min(_LOOK_ROWS, NUMBERS // columns))
    count = min(_LOOKS, -(-rows // size))
    seen = nonzeros = 0
    for start in np.linspace(0, max(0, rows - size), count).astype(int).tolist():
        part = features[start : start + size]
        values = part.data if isinstance(part, csr_array) else part
        if values.size and values.min() < 0:
            return False
        seen += part.shape[0] * columns
        nonzeros += int(np.count_nonzero(values))
    return nonzeros < (1 - MOSTLY_ZERO) * seen


def choose_scaling(
    features: RowSource, *, structural: str | None, encoded: bool
) -> tuple[str, str]:
    """What `auto` comes to for features, and why.

    Args:
        features: Dense or sparse, in memory or in a store.
        structural: The kind of features made from the edges, scaled as they are to be.
        encoded: Whether a table's columns became features by a schema, which has
            looked at their units already.

    >>> import numpy as np
    >>> choose_scaling(np.ones((3, 2)), structural=None, encoded=False)
    ('columns', 'the features do not look like bags of words')
    """
    if structural is not None:
        return "none", f"{structural!r} features were made from the edges"
    if is_bag_of_words(features):
        return "row", "the features look like bags of words"
    if encoded:
        return "none", "the table's columns were scaled as they were read"
    return "columns", "the features do not look like bags of words"


def fit_scaling(features: RowSource, scaling: str) -> ColumnScale | None:
    """What a scaling does to the columns of features; None if nothing.

    Args:
        features: Dense or sparse, in memory or in a store.
        scaling: `none`, `row`, `tf-idf` or `columns`.

    Raises:
        InputError: The features are not such as the scaling is for.

    >>> import numpy as np
    >>> x = np.array([[2.0, 0.0], [4.0, 3.0]])
    >>> fit_scaling(x, "columns").means
    array([3. , 1.5])
    """
    if scaling == "tf-idf":
        return ColumnScale(_rarity(features))
    if scaling == "columns":
        centred = not isinstance(features, csr_array)
        return ColumnScale.standard(ColumnMoments.of(features), centred=centred)
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
    columns = columns or fit_scaling(x, scaling)
    if columns is not None:
        x = columns(x)
    if scaling not in ROW_SCALINGS:
        return x
    lengths = row_lengths(x).astype(x.dtype)
    if not isinstance(x, csr_array):
        return x / lengths[:, None]
    data = x.data / np.repeat(lengths, np.diff(x.indptr))
    return csr_array((data, x.indices, x.indptr), shape=x.shape)


def row_lengths(features: RowSource) -> NDArray[np.float64]:
    """The length of each row, and 1 for rows of zeros: what to divide them by."""
    lengths = np.empty(features.shape[0])
    for start, rows in row_blocks(features):
        stop = start + rows.shape[0]
        if isinstance(rows, csr_array):
            squares = np.square(rows.data, dtype=np.float64)
            places = np.repeat(np.arange(start, stop), np.diff(rows.indptr)) - start
            found = np.bincount(places, weights=squares, minlength=stop - start)
        else:
            found = np.square(rows, dtype=np.float64).sum(axis=1)
        lengths[start:stop] = np.sqrt(np.where(found > 0, found, 1))
    return lengths


def _rarity(features: RowSource) -> NDArray[np.float64]:
    """The inverse document frequency `log(N / n_j)`; n_j rows have a nonzero in j.

    Raises:
        InputError: There are negative features, or no zeros: those are no counts.
    """
    rows, columns = features.shape
    nonzeros, least = np.zeros(columns, np.int64), 0.0
    for _, block in row_blocks(features):
        if isinstance(block, csr_array):
            values = block.data
            nonzeros += np.bincount(block.indices[values != 0], minlength=columns)
        else:
            values = block
            nonzeros += np.count_nonzero(block, axis=0)
        least = min(least, float(values.min(initial=0)))
    if least < 0:
        message = (
            "feature_scaling 'tf-idf' is for counts, and there are negative features; "
            "choose 'row', 'columns' or 'none'"
        )
        raise InputError(message)
    weights: NDArray[np.float64] = np.log(rows / np.maximum(nonzeros, 1))
    if not weights.any():
        message = (
            "feature_scaling 'tf-idf' weighs columns by their zeros, and there are "
            "none in these features; choose 'row', 'columns' or 'none'"
        )
        raise InputError(message)
    return weights
