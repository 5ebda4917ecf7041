"""What is gathered of a column of text: numbers, dates, truth values or categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl.graphs.schema.accumulating import NumberColumns, TimeColumn
from fdgcl.graphs.schema.times import parse_times
from fdgcl.graphs.schema.values import (
    Column,
    Words,
    kind_of,
    parse_numbers,
    words_of,
)

MOST_CATEGORIES = 10_000
# From this share of numbers on, the others are taken for mistakes.
_NEARLY_ALL = 0.9


@dataclass(frozen=True)
class NoNumber:
    """The first value of a column of text that is no number."""

    row: int
    value: str


class TextColumn:
    """A column of text, or one whose values are to be categories."""

    def __init__(self, name: str, where: str, *, asked: str = "") -> None:
        """Begin without rows.

        Args:
            name: The column.
            where: The file.
            asked: "number" or "category" where the user wants that, "declared" for
                what the table calls categories.
        """
        self.name = name
        self.asked = asked
        self.rows = 0
        self.present = 0
        self.from_numbers = False
        self.counts: dict[str, int] | None = {}
        self.numbers: NumberColumns | None = None
        self.times: TimeColumn | None = None
        if asked in ("", "number"):
            self.numbers = NumberColumns((name,), where)
        if not asked:
            self.times = TimeColumn(name, where)
        self._where = where
        self._count_numbers = 0
        self._no_number: NoNumber | None = None

    def update(self, column: Column, first: int) -> None:
        """Take in some rows, of which the first has the number `first`."""
        self.from_numbers = kind_of(column.type)[0] == "number"
        words = words_of(column)
        present = words.present
        counts = np.where(present, words.counts, 0)
        self.rows += len(words.codes)
        self.present += int(counts.sum())
        self._count(words, counts)
        if self.asked in ("", "number"):
            self._read_numbers(words, counts, first)
        if self.times is not None:
            self._read_times(words)

    def _count(self, words: Words, counts: NDArray[np.int64]) -> None:
        known = self.counts
        if known is None:
            return
        for word, count in zip(words.words.to_pylist(), counts.tolist(), strict=True):
            if count:
                known[word] = known.get(word, 0) + count
        if len(known) > MOST_CATEGORIES:
            self.counts = None

    def _read_numbers(
        self, words: Words, counts: NDArray[np.int64], first: int
    ) -> None:
        values, fine = parse_numbers(words.words)
        self._count_numbers += int(counts[fine].sum())
        if self.numbers is None:
            return
        wrong = words.present & ~fine
        if wrong.any():
            row = words.first_row(wrong)
            word = words.words[int(words.codes[row])].as_py()
            self._no_number = NoNumber(first + row + 1, word)
            self.numbers = None
            if self.asked == "number":
                raise self._refusal(self._no_number, "--numeric asks for numbers")
        else:
            self.numbers.update(words.spread(values, np.nan)[None], first)

    def _read_times(self, words: Words) -> None:
        values, fine = parse_times(words.words)
        if self.times is None or (words.present & ~fine).any():
            self.times = None
        else:
            self.times.add(words.spread(values, 0), words.spread(~fine, True))

    def refuse_mistakes(self) -> None:
        """Raise InputError when nearly all values are numbers, but not all."""
        if self._no_number and self._count_numbers >= _NEARLY_ALL * self.present:
            name = self.name
            why = (
                f"{self._count_numbers} of {self.present} values are numbers: correct "
                f"it, or choose --categorical {name} or --drop {name}"
            )
            raise self._refusal(self._no_number, why)

    def _refusal(self, found: NoNumber, why: str) -> InputError:
        value = found.value if len(found.value) <= 40 else found.value[:40] + "..."
        return InputError(
            f"{self._where} has {value!r} in row {found.row}, column "
            f"{self.name!r}, where a number is expected ({why})"
        )
