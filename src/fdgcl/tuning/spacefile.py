"""Reading a search space from TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from fdgcl._checks import InputError, choose, nearest, unknown_setting
from fdgcl.methods import METHODS
from fdgcl.model import FDGCL
from fdgcl.tuning.formulas import Formula, is_number
from fdgcl.tuning.ranges import Choices, Range, Value
from fdgcl.tuning.space import Dimension, Space, defaults, is_setting

_SHIPPED = {
    entry.name.removesuffix(".toml"): entry
    for entry in (resources.files("fdgcl.tuning") / "spaces").iterdir()
    if entry.name.endswith(".toml")
}
SPACES = tuple(sorted(_SHIPPED))
_KEYS = ("low", "high", "log", "step", "choices", "start", "when", "unless", "directed")
# A seed is averaged over and a device computes: neither is a choice of the method.
_NOT_SEARCHED = ("seed", "device")


def load_space(
    space: str | Path | None = None, method: str = FDGCL.method_name
) -> Space:
    """Read a space: the name of a shipped one, or a TOML file.

    Args:
        space: Name or file; None for the method's own, which has the method's name
            (FD-GCL's is `default`).
        method: Name of the method whose settings vary.

    Raises:
        InputError: There is no such space, it is another method's, or the file is not
            one; the message names the entry.

    Example:
        >>> [one.name for one in load_space(method="gcn").dimensions][:2]
        ['feature_scaling', 'self_loops']
    """
    choose("method", method, METHODS)
    if space is None:
        space = "default" if method == FDGCL.method_name else method
    path = Path(space)
    if path.suffix == ".toml" or path.is_file():
        if not path.is_file():
            message = f"there is no file {path}"
            raise InputError(message)
        return parse_space(path.read_bytes(), str(path), method)
    name = str(space)
    entry = choose("space (a TOML file, or shipped)", name, _SHIPPED)
    owner = method_of(name)
    if owner != method:
        message = (
            f"the space {name!r} is of method {owner!r}, not of {method!r}: give no "
            f"space for {method}'s own, or a TOML file"
        )
        raise InputError(message)
    return parse_space(entry.read_bytes(), f"the space {name!r}", method)


def method_of(space: str) -> str:
    """The method that a shipped space is of: its name, or FD-GCL."""
    return space if space in METHODS else FDGCL.method_name


def parse_space(content: bytes, where: str, method: str = FDGCL.method_name) -> Space:
    """Read a space from the bytes of a TOML file.

    Args:
        content: The file.
        where: What to call it in errors.
        method: Name of the method whose settings vary.
    """
    try:
        document = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{where} is not TOML: {error}"
        raise InputError(message) from None
    _refuse_unknown(document, ("search", "derived"), "section", where)
    search = _table(document.get("search", {}), f"{where}, [search]")
    derived = {
        name: _formula(text, f"{where}, {name}")
        for name, text in _table(
            document.get("derived", {}), f"{where}, [derived]"
        ).items()
    }
    dimensions = tuple(_dimension(name, entry, where) for name, entry in search.items())
    if not dimensions:
        message = f"{where} has no entries under [search]"
        raise InputError(message)
    _check_names(search, derived, where, method)
    _check_conditions(dimensions, where, method)
    return Space(dimensions, derived, document, where, method)


def _dimension(name: str, entry: Any, where: str) -> Dimension:
    where = f"{where}, {name}"
    table = _table(entry, where)
    _refuse_unknown(table, _KEYS, "key", where)
    for flag in ("log", "directed"):
        if not isinstance(table.get(flag, False), bool):
            message = f"{where}: {flag} must be true or false, got {table[flag]!r}"
            raise InputError(message)
    start = table.get("start")
    return Dimension(
        name=name,
        allowed=_choices(table, where) if "choices" in table else _range(table, where),
        start=None if start is None else _formula(start, where),
        when=_conditions(table.get("when", {}), where),
        unless=_conditions(table.get("unless", {}), where),
        directed=table.get("directed", False),
    )


def _choices(table: Mapping[str, Any], where: str) -> Choices:
    for key in ("low", "high", "log", "step"):
        if key in table:
            message = f"{where}: choices have no {key}; it belongs to a range"
            raise InputError(message)
    values = table["choices"]
    if not isinstance(values, list) or not values:
        message = f"{where}: choices must be a list of values, got {values!r}"
        raise InputError(message)
    for value in values:
        if not isinstance(value, Value):
            message = (
                f"{where}: a choice is a text, a number, true or false, got {value!r}; "
                'entries of a list are named as in "orders.0" or "keep.local"'
            )
            raise InputError(message)
    if len({(type(value), value) for value in values}) < len(values):
        message = f"{where}: a choice stands there twice in {values!r}"
        raise InputError(message)
    return Choices(tuple(values))


def _range(table: Mapping[str, Any], where: str) -> Range:
    for key in ("low", "high", "step"):
        value = table.get(key, 1 if key == "step" else None)
        if not is_number(value):
            message = (
                f"{where} needs low and high, or choices"
                if value is None
                else f"{where}: {key} must be a number, got {value!r}"
            )
            raise InputError(message)
    found = Range(
        table["low"], table["high"], table.get("log", False), table.get("step")
    )
    problem = _range_problem(found)
    if problem:
        message = f"{where}: {problem}"
        raise InputError(message)
    return found


def _range_problem(found: Range) -> str:
    low, high, step = found.low, found.high, found.step
    if low > high:
        return f"low must not exceed high, got {low} and {high}"
    if found.log and low <= 0:
        return f"a logarithmic range must begin above zero, got low {low}"
    if found.log and step is not None:
        return "a logarithmic range has no step"
    if step is not None and step <= 0:
        return f"step must be positive, got {step}"
    if found.whole and isinstance(step, float):
        return f"whole numbers need a whole step, got {step}"
    if not found.holds(high):
        return f"high must lie a whole number of steps above low, got {high}"
    return ""


def _conditions(entry: Any, where: str) -> dict[str, tuple[Value, ...]]:
    table = _table(entry, f"{where}, when or unless")
    return {
        name: tuple(values) if isinstance(values, list) else (values,)
        for name, values in table.items()
    }


def _formula(text: Any, where: str) -> Formula:
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        message = f"{where}: a formula is a text such as 'steps * step', got {text!r}"
        raise InputError(message)
    return Formula(str(text), where)


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = (
            f"{where} must be a table such as {{ low = 0.1, high = 1.0 }}, got "
            f"{value!r}"
        )
        raise InputError(message)
    return value


def _refuse_unknown(
    table: Mapping[str, Any], known: tuple[str, ...], kind: str, where: str
) -> None:
    for name in table:
        if name not in known:
            message = (
                f"{where}: unknown {kind} {name!r}{nearest(name, known)} "
                f"(known: {', '.join(known)})"
            )
            raise InputError(message)


def _check_names(
    search: Mapping[str, Any], derived: Mapping[str, Formula], where: str, method: str
) -> None:
    """Refuse names that are no settings, unless a formula uses them."""
    settings = defaults(method)
    used = {name for formula in derived.values() for name in formula.names}
    for name in (*search, *derived):
        if name.partition(".")[0] in _NOT_SEARCHED:
            message = f"{where}: {name} is not searched; it is given to the command"
            raise InputError(message)
    for name in search:
        if name in derived:
            message = f"{where}: {name} is searched and derived; it can be one of both"
            raise InputError(message)
        if not is_setting(name, method) and name not in used:
            raise _unknown(name, where, method)
    for name in derived:
        if not is_setting(name, method):
            raise _unknown(name, where, method)
    known = {*settings, *search, *derived}
    for name in sorted(used - known):
        raise _unknown(name, where, method)


def _check_conditions(
    dimensions: tuple[Dimension, ...], where: str, method: str
) -> None:
    """Refuse conditions on what is no setting, or is chosen later."""
    names = [one.name for one in dimensions]
    for place, one in enumerate(dimensions):
        for name in (*one.when, *one.unless):
            if name in names[place:]:
                message = (
                    f"{where}, {one.name}: a condition looks back only; put {name} "
                    "above it"
                )
                raise InputError(message)
            if name not in names and name not in defaults(method):
                raise _unknown(name, f"{where}, {one.name}", method)


def _unknown(name: str, where: str, method: str) -> InputError:
    return InputError(f"{where}: {unknown_setting(name, list(defaults(method)))}")
