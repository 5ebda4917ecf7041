"""Checks of what users hand in: one sentence that names argument, value and choices."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

#: Bounds of whole numbers. Beyond them libraries overflow, each in its own way, and
#: what was typed is a slip.
MOST = 10**15
MOST_SEED = 2**32 - 1  # of NumPy's and scikit-learn's
MOST_DIM = 2**20
MOST_EPOCHS = 10**9
MOST_STEPS = 10**9


class InputError(ValueError):
    """Bad input, explained in one sentence; the command line exits with code 2."""

    def __init__(self, message: str) -> None:
        # Names and values come from files, and may hold line breaks of any kind.
        super().__init__(" ".join(message.splitlines()))


class MissingExtraError(ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package}, which is not installed: pip "
            f"install {package} (in a clone of fdgcl: pip install -e '.[{extra}]')."
        )


def in_words(names: Sequence[str]) -> str:
    """Return names as a phrase: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint such as `; did you mean "gl"?`, or nothing when none is near."""
    matches = difflib.get_close_matches(str(name).lower(), list(known), n=1, cutoff=0.5)
    return f'; did you mean "{matches[0]}"?' if matches else ""


def unknown_setting(name: str, known: Iterable[str]) -> str:
    """Say that there is no such setting: the nearest one, or what it is called now."""
    return renamed(name) or f"unknown setting {name!r}{nearest(name, known)}"


def renamed(name: str, dashes: str = "") -> str | None:
    """Say what a setting is called now; None of those that had no other name.

    Args:
        name: The name that was given, without dashes.
        dashes: What stands before the names of options.
    """
    if name not in ("memory", "short-memory"):
        return None
    return f"the solver's memory is called {dashes}window now, not {dashes}{name}"


def choose(kind: str, name: str, registry: Mapping[str, T]) -> T:
    """Look `name` up in `registry`; an unknown name is refused with the nearest one.

    Args:
        kind: What is chosen, in words a user knows ("solver", "loss", "dataset").
        name: The name asked for.
        registry: All choices, by name.

    Raises:
        InputError: `name` is not in the registry.
    """
    try:
        return registry[name]
    except (KeyError, TypeError):
        message = (
            f"unknown {kind} {name!r}{nearest(name, registry)} "
            f"(known: {', '.join(registry)})"
        )
        raise InputError(message) from None


def check_finite(name: str, value: float) -> float:
    """Return `value` as a float, or refuse what is not a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool | str | bytes) or not math.isfinite(number):
        message = f"{name} must be a finite number, got {value!r}"
        raise InputError(message)
    return number


def check_positive(name: str, value: float) -> float:
    """Return `value`, or refuse it unless it is a number above zero."""
    number = check_finite(name, value)
    if number <= 0:
        message = f"{name} must be positive, got {value!r}"
        raise InputError(message)
    return number


def check_nonnegative(name: str, value: float) -> float:
    """Return `value`, or refuse it unless it is a number of zero or more."""
    number = check_finite(name, value)
    if number < 0:
        message = f"{name} must be zero or more, got {value!r}"
        raise InputError(message)
    return number


def check_count(name: str, value: int, minimum: int = 1, maximum: int = MOST) -> int:
    """Return `value`, or refuse it unless it is whole and within both bounds."""
    # Before it becomes a float, which some whole numbers are too large for.
    if isinstance(value, int) and value > maximum:
        message = f"{name} must be a whole number of at most {maximum:,}, got {value}"
        raise InputError(message)
    number = check_finite(name, value)
    if number != int(number) or not minimum <= number <= maximum:
        message = f"{name} must be a whole number of at least {minimum}, got {value!r}"
        raise InputError(message)
    return int(value)


def check_seed(name: str, value: int) -> int:
    """Return `value`, or refuse it unless it is a seed that every library takes."""
    return check_count(name, value, minimum=0, maximum=MOST_SEED)


def check_flag(name: str, value: bool) -> bool:
    """Return a truth value; anything else is refused by name."""
    given: object = value
    if not isinstance(given, bool):
        message = f"{name} must be True or False, got {given!r}"
        raise InputError(message)
    return value


def check_fraction(name: str, value: float) -> float:
    """Return `value`, or refuse it unless it lies in [0, 1]."""
    number = check_finite(name, value)
    if not 0 <= number <= 1:
        message = f"{name} must lie in [0, 1], got {value!r}"
        raise InputError(message)
    return number


def check_order(value: float, name: str = "order") -> float:
    """Return a fractional order, or refuse it unless it lies in (0, 1]."""
    number = check_finite(name, value)
    if not 0 < number <= 1:
        message = f"{name} must lie in (0, 1], got {value!r}"
        raise InputError(message)
    return number
