"""What is known of a column by its name and the user's options, without its values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from fdgcl._checks import InputError, nearest
from fdgcl.graphs.files.names import LABELS, plain
from fdgcl.graphs.schema.columns import Overrides

_ID_WORDS = ("id", "ids", "uuid", "guid", "key", "index", "nodeid", "vertexid")
_PANDAS_INDEX = re.compile(r"__index_level_\d+__|Unnamed: \d+|")
# Between letters of "userId", and around what is no letter or digit.
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")


def looks_like_label(name: str) -> bool:
    """Whether a column's name says that it holds what is to be predicted."""
    return plain(name) in LABELS


def looks_like_id(name: str) -> bool:
    """Whether a column's name ends in a word for ids: account_id, userId, index."""
    words = [word for word in _BOUNDARY.split(name) if word]
    return bool(words) and words[-1].lower() in _ID_WORDS


def is_pandas_index(name: str) -> bool:
    """Whether pandas wrote the column for an index without a name."""
    return _PANDAS_INDEX.fullmatch(name) is not None


def refuse_repeated(names: Sequence[str], where: str) -> None:
    """Raise InputError when two columns have the same name."""
    if len(set(names)) == len(names):
        return
    name, times = Counter(names).most_common(1)[0]
    message = f"{where} has {times} columns named {name!r}: rename them"
    raise InputError(message)


def check_overrides(overrides: Overrides, names: Sequence[str], where: str) -> None:
    """Raise InputError for an unknown column, or one asked for in two ways."""
    options = {
        "--columns": overrides.columns or (),
        "--drop": overrides.drop,
        "--categorical": overrides.categorical,
        "--numeric": overrides.numeric,
    }
    known = set(names)
    for option, wanted in options.items():
        for name in wanted:
            if name not in known:
                message = (
                    f"{where} has no column {name!r}, which {option} "
                    f"names{nearest(name, names)}"
                )
                raise InputError(message)
    exclusive = [
        *(("--drop", option) for option in options if option != "--drop"),
        ("--categorical", "--numeric"),
    ]
    for one, other in exclusive:
        both = set(options[one]).intersection(options[other])
        if both:
            message = (
                f"the column {min(both)!r} is named by {one} and by {other}: choose one"
            )
            raise InputError(message)


def left_out(name: str, overrides: Overrides) -> str:
    """Return why a column is no feature by its name alone, or nothing."""
    if name in overrides.dropped:
        return "dropped"
    if name in overrides.asked:
        return ""
    if overrides.columns is not None:
        return "not asked for"
    if is_pandas_index(name):
        return "index of pandas"
    return "looks like labels" if looks_like_label(name) else ""
