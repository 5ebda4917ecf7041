"""What is reported with features: what was unlike training, and in which rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Surprises:
    """What new rows have that those of the training had not; parts can be added up.

    Attributes:
        unseen: For a column, the rows whose category training did not have.
        missing: For a column, the rows without a value where training had all.
        examples: For a column, a category that training did not have.

    Example:
        >>> from fdgcl.graphs.schema import Surprises
        >>> first = Surprises({"city": 2}, {}, {"city": "Oslo"})
        >>> (first + Surprises({"city": 1})).notices()
        ("city: 3 values that training did not have, such as 'Oslo'",)
    """

    unseen: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, str] = field(default_factory=dict)

    def __add__(self, other: Surprises) -> Surprises:
        return Surprises(
            _added(self.unseen, other.unseen),
            _added(self.missing, other.missing),
            {**other.examples, **self.examples},
        )

    def notices(self) -> tuple[str, ...]:
        """Return a sentence for each column."""
        said = [
            f"{name}: {_values(count)} that training did not have, such as "
            f"{self.examples[name]!r}"
            for name, count in self.unseen.items()
        ]
        said += [
            f"{name}: {_values(count)} missing, where training had none"
            for name, count in self.missing.items()
        ]
        return tuple(said)


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


class Encoded(NamedTuple):
    """Features, and what was unlike training.

    Attributes:
        values: (rows, width) float32.
        surprises: What was unlike training.

    Example:
        >>> import numpy as np
        >>> from fdgcl.graphs.schema import Encoded, Surprises
        >>> Encoded(np.zeros((2, 1), np.float32), Surprises()).values.shape
        (2, 1)
    """

    values: Matrix
    surprises: Surprises


class Rows(NamedTuple):
    """Some rows of a file, for messages.

    Attributes:
        first: The number of the first one, from 0.
        where: The file.
    """

    first: int
    where: str

    def refusal(self, found: object, row: int, name: str, wanted: str) -> InputError:
        """Return the error of a value that is not what is wanted."""
        return InputError(
            f"{self.where} has {found!r} in row {self.first + row + 1}, "
            f"column {name!r}, where {wanted} is expected"
        )
