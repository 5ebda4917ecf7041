"""Rows of text with too many or too few values, as Arrow's error describes them.

Arrow would also call a function with such a row (`invalid_row_handler`), but lets go of
the function on a thread of its own, maybe when Python is already exiting. Python then
ends that thread, C++ lets no thread end inside a destructor, and the process aborts. So
Arrow gets no Python object to keep while it reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from fdgcl._checks import InputError

_MESSAGE = re.compile(
    r"CSV parse error: (?:Row #(\d+): )?Expected (\d+) columns, got (\d+): (.*)", re.S
)
_SHOWN = 80


@dataclass(frozen=True)
class Unfit:
    """A row that does not fit.

    Attributes:
        row: Its number, from 1; None where several threads read, and none counts.
        expected: How many values a row has.
        found: How many it has.
        text: The beginning of it.
    """

    row: int | None
    expected: int
    found: int
    text: str

    @classmethod
    def of(cls, error: Exception) -> Self | None:
        """What an error of Arrow says of such a row; None if it is another error."""
        match = _MESSAGE.match(str(error))
        if match is None:
            return None
        row, expected, found, text = match.groups()
        return cls(None if row is None else int(row), int(expected), int(found), text)

    def explain(self, path: Path) -> InputError:
        """The sentence for the user."""
        where = "a row" if self.row is None else f"row {self.row}"
        return InputError(
            f"{path} has {self.found} values in {where}, where {self.expected} are "
            f"expected: {self.text[:_SHOWN]!r}"
        )
