"""Points in time: as microseconds since 1970 in UTC, and as cycles."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Microseconds = NDArray[np.int64]

SECOND = 1_000_000
DAY = 86_400 * SECOND
WEEK = 7 * DAY
YEAR = 365 * DAY
CYCLES = ("day", "week", "year")
# Day 0, 1 January 1970, was a Thursday; weeks begin on Monday.
_THURSDAY = 3
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
_ZONE = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
_ISO = rf"^{_DATE}([T ]{_CLOCK}{_ZONE}?)?$"
_ZONED = rf":[0-9.:]+{_ZONE}$"


def parse_times(words: pa.Array) -> tuple[Microseconds, NDArray[np.bool_]]:
    """Read text in ISO 8601; what has no time zone is taken as UTC.

    Returns:
        Microseconds, and whether the text is a point in time.
    """
    found = np.zeros(len(words), np.int64)
    fits = pc.match_substring_regex(words, _ISO).fill_null(False)
    zoned = pc.and_(fits, pc.match_substring_regex(words, _ZONED).fill_null(False))
    fine = fits.to_numpy(zero_copy_only=False).copy()
    for mask, kind in (
        (zoned, pa.timestamp("us", "UTC")),
        (pc.and_not(fits, zoned), pa.timestamp("us")),
    ):
        places = np.flatnonzero(mask.to_numpy(zero_copy_only=False))
        texts = pc.replace_substring_regex(
            words.take(pa.array(places)), r"(\.[0-9]{6})[0-9]+", r"\1"
        )
        try:
            found[places] = texts.cast(kind).cast(pa.int64()).to_numpy()
        except pa.ArrowInvalid:
            for place, text in zip(places, texts, strict=True):
                found[place], fine[place] = _parse_one(text, kind)
    return found, fine


def _parse_one(text: pa.Scalar, kind: pa.DataType) -> tuple[int, bool]:
    try:
        return text.cast(kind).value, True
    except pa.ArrowInvalid:
        return 0, False


def microseconds(column: pa.Array) -> tuple[Microseconds, NDArray[np.bool_]]:
    """Return dates, timestamps or times of day, and which of them are missing.

    Raises:
        pa.ArrowInvalid: A point in time is too far from now for microseconds.
    """
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_time(column.type):
        column = column.cast(pa.time64("us"), safe=False)
    else:
        zone = getattr(column.type, "tz", None)
        nanoseconds = getattr(column.type, "unit", "") == "ns"
        column = column.cast(pa.timestamp("us", zone), safe=not nanoseconds)
    values = column.cast(pa.int64()).fill_null(0)
    return values.to_numpy(zero_copy_only=False), missing


def phases(values: Microseconds, cycle: str) -> NDArray[np.float64]:
    """Return how far through a cycle points in time are, from 0 up to 1.

    The time of day counts to the microsecond, week and year by whole days; each year
    has its own length. All of it in UTC.
    """
    if cycle == "day":
        return np.asarray((values % DAY) / DAY)
    days = values // DAY
    if cycle == "week":
        return np.asarray((days + _THURSDAY) % 7 / 7)
    dates = days.astype("datetime64[D]")
    years = dates.astype("datetime64[Y]")
    starts = years.astype("datetime64[D]")
    ends = (years + 1).astype("datetime64[D]")
    return np.asarray((dates - starts) / (ends - starts), np.float64)


def sines(values: Microseconds, cycle: str) -> tuple[NDArray[np.float64], ...]:
    """Return sine and cosine of a cycle at points in time."""
    angle = 2 * np.pi * phases(values, cycle)
    return np.sin(angle), np.cos(angle)
