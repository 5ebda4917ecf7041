"""Where to search: which settings may vary, and how others follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from fdgcl._checks import InputError
from fdgcl.estimators import estimator_of
from fdgcl.model import FDGCL
from fdgcl.tuning.formulas import Formula, is_number
from fdgcl.tuning.ranges import Choices, Range, Value

_COMPLETIONS = 30  # random points that try whether a value can be used at all


@dataclass(frozen=True)
class Dimension:
    """One thing that varies.

    Attributes:
        name: A setting ("lr"), an entry of one ("orders.0"), whether something is in
            one ("keep.local"), or a name of its own that formulas use ("steps").
        allowed: What it may be.
        start: What it is where the starting settings do not say it.
        when: It varies only while each of these has one of these values.
        unless: It varies only while none of these has one of these values.
        directed: It varies only on graphs with directed edges.
    """

    name: str
    allowed: Range | Choices
    start: Formula | None = None
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    unless: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    directed: bool = False

    def varies(self, known: Mapping[str, Any]) -> bool:
        """Whether it varies, given what is known so far."""
        return all(
            known.get(name) in values for name, values in self.when.items()
        ) and (
            not any(known.get(name) in values for name, values in self.unless.items())
        )


@dataclass(frozen=True)
class Space:
    """All that varies.

    Attributes:
        dimensions: In an order in which conditions look back only.
        derived: Settings that follow from others, in the order they are computed.
        source: The text it was read from, as plain values: what makes two spaces equal.
        where: The file, for errors.
        method: Name of the method whose settings vary.
    """

    dimensions: tuple[Dimension, ...]
    derived: Mapping[str, Formula]
    source: Mapping[str, Any]
    where: str
    method: str = FDGCL.method_name

    def narrowed(self, fixed: frozenset[str], *, directed: bool) -> Self:
        """Leave out settings that are fixed, and what then serves nothing.

        Raises:
            InputError: Nothing is left to search.
        """
        kept = [
            one
            for one in self.dimensions
            if _setting(one.name) not in fixed and (directed or not one.directed)
        ]
        derived = {
            name: formula
            for name, formula in self.derived.items()
            if _setting(name) not in fixed
        }
        used = frozenset().union(*(formula.names for formula in derived.values()))
        names = defaults(self.method)
        kept = [one for one in kept if _setting(one.name) in names or one.name in used]
        if not kept:
            message = f"{self.where}: nothing is left to search"
            raise InputError(message)
        return replace(self, dimensions=tuple(kept), derived=derived)

    def settings(
        self, start: Mapping[str, Any], values: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the starting settings with some values put in, and what follows."""
        settings = dict(self._with_lists(start))
        for name, value in values.items():
            if _setting(name) in settings:
                assign(settings, name, value)
        known = {**settings, **values}
        for name, formula in self.derived.items():
            if all(is_number(known.get(one)) for one in formula.names):
                value = formula.value(known)
                assign(settings, name, _like(value, look_up(start, name)))
                known[name] = value
        return settings

    def start_values(self, start: Mapping[str, Any]) -> dict[str, Value]:
        """Return the starting settings as a point of the space, as far as it is one."""
        values: dict[str, Value] = {}
        start = self._with_lists(start)
        for one in self.dimensions:
            if not one.varies({**start, **values}):
                continue
            value = look_up(start, one.name)
            formula = one.start if value is None else None
            if formula and all(is_number(start.get(name)) for name in formula.names):
                value = formula.value(start)
            if one.allowed.holds(value):
                values[one.name] = one.allowed.own(value)
        return values

    def check(self, start: Mapping[str, Any]) -> None:
        """Refuse choices and ends of ranges that no model takes.

        A value is fine if it is in at least one combination: some settings depend on
        each other, and combinations that do not fit are dropped while searching.

        Raises:
            InputError: A value never makes up settings that a model takes.
        """
        rng = np.random.default_rng(0)
        for one in self.dimensions:
            for value in one.allowed.examples():
                self._try(one, value, start, rng)

    def _with_lists(self, start: Mapping[str, Any]) -> Mapping[str, Any]:
        """The starting settings, where entries of a list are searched with that list.

        Left open it follows from others, as `keep` does from `combine`.
        """
        parts = {_setting(one.name) for one in self.dimensions if "." in one.name}
        unset = [name for name in parts if start.get(name, ()) is None]
        if not unset:
            return start
        checked = estimator_of(self.method)(**start).check()
        return {**start, **{name: getattr(checked, name) for name in unset}}

    def _try(
        self,
        one: Dimension,
        value: Value,
        start: Mapping[str, Any],
        rng: np.random.Generator,
    ) -> None:
        model = estimator_of(self.method)
        problem: InputError | None = None
        for attempt in range(_COMPLETIONS):
            drawn = {d.name: d.allowed.draw(rng) for d in self.dimensions if attempt}
            try:
                model(**self.settings(start, {**drawn, one.name: value})).check()
            except InputError as error:
                problem = error
            else:
                return
        message = f"{self.where}: {one.name} = {value!r} is not possible: {problem}"
        raise InputError(message)


def look_up(settings: Mapping[str, Any], name: str) -> Any:
    """Return a setting, an entry ("orders.0"), or if something is in it ("keep.x")."""
    setting, _, rest = name.partition(".")
    value = settings.get(setting)
    if not rest or value is None:
        return value
    return value[int(rest)] if rest.isdigit() else rest in value


def assign(settings: dict[str, Any], name: str, value: Any) -> None:
    """Put a setting in place, an entry of one, or put something into one or out."""
    setting, _, rest = name.partition(".")
    if not rest:
        settings[name] = value
        return
    entries = list(settings[setting])
    if rest.isdigit():
        entries[int(rest)] = value
    else:
        entries = [one for one in entries if one != rest] + [rest] * bool(value)
    settings[setting] = tuple(entries)


def is_setting(name: str, method: str) -> bool:
    """Whether a name is a method's setting, or an entry of one, as "orders.0" is."""
    setting, dot, rest = name.partition(".")
    known = defaults(method)
    value = known.get(setting)
    if not dot:
        return setting in known
    if not isinstance(value, tuple) or not rest:
        return False
    if rest.isdigit():
        return int(rest) < len(value)
    return not any(is_number(one) for one in value)


@cache
def defaults(method: str) -> Mapping[str, Any]:
    """All settings of a method, as they are by default, lists said that are left open.

    Example:
        >>> defaults("fdgcl")["keep"]
        ('features', 'out', 'in', 'global')
    """
    model = estimator_of(method)()
    checked = model.check()
    return MappingProxyType(
        {name: getattr(checked, name) for name in model.get_params()}
    )


def _setting(name: str) -> str:
    return name.partition(".")[0]


def _like(value: float, example: Any) -> float:
    whole = isinstance(example, int) and not isinstance(example, bool)
    return int(value) if whole and value == int(value) else value
