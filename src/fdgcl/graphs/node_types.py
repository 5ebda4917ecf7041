"""Nodes of several types, each with features of its own, in one matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from fdgcl._checks import InputError
from fdgcl.graphs._validate import float_array
from fdgcl.graphs.graph import Features

Names = Mapping[str, Sequence[str] | None]


def padded(
    blocks: Mapping[str, Any], names: Names | None = None
) -> tuple[Features, tuple[str, ...]]:
    """Put the features of several node types into one matrix.

    Nodes stand type after type. The columns of a type are zero for all other nodes, and
    behind them stands one column of 0 and 1 for each type: whether a node is of it.

    >>> blocks = {"paper": np.array([[7.0], [8.0]]), "author": np.empty((1, 0))}
    >>> features, columns = padded(blocks, {"paper": ["year"]})
    >>> columns
    ('paper:year', 'type=paper', 'type=author')
    >>> features.tolist()
    [[7.0, 1.0, 0.0], [8.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

    Args:
        blocks: The features of each type, (nodes, columns), dense or sparse; a type
            without features has no columns.
        names: Of each type's columns; those without count from 0.

    Returns:
        The features, CSR where some of the blocks are sparse, and a name per column.

    Raises:
        InputError: There is no type, or its names are not as many as its columns.
    """
    if not blocks:
        message = "features of several node types need at least one type, got none"
        raise InputError(message)
    matrices = [_matrix(kind, block) for kind, block in blocks.items()]
    columns = [
        f"{kind}:{name}"
        for (kind, matrix) in zip(blocks, matrices, strict=True)
        for name in _names(kind, (names or {}).get(kind), matrix.shape[1])
    ]
    columns += [f"type={kind}" for kind in blocks]
    dtype = np.result_type(np.float32, *(matrix.dtype for matrix in matrices))
    if any(sparse.issparse(matrix) for matrix in matrices):
        own = sparse.block_diag(matrices, "csr", dtype)
        ones = [np.ones((len_, 1), dtype) for len_ in _sizes(matrices)]
        kinds = sparse.block_diag(ones, "csr", dtype)
        return sparse.csr_array(sparse.hstack((own, kinds), "csr")), tuple(columns)
    features = np.zeros((sum(_sizes(matrices)), len(columns)), dtype)
    row = column = 0
    for at, matrix in enumerate(matrices):
        rows = slice(row, row + matrix.shape[0])
        features[rows, column : column + matrix.shape[1]] = matrix
        features[rows, len(columns) - len(matrices) + at] = 1
        row, column = rows.stop, column + matrix.shape[1]
    return features, tuple(columns)


def _sizes(matrices: Sequence[Features]) -> list[int]:
    return [int(matrix.shape[0]) for matrix in matrices]


def _matrix(kind: str, block: Any) -> Features:
    matrix = sparse.csr_array(block) if sparse.issparse(block) else float_array(block)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        message = (
            f"the features of node type {kind!r} must be numbers of shape (nodes, "
            f"columns), got {matrix.dtype} of shape {matrix.shape}"
        )
        raise InputError(message)
    single = matrix.dtype == np.float64 or matrix.dtype == np.float32
    return matrix if single else matrix.astype(np.float32)


def _names(kind: str, names: Sequence[str] | None, columns: int) -> Sequence[str]:
    if names is None:
        return [str(column) for column in range(columns)]
    if len(names) != columns:
        message = (
            f"names must name the {columns} columns of node type {kind!r}, got "
            f"{len(names)}"
        )
        raise InputError(message)
    return names
