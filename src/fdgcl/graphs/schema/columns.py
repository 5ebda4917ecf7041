"""What was asked of the columns of a table, and what was decided for one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fdgcl._checks import choose
from fdgcl.graphs.files.options import SCALINGS
from fdgcl.graphs.schema.hashing import HASH_COLUMNS

NUMBERS = ("as-is", "standard", "robust", "boolean")
CATEGORIES = ("one-hot", "hashed")
# The reason that is reported for numbers which the table holds as text.
WRITTEN = "numbers written as text"
ENCODINGS = (*NUMBERS, *CATEGORIES, "time", "vector", "none")


@dataclass(frozen=True)
class Overrides:
    """What the user asked for.

    Attributes:
        columns: Take only these, and those of `categorical` and `numeric`; None to
            take what is fit to be a feature.
        drop: Leave these out.
        categorical: Take these as categories.
        numeric: Take these as numbers.
        scaling: One of `SCALINGS`, for all columns of numbers.
        beside_units: Whether features of size 1 stand beside those of the table, as
            those of several tables do.

    Example:
        >>> from fdgcl.graphs.schema import Overrides
        >>> Overrides(categorical=("zip",), scaling="none").asked
        frozenset({'zip'})
    """

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    scaling: str = "auto"
    beside_units: bool = False

    def __post_init__(self) -> None:
        choose("column scaling", self.scaling, dict.fromkeys(SCALINGS))

    @cached_property
    def asked(self) -> frozenset[str]:
        """Columns that are wanted by name."""
        return frozenset((*(self.columns or ()), *self.categorical, *self.numeric))

    @cached_property
    def dropped(self) -> frozenset[str]:
        """Columns that are not wanted by name."""
        return frozenset(self.drop)


@dataclass(frozen=True)
class ColumnSchema:
    """What becomes of one column of a table.

    Attributes:
        name: The column, or "matrix" for a file without columns.
        role: "feature" or "ignored".
        encoding: One of `ENCODINGS`; "none" for what is ignored.
        reason: How that was decided, a phrase.
        statistics: What the encoding needs to know, as JSON has it.
        outputs: Names of the columns of the feature matrix that come of it.

    Example:
        >>> from fdgcl.graphs.schema import ColumnSchema
        >>> ColumnSchema.feature("age", "standard", "scaled", {"missing": 2}).outputs
        ('age', 'age missing')
        >>> ColumnSchema.ignored("name", "text").role
        'ignored'
    """

    name: str
    role: str
    encoding: str
    reason: str
    statistics: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()

    @classmethod
    def feature(
        cls, name: str, encoding: str, reason: str, statistics: Mapping[str, Any]
    ) -> ColumnSchema:
        """Return a column that is taken; its outputs follow from the statistics."""
        outputs = output_names(name, encoding, statistics)
        return cls(name, "feature", encoding, reason, statistics, outputs)

    @classmethod
    def ignored(cls, name: str, reason: str) -> ColumnSchema:
        """Return a column that is left out."""
        return cls(name, "ignored", "none", reason)

    @property
    def of_matrix(self) -> bool:
        """Whether it stands for all columns of a matrix without names."""
        return self.encoding in NUMBERS and "width" in self.statistics


def output_names(
    name: str, encoding: str, statistics: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the names of the columns that an encoding makes of a column."""
    missing = statistics["missing"]
    tail = (f"{name} missing",) if missing else ()
    if encoding in NUMBERS:
        if "width" not in statistics:
            return (name, *tail)
        numbered = [str(number) for number in range(1, statistics["width"] + 1)]
        holes = [f"{numbered[place]} missing" for place in missing]
        return (*numbered, *holes)
    if encoding == "one-hot":
        return (*(f"{name}={value}" for value in statistics["categories"]), *tail)
    if encoding == "hashed":
        hashes = (f"{name} hash {place}" for place in range(1, HASH_COLUMNS + 1))
        return (f"{name} frequency", *hashes, *tail)
    if encoding == "time":
        waves = (
            f"{name} {cycle} {wave}"
            for cycle in statistics["cycles"]
            for wave in ("sin", "cos")
        )
        return (f"{name} elapsed", *waves, *tail)
    return (*(f"{name} {place + 1}" for place in range(statistics["width"])), *tail)
