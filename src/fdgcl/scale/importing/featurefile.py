"""Features, read by parts, from whatever holds them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl._files import read_into
from fdgcl.graphs.files.names import find_id, names_features
from fdgcl.graphs.files.opening import Column, open_table
from fdgcl.graphs.files.parquet import ParquetTable
from fdgcl.graphs.files.table import Table, existing_file
from fdgcl.scale.checksums import as_bytes

Block = NDArray[np.float32]
Blocks = Generator[Block, None, None]


class Features(ABC):
    """A matrix of features, of which some columns and rows are read at a time.

    Attributes:
        width: Number of features.
        names: One name per feature, or None.
        one_column: Whether all features are read, however few are wanted.
    """

    width: int
    names: tuple[str, ...] | None = None
    one_column: bool = True

    @abstractmethod
    def blocks(self, columns: slice, rows: int, skip: int) -> Blocks:
        """Some columns of the rows after the first `skip`, so many at a time.

        Raises:
            InputError: The file is damaged, or holds something but numbers.
        """


class RandomFeatures(Features):
    """Standard normal numbers, as `structural_features` draws them."""

    def __init__(self, nodes: int, width: int, seed: int) -> None:
        self.width, self._nodes, self._seed = width, nodes, seed

    def blocks(self, columns: slice, rows: int, skip: int) -> Blocks:
        """See `Features`; what is skipped is drawn and thrown away."""
        rng = np.random.default_rng(self._seed)
        for start in range(0, self._nodes, rows):
            count = min(rows, self._nodes - start)
            drawn = rng.standard_normal((count, self.width), np.float32)
            if start + count > skip:
                yield drawn[max(0, skip - start) :, columns]


class ArrayFeatures(Features):
    """A `.npy` file, whichever way round its numbers lie."""

    def __init__(self, path: Path) -> None:
        """Read the header.

        Raises:
            InputError: It is no matrix of numbers, or cut off.
        """
        self.path = path
        try:
            with path.open("rb") as stream:
                version = np.lib.format.read_magic(stream)
                read = {
                    (1, 0): np.lib.format.read_array_header_1_0,
                    (2, 0): np.lib.format.read_array_header_2_0,
                }[version]
                shape, self._by_column, self._dtype = read(stream)
                self._start = stream.tell()
        except (ValueError, KeyError, OSError, EOFError) as error:
            message = f"{path} is not a NumPy file of plain numbers, or it is damaged"
            raise InputError(message) from error
        if len(shape) != 2 or self._dtype.kind not in "biuf" or 0 in shape:
            message = (
                f"{path} must hold a matrix of numbers, one row per node, got "
                f"{self._dtype} of shape {shape}"
            )
            raise InputError(message)
        self.rows, self.width = (int(size) for size in shape)
        self.one_column = not self._by_column
        size = self.rows * self.width * self._dtype.itemsize
        if path.stat().st_size < self._start + size:
            message = f"{path} is damaged: it is cut off"
            raise InputError(message)

    def blocks(self, columns: slice, rows: int, skip: int) -> Blocks:
        """See `Features`."""
        with self.path.open("rb") as stream:
            for start in range(skip, self.rows, rows):
                count = min(rows, self.rows - start)
                yield self._read(stream.fileno(), columns, start, count)

    def _read(self, file: int, columns: slice, start: int, count: int) -> Block:
        wanted = range(self.width)[columns]
        found = np.empty((count, len(wanted)), np.float32)
        # What is too large becomes infinite, which is refused by row and column.
        with np.errstate(over="ignore"):
            if not self._by_column:
                rows = self._numbers(file, start * self.width, count * self.width)
                found[:] = rows.reshape(count, self.width)[:, columns]
                return found
            for place, column in enumerate(wanted):
                first = column * self.rows + start
                found[:, place] = self._numbers(file, first, count)
        return found

    def _numbers(self, file: int, first: int, count: int) -> NDArray[Any]:
        """So many numbers as they lie in the file."""
        found = np.empty(count, self._dtype)
        place = self._start + first * self._dtype.itemsize
        if not read_into(file, as_bytes(found), place):
            message = f"{self.path} became shorter while it was read"
            raise InputError(message)
        return found


@dataclass(frozen=True)
class TableFeatures(Features):
    """The columns of a table that are not ids."""

    table: Table
    columns: tuple[int, ...]
    one_column: bool = False

    @property
    def width(self) -> int:  # type: ignore[override]
        """Number of features."""
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """The columns' names."""
        if not self.table.named:
            return None
        return tuple(self.table.names[number] for number in self.columns)

    def blocks(self, columns: slice, rows: int, skip: int) -> Blocks:
        """See `Features`."""
        wanted = self.columns[columns]
        for batch in self.table.batches([], wanted, rows=rows, skip=skip):
            yield batch.numbers


class VectorFeatures(Features):
    """A Parquet column of vectors."""

    def __init__(self, table: ParquetTable, column: int) -> None:
        self._table, self._column = table, column
        first = next(iter(table.vector_batches(column, rows=1, skip=0)))
        self.width = first.numbers.shape[1]

    def blocks(self, columns: slice, rows: int, skip: int) -> Blocks:
        """See `Features`."""
        for batch in self._table.vector_batches(self._column, rows=rows, skip=skip):
            if batch.numbers.shape[1] != self.width:
                message = (
                    f"{self._table.path} must have vectors of one length in column "
                    f"{self._table.names[self._column]!r}, got {batch.numbers.shape[1]}"
                    f" numbers in row {batch.first + 1:,} and {self.width} in row 1"
                )
                raise InputError(message)
            yield batch.numbers[:, columns]


@dataclass(frozen=True)
class FeatureFile:
    """A file of features before it is known which of its columns holds ids.

    Attributes:
        path: The file.
        table: It as a table; None for a `.npy` file.
        key: The column of ids, if it is known by name or its type.
        maybe: Whether the first column may be one, which only the edges can tell.
    """

    path: Path
    table: Table | None
    key: int | None
    maybe: bool

    def features(self, key: int | None) -> Features:
        """All columns but the ids.

        Raises:
            InputError: There are none, or vectors and numbers beside each other.
        """
        table = self.table
        if table is None:
            return ArrayFeatures(self.path)
        others = [number for number in range(len(table.names)) if number != key]
        if not others:
            message = f"{self.path} has no features ({table.columns_found()})"
            raise InputError(message)
        if not (isinstance(table, ParquetTable) and any(map(table.is_vector, others))):
            return TableFeatures(table, tuple(others))
        if len(others) > 1:
            message = (
                f"{self.path} must have either one column of vectors or columns of "
                f"numbers, not both ({table.columns_found()})"
            )
            raise InputError(message)
        return VectorFeatures(table, others[0])


def open_features(path: str | os.PathLike[str], id_column: Column) -> FeatureFile:
    """Open a file of features, and look for a column of ids.

    Raises:
        InputError: It is not there, or cannot be read by parts.
    """
    file = existing_file(path, "features")
    suffix = file.suffix.lower()
    if suffix == ".npz":
        message = (
            f"{file} cannot be read by parts: features must be Parquet, text (CSV, "
            "TSV, ...) or .npy here"
        )
        raise InputError(message)
    if suffix == ".npy":
        if id_column is not None:
            message = (
                f"{file} has no columns, so it cannot have id_column {id_column!r}"
            )
            raise InputError(message)
        return FeatureFile(file, None, None, False)
    table = open_table(file, names_features, (id_column,))
    if id_column is not None:
        return FeatureFile(file, table, table.find(id_column), False)
    named = find_id(table.names) if table.named else None
    if named is None and table.is_text(0):
        named = 0
    maybe = named is None and table.is_whole(0) and len(table.names) > 1
    return FeatureFile(file, table, named, maybe)
