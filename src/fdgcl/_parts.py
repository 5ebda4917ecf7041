"""Parts of a model as objects, and as text that files and command lines can hold.

A part is known by its name in a registry, or by its import path, as in
`package.module:Class`. Its options are the arguments of its constructor, which it keeps
as attributes of the same names.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Collection, Mapping
from typing import Any, TypeVar, cast

from fdgcl._checks import InputError, choose, in_words, nearest

Part = TypeVar("Part")


def named(
    kind: str,
    given: object,
    options: object,
    registry: Mapping[str, type],
    base: type,
    common: Collection[str] = (),
) -> tuple[Any, dict[str, Any] | None]:
    """Turn a part, an object or a name, into what a file can hold: name and options.

    Args:
        kind: What it is, for messages: "loss".
        given: The part; what is no object of the base is taken for its name.
        options: Its options, where it is given by name.
        registry: The classes that have names.
        base: What every such part derives from.
        common: Arguments of its constructor that are none of its options.

    Raises:
        InputError: An object cannot be made again from text, or options are no mapping.
    """
    if isinstance(given, base):
        if options:
            message = (
                f"{kind}_options belong to a {kind} given by name, and {given!r} has "
                f"options already, got {options!r}"
            )
            raise InputError(message)
        found = options_of(kind, given, common)
        return name_of(kind, given, registry), found or None
    if not isinstance(options, Mapping | None):
        message = f"{kind}_options must map names to values, got {options!r}"
        raise InputError(message)
    return given, None if options is None else dict(options)


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
    return path_of(kind, own)


def path_of(kind: str, own: Any) -> str:
    """Return the import path of a class or function.

    Raises:
        InputError: Nobody can import it: it is inside a function, or has no name.
    """
    for name in (own.__qualname__, own.__name__):
        path = f"{own.__module__}:{name}"
        try:
            if imported(kind, path) is own:
                return path
        except InputError:
            continue
    message = (
        f"the {kind} {own.__name__} cannot be imported by its name, so that a saved "
        "model could not name it: define it at the top level of a module, not inside "
        "a function"
    )
    raise InputError(message)


def options_of(kind: str, part: object, common: Collection[str] = ()) -> dict[str, Any]:
    """Return the arguments that an object was made with, where they are not defaults.

    Args:
        kind: What it is, for messages.
        part: The object.
        common: Arguments that are none of its options.

    Raises:
        InputError: One of them is not kept as an attribute, or no value of JSON.
    """
    found: dict[str, Any] = {}
    for name, default in arguments_of(type(part), common).items():
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


def arguments_of(own: type, common: Collection[str] = ()) -> dict[str, Any]:
    """The named arguments of a constructor but the common ones, and their defaults."""
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {
        name: parameter.default
        for name, parameter in inspect.signature(own).parameters.items()
        if parameter.kind not in unnamed and name not in common
    }


def class_of(
    kind: str, name: str, registry: Mapping[str, type[Part]], base: type
) -> type[Part]:
    """Return the class by its name or import path.

    Raises:
        InputError: There is none; the message says what is missing.
    """
    if not is_path(name):
        return choose(kind, name, registry)
    found = imported(kind, name)
    if not (isinstance(found, type) and issubclass(found, base)):
        message = f"{name!r} is not a {base.__name__}, as a {kind} must be"
        raise InputError(message)
    lacking = sorted(getattr(found, "__abstractmethods__", ()))
    if lacking:
        message = (
            f"the {kind} {name!r} cannot be made: it lacks {in_words(lacking)}, which "
            f"every {base.__name__} has"
        )
        raise InputError(message)
    return cast(type[Part], found)


def is_path(name: object) -> bool:
    """Whether a name is an import path, and not that of a registry."""
    return isinstance(name, str) and ":" in name


def imported(kind: str, path: str) -> Any:
    """Return what is at an import path, `package.module:name`.

    Raises:
        InputError: There is nothing; the message says what is missing.
    """
    module, _, names = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for name in names.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError) as error:
        message = (
            f"the {kind} {path!r} cannot be imported: {error} (its package must be "
            "installed, or its folder be on PYTHONPATH)"
        )
        raise InputError(message) from None
    return found


def made(
    kind: str,
    own: type[Part],
    options: Mapping[str, Any],
    known: str = "",
    common: Mapping[str, Any] | None = None,
) -> Part:
    """Make a part by its options.

    Args:
        kind: What it is, for messages.
        own: Its class.
        options: Arguments of its constructor.
        known: What users call it; by default the name of the class.
        common: Further arguments, which all parts of the kind take.

    Raises:
        InputError: It has no such option, or cannot be made so.
    """
    called, further = known or own.__name__, common or {}
    names = list(arguments_of(own, further))
    for name in options:
        if name not in names:
            message = (
                f"the {kind} {called!r} has no option {name!r}{nearest(name, names)} "
                f"(it takes {', '.join(names) or 'no options'})"
            )
            raise InputError(message)
    try:
        inspect.signature(own).bind(**further, **options)
    except TypeError as error:
        message = f"the {kind} {called!r} cannot be made: {error}"
        raise InputError(message) from None
    return own(**further, **options)
