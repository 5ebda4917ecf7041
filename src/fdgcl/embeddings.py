"""Embeddings on disk: one Parquet table of ids and vectors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fdgcl._checks import InputError
from fdgcl._files import atomic_path


def write_embeddings(path: str | os.PathLike[str], ids: Any, embedding: Any) -> None:
    """Write embeddings as Parquet: `id` (int64 or string) and `embedding`.

    The column `embedding` is a fixed-size list of float32, which Polars, DuckDB and
    vector databases read as a vector. The file appears whole or not at all.

    Args:
        path: The file to write.
        ids: (N,) node ids.
        embedding: (N, dim) numbers.

    Raises:
        InputError: The shapes do not fit, or the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = np.asarray(ids)
    matrix = np.ascontiguousarray(embedding, np.float32)
    if matrix.ndim != 2 or matrix.shape[1] == 0 or names.shape != (len(matrix),):
        message = (
            "embeddings need one id per row, (N,) and (N, dim), got shapes "
            f"{names.shape} and {matrix.shape}"
        )
        raise InputError(message)
    kind = pa.int64() if names.dtype.kind in "iu" else pa.string()
    if names.dtype.kind not in "iu":
        names = np.array([str(name) for name in names.tolist()], object)
    vectors = pa.FixedSizeListArray.from_arrays(
        pa.array(matrix.reshape(-1)), matrix.shape[1]
    )
    table = pa.table({"id": pa.array(names, kind), "embedding": vectors})
    with atomic_path(path) as temporary:
        # Random digits do not compress; a dictionary of them only costs time.
        pq.write_table(table, temporary, use_dictionary=False, compression="zstd")


def read_embeddings(
    path: str | os.PathLike[str],
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32]]:
    """Read ids and embeddings from Parquet.

    Args:
        path: A file with the columns `id` and `embedding`.

    Returns:
        (N,) ids, int64 or str, and the (N, dim) float32 embedding.

    Raises:
        InputError: The file is missing, or is not such a table.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = Path(path)
    if not file.is_file():
        message = f"no embeddings to read: {file} is not a file"
        raise InputError(message)
    try:
        schema = pq.read_schema(file)
        if not {"id", "embedding"} <= set(schema.names):
            message = (
                f"{file} is not a table of embeddings: it needs the columns id and "
                f"embedding, the columns found are {', '.join(schema.names)}"
            )
            raise InputError(message)
        table = pq.read_table(file, columns=["id", "embedding"])
    except (pa.ArrowException, OSError) as error:
        message = f"{file} is not a Parquet file that can be read"
        raise InputError(message) from error
    return _ids(table["id"], file), _vectors(table["embedding"], file)


def _ids(column: Any, file: Path) -> npt.NDArray[Any]:
    import pyarrow as pa

    kind = column.type
    whole = pa.types.is_integer(kind)
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not (whole or text) or column.null_count:
        message = f"the column id of {file} must hold integers or strings, got {kind}"
        raise InputError(message)
    array = column.cast(pa.int64() if whole else pa.string()).to_numpy()
    return np.asarray(array)


def _vectors(column: Any, file: Path) -> npt.NDArray[np.float32]:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    listed = pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind)
    listed = listed or pa.types.is_large_list(kind)
    if not listed or not pa.types.is_floating(kind.value_type) or column.null_count:
        message = (
            f"the column embedding of {file} must hold vectors of numbers, got {kind}"
        )
        raise InputError(message)
    sizes = pc.unique(pc.list_value_length(column)).to_pylist()
    if len(sizes) != 1:
        message = (
            f"the vectors in {file} must have one length, got {len(sizes)} lengths"
        )
        raise InputError(message)
    numbers = pc.list_flatten(column).cast(pa.float32()).to_numpy()
    if len(numbers) != len(column) * sizes[0] or sizes[0] == 0:
        message = f"the vectors in {file} must have at least one number, got none"
        raise InputError(message)
    return np.asarray(numbers).reshape(len(column), sizes[0])
