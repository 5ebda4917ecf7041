"""Parts of a model as objects, and as text that files and command lines can hold.

A part is known by its name in a registry, or by its import path, as in
`package.module:Class`. Its options are the arguments of its constructor, which it keeps
as attributes of the same names.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from fdgcl._checks import InputError, choose, nearest

Part = TypeVar("Part")


def name_of(kind: str, part: object, registry: Mapping[str, type]) -> str:
    """Return the name of an object's class, or its import path.

    Args:
        kind: What it is, for messages: "loss".
        part: The object.
        registry: The classes that have names.

    Raises:
        InputError: The class is inside a function, where nobody can import it.
    """
    own = type(part)
    for name, known in registry.items():
        if known is own:
            return name
    if "<locals>" in own.__qualname__:
        message = (
            f"the {kind} {own.__name__} is defined inside a function, so that a saved "
            "model could not name it: define it at the top level of a module"
        )
        raise InputError(message)
    return f"{own.__module__}:{own.__qualname__}"


def options_of(kind: str, part: object) -> dict[str, Any]:
    """Return the arguments that an object was made with, where they are not defaults.

    Raises:
        InputError: One of them is not kept as an attribute, or no value of JSON.
    """
    found: dict[str, Any] = {}
    for name, default in _arguments(type(part)).items():
        if not hasattr(part, name):
            message = (
                f"the {kind} {type(part).__name__} must keep its argument {name!r} as "
                "an attribute of that name, so that a saved model can be made again"
            )
            raise InputError(message)
        value = getattr(part, name)
        if value != default:
            found[name] = value
    try:
        json.dumps(found)
    except (TypeError, ValueError):
        message = (
            f"the options of the {kind} {type(part).__name__} must be numbers, texts, "
            f"truth values or lists of them, got {found!r}"
        )
        raise InputError(message) from None
    return found


def _arguments(own: type) -> dict[str, Any]:
    """The named arguments of a constructor, and their defaults."""
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {
        name: parameter.default
        for name, parameter in inspect.signature(own).parameters.items()
        if parameter.kind not in unnamed
    }


def class_of(
    kind: str, name: str, registry: Mapping[str, type[Part]], base: type
) -> type[Part]:
    """Return the class by its name or import path.

    Raises:
        InputError: There is none; the message says what is missing.
    """
    if ":" not in name:
        return choose(kind, name, registry)
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        message = f"the {kind} {name!r} cannot be imported: {error}"
        raise InputError(message) from None
    if not (isinstance(found, type) and issubclass(found, base)):
        message = f"{name!r} is not a {base.__name__}, as a {kind} must be"
        raise InputError(message)
    return cast(type[Part], found)


def made(
    kind: str, own: type[Part], options: Mapping[str, Any], known: str = ""
) -> Part:
    """Make a part by its options.

    Args:
        kind: What it is, for messages.
        own: Its class.
        options: Arguments of its constructor.
        known: What users call it; by default the name of the class.

    Raises:
        InputError: It has no such option.
    """
    names = list(_arguments(own))
    for name in options:
        if name not in names:
            message = (
                f"the {kind} {(known or own.__name__)!r} has no option {name!r}"
                f"{nearest(name, names)} (known: {', '.join(names) or 'none'})"
            )
            raise InputError(message)
    return own(**options)
