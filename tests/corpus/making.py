"""Files for cases: contents as Python values, written by the file's suffix."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather
from scipy import sparse

#: Text, bytes, a table (columns by name), an array, a sparse matrix, or a function
#: that writes the file.
Content: TypeAlias = Any
Files: TypeAlias = Mapping[str, Content]
Columns: TypeAlias = Mapping[str, Sequence[Any]]

N = 24
IDS = [f"n{i:02}" for i in range(N)]
NUMBERS = list(range(N))


def ring(ids: Sequence[Any] = IDS) -> list[tuple[Any, Any]]:
    """Return a ring with chords: every id starts two edges and ends two."""
    count = len(ids)
    return [(ids[i], ids[(i + k) % count]) for i in range(count) for k in (1, 5)]


def edges(
    ids: Sequence[Any] = IDS,
    names: Sequence[str] = ("source", "target"),
    **more: Sequence[Any],
) -> dict[str, list[Any]]:
    """Return the ring as columns; `more` columns are repeated to its length."""
    pairs = ring(ids)
    start, end = ([pair[k] for pair in pairs] for k in (0, 1))
    columns = {names[0]: start, names[1]: end}
    for name, values in more.items():
        columns[name] = [values[i % len(values)] for i in range(len(pairs))]
    return columns


def features(
    ids: Sequence[Any] | None = IDS, key: str = "id", rows: int = 0, **more: Any
) -> dict[str, list[Any]]:
    """Return a table of two columns of numbers, and `more`, keyed by id."""
    count = rows or len(IDS if ids is None else ids)
    columns: dict[str, list[Any]] = {} if ids is None else {key: list(ids)}
    columns["a"] = [round(((7 * i) % 11 - 5) / 4, 3) for i in range(count)]
    columns["b"] = [round(((5 * i) % 13 - 6) / 5, 3) for i in range(count)]
    for name, values in more.items():
        columns[name] = [values[i % len(values)] for i in range(count)]
    return columns


def labels(
    ids: Sequence[Any] = IDS,
    values: Sequence[Any] = ("low", "mid", "high"),
    names: Sequence[str] = ("id", "label"),
) -> dict[str, list[Any]]:
    """Return a column of ids and one of labels."""
    column = [values[i % len(values)] for i in range(len(ids))]
    return {names[0]: list(ids), names[1]: column}


def text(
    columns: Columns,
    sep: str = ",",
    *,
    header: bool = True,
    end: str = "\n",
    quote: str = "",
    last: bool = True,
) -> str:
    """Return columns as delimited text."""

    def cell(value: Any) -> str:
        shown = "" if value is None else str(value)
        return f"{quote}{shown}{quote}" if quote else shown

    rows = [list(columns)] if header else []
    rows += [list(row) for row in zip(*columns.values(), strict=True)]
    return end.join(sep.join(map(cell, row)) for row in rows) + end * last


def table(columns: Columns | pa.Table) -> pa.Table:
    """Return columns as an Arrow table; repeated names come as a list of pairs."""
    if isinstance(columns, pa.Table):
        return columns
    arrays = [
        value if isinstance(value, pa.Array | pa.ChunkedArray) else pa.array(value)
        for value in columns.values()
    ]
    return pa.Table.from_arrays(arrays, names=list(columns))


def array_bytes(save: Callable[..., None], *values: Any, **named: Any) -> bytes:
    """Return what NumPy or SciPy writes."""
    stream = io.BytesIO()
    save(stream, *values, **named)
    return stream.getvalue()


def npy(values: Any, **named: Any) -> bytes:
    """Return a `.npy` file."""
    return array_bytes(np.save, np.asarray(values), **named)


def npz(**values: Any) -> bytes:
    """Return a `.npz` file."""
    return array_bytes(np.savez, **values)


def write(path: Path, content: Content) -> None:
    """Write a content as the file's suffix says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if callable(content):
        content(path)
    elif isinstance(content, str):
        path.write_bytes(content.encode())
    elif isinstance(content, bytes):
        path.write_bytes(content)
    elif sparse.issparse(content):
        sparse.save_npz(path, content)
    elif isinstance(content, np.ndarray):
        np.save(path, content)
    elif path.suffix in (".parquet", ".pq"):
        pq.write_table(table(content), path)
    elif path.suffix in (".feather", ".arrow"):
        feather.write_feather(table(content), str(path), compression="uncompressed")
    else:
        sep = "\t" if path.suffix == ".tsv" else ","
        path.write_bytes(text(content, sep).encode())


def matrix(rows: int = N, columns: int = 4) -> np.ndarray:
    """Return a matrix of numbers that differ from each other."""
    grid = np.arange(rows * columns).reshape(rows, columns)
    return np.round(((grid * 37) % 101 - 50) / 25, 2)
