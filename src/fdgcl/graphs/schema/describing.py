"""What was decided for columns, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fdgcl._checks import in_words
from fdgcl.graphs.schema.columns import WRITTEN, ColumnSchema

_SHOWN = 5
_SCALES = {
    "as-is": "as they are",
    "standard": "standardised",
    "robust": "scaled by quartiles",
    "boolean": "as 0 and 1",
    "vector": "as vectors",
}
_CYCLES = {"day": "time of day", "week": "week", "year": "year"}


def listed(names: Sequence[str]) -> str:
    """Return names as a phrase: "a, b and c", "a, b and 7 more"."""
    if len(names) > _SHOWN:
        return f"{', '.join(names[: _SHOWN - 1])} and {len(names) - _SHOWN + 1} more"
    return in_words(names)


def describe(columns: Iterable[ColumnSchema]) -> tuple[str, ...]:
    """Return a sentence on features, and one on missing values."""
    taken = [column for column in columns if column.role == "feature"]
    return (f"features: {'; '.join(_features(taken))}", *_missing(taken))


def _features(columns: Sequence[ColumnSchema]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for column in columns:
        groups.setdefault(_how(column), []).append(_called(column))
    return [f"{listed(names)} {how}" for how, names in groups.items()]


def _called(column: ColumnSchema) -> str:
    if column.of_matrix:
        return f"{column.statistics['width']} columns"
    return column.name


def _how(column: ColumnSchema) -> str:
    known = column.statistics
    if column.encoding == "one-hot":
        return f"one-hot ({_counted(known['categories'])})"
    if column.encoding == "hashed":
        return f"by frequency and hash ({_counted(known['categories'])})"
    if column.encoding == "time":
        cycles = [_CYCLES[cycle] for cycle in known["cycles"]]
        noun = "cycle" if len(cycles) == 1 else "cycles"
        return f"as elapsed time{f', {listed(cycles)} {noun}' if cycles else ''}"
    shown = column.encoding in ("as-is", "robust") or column.reason == WRITTEN
    return _SCALES[column.encoding] + (f" ({column.reason})" if shown else "")


def _counted(categories: Sequence[str]) -> str:
    return "1 category" if len(categories) == 1 else f"{len(categories)} categories"


def _missing(columns: Sequence[ColumnSchema]) -> list[str]:
    holes = [column for column in columns if column.statistics["missing"]]
    groups: dict[str, list[str]] = {}
    for column in holes:
        groups.setdefault(_filled(column), []).append(_share(column))
    return [
        f"{listed(shares)} missing: {filled}with a column that says so"
        for filled, shares in groups.items()
    ]


def _share(column: ColumnSchema) -> str:
    missing = column.statistics["missing"]
    if column.of_matrix:
        return f"numbers in {len(missing)} columns"
    percent = 100 * missing / column.statistics["rows"]
    shown = f"{percent:.0f}" if percent >= 1 else f"{percent:.1g}"
    return f"{shown} % of {column.name}"


def _filled(column: ColumnSchema) -> str:
    if column.encoding in ("one-hot", "hashed"):
        return "no category, "
    return f"set to the {'median' if column.encoding == 'robust' else 'mean'}, "
