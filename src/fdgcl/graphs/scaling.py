"""Scaling of node features before anything else sees them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl._checks import InputError

FEATURE_SCALINGS = ("none", "row", "tf-idf")

Features: TypeAlias = NDArray[Any] | csr_array


def scale_features(
    x: Features, scaling: str, column_weights: NDArray[Any] | None = None
) -> Features:
    """Return the features as they are, with rows of length 1, or tf-idf weighted.

    Args:
        x: The features.
        scaling: One of `FEATURE_SCALINGS`.
        column_weights: For `tf-idf`, the weights of the graph a model was trained on.
    """
    if scaling == "none":
        return x
    if scaling == "tf-idf":
        weights = column_rarity(x) if column_weights is None else column_weights
        x = _times_columns(x, weights.astype(x.dtype))
    return _unit_rows(x)


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
            "choose 'row' or 'none'"
        )
        raise InputError(message)
    weights: NDArray[np.float64] = np.log(num_rows / np.maximum(nonzeros, 1))
    if not weights.any():
        message = (
            "feature_scaling 'tf-idf' weighs columns by their zeros, and there are "
            "none in these features; choose 'row' or 'none'"
        )
        raise InputError(message)
    return weights


def _times_columns(x: Features, weights: NDArray[Any]) -> Features:
    if not isinstance(x, csr_array):
        return x * weights
    return csr_array((x.data * weights[x.indices], x.indices, x.indptr), shape=x.shape)


def _unit_rows(x: Features) -> Features:
    if not isinstance(x, csr_array):
        lengths = np.linalg.norm(x, axis=1, keepdims=True)
        return x / np.where(lengths > 0, lengths, 1).astype(x.dtype)
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    squares = np.bincount(rows, weights=x.data.astype(float) ** 2, minlength=x.shape[0])
    lengths = np.sqrt(squares)[rows]
    data = x.data / np.where(lengths > 0, lengths, 1).astype(x.dtype)
    return csr_array((data, x.indices, x.indptr), shape=x.shape)
