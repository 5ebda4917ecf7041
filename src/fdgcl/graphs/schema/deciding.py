"""How columns become features, from what was gathered of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdgcl._checks import InputError
from fdgcl.graphs.schema.accumulating import TimeColumn, VectorColumn
from fdgcl.graphs.schema.columns import ColumnSchema
from fdgcl.graphs.schema.statistics import Summary
from fdgcl.graphs.schema.texts import MOST_CATEGORIES, TextColumn
from fdgcl.graphs.schema.values import Floats, truth_of

MOST_ONE_HOT = 64
# The distance between the quartiles of a normal distribution, in standard deviations.
_NORMAL_QUARTILES = 1.349
_HEAVY_TAIL = 20
_LEAST_SPREAD = 1e-9
_ALIKE = 10
_LEAST_COUNTS = 16
# Longer words, or words of so many blanks, are sentences.
_LONG = 40
_SENTENCE_BLANKS = 3


class Scales:
    """How columns of numbers are scaled, judged over all of them together.

    Attributes:
        encodings: "as-is", "standard" or "robust" for each column.
        reasons: Why, a phrase for each.
        centre: What is subtracted from each column: 0 for as-is.
        scale: What it is divided by: 1 for as-is.
    """

    def __init__(
        self,
        found: Summary,
        scaling: str,
        *,
        judged: NDArray[np.bool_],
        beside_units: bool,
    ) -> None:
        """Decide.

        Args:
            found: What is known of the columns.
            scaling: One of `SCALINGS`.
            judged: Which columns are numbers that count; the others stay as-is.
            beside_units: Whether features of size 1 (categories, cycles) stand beside.
        """
        width = len(found.mean)
        low, middle, high = found.quartiles
        spread = (high - low) / _NORMAL_QUARTILES
        with np.errstate(invalid="ignore", over="ignore"):
            # Half of the numbers being nearly the same, quartiles say nothing.
            telling = spread > _LEAST_SPREAD * found.std
            reach = np.maximum(found.high - middle, middle - found.low)
            heavy = telling & (reach > _HEAVY_TAIL * spread)
        kept = found.binary | ~judged
        self.encodings = np.full(width, "as-is", dtype="<U8")
        self.reasons = np.full(width, "", dtype="<U24")
        self.centre = np.zeros(width)
        self.scale = np.ones(width)
        why = _as_is(found, scaling, judged & (found.count > 0), beside_units)
        if why:
            self.reasons[:] = why
        else:
            robust = heavy if scaling == "auto" else np.full(width, scaling == "robust")
            robust = robust & np.isfinite(middle)
            self._set(~robust, "standard", found.mean, found.std)
            scale = np.where(telling, spread, found.std)
            self._set(robust, "robust", middle, scale)
            self.reasons[:] = "asked for" if scaling != "auto" else "unlike spreads"
            if scaling == "auto":
                self.reasons[robust] = "heavy tails"
            self.encodings[kept], self.centre[kept], self.scale[kept] = "as-is", 0, 1
        self.reasons[found.binary] = "0 and 1"

    def _set(
        self, which: NDArray[np.bool_], encoding: str, centre: Floats, scale: Floats
    ) -> None:
        self.encodings[which] = encoding
        self.centre[which] = centre[which]
        # A constant column of a matrix becomes zeros.
        self.scale[which] = np.where(scale[which] > 0, scale[which], 1)


def _as_is(
    found: Summary, scaling: str, judged: NDArray[np.bool_], beside_units: bool
) -> str:
    """Return why the numbers need no scaling, or nothing."""
    if scaling != "auto":
        return "asked for" if scaling == "none" else ""
    varying = judged & ~found.constant
    if _are_counts(found, varying):
        return "counts"
    compared = varying & ~found.binary
    if not compared.any():
        return "spreads alike"
    std, mean = found.std[compared], np.abs(found.mean[compared])
    if beside_units or (varying & found.binary).any():
        std = np.append(std, 1.0)
        mean = np.append(mean, 0.0)
    alike = std.max() <= _ALIKE * std.min() and bool((mean <= _ALIKE * std).all())
    return "spreads alike" if alike else ""


def _are_counts(found: Summary, varying: NDArray[np.bool_]) -> bool:
    """Whether the columns look like a bag of words: mostly zeros, none dominates."""
    if varying.sum() < _LEAST_COUNTS or found.low[varying].min() < 0:
        return False
    if 2 * found.zeros[varying].sum() < found.count[varying].sum():
        return False
    variances = found.std[varying] ** 2
    return bool(2 * variances.max() <= variances.sum())


def number_columns(
    names: list[str], found: Summary, scales: Scales, notes: list[str]
) -> list[ColumnSchema]:
    """Return the schemas of columns of numbers.

    Args:
        names: One for each column.
        found: What is known of them.
        scales: How they are scaled.
        notes: "boolean", or a reason to report instead of that of `scales`, or nothing.
    """
    rows = found.rows
    facts = zip(
        names,
        notes,
        found.count.tolist(),
        found.constant.tolist(),
        found.mean.tolist(),
        found.std.tolist(),
        scales.encodings.tolist(),
        scales.reasons.tolist(),
        scales.centre.tolist(),
        scales.scale.tolist(),
        strict=True,
    )
    result = []
    for (
        name,
        note,
        count,
        constant,
        mean,
        std,
        encoding,
        reason,
        centre,
        scale,
    ) in facts:
        if not count or constant:
            result.append(ColumnSchema.ignored(name, _no_news(count, rows)))
            continue
        known: dict[str, Any] = {"rows": rows, "missing": rows - count}
        known |= {"mean": mean, "std": std}
        if encoding == "robust":
            known |= {"median": centre, "scale": scale}
        if note == "boolean":
            encoding, reason = "boolean", "true or false"
        elif note:
            reason = note
        result.append(ColumnSchema.feature(name, encoding, reason, known))
    return result


def _no_news(count: int, rows: int) -> str:
    if not count:
        return "empty"
    return "constant" if count == rows else "constant where not missing"


def time_column(name: str, times: TimeColumn) -> ColumnSchema:
    """Return the schema of points in time."""
    found = times.summary()
    count = int(found.count[0])
    if not count or found.constant[0]:
        return ColumnSchema.ignored(name, _no_news(count, found.rows))
    known = {
        "rows": found.rows,
        "missing": found.rows - count,
        "origin": times.origin,
        "mean": float(found.mean[0]),
        "std": float(found.std[0]),
        "cycles": times.cycles(),
    }
    return ColumnSchema.feature(name, "time", "dates or times", known)


def vector_column(name: str, rows: int, vectors: VectorColumn) -> ColumnSchema:
    """Return the schema of a column of vectors."""
    found = vectors.summary()
    if found is None or not found.count.any():
        return ColumnSchema.ignored(name, "empty")
    if bool((found.constant | (found.count == 0)).all()):
        return ColumnSchema.ignored(name, _no_news(rows - vectors.missing, rows))
    known = {
        "rows": rows,
        "missing": vectors.missing,
        "width": len(found.mean),
        "mean": found.mean.tolist(),
    }
    return ColumnSchema.feature(name, "vector", "vectors", known)


def text_column(text: TextColumn, where: str) -> ColumnSchema:
    """Return the schema of text that is neither numbers nor dates."""
    name, counts, present = text.name, text.counts, text.present
    declared = text.asked in ("category", "declared")
    if counts is None:
        if text.asked != "category":
            return ColumnSchema.ignored(name, "text")
        message = (
            f"{where} has more than {MOST_CATEGORIES:,} distinct values in "
            f"the column {name!r}, too many for --categorical: use --drop {name}"
        )
        raise InputError(message)
    if not counts:
        return ColumnSchema.ignored(name, "empty")
    missing = text.rows - present
    if len(counts) == 1 and not missing:
        return ColumnSchema.ignored(name, "constant")
    if not declared and {word.lower() for word in counts} in ({"true"}, {"false"}):
        # As of booleans that a typed file has.
        return ColumnSchema.ignored(name, "constant where not missing")
    known: dict[str, Any] = {"rows": text.rows, "missing": missing}
    truth = None if text.asked == "category" else truth_of(list(counts))
    if truth is not None:
        share = sum(counts[word] for word, true in truth.items() if true) / present
        known |= {"mean": share, "std": math.sqrt(share * (1 - share))}
        return ColumnSchema.feature(name, "boolean", "true or false", known)
    words = sorted(counts)
    known |= {"categories": words, "numbers": text.from_numbers}
    if len(words) <= MOST_ONE_HOT and (declared or 2 * len(words) <= present):
        return ColumnSchema.feature(name, "one-hot", "categories", known)
    if not declared and not _are_categories(words, present):
        return ColumnSchema.ignored(name, "text")
    return ColumnSchema.feature(
        name, "hashed", "many categories", known | _frequencies(counts, words)
    )


def _are_categories(words: list[str], present: int) -> bool:
    if len(words) <= MOST_ONE_HOT or 5 * len(words) > present:
        return False
    typical = sorted(map(len, words))[len(words) // 2]
    sentences = sum(word.count(" ") >= _SENTENCE_BLANKS for word in words)
    return typical <= _LONG and 2 * sentences < len(words)


def _frequencies(counts: dict[str, int], words: list[str]) -> dict[str, Any]:
    """How often each word comes; mean and spread over rows of log(1 + that)."""
    often = [counts[word] for word in words]
    total = sum(often)
    mean = math.fsum(count * math.log1p(count) for count in often) / total
    square = math.fsum(count * (math.log1p(count) - mean) ** 2 for count in often)
    std = math.sqrt(square / total) if min(often) < max(often) else 0.0
    return {"counts": often, "mean": mean, "std": std}
