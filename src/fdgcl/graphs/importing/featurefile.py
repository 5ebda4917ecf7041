"""A file of features: which of its columns holds ids, and what the others become."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fdgcl.graphs.files.features import (
    columns_but,
    key_column,
    open_features,
    overrides_of,
    refuse_names,
)
from fdgcl.graphs.files.options import TableOptions
from fdgcl.graphs.files.roles import Known
from fdgcl.graphs.files.table import Table, existing_file
from fdgcl.graphs.files.telling import array_line, table_line
from fdgcl.graphs.importing.arrayfile import ArrayFeatures, ArrayFile
from fdgcl.graphs.importing.edgefile import EdgeFile
from fdgcl.graphs.importing.featurefit import ArrayFit, Fitted, TableFit
from fdgcl.graphs.importing.featuresource import Features, TableFeatures
from fdgcl.graphs.importing.tables import estimated_rows, refuse_whole


@dataclass(frozen=True)
class FeatureFile:
    """A table, or a `.npy` file, which has neither names nor ids.

    Attributes:
        path: The file.
        options: How it is to be understood.
        edges: The edges, by whose ids a column of ids is recognised.
        decided: Which column it is, as an earlier start decided.
    """

    path: Path
    options: TableOptions
    edges: EdgeFile
    decided: tuple[int | None] | None = None

    def open(self) -> None:
        """Look into the file, and decide which column holds the ids.

        Raises:
            InputError: It cannot be read by parts, or it is not clear which column is.
        """
        _ = self.key, self.rows

    @cached_property
    def array(self) -> ArrayFile | None:
        """The file as an array; None for a table."""
        path = existing_file(self.path, "features")
        if path.suffix.lower() != ".npy":
            return None
        refuse_names(path, self.options)
        return ArrayFile(path)

    @cached_property
    def table(self) -> Table:
        """The file as a table."""
        path = existing_file(self.path, "features")
        refuse_whole(path, "features", "Parquet, text (CSV, TSV, ...) or .npy")
        return open_features(path, self.options)

    @cached_property
    def key(self) -> int | None:
        """The column of ids; None where rows go by order."""
        if self.array is not None:
            return None
        if self.decided is not None:
            return self.decided[0]
        return key_column(self.table, self.options, Known(self.edges.head_ids))

    @property
    def id_words(self) -> str:
        """The column of ids, in words."""
        assert self.key is not None
        return f"the column {self.table.names[self.key]!r} of {self.path}"

    @property
    def rows(self) -> int:
        """Number of rows; of text a guess."""
        if self.array is not None:
            return self.array.shape[0]
        return estimated_rows(self.table)

    @property
    def rows_known(self) -> bool:
        """Whether that is no guess."""
        return self.array is not None or self.table.num_rows is not None

    @cached_property
    def fit(self) -> TableFit | ArrayFit:
        """Finds out what becomes of its columns."""
        overrides = overrides_of(self.options)
        if self.array is not None:
            return ArrayFit(self.array, overrides)
        return TableFit(self.table, columns_but(self.table, self.key), overrides)

    def features(self, fitted: Fitted) -> Features:
        """The features, by what was found of them."""
        if self.array is not None:
            return ArrayFeatures(self.array, fitted.schema)
        places = tuple(columns_but(self.table, self.key))
        return TableFeatures(self.table, places, fitted.schema, fitted.as_text)

    def reading(self, fitted: Fitted) -> list[str]:
        """What was taken, and what was decided, in sentences."""
        if self.array is not None:
            line = array_line(self.path.name, self.array.shape[1])
        else:
            name = None if self.key is None else self.table.names[self.key]
            line = table_line(fitted.schema, name)
        return [line, *fitted.schema.describe()]
