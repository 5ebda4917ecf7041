"""A schema of a matrix without names: what a NumPy or SciPy file holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fdgcl._checks import InputError
from fdgcl.graphs.schema.accumulating import NumberColumns
from fdgcl.graphs.schema.columns import ColumnSchema, Overrides
from fdgcl.graphs.schema.deciding import Scales
from fdgcl.graphs.schema.feature_schema import FeatureSchema
from fdgcl.graphs.schema.scaling import Scaling
from fdgcl.graphs.schema.statistics import Summary, block_rows
from fdgcl.graphs.schema.surprises import Rows

_NAME = "matrix"


def fit_matrix(
    x: NDArray[Any] | csr_array,
    overrides: Overrides,
    where: str,
    at_once: int | None = None,
) -> FeatureSchema:
    """Decide how the columns of a matrix are scaled.

    A sparse matrix stays as it is unless asked; "standard" then divides by the
    spread and subtracts nothing, so that zeros stay zeros.

    Args:
        x: (rows, columns) of numbers.
        overrides: Only the scaling: there are no names.
        where: The file, for messages.
        at_once: Columns that are looked at together, so that less memory is needed;
            None for all. It makes no difference to the result.

    Raises:
        InputError: A column is asked for by name, or a number is not finite.

    Example:
        >>> import numpy as np
        >>> from fdgcl.graphs.schema import Overrides, fit_matrix
        >>> fit_matrix(np.eye(3), Overrides(), "x.npy").describe()
        ('features: 3 columns as they are (0 and 1)',)
    """
    if overrides.asked or overrides.dropped or overrides.columns is not None:
        name = min((*overrides.asked, *overrides.dropped), default="")
        message = f"{where} has no names of columns, so it has no column {name!r}"
        raise InputError(message)
    if 0 in x.shape:
        message = f"{where} has no numbers: its shape is {x.shape}"
        raise InputError(message)
    if isinstance(x, csr_array):
        return FeatureSchema((_fit_sparse(x, overrides.scaling, where),))
    return FeatureSchema((_fit_dense(x, overrides.scaling, where, at_once),))


def _numbered(width: int) -> list[str]:
    return [str(number) for number in range(1, width + 1)]


def _fit_dense(
    x: NDArray[Any], scaling: str, where: str, at_once: int | None
) -> ColumnSchema:
    rows, width = x.shape
    group = at_once or width
    first, *others = (
        _summary(x, slice(start, min(start + group, width)), where)
        for start in range(0, width, group)
    )
    found = first.joined(others)
    if bool((found.constant | (found.count == 0)).all()):
        message = f"{where} has only constant columns, which do not distinguish nodes"
        raise InputError(message)
    scales = Scales(found, scaling, judged=np.ones(width, np.bool_), beside_units=False)
    holes = np.flatnonzero(found.count < rows)
    scaled = sorted({"as-is", *scales.encodings.tolist()})[-1]
    fill = np.where(scales.encodings == "as-is", found.mean, 0)[holes]
    known: dict[str, Any] = {"rows": rows, "missing": holes.tolist(), "width": width}
    known["fill"] = fill.tolist()
    varying = ~found.constant & ~found.binary
    reasons = scales.reasons[varying if varying.any() else ~found.constant]
    if scaled != "as-is":
        known |= {
            "centre": scales.centre.tolist(),
            "scale": scales.scale.tolist(),
            "bent": (scales.encodings == "robust").tolist(),
        }
    return ColumnSchema.feature(_NAME, scaled, str(reasons[0]), known)


def _summary(x: NDArray[Any], columns: slice, where: str) -> Summary:
    rows, width = x.shape
    found = NumberColumns(_numbered(width)[columns], where, of=width)
    step = block_rows(width)
    for start in range(0, rows, step):
        block = np.array(x[start : start + step, columns].T, np.float64, order="C")
        found.update(block, start)
    return found.summary()


def _fit_sparse(x: csr_array, scaling: str, where: str) -> ColumnSchema:
    rows, width = x.shape
    _refuse_not_finite(x, where)
    known: dict[str, Any] = {"rows": rows, "missing": [], "width": width, "fill": []}
    if scaling in ("auto", "none"):
        return ColumnSchema.feature(_NAME, "as-is", "sparse", known)
    if scaling == "robust":
        message = (
            f"{where} is sparse, and its quartiles are mostly 0: choose the column "
            "scaling standard, or none"
        )
        raise InputError(message)
    values = x.data.astype(np.float64)
    mean = np.bincount(x.indices, values, minlength=width) / rows
    square = np.bincount(x.indices, values**2, minlength=width) / rows
    std = np.sqrt(np.maximum(square - mean**2, 0))
    known["centre"] = [0.0] * width
    known["scale"] = np.where(std > 0, std, 1.0).tolist()
    known["bent"] = [False] * width
    return ColumnSchema.feature(_NAME, "standard", "asked for", known)


def _refuse_not_finite(x: csr_array, where: str) -> None:
    wrong = np.flatnonzero(~np.isfinite(x.data))
    if len(wrong):
        place = int(wrong[0])
        row = int(np.searchsorted(x.indptr, place, "right"))
        message = (
            f"{where} has {x.data[place]} in row {row}, column {x.indices[place] + 1}, "
            "where a finite number is expected"
        )
        raise InputError(message)


def encode_matrix(
    schema: FeatureSchema, x: NDArray[Any] | csr_array, where: str = "", first: int = 0
) -> NDArray[np.float32] | csr_array:
    """Make features of a matrix, dense or sparse as it is.

    Args:
        schema: Of `fit_matrix`.
        x: (rows, columns) of numbers, as many columns as in training.
        where: The file, for messages.
        first: The number of the first row, from 0, for messages.

    Raises:
        InputError: The columns are not those of the training.

    Example:
        >>> import numpy as np
        >>> from fdgcl.graphs.schema import Overrides, encode_matrix, fit_matrix
        >>> x = np.array([[1.0, 200.0], [3.0, 600.0]])
        >>> encode_matrix(fit_matrix(x, Overrides(), "x.npy"), x).tolist()
        [[-1.0, -1.0], [1.0, 1.0]]
    """
    place = where or "the matrix"
    if not schema.of_matrix:
        message = (
            f"{place} has no names of columns, but training had: "
            f"{', '.join(column.name for column in schema.features[:5])}, ..."
        )
        raise InputError(message)
    column = schema.features[0]
    known = column.statistics
    width = known["width"]
    if x.ndim != 2 or x.shape[1] != width:
        message = f"{place} has the shape {x.shape}, where {width} columns are expected"
        raise InputError(message)
    if isinstance(x, csr_array):
        return _encode_sparse(column, x, place)
    as_is = column.encoding == "as-is"
    fill = np.zeros(width)
    fill[known["missing"]] = known["fill"]
    scaling = Scaling(
        _numbered(width),
        np.zeros(width) if as_is else np.asarray(known["centre"]),
        np.ones(width) if as_is else np.asarray(known["scale"]),
        np.zeros(width, np.bool_) if as_is else np.asarray(known["bent"]),
        fill,
    )
    out = np.empty((len(x), schema.width), np.float32)
    step = block_rows(width)
    for start in range(0, len(x), step):
        part = np.array(x[start : start + step].T, np.float64, order="C")
        rows = Rows(first + start, place)
        missing = scaling.apply(part, rows)
        missing_before = missing[known["missing"]]
        if missing_before.sum() < missing.sum():
            new = missing.copy()
            new[known["missing"]] = False
            row = int(np.argmax(new.any(axis=0)))
            number = str(int(np.argmax(new[:, row])) + 1)
            raise rows.refusal(np.nan, row, number, "a number, as in all of training,")
        out[start : start + step, :width] = part.T
        out[start : start + step, width:] = missing_before.T
    return out


def _encode_sparse(column: ColumnSchema, x: csr_array, where: str) -> csr_array:
    known = column.statistics
    _refuse_not_finite(x, where)
    if known["missing"] or any(known.get("centre", ())):
        message = f"{where} is sparse, but the matrix of the training was dense"
        raise InputError(message)
    values = x.data
    if column.encoding != "as-is":
        values = values / np.asarray(known["scale"])[x.indices]
    return csr_array((values.astype(np.float32), x.indices, x.indptr), shape=x.shape)
