"""Rows of a table regrouped: blocks that begin at fixed row numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from fdgcl.graphs.schema.accumulating import NumberColumns
from fdgcl.graphs.schema.statistics import block_rows
from fdgcl.graphs.schema.values import Column, Floats, numbers


class Block:
    """Rows that are waiting until their block is full."""

    def __init__(self, width: int, kept: Sequence[int], of: int) -> None:
        """Begin at row 0.

        Args:
            width: The number of columns of numbers.
            kept: Places of columns that are handed out as they are.
            of: The number of columns of numbers in all of the table.
        """
        self._size = block_rows(of)
        self._width = width
        self._kept = kept
        self.first = 0
        self._clear()

    def _clear(self) -> None:
        self.held = 0
        self._matrix = np.empty((self._width, 0))
        self._pieces: dict[int, list[pa.Array]] = {place: [] for place in self._kept}

    @property
    def end(self) -> int:
        """The number of the row that comes next."""
        return self.first + self.held

    @property
    def full(self) -> bool:
        """Whether no further row belongs to it."""
        return self.held == self._size

    def take(self, columns: Sequence[Column], wanted: Sequence[int], start: int) -> int:
        """Take as many rows as there is room for, and return how many."""
        whole = len(columns[0])
        rows = min(self._size - self.held, whole - start)
        all_of_it = rows == whole
        if self._matrix.shape[1] < self.held + rows:
            # A short table needs no more memory than its rows.
            size = self._size if self.held else rows
            matrix = np.empty((self._width, size))
            matrix[:, : self.held] = self._matrix[:, : self.held]
            self._matrix = matrix
        for row, place in enumerate(wanted):
            column = columns[place] if all_of_it else columns[place].slice(start, rows)
            self._matrix[row, self.held : self.held + rows] = numbers(column)
        for place, pieces in self._pieces.items():
            column = columns[place].slice(start, rows)
            pieces += column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        self.held += rows
        return rows

    def empty(self) -> tuple[Floats, dict[int, pa.ChunkedArray]]:
        """Hand out what is held: the matrix of numbers and the other columns."""
        matrix = self._matrix[:, : self.held]
        if matrix.shape[1] < self._matrix.shape[1]:
            matrix = matrix.copy()
        pieces = {p: pa.chunked_array(part) for p, part in self._pieces.items()}
        self.first += self.held
        self._clear()
        return matrix, pieces


@dataclass(frozen=True)
class Group:
    """Columns whose rows come together: all of a table, or some that fit in memory.

    Attributes:
        places: Their numbers in the table.
        numbers: Which of them hold numbers, by their places in the group.
        block: Rows that wait.
        found: What was found of the numbers.
    """

    places: tuple[int, ...]
    numbers: list[int]
    block: Block
    found: NumberColumns
