"""A schema to what JSON has, and back: everything that comes back is checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from fdgcl._checks import InputError
from fdgcl.graphs.schema.columns import ENCODINGS, ColumnSchema, output_names
from fdgcl.graphs.schema.times import CYCLES

FORMAT = "fdgcl-features-1"
_FIELDS = {"name", "role", "encoding", "reason", "statistics", "outputs"}
_Check = Callable[[Any], bool]


def column_to_dict(column: ColumnSchema) -> dict[str, Any]:
    """Return a column as JSON has it."""
    return {
        "name": column.name,
        "role": column.role,
        "encoding": column.encoding,
        "reason": column.reason,
        "statistics": dict(column.statistics),
        "outputs": list(column.outputs),
    }


def read_columns(saved: object, where: str) -> tuple[ColumnSchema, ...]:
    """Return the columns of a saved schema.

    Raises:
        InputError: It is damaged, or of another version.
    """
    if not isinstance(saved, Mapping) or saved.get("format") != FORMAT:
        found = saved.get("format") if isinstance(saved, Mapping) else saved
        message = f"{where} has the format {found!r}, where {FORMAT!r} is expected"
        raise InputError(message)
    rows = saved.get("columns")
    if not isinstance(rows, list):
        message = f"{where} is damaged: it has no list of columns"
        raise InputError(message)
    columns = tuple(_read_column(row, place, where) for place, row in enumerate(rows))
    if len({column.name for column in columns}) < len(columns):
        message = f"{where} is damaged: it has a column twice"
        raise InputError(message)
    if not any(column.role == "feature" for column in columns):
        message = f"{where} is damaged: it has no features"
        raise InputError(message)
    return columns


def _read_column(row: object, place: int, where: str) -> ColumnSchema:
    if isinstance(row, dict) and set(row) == _FIELDS and _is_whole_column(row):
        row = {**row, "outputs": tuple(row["outputs"])}
        return ColumnSchema(**row)
    name = row.get("name") if isinstance(row, dict) else row
    message = f"{where} is damaged: its column {place + 1} ({name!r}) is not as saved"
    raise InputError(message)


def _is_whole_column(row: dict[str, Any]) -> bool:
    words = all(isinstance(row[key], str) for key in ("name", "reason", "encoding"))
    known, outputs = row["statistics"], row["outputs"]
    if not words or not isinstance(known, dict) or not isinstance(outputs, list):
        return False
    if row["role"] == "ignored":
        return row["encoding"] == "none" and not known and not outputs
    if row["role"] != "feature" or row["encoding"] not in ENCODINGS[:-1]:
        return False
    checks = _checks(row["encoding"], known)
    return (
        set(known) == set(checks)
        and all(check(known[key]) for key, check in checks.items())
        and _lengths_agree(known)
        and list(output_names(row["name"], row["encoding"], known)) == outputs
    )


def _checks(encoding: str, known: Mapping[str, Any]) -> dict[str, _Check]:
    """What the statistics of an encoding must be."""
    common: dict[str, _Check] = {"rows": _is_count, "missing": _is_count}
    if encoding == "vector":
        return common | {"width": _is_size, "mean": _are_numbers}
    if "width" in known:
        return _matrix_checks(encoding)
    if encoding in ("one-hot", "hashed"):
        common |= {"categories": _are_words, "numbers": _is_truth}
        often: dict[str, _Check] = {
            "counts": _are_counts,
            "mean": _is_number,
            "std": _is_scale,
        }
        return common | often if encoding == "hashed" else common
    common |= {"mean": _is_number, "std": _is_positive}
    if encoding == "time":
        return common | {"origin": _is_moment, "cycles": _are_cycles}
    if encoding == "robust":
        return common | {"median": _is_number, "scale": _is_positive}
    return common


def _matrix_checks(encoding: str) -> dict[str, _Check]:
    checks: dict[str, _Check] = {
        "rows": _is_count,
        "missing": _are_counts,
        "width": _is_size,
    }
    checks["fill"] = _are_numbers
    if encoding != "as-is":
        checks |= {"centre": _are_numbers, "scale": _are_positive, "bent": _are_truths}
    return checks


def _lengths_agree(known: Mapping[str, Any]) -> bool:
    if "width" in known:
        full = ("mean", "centre", "scale", "bent")
        lists = [known[key] for key in full if isinstance(known.get(key), list)]
        holes = known["missing"] if isinstance(known["missing"], list) else []
        fits = all(place < known["width"] for place in holes)
        filled = len(known["fill"]) == len(holes) if "fill" in known else True
        return fits and filled and all(len(part) == known["width"] for part in lists)
    return "counts" not in known or len(known["counts"]) == len(known["categories"])


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_moment(value: Any) -> bool:
    """Whether it is a number of microseconds that others can be counted from."""
    return _is_whole(value) and abs(value) < 2**62


def _is_count(value: object) -> bool:
    return isinstance(value, int) and _is_whole(value) and value >= 0


def _is_size(value: object) -> bool:
    return isinstance(value, int) and _is_whole(value) and value > 0


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # A whole number may be larger than floats are.
    return math.isfinite(value) if isinstance(value, float) else abs(value) < 2**1023


def _is_scale(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _each(check: _Check) -> _Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _are_words(value: Any) -> bool:
    words = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return bool(words and value and value == sorted(set(value)))


def _are_cycles(value: Any) -> bool:
    return isinstance(value, list) and value == [c for c in CYCLES if c in value]


_are_numbers = _each(_is_number)
_are_positive = _each(_is_positive)
_are_counts = _each(_is_count)
_are_truths = _each(_is_truth)
