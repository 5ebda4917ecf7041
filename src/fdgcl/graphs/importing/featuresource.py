"""Features, read by parts, from whatever holds them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdgcl.graphs.files.table import Table
from fdgcl.graphs.schema import FeatureSchema
from fdgcl.graphs.store.store import Store
from fdgcl.graphs.structural import COLUMNS, structural_features

Block = NDArray[np.float32]
Blocks = Generator[Block, None, None]
#: Columns of a table by parts, each with the number of its first row.
Columns = Generator[tuple[int, list[pa.Array]], None, None]


class Features(ABC):
    """A matrix of features, of which some columns and rows are made at a time.

    Attributes:
        width: Number of features.
        names: One name per feature, or None.
        widest: Features that one column of the file makes, at most.
    """

    width: int
    names: tuple[str, ...] | None = None
    widest: int

    @abstractmethod
    def inputs(self, columns: slice) -> int:
        """How many columns of the file are read for some features."""

    @abstractmethod
    def blocks(self, columns: slice, rows: int, skip: int) -> Blocks:
        """Some columns of the rows after the first `skip`, so many at a time.

        Raises:
            InputError: The file is damaged, or was changed.
        """


class RandomFeatures(Features):
    """Standard normal numbers, as `structural_features` draws them."""

    def __init__(self, nodes: int, width: int, seed: int) -> None:
        self.width = self.widest = width
        self._nodes, self._seed = nodes, seed

    def inputs(self, columns: slice) -> int:  # noqa: ARG002
        """See `Features`; all are drawn together."""
        return 1

    def blocks(self, columns: slice, rows: int, skip: int) -> Blocks:
        """See `Features`; what is skipped is drawn and thrown away."""
        rng = np.random.default_rng(self._seed)
        for start in range(0, self._nodes, rows):
            count = min(rows, self._nodes - start)
            drawn = rng.standard_normal((count, self.width), np.float32)
            if start + count > skip:
                yield drawn[max(0, skip - start) :, columns]


class StructuralFeatures(Features):
    """Features made from the edges of a store, all at once.

    Args:
        graph: Gives the store, once its edges are there.
        nodes: How many it has.
        kind: As `structural_features` has it.
        seed: Of what is random in them.
    """

    def __init__(
        self, graph: Callable[[], Store], nodes: int, kind: str, seed: int
    ) -> None:
        width = min(COLUMNS, nodes) if kind == "spectral" else COLUMNS
        self.width = self.widest = width
        self._graph, self._kind, self._seed = graph, kind, seed

    def inputs(self, columns: slice) -> int:  # noqa: ARG002
        """See `Features`; all are made together."""
        return 1

    def blocks(self, columns: slice, rows: int, skip: int) -> Blocks:
        """See `Features`."""
        for start in range(skip, len(self._made), rows):
            yield self._made[start : start + rows, columns]

    @cached_property
    def _made(self) -> Block:
        return structural_features(self._graph(), self._kind, seed=self._seed)


@dataclass(frozen=True)
class TableFeatures(Features):
    """The columns of a table, encoded as a schema says.

    Attributes:
        table: The table.
        places: Which of its columns are those of the schema.
        schema: What becomes of them.
        as_text: Whether all columns of a text file are read as text.
    """

    table: Table
    places: tuple[int, ...]
    schema: FeatureSchema
    as_text: bool

    @property
    def width(self) -> int:  # type: ignore[override]
        """Number of features."""
        return self.schema.width

    @property
    def names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """One name per feature, if the table names its columns."""
        return self.schema.feature_names if self.table.named else None

    @cached_property
    def widest(self) -> int:  # type: ignore[override]
        """Features that one column makes, at most."""
        return max(len(column.outputs) for column in self.schema.features)

    def inputs(self, columns: slice) -> int:
        """See `Features`."""
        return len(self._chosen(columns))

    def blocks(self, columns: slice, rows: int, skip: int) -> Blocks:
        """See `Features`."""
        chosen = self._chosen(columns)
        part = FeatureSchema(tuple(self.schema.features[n] for n in chosen))
        start, stop, _ = columns.indices(self.width)
        wanted = slice(start - self._starts[chosen[0]], stop - self._starts[chosen[0]])
        places = [self._taken[number] for number in chosen]
        where = self.table.where
        for first, read in table_columns(
            self.table, places, rows, skip, as_text=self.as_text
        ):
            yield part.encode(read, first, where).values[:, wanted]

    @cached_property
    def _taken(self) -> list[int]:
        """The places of the columns that become features."""
        return [
            place
            for place, column in zip(self.places, self.schema.columns, strict=True)
            if column.role == "feature"
        ]

    @cached_property
    def _starts(self) -> list[int]:
        """Where the features of each column start, and at last how many there are."""
        sizes = (len(column.outputs) for column in self.schema.features)
        return list(accumulate(sizes, initial=0))

    def _chosen(self, columns: slice) -> range:
        """The columns that some features come of, among those that become any."""
        start, stop, _ = columns.indices(self.width)
        first = bisect_right(self._starts, start) - 1
        return range(first, bisect_left(self._starts, stop))


def table_columns(
    table: Table, places: list[int], rows: int, skip: int = 0, *, as_text: bool = False
) -> Columns:
    """Columns of a table after the first `skip` rows, so many at a time."""
    if not as_text:
        yield from table.column_batches(places, rows=rows, skip=skip)
        return
    for batch in table.batches(places, rows=rows, skip=skip):
        yield batch.first, batch.as_is
