"""Tables in text files: CSV and the like, with or without header, maybe compressed."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from fdgcl._checks import InputError
from fdgcl.graphs.files.names import (
    MISSING,
    is_date,
    is_header,
    is_number,
    is_truth,
)
from fdgcl.graphs.files.signature import refuse_foreign, refuse_foreign_bytes
from fdgcl.graphs.files.table import Batch, Kind, Table
from fdgcl.graphs.files.unfit import Unfit

_SAMPLE_BYTES = 1 << 22
_SAMPLE_ROWS = 1000
# What is read at a time where the whole is too large, and at least for each column.
# Arrow reads dozens of such blocks ahead.
_BLOCK_BYTES = 1 << 20
_CELL_BYTES = 256
_DELIMITERS = {".csv": ",;\t|", ".tsv": "\t", ".tab": "\t"}
_ANY_DELIMITER = "\t,;| "
_COMMENTS = ("# ", "#\t", "% ", "%\t", "%%")


class TextTable(Table):
    """A table of delimited text in UTF-8.

    Lines at the top that begin with `# ` or `% ` are comments. Blanks around ids are
    dropped. The delimiter is found in the first row; a `.gz`, `.bz2` or `.zst` file is
    unpacked while it is read.
    """

    typed = False

    def __init__(
        self, path: Path, header: bool | None, known: Callable[[Sequence[str]], bool]
    ) -> None:
        """Look at the first rows.

        Args:
            path: The file.
            header: Whether the first row names the columns; None to find out.
            known: Whether a row holds names that say what the columns are.
        """
        self.path = path
        self.where = str(path)
        lines = self._first_lines()
        comments = 0
        while comments < len(lines) and _is_comment(lines[comments]):
            comments += 1
        text = [_decode(line) for line in lines[comments:]]
        if not text:
            message = f"{path} has no rows"
            raise InputError(message)
        self._delimiter = _delimiter(path, text)
        if sum(map(len, lines)) < _SAMPLE_BYTES:  # all of the file
            _refuse_open_quote(path, text, self._delimiter, comments)
        rows, first_lines = self._parse(text)
        self.named = _named(path, rows, known) if header is None else header
        above = comments + (first_lines if self.named else 0)
        self._skipped = sum(len(line) for line in lines[:above])
        self._sample = rows[int(self.named) :]
        self.names = (
            tuple(rows[0])
            if self.named
            else tuple(str(number) for number in range(1, len(rows[0]) + 1))
        )

    def kind(self, column: int) -> Kind:
        """What the first rows hold."""
        cells = [row[column] for row in self._full_rows()]
        filled = [cell for cell in cells if cell not in MISSING]
        if not filled:
            return "other"
        if all(map(is_number, filled)):
            whole = all(cell.lstrip("-").isdecimal() for cell in filled)
            return "ids" if whole else "number"
        if all(map(is_date, filled)):
            return "time"
        return "truth" if all(map(is_truth, filled)) else "ids"

    def columns(
        self, wanted: Sequence[int], as_is: Sequence[int] = ()
    ) -> list[pa.ChunkedArray]:
        """Return columns of numbers as float64, others as text without blanks."""
        types = self._number_types([one for one in wanted if one not in as_is])
        try:
            table = self._load(wanted, types)
        except _ConversionError:
            table = self._load(wanted, {})
        self._refuse_no_rows(table.num_rows)
        return [self._plain(table[_key(number)]) for number in wanted]

    def column_batches(
        self, wanted: Sequence[int], *, rows: int, skip: int = 0
    ) -> Iterator[tuple[int, list[pa.Array]]]:
        """Read columns by parts; from the first value that is no number on, as text."""
        types = self._number_types(wanted)
        for first, batch in self._stream_from(wanted, types, rows, skip):
            yield first, [self._plain(batch.column(_key(n))) for n in wanted]

    def _number_types(self, wanted: Sequence[int]) -> dict[int, Any]:
        rows = self._full_rows()
        return {
            number: pa.float64()
            for number in wanted
            if rows
            and self.names[number] not in self.texts
            and all(row[number] in MISSING or is_number(row[number]) for row in rows)
        }

    @staticmethod
    def _plain(column: Any) -> Any:
        return _trim(column) if pa.types.is_string(column.type) else column

    def read(
        self, as_is: Sequence[int], numbers: Sequence[int] = ()
    ) -> tuple[list[pa.ChunkedArray], list[pa.ChunkedArray]]:
        """Return columns as text without blanks around it, and columns as float32."""
        columns = [*as_is, *numbers]
        try:
            table = self._load(columns, dict.fromkeys(numbers, pa.float32()))
            found = [table[_key(number)] for number in numbers]
        except _ConversionError:
            table = self._load(columns, {})
            found = [
                self.numbers_from_text(_trim(table[_key(number)]), number)
                for number in numbers
            ]
        self._refuse_no_rows(table.num_rows)
        for column, number in zip(found, numbers, strict=True):
            self.refuse_missing(column, number)
        return [_trim(table[_key(number)]) for number in as_is], found

    @property
    def num_rows(self) -> None:
        """Not known before all of it is read."""
        return

    def batches(
        self, as_is: Sequence[int], numbers: Sequence[int] = (), *, rows: int, skip: int
    ) -> Iterator[Batch]:
        """Read columns by parts."""
        columns = [*as_is, *numbers]
        types = dict.fromkeys(numbers, pa.float32())
        for first, batch in self._stream_from(columns, types, rows, skip):
            yield self._batch(first, batch, as_is, numbers)

    def _stream_from(
        self, columns: Sequence[int], types: dict[int, Any], rows: int, skip: int
    ) -> Iterator[tuple[int, Any]]:
        """Yield record batches after the first `skip` rows, each with its first row."""
        done, read = skip, 0
        while True:
            try:
                for read, batch in self._stream(columns, types, rows):
                    if read + len(batch) <= done:
                        continue
                    kept = batch.slice(max(0, done - read))
                    yield done, kept
                    done += len(kept)
            except _ConversionError:
                # From here on as text, in which the number that is none can be found.
                types = {}
                continue
            break
        if read == done == 0:
            self._refuse_no_rows(0)

    def _refuse_no_rows(self, rows: int) -> None:
        if rows == 0:
            message = f"{self.path} has no rows below its header"
            raise InputError(message)

    def _batch(
        self, first: int, batch: Any, as_is: Sequence[int], numbers: Sequence[int]
    ) -> Batch:
        found = np.empty((len(batch), len(numbers)), np.float32)
        for place, number in enumerate(numbers):
            column = batch.column(_key(number))
            if pa.types.is_string(column.type):
                column = self.numbers_from_text(_trim(column), number, first)
            self.refuse_missing(column, number, first)
            found[:, place] = column.to_numpy(zero_copy_only=False)
        kept = [_trim(batch.column(_key(number))) for number in as_is]
        return Batch(first, kept, found)

    def _stream(
        self, columns: Sequence[int], types: dict[int, Any], rows: int
    ) -> Iterator[tuple[int, Any]]:
        """Yield record batches, each with the number of its first row."""
        options = self._options(columns, types, threads=False)
        first = 0
        try:
            with self._open() as stream:
                stream.read(self._skipped)
                for batch in arrow_csv.open_csv(stream, *options):
                    for start in range(0, len(batch), rows):
                        yield first + start, batch.slice(start, rows)
                    first += len(batch)
        except pa.ArrowInvalid as error:
            raise self._explain(error, bool(types)) from error
        except OSError as error:
            raise self._damaged() from error

    def _load(
        self, columns: Sequence[int], types: dict[int, Any], threads: bool = True
    ) -> pa.Table:
        options = self._options(columns, types, threads=threads)
        try:
            with self._open() as stream:
                stream.read(self._skipped)
                return arrow_csv.read_csv(stream, *options)
        except pa.ArrowInvalid as error:
            if threads and Unfit.of(error) is not None:
                # A row's number is known only when one thread counts them.
                return self._load(columns, types, threads=False)
            raise self._explain(error, bool(types)) from error
        except OSError as error:
            raise self._damaged() from error

    def _options(
        self,
        columns: Sequence[int],
        types: dict[int, Any],
        *,
        threads: bool,
    ) -> tuple[Any, Any, Any]:
        """How to read, parse and convert."""
        convert = arrow_csv.ConvertOptions(
            include_columns=[_key(i) for i in dict.fromkeys(columns)],
            column_types={_key(i): types.get(i, pa.string()) for i in columns},
            null_values=list(MISSING),
            strings_can_be_null=False,
        )
        parse = arrow_csv.ParseOptions(
            delimiter=self._delimiter, newlines_in_values=True
        )
        names = [_key(i) for i in range(len(self.names))]
        # A row must fit in what is read at a time.
        size = max(_BLOCK_BYTES, _CELL_BYTES * len(names))
        read = arrow_csv.ReadOptions(
            column_names=names, use_threads=threads, block_size=size
        )
        return read, parse, convert

    def _open(self) -> Any:
        return pa.input_stream(str(self.path), compression="detect")

    def _first_lines(self) -> list[bytes]:
        try:
            with self._open() as stream:
                # Of `read`, a failure keeps the memory.
                sample: bytes = stream.read_buffer(_SAMPLE_BYTES).to_pybytes()
        except OSError as error:
            raise self._damaged() from error
        refuse_foreign_bytes(self.path, sample, ("text", "latin-1"))
        lines = sample.splitlines(keepends=True)
        return lines[:-1] if len(sample) == _SAMPLE_BYTES and len(lines) > 1 else lines

    def _parse(self, lines: Sequence[str]) -> tuple[list[list[str]], int]:
        """Return the first rows, and how many lines the very first one takes."""
        reader = csv.reader(lines, delimiter=self._delimiter)
        try:
            rows = [next(reader)]
            first_lines = reader.line_num
            rows += islice((row for row in reader if row), _SAMPLE_ROWS)
        except csv.Error as error:
            message = f"{self.path} cannot be read as a table: {error}"
            raise InputError(message) from error
        return [[cell.strip() for cell in row] for row in rows], first_lines

    def _full_rows(self) -> list[list[str]]:
        return [row for row in self._sample if len(row) == len(self.names)]

    def _damaged(self) -> InputError:
        return InputError(f"{self.path} cannot be unpacked: it is damaged or cut off")

    def _explain(self, error: Exception, numbers: bool) -> Exception:
        unfit = Unfit.of(error)
        if unfit is not None:
            return unfit.explain(self.path)
        reason = str(error).splitlines()[0]
        if "Empty CSV" in reason:
            return InputError(f"{self.path} has no rows below its header")
        if "UTF8" in reason:
            refuse_foreign(self.path, ("text",))
            return InputError(f"{self.path} is not text in UTF-8: convert it first")
        if numbers and "conversion error" in reason:
            return _ConversionError()
        return InputError(f"{self.path} cannot be read as a table: {reason}")


class _ConversionError(Exception):
    """A column of numbers holds something else."""


def _named(
    path: Path,
    rows: Sequence[Sequence[str]],
    known: Callable[[Sequence[str]], bool],
) -> bool:
    named = is_header(rows[0], rows[1:], known)
    if named is None:
        shown = ", ".join(repr(cell) for cell in rows[0][:4])
        below = ", ".join(repr(cell) for cell in rows[1][:4])
        message = (
            f"the first row of {path} ({shown}) may name the columns or be data, as "
            f"the row below it ({below}): say --header or --no-header (header=True or "
            "False)"
        )
        raise InputError(message)
    return named


def _key(number: int) -> str:
    return f"c{number}"


def _trim(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_trim_whitespace(column)


def _decode(line: bytes) -> str:
    return line.decode("utf-8-sig", errors="replace")


def _is_comment(line: bytes) -> bool:
    text = _decode(line)
    return not text.strip() or text.strip() in "#%" or text.startswith(_COMMENTS)


def _delimiter(path: Path, lines: Sequence[str]) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    known = [_DELIMITERS[suffix] for suffix in suffixes if suffix in _DELIMITERS]
    choices = known[-1] if known else _ANY_DELIMITER
    bare = _outside_quotes(lines)
    for choice in choices:
        if choice in bare and len(next(csv.reader(lines, delimiter=choice), [])) > 1:
            return choice
    return choices[0]


def _refuse_open_quote(
    path: Path, lines: Sequence[str], delimiter: str, above: int
) -> None:
    """Refuse a quote that does not close: all rows below would be in one cell."""
    if not any('"' in line for line in lines):
        return
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    begun = above + 1
    try:
        for _ in reader:
            begun = above + reader.line_num + 1
    except csv.Error as error:
        if "unexpected end" in str(error):
            message = (
                f"{path} has a quote that does not end, in the row that begins in line "
                f"{begun}: all rows below would be one value"
            )
            raise InputError(message) from error


def _outside_quotes(lines: Sequence[str]) -> set[str]:
    """The characters of the first row that no quotes enclose."""
    found: set[str] = set()
    quoted = False
    for character in "".join(lines):
        if character == '"':
            quoted = not quoted
        elif not quoted:
            if character in "\r\n" and found:
                break
            found.add(character)
    return found
