"""The settings of methods as options, made from their descriptions."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import Field
from pathlib import Path
from typing import Annotated, Any

from fdgcl._checks import InputError, nearest
from fdgcl._settings import about, from_text, settings_of, shown_default, types_of
from fdgcl.cli.options import FDGCL, option
from fdgcl.cli.parameters import Command, own_parameters, with_parameters
from fdgcl.methods import find_method
from fdgcl.methods.fdgcl.settings import Settings
from fdgcl.methods.settings import MethodSettings

Kind = type[MethodSettings]
Kinds = Sequence[Kind]

#: The settings of every method there is.
KINDS: Kinds = (Settings,)


def known_settings(kinds: Kinds = KINDS) -> dict[str, Field[Any]]:
    """All settings of some methods; what several of them have is there once.

    Args:
        kinds: The methods' settings.
    """
    found: dict[str, Field[Any]] = {}
    for kind in kinds:
        for name, one in settings_of(kind).items():
            found.setdefault(name, one)
    return found


def with_settings(
    command: Command, kinds: Kinds = KINDS, left_out: Collection[str] = ()
) -> Command:
    """Give a command that takes `**settings` one option per setting of the methods.

    Args:
        command: The command; options that are not given are None.
        kinds: The methods' settings.
        left_out: Settings that are no options of this command.
    """
    kept = [p for p in own_parameters(command) if p.kind is not p.VAR_KEYWORD]
    added = [
        _parameter(one)
        for name, one in known_settings(kinds).items()
        if about(one).option and name not in left_out
    ]
    return with_parameters(command, [*kept, *added], command)


def settings_of_method(method: str) -> Kind:
    """The settings of a method by its name; those of FD-GCL without loading torch.

    Raises:
        InputError: There is no such method.
    """
    if method == FDGCL:
        return Settings
    kind: Kind = find_method(method).settings
    return kind


def flag_of(name: str) -> str:
    """The option of a setting."""
    return "--" + name.replace("_", "-")


def _parameter(one: Field[Any]) -> inspect.Parameter:
    """A setting as a parameter that is None unless given."""
    known, kind, flag = about(one), _kind(one), flag_of(one.name)
    names, shown = flag, shown_default(one)
    if kind is bool:
        off = f"--no-{flag[2:]}"
        names, shown = f"{flag}/{off}", (flag if one.default else off)[2:]
    more = {} if known.metavar is None else {"metavar": known.metavar}
    wanted = option(
        names, text=known.text, panel=known.panel, kind=kind, show_default=shown, **more
    )
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, wanted],
    )


def _kind(one: Field[Any]) -> type:
    """What the parser makes of an option; more than one thing is a text to it."""
    types = [name for name in types_of(one) if name != "None"]
    for kind in (bool, int, float):
        if types == [kind.__name__]:
            return kind
    return str


def chosen_settings(
    file: Path | None, settings: Mapping[str, Any], kind: Kind = Settings
) -> dict[str, Any]:
    """The settings in a file, if there is one, but for those that were given.

    Args:
        file: The file.
        settings: What the options gave.
        kind: The settings of the method.
    """
    from fdgcl.presets import read_settings

    first = {} if file is None else read_settings(file, kind)
    return {**first, **given_settings(settings, kind)}


def given_settings(
    settings: Mapping[str, Any], kind: Kind = Settings, method: str = "fd-gcl"
) -> dict[str, Any]:
    """Return the settings that were given, as the method takes them.

    Args:
        settings: What the options gave; None for those that were not there.
        kind: The settings of the method.
        method: Its name, for messages.

    Raises:
        InputError: The method has no such setting, or a value cannot be read.
    """
    return dict(_read(settings, settings_of(kind), method))


def _read(
    settings: Mapping[str, Any], known: Mapping[str, Field[Any]], method: str
) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if value is None:
            continue
        if name not in known:
            flags = [flag_of(one) for one in known if about(known[one]).option]
            message = (
                f"method {method!r} has no setting {flag_of(name)}"
                f"{nearest(flag_of(name), flags)} (it has {', '.join(flags)})"
            )
            raise InputError(message)
        text = isinstance(value, str)
        yield name, from_text(known[name], value, flag_of(name)) if text else value
