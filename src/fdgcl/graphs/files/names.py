"""Column names that tell what a column is, and whether a first row is a header."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("u", "v"),
    ("start", "end"),
    ("head", "tail"),
    ("sender", "receiver"),
    ("citing", "cited"),
    ("follower", "followee"),
    ("origin", "destination"),
    ("sourceid", "targetid"),
    ("srcid", "dstid"),
    ("fromid", "toid"),
    ("startid", "endid"),
    ("sourcenode", "targetnode"),
    ("sourcenodeid", "targetnodeid"),
    ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"),
    ("node1", "node2"),
    ("nodea", "nodeb"),
    ("id1", "id2"),
    ("row", "col"),
)
# One of these alone says that the edge list has names, and lacks the other one.
_TELLING = ({"source", "src", "from"}, {"target", "dst", "dest", "to"})
WEIGHTS = ("weight", "weights", "edgeweight", "w", "value", "strength")
IDS = ("id", "nodeid", "node", "ids", "vertex", "vertexid", "key", "name", "index")
LABELS = ("label", "labels", "y", "class", "target", "category", "community", "subject")
GRAPHS = ("graph", "graphid", "graphname", "graphs", "graphids")
# How a missing number may be written in text.
MISSING = ("", "NA", "N/A", "#N/A", "null", "NULL", "None", "<NA>")
# Written by pandas for an index that has no name.
_PANDAS_INDEX = ("", "unnamed0", "indexlevel0")

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def plain(name: str) -> str:
    """Return a name in small letters and digits only: `Source_ID` is `sourceid`."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def find_ends(names: Sequence[str]) -> tuple[int | None, int | None]:
    """Return the columns where edges start and end, by name; None where not found."""
    known = [plain(name) for name in names]
    for start, end in ENDS:
        if start in known and end in known:
            return known.index(start), known.index(end)
    starts, ends = (
        [place for place, name in enumerate(known) if name in telling]
        for telling in _TELLING
    )
    return (starts[0] if starts else None), (ends[0] if ends else None)


def find_first(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Return the column with the earliest of the wanted names, or None."""
    known = [plain(name) for name in names]
    for name in wanted:
        if name in known:
            return known.index(name)
    return None


def find_id(names: Sequence[str]) -> int | None:
    """Return the column that holds ids, by name, or None."""
    found = find_first(names, IDS)
    if found is None and names and plain(names[0]) in _PANDAS_INDEX:
        return 0
    return found


def names_edges(row: Sequence[str]) -> bool:
    """Whether a row is the header of an edge list."""
    return None not in find_ends(row)


def names_features(row: Sequence[str]) -> bool:
    """Whether a row is the header of a table of features."""
    counted = [str(number) for number in range(len(row))]
    if len(row) > 3 and list(row[1:]) == counted[:-1]:
        return True
    return (len(row) > 2 and list(row) == counted) or find_id(row) is not None


def names_labels(row: Sequence[str]) -> bool:
    """Whether a row is the header of a table of labels."""
    telling = [name for name in LABELS if len(name) > 1]
    return find_id(row) is not None or find_first(row, telling) is not None


def is_header(
    row: Sequence[str],
    following: Sequence[Sequence[str]],
    known: Callable[[Sequence[str]], bool],
) -> bool:
    """Whether the first row names the columns.

    It does when the names are known ones and do not come again as values, or when
    there are columns of numbers, and it has a word in each of them.
    """
    words = {name for name in row if not is_finite(name)}
    if known(row) and not any(words.intersection(cells) for cells in following):
        return True
    below = zip(*following, strict=False)
    tops = [
        name
        for name, cells in zip(row, below, strict=False)
        if all(map(is_finite, cells))
    ]
    return bool(tops) and not any(name in MISSING or is_number(name) for name in tops)


def is_number(text: str) -> bool:
    """Whether a text is a number, NaN and infinity among them."""
    return is_finite(text) or text.lower().lstrip("+-") in ("nan", "inf", "infinity")


def is_finite(text: str) -> bool:
    """Whether a text is a plain number; words such as nan or inf may be names."""
    return _NUMBER.fullmatch(text) is not None
