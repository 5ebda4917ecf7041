"""Embeddings on disk: a Parquet table of ids and vectors, or a folder of its parts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fdgcl._checks import InputError
from fdgcl._files import atomic_path

# Of the rows that a part's reader takes in at a time.
_GROUP_BYTES = 2**24

_PART = re.compile(r"part-(\d{5,})\.parquet")


@dataclass(frozen=True)
class Part:
    """Which part of which embedding a file holds, as the file itself says.

    Attributes:
        number: From 0.
        parts: How many there are.
        model: A hash of what made it.
    """

    number: int
    parts: int
    model: str

    def path(self, folder: Path) -> Path:
        """Where it lies."""
        return folder / f"part-{self.number:05}.parquet"

    def is_there(self, folder: Path) -> bool:
        """Whether this model has written it; a file that is there is complete."""
        path = self.path(folder)
        return path.is_file() and _read_part(path) == self


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

    Example:
        >>> from fdgcl.embeddings import write_embeddings
        >>> write_embeddings("two.parquet", ["ann", "bob"], [[0.5, 1.0], [2.0, 0.0]])
    """
    import pyarrow.parquet as pq

    table = _table(ids, embedding)
    with atomic_path(path) as temporary:
        # Random digits do not compress; a dictionary of them only costs time.
        pq.write_table(table, temporary, use_dictionary=False, compression="zstd")


def write_part(folder: Path, part: Part, blocks: Iterable[tuple[Any, Any]]) -> None:
    """Write one part of an embedding, block by block; it appears whole or not at all.

    Args:
        folder: Where to.
        part: Which it is.
        blocks: Ids and vectors, as `write_embeddings` takes them, some at a time.

    Raises:
        InputError: The file cannot be written.
    """
    import pyarrow.parquet as pq

    note = {"part": part.number, "parts": part.parts, "model": part.model}
    metadata = {f"fdgcl.{name}": str(value) for name, value in note.items()}
    with atomic_path(part.path(folder)) as temporary:
        writer = None
        try:
            for group in _groups(_table(*block) for block in blocks):
                table = group.replace_schema_metadata(metadata)
                # Level 1 takes as little of float32 as any other, in the least time.
                writer = writer or pq.ParquetWriter(
                    temporary,
                    table.schema,
                    use_dictionary=False,
                    compression="zstd",
                    compression_level=1,
                )
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()


def _groups(tables: Iterable[Any]) -> Iterator[Any]:
    """Tables of some megabytes, as a reader wants to take them in at a time."""
    import pyarrow as pa

    waiting: list[Any] = []
    for table in tables:
        waiting.append(table)
        if sum(one.nbytes for one in waiting) >= _GROUP_BYTES:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def _table(ids: Any, embedding: Any) -> Any:
    import pyarrow as pa

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
    return pa.table({"id": pa.array(names, kind), "embedding": vectors})


def read_embeddings(
    path: str | os.PathLike[str],
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32]]:
    """Read ids and embeddings from Parquet.

    Args:
        path: A file with the columns `id` and `embedding`, or a folder of such parts.

    Returns:
        (N,) ids, int64 or str, and the (N, dim) float32 embedding.

    Raises:
        InputError: The file or a part is missing, is not such a table, or an id comes
            twice.

    Example:
        >>> from fdgcl.embeddings import read_embeddings, write_embeddings
        >>> write_embeddings("two.parquet", ["ann", "bob"], [[0.5, 1.0], [2.0, 0.0]])
        >>> ids, z = read_embeddings("two.parquet")
        >>> ids.tolist(), z.shape
        (['ann', 'bob'], (2, 2))
    """
    file = Path(path)
    if file.is_dir():
        found = [_read(part) for part in _parts(file)]
        parts, vectors = zip(*found, strict=True)
        ids, embedding = np.concatenate(parts), np.concatenate(vectors)
    else:
        ids, embedding = _read(file)
    _refuse_repeated(ids, file)
    return ids, embedding


def _refuse_repeated(ids: npt.NDArray[Any], file: Path) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pa.array(ids)
    if len(pc.unique(column)) < len(column):
        counts = pc.value_counts(column)
        often = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
        shown = ", ".join(repr(value) for value in often[:3].to_pylist())
        message = f"{file} repeats {len(often):,} ids, such as {shown}"
        raise InputError(message)


def part_files(folder: Path) -> dict[int, Path]:
    """The files in a folder that are named as parts, by their number."""
    found = {path: _PART.fullmatch(path.name) for path in folder.glob("part-*.parquet")}
    return {int(match[1]): path for path, match in found.items() if match is not None}


def model_of_parts(folder: Path) -> str | None:
    """The hash of what made all parts in a folder; None if there is no single one."""
    notes = [_read_part(path) for path in part_files(folder).values()]
    models = {None if note is None else note.model for note in notes}
    return models.pop() if len(models) == 1 else None


def _parts(folder: Path) -> list[Path]:
    """All parts of one embedding, in order."""
    files = part_files(folder)
    if not files:
        message = f"no embeddings to read: {folder} holds no part-00000.parquet"
        raise InputError(message)
    notes = {path: _read_part(path) for _, path in sorted(files.items())}
    for path, note in notes.items():
        if note is None or note.path(folder) != path:
            message = f"{path} does not say which part of which embedding it is"
            raise InputError(message)
    kinds = {(note.parts, note.model) for note in notes.values() if note is not None}
    if len(kinds) > 1:
        message = (
            f"{folder} holds parts of {len(kinds)} different embeddings: finish the "
            "one that was written last, by the command that began it"
        )
        raise InputError(message)
    parts, _ = kinds.pop()
    missing = [number for number in range(parts) if number not in files]
    if missing:
        message = (
            f"{folder} is not complete: {len(missing):,} of {parts:,} parts are "
            f"missing, such as part-{missing[0]:05}.parquet"
        )
        raise InputError(message)
    return [*notes]


def _read_part(path: Path) -> Part | None:
    """What a file says of itself; None where it is not a part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(path).metadata or {}
        number, parts = (int(metadata[key]) for key in (b"fdgcl.part", b"fdgcl.parts"))
        return Part(number, parts, metadata[b"fdgcl.model"].decode())
    except (pa.ArrowException, OSError, KeyError, ValueError):
        return None


def _read(file: Path) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

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
        table.validate(full=True)  # text need not be UTF-8
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
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
