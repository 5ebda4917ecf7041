"""Features in a `.npy` file, read by parts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl._files import read_into
from fdgcl.graphs.importing.featuresource import Blocks, Features
from fdgcl.graphs.schema import ColumnSchema, FeatureSchema, encode_matrix
from fdgcl.graphs.store.checksums import as_bytes

# Numbers of whole rows that are held while some columns of them are wanted.
_CELLS = 1 << 20


class ArrayFile:
    """A matrix in a `.npy` file, whichever way round its numbers lie.

    Parts are read as they are asked for: `file[100:200, 3:5]` is an array.

    Attributes:
        shape: (rows, columns).
        by_column: Whether the numbers of a column lie together.
    """

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
                shape, self.by_column, self._dtype = read(stream)
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
        self.shape = (int(shape[0]), int(shape[1]))
        size = self.shape[0] * self.shape[1] * self._dtype.itemsize
        if path.stat().st_size < self._start + size:
            message = f"{path} is damaged: it is cut off"
            raise InputError(message)

    def __getitem__(self, part: tuple[slice, slice]) -> NDArray[Any]:
        rows, columns = part
        start, stop, _ = rows.indices(self.shape[0])
        with self.opened() as file:
            return self.read(file, start, stop - start, range(self.shape[1])[columns])

    @contextmanager
    def opened(self) -> Iterator[int]:
        """The file's handle, for `read`."""
        with self.path.open("rb") as stream:
            yield stream.fileno()

    def read(
        self, file: int, start: int, count: int, columns: Sequence[int]
    ) -> NDArray[Any]:
        """Some columns of some rows.

        Args:
            file: The handle.
            start: The first row.
            count: How many.
            columns: The numbers of the columns.
        """
        rows, width = self.shape
        if self.by_column:
            table = np.empty((len(columns), count), self._dtype)
            for place, column in enumerate(columns):
                table[place] = self._numbers(file, column * rows + start, count)
            return table.T
        found = np.empty((count, len(columns)), self._dtype)
        step = max(1, _CELLS // width)
        for first in range(0, count, step):
            some = min(step, count - first)
            block = self._numbers(file, (start + first) * width, some * width)
            found[first : first + some] = block.reshape(some, width)[:, columns]
        return found

    def _numbers(self, file: int, first: int, count: int) -> NDArray[Any]:
        """So many numbers as they lie in the file."""
        found = np.empty(count, self._dtype)
        place = self._start + first * self._dtype.itemsize
        if not read_into(file, as_bytes(found), place):
            message = f"{self.path} became shorter while it was read"
            raise InputError(message)
        return found


class ArrayFeatures(Features):
    """The columns of a `.npy` file, scaled as its schema says."""

    def __init__(self, file: ArrayFile, schema: FeatureSchema) -> None:
        self._file, self._schema = file, schema
        self.width = schema.width
        self.widest = 1

    def inputs(self, columns: slice) -> int:  # noqa: ARG002
        """See `Features`; nothing is unpacked, so that columns take no memory."""
        return 1

    def blocks(self, columns: slice, rows: int, skip: int) -> Blocks:
        """See `Features`."""
        sources = self._sources(columns)
        chosen = sorted({column for column, _ in sources})
        part = _restricted(self._schema.features[0], chosen)
        places = {name: place for place, name in enumerate(part.feature_names)}
        # A part names its columns by their numbers among those chosen.
        own = {column: f"{place}" for place, column in enumerate(chosen, start=1)}
        wanted = [places[own[column] + " missing" * lacks] for column, lacks in sources]
        total, where = self._file.shape[0], os.fspath(self._file.path)
        with self._file.opened() as handle:
            for start in range(skip, total, rows):
                count = min(rows, total - start)
                block = self._file.read(handle, start, count, chosen)
                yield encode_matrix(part, block, where, start)[:, wanted]

    def _sources(self, columns: slice) -> list[tuple[int, bool]]:
        """For each feature its column in the file, and whether it says what lacks."""
        known = self._schema.features[0].statistics
        width, missing = known["width"], known["missing"]
        return [
            (missing[number - width], True) if number >= width else (number, False)
            for number in range(self.width)[columns]
        ]


def _restricted(column: ColumnSchema, chosen: list[int]) -> FeatureSchema:
    """The schema of some columns of a matrix."""
    known: Mapping[str, Any] = column.statistics
    filled = dict(zip(known["missing"], known["fill"], strict=True))
    holes = [place for place, number in enumerate(chosen) if number in filled]
    part = {
        **known,
        "width": len(chosen),
        "missing": holes,
        "fill": [filled[chosen[place]] for place in holes],
    }
    for name in ("centre", "scale", "bent"):
        if name in known:
            part[name] = [known[name][number] for number in chosen]
    return FeatureSchema(
        (ColumnSchema.feature(column.name, column.encoding, column.reason, part),)
    )
