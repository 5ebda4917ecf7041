"""Column names that show what a column is, and whether a first row is a header."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product

# Pairs of names that say where an edge starts and ends; a name may also end in "id",
# "name", "node" or "key": payer and payee stand for payer_id and payee_id.
_PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("u", "v"),
    ("start", "end"),
    ("head", "tail"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("citing", "cited"),
    ("citingpaper", "citedpaper"),
    ("follower", "followee"),
    ("follower", "followed"),
    ("origin", "destination"),
    ("payer", "payee"),
    ("buyer", "seller"),
    ("caller", "callee"),
    ("user", "item"),
    ("user", "product"),
    ("user", "movie"),
    ("customer", "product"),
    ("customer", "item"),
    ("customer", "merchant"),
    ("author", "paper"),
    ("parent", "child"),
    ("person1", "person2"),
    ("user1", "user2"),
    ("entity1", "entity2"),
    ("node1", "node2"),
    ("nodea", "nodeb"),
    ("id1", "id2"),
    ("ida", "idb"),
    ("row", "col"),
)
# Of these, the two ends are never the same kind of thing.
_TWO_KINDS = {
    *(("user", "item"), ("user", "product"), ("user", "movie")),
    *(("customer", "product"), ("customer", "item"), ("customer", "merchant")),
    ("author", "paper"),
}
_ENDINGS = ("", "id", "name", "node", "nodeid", "key", "ids", "account", "accountid")
ENDS = tuple((a + end, b + end) for a, b in _PAIRS for end in _ENDINGS)
_KINDS = {(a + end, b + end) for a, b in _TWO_KINDS for end in _ENDINGS}
WEIGHTS = ("weight", "weights", "edgeweight", "w", "value", "strength")
IDS = ("id", "nodeid", "node", "ids", "vertex", "vertexid", "key", "name", "index")
LABELS = ("label", "labels", "y", "class", "target", "category", "community", "subject")
EDGE_TYPES = (
    "type",
    "edgetype",
    "relation",
    "rel",
    "relationtype",
    "etype",
    "predicate",
)
GRAPHS = ("graph", "graphid", "graphname", "graphs", "graphids")
# How a missing number may be written in text.
MISSING = ("", "NA", "N/A", "#N/A", "null", "NULL", "None", "<NA>")
# Written by pandas for an index that has no name.
_PANDAS_INDEX = ("", "unnamed0", "indexlevel0")
_TRUTHS = ("true", "false", "yes", "no")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?")

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def plain(name: str) -> str:
    """Return a name in small letters and digits only: `Source_ID` is `sourceid`."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def known_ends(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of columns whose names say where edges start and end."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(plain(name), []).append(place)
    found: dict[tuple[int, int], None] = {}
    for start, end in ENDS:
        pairs = product(places.get(start, ()), places.get(end, ()))
        found |= dict.fromkeys(pairs)
    return list(found)


def are_two_kinds(first: str, second: str) -> bool:
    """Whether names say that two columns hold different things: users and items."""
    return (plain(first), plain(second)) in _KINDS


def find_first(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Return the column with the earliest of the wanted names, or None."""
    known = [plain(name) for name in names]
    for name in wanted:
        if name in known:
            return known.index(name)
    return None


def find_id(names: Sequence[str]) -> int | None:
    """Return the column that holds ids, by name, or None."""
    return find_first(names, IDS)


def is_pandas_index(name: str) -> bool:
    """Whether pandas gave a column its name, for an index without one."""
    return plain(name) in _PANDAS_INDEX


def names_edges(row: Sequence[str]) -> bool:
    """Whether a row is the header of an edge list."""
    return bool(known_ends(row))


def names_features(row: Sequence[str]) -> bool:
    """Whether a row is the header of a table of features."""
    if _is_pandas_header(row):
        return True
    counted = [str(number) for number in range(len(row))]
    if len(row) > 3 and list(row[1:]) == counted[:-1]:
        return True
    return (len(row) > 2 and list(row) == counted) or find_id(row) is not None


def names_labels(row: Sequence[str]) -> bool:
    """Whether a row is the header of a table of labels."""
    telling = [name for name in LABELS if len(name) > 1]
    named = (find_id(row), find_first(row, telling))
    return named != (None, None) or names_features(row)


def is_header(
    row: Sequence[str],
    following: Sequence[Sequence[str]],
    known: Callable[[Sequence[str]], bool],
) -> bool | None:
    """Whether the first row names the columns; None where it may or may not.

    It does not where one of its words comes again as a value. It does where the names
    are known ones, where it has a word above each column of numbers, or where it has a
    word without digits above a column in which all cells have digits (`u17`, dates).
    Words above words may be either.
    """
    if len(row) < 2:
        return known(row)  # there is nothing else to go by
    words = {name for name in row if name and not is_finite(name)}
    again = any(words.intersection(cells) for cells in following)
    if known(row) and not again:
        return True
    above = _above_numbers(row, following)
    if above is not None or again:
        return bool(above)
    if not following or len(set(row)) < len(row):
        return False
    looks = [
        _looks_like_a_name(name, cells)
        for name, cells in zip(row, zip(*following, strict=False), strict=False)
    ]
    if False in looks:
        return False
    return True if True in looks else None


def _above_numbers(
    row: Sequence[str], following: Sequence[Sequence[str]]
) -> bool | None:
    """Whether there are words above columns of numbers; None without such columns."""
    tops = [
        name
        for name, cells in zip(row, zip(*following, strict=False), strict=False)
        if all(map(is_finite, cells))
    ]
    if _is_pandas_header(row):
        return True
    if not tops:
        return None
    return not any(name in MISSING or is_number(name) for name in tops)


def _is_pandas_header(row: Sequence[str]) -> bool:
    """Whether a row names columns behind an index, whose name pandas leaves empty."""
    if len(row) < 2 or row[0] != "":
        return False
    counted = [str(number) for number in range(len(row) - 1)]
    names = list(row[1:])
    return names == counted or not any(n in MISSING or is_number(n) for n in names)


def _looks_like_a_name(name: str, cells: Sequence[str]) -> bool | None:
    """Whether a text differs in kind from all cells below it; None if it is unclear."""
    filled = [cell for cell in cells if cell not in MISSING]
    if not filled or is_number(name):
        return None if not filled else False
    if all(_has_digit(cell) for cell in filled):
        # A digit in the first cell as well: u1 above u2 is one more value.
        return not _has_digit(name)
    if all(cell.lower() in _TRUTHS for cell in filled):
        return name.lower() not in _TRUTHS
    return None


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def is_date(text: str) -> bool:
    """Whether a text begins with a date in ISO 8601."""
    return _DATE.fullmatch(text) is not None


def is_truth(text: str) -> bool:
    """Whether a text is true, false, yes or no."""
    return text.lower() in _TRUTHS


def is_number(text: str) -> bool:
    """Whether a text is a number, NaN and infinity among them."""
    return is_finite(text) or text.lower().lstrip("+-") in ("nan", "inf", "infinity")


def is_finite(text: str) -> bool:
    """Whether a text is a plain number; words such as nan or inf may be names."""
    return _NUMBER.fullmatch(text) is not None
